//! A BMC that refuses the login or shows another certificate: one clear error, no harm, and the rest of the fleet goes on.

use crate::lab::{Lab, PASSWORD, Setup};

const THREE: Setup = Setup {
    systems: &[1, 1, 1],
    platform: "generic",
    stages: crate::lab::SETTING,
    script: "",
    time_scale: 600,
    tls: true,
};

fn refused(lab: &Lab, bmc: &str) -> usize {
    lab.said(bmc, "login refused").len()
}

#[track_caller]
fn is_done(lab: &Lab, run: &str) {
    let status = lab.redpipe(&["--output", "json", "status", run]).exits(0);
    assert_eq!(status.document()["runs"][0]["phase"], "Completed");
}

#[test]
fn a_wrong_password_is_tried_three_times_and_never_by_the_next_process_until_a_person_says_so() {
    let lab = Lab::start(THREE);
    lab.bmc("mock-2", |bmc| bmc.set_password("another"));
    let first = lab.redpipe(&["apply", "--yes"]).exits(5);
    assert_eq!(refused(&lab, "mock-2"), 3);
    assert_eq!(first.errors().len(), 1, "{}", first.stderr);
    assert!(first.errors()[0].contains("mock-2"), "{}", first.stderr);
    let first = first.says("refused the login of user `root`");
    first.says("redpipe trust --credentials mock-2");
    is_done(&lab, "p/mock-1");
    is_done(&lab, "p/mock-3");
    let lines = lab.ledger("mock-2").len();
    assert!(lab.said("mock-2", "session created").is_empty());

    for command in [&["apply", "--yes"][..], &["plan"], &["inventory", "check"]] {
        let next = lab
            .redpipe(command)
            .exits(5)
            .says("redpipe trust --credentials mock-2");
        assert_eq!(next.errors().len(), 1, "{}", next.stderr);
    }
    assert_eq!(refused(&lab, "mock-2"), 3, "of {lines} requests");

    lab.redpipe(&["trust", "--credentials", "mock-2"]).exits(0);
    lab.redpipe(&["plan"]).exits(5);
    assert_eq!(refused(&lab, "mock-2"), 6, "trusted, and wrong again");

    lab.bmc("mock-2", |bmc| bmc.set_password(PASSWORD));
    lab.redpipe(&["plan"]).exits(5);
    lab.redpipe(&["trust", "--credentials", "mock-2"]).exits(0);
    lab.redpipe(&["apply", "--yes"]).exits(0);
    is_done(&lab, "p/mock-2");
    assert_eq!(refused(&lab, "mock-2"), 6);
}

#[test]
fn changed_credentials_are_tried_without_anybodys_word() {
    let lab = Lab::start(Setup::default());
    lab.set_password("a wrong one");
    lab.redpipe(&["plan"]).exits(5);
    assert_eq!(refused(&lab, "mock-1"), 3);
    lab.set_password(PASSWORD);
    lab.redpipe(&["apply", "--yes"]).exits(0);
    assert_eq!(refused(&lab, "mock-1"), 3);
}

#[test]
fn a_bmc_that_locks_its_account_after_three_refusals_meets_two() {
    let lab = Lab::start(Setup {
        script: "[sessions]\nlockout_threshold = 3\n",
        ..Setup::default()
    });
    lab.redpipe(&["plan"]).exits(3);
    lab.bmc("mock-1", |bmc| bmc.set_password("another"));
    lab.redpipe(&["apply", "--yes"]).exits(5);
    assert_eq!(refused(&lab, "mock-1"), 2);
}

#[test]
fn credentials_that_three_bmcs_refuse_are_tried_on_no_other() {
    let lab = Lab::start(Setup {
        systems: &[1, 1, 1, 1, 1],
        ..Setup::default()
    });
    lab.set_password("a wrong one");
    let ended = lab.redpipe(&["plan"]).exits(5);
    assert_eq!(ended.errors().len(), 5, "{}", ended.stderr);
    let each: Vec<usize> = (1..=5)
        .map(|n| refused(&lab, &format!("mock-{n}")))
        .collect();
    let met = each.iter().filter(|count| **count > 0).count();
    assert!(met <= 3, "{each:?}");
    assert!(each.iter().all(|count| *count <= 3), "{each:?}");
    lab.redpipe(&["plan"])
        .exits(5)
        .says("refused by several BMCs");
    let again: Vec<usize> = (1..=5)
        .map(|n| refused(&lab, &format!("mock-{n}")))
        .collect();
    assert_eq!(again, each);
}

#[test]
fn a_changed_certificate_is_refused_with_both_fingerprints_until_a_person_trusts_it() {
    let lab = Lab::start(THREE);
    lab.redpipe(&["plan"]).exits(3);
    lab.bmc("mock-2", mock_bmc::bmc::Bmc::replace_tls_certificate);
    let seen = lab.ledger("mock-2").len();
    let ended = lab.redpipe(&["apply", "--yes"]).exits(5);
    assert_eq!(ended.errors().len(), 1, "{}", ended.stderr);
    assert!(
        ended.errors()[0].contains("bmc `mock-2`"),
        "{}",
        ended.stderr
    );
    let mut prints: Vec<&str> = ended
        .stderr
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != ':')
        .filter(|word| word.starts_with("sha256:") && word.len() == "sha256:".len() + 64)
        .collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), 2, "{}", ended.stderr);
    ended.says("redpipe trust mock-2");
    assert_eq!(lab.ledger("mock-2").len(), seen, "no request reached it");
    is_done(&lab, "p/mock-1");
    is_done(&lab, "p/mock-3");

    for command in [&["plan"][..], &["inventory", "check"]] {
        let again = lab.redpipe(command).exits(5).says("redpipe trust mock-2");
        assert_eq!(again.errors().len(), 1, "{}", again.stderr);
    }
    lab.redpipe(&["trust", "mock-2"])
        .exits(0)
        .says("mock-2: certificate sha256:");
    lab.redpipe(&["apply", "--yes"]).exits(0);
    is_done(&lab, "p/mock-2");
}

#[test]
fn trusting_a_bmc_that_is_not_listed_names_those_that_are() {
    let lab = Lab::start(Setup::default());
    let ended = lab.redpipe(&["trust", "mock-9"]).exits(4);
    ended.says("no bmc `mock-9`").says("mock-1");
}
