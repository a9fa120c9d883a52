//! The crash sweep: whatever redpipe does, it may die at any moment of it, and the next process ends where one that never
//! died would have ended, without asking a BMC for anything twice.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod allowed;
mod ends;
mod kinds;
mod lab;
mod once;
mod stories;
mod sweep;

/// Of so many moments, one (an odd number, as each comes twice: the next process starts at once, or an hour later): the whole sweep takes minutes in a debug build, and is `cargo run --release --example sweep`.
const STEP: usize = 47;

/// Scenarios 15, 26, 27, 101, 102: every story, and among all of them everything that a journal can say.
#[test]
fn a_run_ends_the_same_wherever_its_process_dies() {
    let swept = sweep::sweep(STEP, "", false);
    assert!(swept.wrong.is_empty(), "{}", swept.wrong.join("\n"));
    assert_eq!(swept.never(), [""; 0], "no story writes these down");
    assert!(swept.moments > 80, "only {} moments", swept.moments);
}
