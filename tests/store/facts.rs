//! Durable facts: the same claims for every store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use redpipe::model::Capability;
use redpipe::model::id::{BmcName, PipelineName, Target};
use redpipe::model::look::Identity;
use redpipe::store::{FactKind, Owner, Selection};
use serde_json::json;
use tempfile::TempDir;

use crate::world::{each, owner};

#[test]
fn a_second_certificate_never_replaces_the_first_without_a_person() {
    each(|store| {
        assert!(store.remember_pin("h:443", "sha256:aa").unwrap());
        assert!(store.remember_pin("h:443", "sha256:aa").unwrap());
        assert!(!store.remember_pin("h:443", "sha256:bb").unwrap());
        assert_eq!(store.pin("h:443").unwrap().as_deref(), Some("sha256:aa"));
        assert_eq!(store.pin("h:444").unwrap(), None, "each port has its own");
        store.replace_pin("h:443", Some("sha256:bb")).unwrap();
        assert_eq!(store.pin("h:443").unwrap().as_deref(), Some("sha256:bb"));
        store.replace_pin("h:443", None).unwrap();
        assert_eq!(store.pin("h:443").unwrap(), None);
    });
}

#[test]
fn a_pin_that_does_not_read_is_an_error_and_not_a_first_use() {
    each(|store| {
        store
            .update_fact(FactKind::Pin, "h:443", "", &mut |_| Some(json!(7)))
            .unwrap();
        assert!(store.pin("h:443").unwrap_err().to_string().contains("pin"));
        assert!(!store.remember_pin("h:443", "sha256:aa").unwrap());
    });
}

#[test]
fn only_sessions_of_dead_processes_are_left_behind() {
    each(|store| {
        let folder = TempDir::new().unwrap();
        let process = |name: &str| Owner {
            lock_file: folder.path().join(name),
            ..owner(1)
        };
        let (me, living, dead, gone) = (
            process("me"),
            process("living"),
            process("dead"),
            process("gone"),
        );
        let mine = File::create(&me.lock_file).unwrap();
        let theirs = File::create(&living.lock_file).unwrap();
        mine.lock().unwrap();
        theirs.lock().unwrap();
        drop(File::create(&dead.lock_file).unwrap());
        let far = Owner {
            host: "elsewhere".to_owned(),
            ..process("far")
        };
        let bmc = BmcName::from("b");
        for (holder, uri) in [
            (&me, "/s/1"),
            (&living, "/s/2"),
            (&dead, "/s/3"),
            (&gone, "/s/4"),
            (&far, "/s/5"),
        ] {
            store
                .remember_session(&bmc, holder, Some(&json!({ "uri": uri })))
                .unwrap();
        }
        let left: BTreeSet<String> = store
            .left_sessions(&bmc, &me)
            .unwrap()
            .iter()
            .map(|note| note["uri"].to_string())
            .collect();
        assert_eq!(
            left,
            BTreeSet::from(["\"/s/3\"".to_owned(), "\"/s/4\"".to_owned()])
        );
        store
            .forget_left_session(&bmc, &me, &json!({ "uri": "/s/2" }))
            .unwrap();
        store
            .forget_left_session(&bmc, &me, &json!({ "uri": "/s/3" }))
            .unwrap();
        assert_eq!(
            store.left_sessions(&bmc, &me).unwrap(),
            [json!({ "uri": "/s/4" })]
        );
        drop(theirs);
        assert_eq!(
            store.left_sessions(&bmc, &me).unwrap().len(),
            2,
            "the living one's is kept until it dies"
        );
        store.remember_session(&bmc, &me, None).unwrap();
        assert_eq!(store.facts(FactKind::Session, "b").unwrap().len(), 3);
    });
}

#[test]
fn links_belong_to_one_bmc_and_firmware_version() {
    each(|store| {
        let links = json!({ "systems": "/redfish/v1/Systems" });
        store
            .remember_links(&"b".into(), "1.50", Some(&links))
            .unwrap();
        assert_eq!(store.links(&"b".into(), "1.50").unwrap(), Some(links));
        assert_eq!(store.links(&"b".into(), "1.60").unwrap(), None);
        assert_eq!(store.links(&"c".into(), "1.50").unwrap(), None);
        assert_eq!(store.known_links(&"c".into()).unwrap(), None);
        let newer = json!({ "systems": "/redfish/v1/NewSystems" });
        store
            .remember_links(&"b".into(), "1.60", Some(&newer))
            .unwrap();
        assert_eq!(store.links(&"b".into(), "1.50").unwrap(), None);
        assert_eq!(store.known_links(&"b".into()).unwrap(), Some(newer));
        store.remember_links(&"b".into(), "1.60", None).unwrap();
        assert_eq!(store.known_links(&"b".into()).unwrap(), None);
    });
}

