//! The box of these tests stands up for itself: a request that would brick a real one ends the test that sent it.

use super::habit::Ending;
use super::model::{FLASH, Model, STAGE};
use crate::model::action::{ImageSource, UpdateAction};
use crate::model::{Action, ServerName, Target, UpdateMethod};

fn update(target: Target) -> Action {
    Action::Update(UpdateAction {
        target,
        image: ImageSource::Uri("http://firmware.lab/bmc160.img".to_owned()),
        method: UpdateMethod::SimpleUpdate,
        targets: Vec::new(),
        apply_time: None,
        keep: None,
    })
}

fn reset(kind: &str) -> Action {
    Action::ResetSystem {
        server: ServerName::from("s1"),
        reset_type: kind.to_owned(),
    }
}

fn server() -> Target {
    Target::Server(ServerName::from("s1"))
}

/// A box whose host has an image staged.
fn staged() -> Model {
    let mut model = Model::new(&["s1"]);
    model.act(&update(server()));
    model.pass(STAGE);
    model
}

/// A box whose host flashes in POST.
fn flashing() -> Model {
    let mut model = staged();
    model.act(&reset("GracefulShutdown"));
    model.act(&reset("On"));
    model
}

#[test]
fn a_box_takes_what_is_harmless() {
    let mut model = flashing();
    model.pass(super::model::POST);
    model.act(&reset("ForceRestart"));
    model.act(&update(Target::Bmc));
    model.pass(FLASH);
    assert!(model.gone_until.is_some());
}

#[test]
#[should_panic(expected = "BRICKED: ForceOff while s1 flashes")]
fn power_cut_in_the_middle_of_a_flash_is_found_out() {
    flashing().act(&reset("ForceOff"));
}

#[test]
#[should_panic(expected = "ForceRestart of s1, for which an image is staged")]
fn a_restart_in_one_request_with_an_image_staged_is_found_out() {
    staged().act(&reset("ForceRestart"));
}

#[test]
#[should_panic(expected = "BRICKED: the BMC is reset while it flashes")]
fn a_bmc_that_is_reset_while_it_flashes_is_found_out() {
    let mut model = Model::new(&["s1"]);
    model.act(&update(Target::Bmc));
    let reset_type = "ForceRestart".to_owned();
    model.act(&Action::ResetManager { reset_type });
}

#[test]
#[should_panic(expected = "BRICKED: the BMC is reset while it flashes")]
fn a_task_that_stands_still_still_flashes() {
    let mut model = Model::new(&["s1"]);
    model.habits.ending = Ending::Stuck;
    model.act(&update(Target::Bmc));
    model.pass(FLASH);
    let reset_type = "ForceRestart".to_owned();
    model.act(&Action::ResetManager { reset_type });
}

#[test]
#[should_panic(expected = "the BMC is reset while a host flashes")]
fn a_bmc_that_is_reset_while_a_host_flashes_is_found_out() {
    let reset_type = "GracefulRestart".to_owned();
    flashing().act(&Action::ResetManager { reset_type });
}

#[test]
#[should_panic(expected = "a second update of server:s1 while the BMC flashes")]
fn a_second_update_while_the_bmc_flashes_is_found_out() {
    let mut model = Model::new(&["s1"]);
    model.act(&update(Target::Bmc));
    model.act(&update(server()));
}

#[test]
#[should_panic(expected = "an update of bmc while a host flashes")]
fn an_update_of_the_bmc_while_a_host_flashes_is_found_out() {
    flashing().act(&update(Target::Bmc));
}

#[test]
#[should_panic(expected = "BRICKED: On while the task flashes s1")]
fn a_host_switched_on_while_it_is_flashed_in_its_sleep_is_found_out() {
    let mut model = Model::new(&["s1"]);
    model.habits.flashes_while_off = true;
    model.act(&reset("ForceOff"));
    model.act(&update(server()));
    model.act(&reset("On"));
}
