//! Claims about `targets`.

use super::*;
use crate::plan::testing::{bios_hop, bmc_hop, look, server, software, system};

fn targets(authored: Option<&[&str]>, name: &str, look: &Look) -> Result<Vec<String>, String> {
    let mut stage = bios_hop("h", "2", &[name]);
    stage.options.targets =
        authored.map(|list| list.iter().map(|text| (*text).to_owned()).collect());
    update_targets(&stage, &server(name), look, UpdateMethod::MultipartPush)
}

fn two() -> Look {
    look(None, &[("1", Some("2.10")), ("10", Some("2.10"))])
}

#[test]
fn a_sole_system_and_a_bmc_need_no_targets() {
    let one = look(None, &[("1", Some("2.10"))]);
    assert_eq!(targets(None, "1", &one), Ok(Vec::new()));
    assert_eq!(
        update_targets(
            &bmc_hop("h", "2"),
            &Target::Bmc,
            &two(),
            UpdateMethod::MultipartPush
        ),
        Ok(Vec::new())
    );
}

#[test]
fn systems_that_are_not_selected_or_not_shown_count() {
    let mut other = look(None, &[("1", Some("2.10"))]);
    other.other_systems.push(system("2", None));
    assert_eq!(
        targets(None, "1", &other),
        Ok(vec!["/systems/1/bios".to_owned()])
    );
    let mut missing = look(None, &[("1", Some("2.10"))]);
    missing.missing_systems.push("2".into());
    assert_eq!(
        targets(None, "1", &missing),
        Ok(vec!["/systems/1/bios".to_owned()])
    );
}

#[test]
fn the_inventory_member_of_this_bios_is_found() {
    let mut look = two();
    look.software = vec![
        software("a", "2.10", &["/Systems/10/Bios"]),
        software("b", "2.10", &["/systems/1/bios"]),
        software("nic", "20.1", &["/systems/1"]),
        software("all", "2.10", &["/systems/1/bios", "/systems/10/bios"]),
    ];
    assert_eq!(
        targets(None, "1", &look),
        Ok(vec!["/software/b".to_owned()])
    );
    assert_eq!(
        targets(None, "10", &look),
        Ok(vec!["/software/a".to_owned()])
    );
}

#[test]
fn of_several_members_the_running_one_is_meant_and_else_none() {
    let mut look = two();
    look.software = vec![
        software("now", "2.10", &["/systems/1/bios"]),
        software("backup", "2.00", &["/systems/1/bios"]),
    ];
    assert_eq!(
        targets(None, "1", &look),
        Ok(vec!["/software/now".to_owned()])
    );
    look.software
        .push(software("twin", "2.10", &["/systems/1/bios"]));
    assert!(targets(None, "1", &look).is_err_and(|why| why.contains("more than one")));
}

#[test]
fn authored_targets_must_be_of_this_system_alone() {
    let mut look = two();
    look.software = vec![
        software("mine", "2.10", &["/systems/1/bios"]),
        software("all", "2.10", &["/systems/1/bios", "/systems/10/bios"]),
    ];
    let good = ["{system}", "{bios}", "/SYSTEMS/1/Bios", "/software/mine"];
    for uri in good {
        assert!(targets(Some(&[uri]), "1", &look).is_ok(), "{uri}");
    }
    let bad = ["/systems/10", "/software/all", "/elsewhere", "{manager}"];
    for uri in bad {
        assert!(targets(Some(&[uri]), "1", &look).is_err(), "{uri}");
    }
    assert!(targets(Some(&[]), "1", &look).is_err());
    assert_eq!(
        targets(Some(&["{bios}"]), "10", &look),
        Ok(vec!["/systems/10/bios".to_owned()])
    );
}

#[test]
fn nothing_is_guessed_for_a_system_that_is_not_there_or_has_no_bios() {
    assert!(targets(None, "9", &two()).is_err());
    let mut look = two();
    if let Some(system) = look.systems.get_mut(&"1".into()) {
        system.bios_uri = None;
    }
    assert!(targets(None, "1", &look).is_err());
}

#[test]
fn where_the_platform_takes_a_name_the_own_member_is_named_though_nothing_asks_for_it() {
    let mut one = look(Some("1.50"), &[("1", Some("2.10"))]);
    one.capability.named_targets = true;
    let manager = one
        .manager()
        .map(|manager| manager.uri.clone())
        .unwrap_or_default();
    one.software = vec![
        software("bmc", "1.50", &[manager.as_str()]),
        software("bios", "2.10", &["/systems/1/bios"]),
    ];
    assert_eq!(
        targets(None, "1", &one),
        Ok(vec!["/software/bios".to_owned()])
    );
    assert_eq!(
        update_targets(
            &bmc_hop("h", "2"),
            &Target::Bmc,
            &one,
            UpdateMethod::MultipartPush
        ),
        Ok(vec!["/software/bmc".to_owned()])
    );
    one.software.clear();
    assert_eq!(
        update_targets(
            &bmc_hop("h", "2"),
            &Target::Bmc,
            &one,
            UpdateMethod::MultipartPush
        ),
        Ok(Vec::new())
    );
}

#[test]
fn a_raw_push_to_a_sole_system_names_nothing_that_nobody_asked_for() {
    let mut one = look(Some("1.50"), &[("1", Some("2.10"))]);
    one.capability.named_targets = true;
    let push = UpdateMethod::HttpPush;
    let mut stage = bios_hop("h", "2", &["1"]);
    assert_eq!(
        update_targets(&stage, &server("1"), &one, push),
        Ok(Vec::new())
    );
    let manager = one
        .manager()
        .map(|manager| manager.uri.clone())
        .unwrap_or_default();
    one.software = vec![software("bmc", "1.50", &[manager.as_str()])];
    assert_eq!(
        update_targets(&bmc_hop("h", "2"), &Target::Bmc, &one, push),
        Ok(Vec::new())
    );
    stage.options.targets = Some(vec!["/software/bios".to_owned()]);
    assert_eq!(
        update_targets(&stage, &server("1"), &one, push),
        Ok(vec!["/software/bios".to_owned()])
    );
    let stage = bios_hop("h", "2", &["1", "10"]);
    assert!(
        update_targets(&stage, &server("1"), &two(), push).is_ok_and(|named| !named.is_empty())
    );
}