#[test]
fn a_capability_of_another_shape_counts_as_unknown() {
    each(|store| {
        let bmc = BmcName::from("b");
        let known = Capability {
            platform: "generic".to_owned(),
            expand: true,
            ..Capability::default()
        };
        store.remember_capability(&bmc, &known).unwrap();
        assert_eq!(store.capability(&bmc).unwrap(), Some(known));
        store
            .update_fact(FactKind::Capability, "b", "", &mut |_| Some(json!([1])))
            .unwrap();
        assert_eq!(store.capability(&bmc).unwrap(), None);
    });
}

#[test]
fn small_facts_are_kept_per_bmc() {
    each(|store| {
        let bmc = BmcName::from("b");
        assert_eq!(
            (
                store.etag_form(&bmc).unwrap(),
                store.lockout_threshold(&bmc).unwrap()
            ),
            (None, None)
        );
        store.remember_etag_form(&bmc, "weak").unwrap();
        store.remember_lockout_threshold(&bmc, 5).unwrap();
        assert_eq!(store.etag_form(&bmc).unwrap().as_deref(), Some("weak"));
        assert_eq!(store.lockout_threshold(&bmc).unwrap(), Some(5));
        assert_eq!(store.etag_form(&"c".into()).unwrap(), None);
    });
}

#[test]
fn claims_find_the_other_bmcs_that_make_them() {
    each(|store| {
        let identity = |root: &str, serial: &str| Identity {
            root_uuid: Some(root.to_owned()),
            serials: BTreeSet::from([serial.to_owned()]),
            ..Identity::default()
        };
        store
            .remember_identity(&"b".into(), &identity("U1", "S1"))
            .unwrap();
        store
            .remember_identity(&"c".into(), &identity("u1", "S2"))
            .unwrap();
        let shared = store.claimants(&"b".into(), &identity("U1", "S1")).unwrap();
        assert_eq!(
            shared,
            BTreeMap::from([("root-uuid:u1".to_owned(), BTreeSet::from(["c".into()]))])
        );
        store
            .remember_identity(&"c".into(), &identity("u2", "S2"))
            .unwrap();
        assert!(
            store
                .claimants(&"b".into(), &identity("U1", "S1"))
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            store.identity(&"c".into()).unwrap(),
            Some(identity("u2", "S2"))
        );
    });
}

#[test]
fn write_only_hashes_are_kept_per_bmc_target_and_key() {
    each(|store| {
        let (bmc, server) = (BmcName::from("b"), Target::Server("s".into()));
        store
            .remember_written(&bmc, &Target::Bmc, "k", "h1")
            .unwrap();
        store.remember_written(&bmc, &server, "k", "h2").unwrap();
        store.remember_written(&bmc, &server, "k", "h3").unwrap();
        assert_eq!(
            store.written(&bmc, &server).unwrap(),
            BTreeMap::from([("k".to_owned(), "h3".to_owned())])
        );
        store.forget_written(&bmc, &server).unwrap();
        assert!(store.written(&bmc, &server).unwrap().is_empty());
        assert_eq!(store.written(&bmc, &Target::Bmc).unwrap().len(), 1);
    });
}

#[test]
fn logins_change_as_one_step_and_marks_are_listed() {
    each(|store| {
        for _ in 0..3 {
            store
                .update_logins("m1", &mut |old| {
                    Some(json!(old.and_then(|n| n.as_u64()).unwrap_or(0) + 1))
                })
                .unwrap();
        }
        let mut seen = None;
        store
            .update_logins("m1", &mut |old| {
                seen.clone_from(&old);
                old
            })
            .unwrap();
        assert_eq!(seen, Some(json!(3)));
        assert_eq!(
            store.login_marks().unwrap(),
            BTreeSet::from(["m1".to_owned()])
        );
        store.update_logins("m1", &mut |_| None).unwrap();
        assert!(store.login_marks().unwrap().is_empty());
    });
}

#[test]
fn the_salt_is_random_and_stays() {
    let salts = std::sync::Mutex::new(BTreeSet::new());
    each(|store| {
        let salt = store.salt().unwrap();
        assert!(salt.len() >= 32 && store.salt().unwrap() == salt);
        assert!(salts.lock().unwrap().insert(salt), "each store has its own");
    });
}

#[test]
fn a_narrowed_selection_adds_to_the_last_and_a_whole_one_replaces_it() {
    each(|store| {
        let pipeline = PipelineName::from("p");
        let of = |names: &[&str]| Selection {
            bmcs: names.iter().map(|name| BmcName::from(*name)).collect(),
            max_failures: 1,
            generation: String::new(),
        };
        store
            .remember_selection(&pipeline, &of(&["a", "b"]), false)
            .unwrap();
        store
            .remember_selection(&pipeline, &of(&["c"]), true)
            .unwrap();
        assert_eq!(store.selections().unwrap()[&pipeline], of(&["a", "b", "c"]));
        store
            .remember_selection(&pipeline, &of(&["c"]), false)
            .unwrap();
        assert_eq!(store.selections().unwrap()[&pipeline], of(&["c"]));
    });
}
