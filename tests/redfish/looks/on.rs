//! A look that goes on from the documents of the one before.

use std::sync::Arc;
use std::time::Duration;

use redpipe::model::{Action, LookRequest, Seen, Target};
use redpipe::redfish::Client;

use super::settings_of;
use crate::fake::{Fake, client, look, service, state};

fn keeping(fake: &Arc<Fake>) -> Client {
    let client = client(fake, &[("a", Some("1"))]);
    client.keep_documents(true);
    client
}

async fn look_on(client: &Client, request: &LookRequest) {
    match client.look_on(request).await {
        Seen::Looked(_) => {}
        Seen::Failed(fault) => panic!("{fault}"),
    }
}

/// State and the settings of server `a`.
fn more() -> LookRequest {
    let mut request = state();
    request.merge(settings_of(Target::Server("a".into())));
    request
}

const STATE: [&str; 2] = ["GET /redfish/v1/M/bmc", "GET /redfish/v1/S/1"];

fn asks_anew(asked: &[String]) {
    assert!(
        STATE.iter().all(|line| asked.contains(&(*line).to_owned())),
        "{asked:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn it_asks_for_nothing_that_was_said_a_moment_ago() {
    let fake = service();
    let client = keeping(&fake);
    look(&client, &more()).await;
    look(&client, &state()).await;
    fake.take();
    look_on(&client, &more()).await;
    let asked = fake.take_lines();
    assert!(asked.contains(&"GET /redfish/v1/S/1/Bios".to_owned()));
    assert!(
        STATE
            .iter()
            .all(|line| !asked.contains(&(*line).to_owned())),
        "{asked:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_question_and_one_that_comes_late_are_asked_anew() {
    let fake = service();
    let client = keeping(&fake);
    look(&client, &more()).await;
    fake.take();
    look_on(&client, &more()).await;
    let again = fake.take_lines();
    asks_anew(&again);
    tokio::time::sleep(Duration::from_secs(11)).await;
    look_on(&client, &state()).await;
    let late = fake.take_lines();
    asks_anew(&late);
}

#[tokio::test(start_paused = true)]
async fn nothing_that_was_said_before_an_action_is_believed_after_it() {
    let fake = service();
    let client = keeping(&fake);
    look(&client, &state()).await;
    let reset = Action::ResetManager {
        reset_type: "ForceRestart".to_owned(),
    };
    client.act(&reset).await;
    fake.take();
    look_on(&client, &more()).await;
    let asked = fake.take_lines();
    asks_anew(&asked);
}

#[tokio::test(start_paused = true)]
async fn who_keeps_nothing_asks_for_all() {
    let fake = service();
    let client = keeping(&fake);
    look(&client, &more()).await;
    look(&client, &state()).await;
    client.keep_documents(false);
    fake.take();
    look_on(&client, &more()).await;
    let asked = fake.take_lines();
    asks_anew(&asked);
}
