//! How often a BMC is looked at: soon after something began, never more than it can bear.

use mock_bmc::ledger::{Kind, LedgerLine};

use super::common::{bios_hop, bmc_hop, completed, pipeline};
use super::support::world::World;

/// When a BMC was asked anything from the line that says `from` to the line that says `to`.
fn asked_ms(lines: &[LedgerLine], from: &str, to: &str) -> Vec<u64> {
    let says = |line: &LedgerLine, what: &str| {
        let mut words = line.caused.iter().chain(&line.detail);
        words.any(|word| word.starts_with(what))
    };
    let lines = lines.iter().skip_while(|line| !says(line, from));
    lines
        .take_while(|line| !says(line, to))
        .filter(|line| line.kind == Kind::Request)
        .map(|line| line.at_ms)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn polls_take_no_more_than_a_twentieth_of_a_slow_bmcs_time() {
    let script = "[[fault]]\nmethod = \"GET\"\ncount = 0\nanswer = \"delay\"\nby = \"100ms\"\n";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    let asked = asked_ms(&world.ledger("mock-1"), "update accepted", "manager gone");
    let span_ms = asked.last().unwrap() - asked.first().unwrap();
    let answering_ms = 100 * u64::try_from(asked.len()).unwrap();
    // The first look after the request costs what a look costs, whenever it comes.
    assert!(
        answering_ms <= span_ms / 20 + 500,
        "{answering_ms} ms of {span_ms} ms"
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_just_begun_is_looked_at_soon_and_then_ever_more_seldom() {
    let world = World::one(1, "");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    let asked = asked_ms(&world.ledger("mock-1"), "update accepted", "manager gone");
    let pauses_ms: Vec<u64> = asked
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|pause| *pause > 1000)
        .collect();
    let first = pauses_ms.first().unwrap();
    let middle = pauses_ms[pauses_ms.len() / 2];
    assert!(*first < 3000 && middle > 8000, "{pauses_ms:?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_task_is_seen_when_its_percentage_says_that_it_comes() {
    let script = "[durations]\nbios_stage = \"5m 7s\"\n";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    completed(&world, &report);
    let ledger = world.ledger("mock-1");
    let at = |what: &str| {
        let found = ledger.iter().find(|line| {
            let mut words = line.caused.iter().chain(&line.detail);
            words.any(|word| word.starts_with(what))
        });
        found.unwrap().at_ms
    };
    let lag_ms = at("reset /redfish/v1/Systems/1 GracefulShutdown") - at("bios 1 staged");
    assert!(
        lag_ms < 10_000,
        "the shutdown left {lag_ms} ms after the image was staged"
    );
}
