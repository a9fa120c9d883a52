//! BMCs that only pull, over real sockets: the image comes from the process that asks for the update.

use mock_bmc::ledger::Kind;

use crate::lab::{HOPS, Lab, Setup};

#[test]
fn files_are_served_to_bmcs_that_only_pull_for_as_long_as_their_hop_lasts() {
    let lab = Lab::start(Setup {
        systems: &[1, 1],
        stages: HOPS,
        script: "[update]\nmultipart = false\nhttp_push = false\n",
        ..Setup::default()
    });
    lab.redpipe(&["apply", "--yes"]).exits(0);
    for name in ["mock-1", "mock-2"] {
        let fetches: Vec<_> = lab
            .bmc(name, |bmc| bmc.ledger().to_vec())
            .into_iter()
            .filter(|line| line.kind == Kind::Fetch)
            .collect();
        let caused: Vec<&str> = fetches
            .iter()
            .flat_map(|line| &line.caused)
            .map(|caused| caused.split(" task").next().unwrap())
            .collect();
        assert_eq!(caused, ["update image bmc 1.60", "update image bmc 1.80"]);
        for line in fetches {
            let uri = line.path.unwrap();
            assert!(uri.starts_with("http://127.0.0.1:"), "{uri}");
        }
    }
}

#[test]
fn an_address_for_the_image_server_that_is_not_of_this_host_is_told_and_nothing_is_flashed() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        script: "[update]\nmultipart = false\nhttp_push = false\n",
        ..Setup::default()
    });
    lab.redpipe(&["--image-server", "192.0.2.1:0", "apply", "--yes"])
        .exits(1)
        .says("cannot be served")
        .says("--image-server");
    let accepted = lab.bmc("mock-1", |bmc| {
        let lines = bmc.ledger().iter().flat_map(|line| &line.caused);
        lines.filter(|caused| caused.contains("update")).count()
    });
    assert_eq!(accepted, 0);
}
