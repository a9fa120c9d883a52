//! Selecting by what hardware says of itself: it is asked first, and what does not answer is told.

use crate::lab::{Lab, Setup};

#[test]
fn what_cannot_be_heard_is_neither_selected_nor_forgotten() {
    let lab = Lab::start(Setup {
        systems: &[1, 1],
        script: "[[fault]]\nbmc = \"mock-2\"\ncount = 0\nanswer = \"refuse\"\n",
        ..Setup::default()
    });
    let limit = "redfish.platform=generic";
    let plan = ["--output", "json", "plan", "--limit", limit];
    let planned = lab.redpipe(&plan).exits(6);
    let document = planned.document();
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["runs"][0]["bmc"], "mock-1");
    let problem = &document["problems"][0];
    assert_eq!(
        (&problem["bmc"], &problem["kind"]),
        (&"mock-2".into(), &"unreachable".into())
    );
    let message = problem["message"].as_str().unwrap_or_default();
    let begin = "whether `p` selects bmc `mock-2` hangs on what its hardware says of itself, and it was not heard: ";
    assert!(message.starts_with(begin), "{message}");

    for command in [
        &["drift", "--limit", limit][..],
        &["apply", "--yes", "--limit", limit],
    ] {
        lab.redpipe(command).exits(6).says(begin);
    }
    let status = lab
        .redpipe(&["--output", "json", "status", "p/mock-1"])
        .exits(0);
    assert_eq!(status.document()["runs"][0]["phase"], "Completed");
}

#[test]
fn a_fact_that_does_not_exist_or_fits_nothing_is_told_apart() {
    let lab = Lab::start(Setup::default());
    lab.redpipe(&["plan", "--limit", "redfish.modell=x"])
        .exits(2)
        .says("no fact of the hardware is called `redfish.modell`");
    assert!(lab.ledger("mock-1").is_empty(), "before anybody is asked");
    lab.redpipe(&["plan", "--limit", "redfish.platform=\"iLO 6\""])
        .exits(4)
        .says("no server of the inventory matches");
}
