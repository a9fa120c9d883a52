//! How long an apply takes over what no engine could save. The example `makespan` prints it for a fleet of any size.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod figures;
mod fleet;
mod timeline;

use figures::{Figures, others_end_ms};
use fleet::{Case, FIRST, First, run};

/// With one slot nothing is ever empty: all that lies above the bound is ours.
#[tokio::test(start_paused = true)]
async fn an_apply_takes_no_tenth_more_than_its_bmcs_and_the_rules_do() {
    let case = Case {
        bmcs: 3,
        max_concurrent: 1,
        seed: 1,
        first: First::Works,
    };
    let figures = Figures::of(&run(case).await, case.max_concurrent);
    assert_eq!(figures.completed, case.bmcs, "{}", figures.table());
    assert!(figures.ratio() <= 1.10, "{}", figures.table());
}

/// With one slot nothing hides what the others wait for. In a fleet with many it is one of many.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_hangs_for_ever_costs_the_others_its_slot_until_its_deadline_and_nothing_more() {
    let case = |first| Case {
        bmcs: 3,
        max_concurrent: 1,
        seed: 2,
        first,
    };
    let hung = run(case(First::Hangs)).await;
    let held_ms = hung[FIRST].held_ms.expect("no wait is without an end");
    let without = run(case(First::LeftOut)).await;
    let (with_ms, without_ms) = (others_end_ms(&hung), others_end_ms(&without));
    assert!(
        with_ms <= without_ms + held_ms + 30_000,
        "{with_ms} ms, {without_ms} ms without it, held after {held_ms} ms"
    );
}
