//! Two commands on one state: a BMC is driven by one of them.

use crate::lab::{HOPS, Lab, Setup};

#[test]
fn a_second_apply_says_who_drives_the_bmc_and_the_first_one_finishes() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        time_scale: 100,
        ..Setup::default()
    });
    let mut first = lab.start_redpipe(&["apply", "--yes"]);
    first.until("accepted", |lab| {
        !lab.said("mock-1", "update accepted").is_empty()
    });
    let second = lab
        .redpipe(&["--output", "json", "apply", "--yes"])
        .exits(5);
    let holder = format!(
        "bmc `mock-1` is driven by another redpipe: process {}",
        first.pid()
    );
    let problems = &second.document()["problems"];
    assert_eq!(problems[0]["kind"], "lease-held");
    assert_eq!(second.errors().len(), 1, "{}", second.stderr);
    second.says(&holder).says("hint:");
    // Looking is not driving.
    lab.redpipe(&["status"]).exits(0);
    first.end().exits(0);
    lab.check_hops("mock-1");
    assert_eq!(lab.sessions("mock-1"), 0);
}
