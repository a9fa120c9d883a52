//! Claims on reports, ledgers and journals that scenarios of settings and power share.

use mock_bmc::ledger::Kind;
use redpipe::daemon::ApplyReport;
use redpipe::daemon::history::events_after;
use redpipe::run::record::{Record, RunPhase};
use redpipe::run::status::StageStatus;
use serde_json::Value;

use crate::common::{self, first};
use crate::support::world::World;

/// The BMC of most scenarios.
pub(crate) const BMC: &str = "mock-1";

/// A pipeline of these stages for every server of the inventory.
pub(crate) fn pipeline(stages: &str) -> String {
    common::pipeline(&[stages.to_owned()])
}

/// One stage.
pub(crate) fn stage_text(name: &str, kind: &str, body: &str) -> String {
    format!("\n[[stage]]\nname = \"{name}\"\nkind = \"{kind}\"\n{body}\n")
}

/// One stage of the run on `mock-1`.
pub(crate) fn stage<'a>(report: &'a ApplyReport, name: &str) -> &'a StageStatus {
    common::stage(first(report), name)
}

/// The run and its stage are completed, the stage in this way.
#[track_caller]
pub(crate) fn assert_completed(report: &ApplyReport, name: &str, how: &str) {
    assert_eq!(
        first(report).phase,
        RunPhase::Completed,
        "{:?}",
        first(report)
    );
    let stage = stage(report, name);
    assert_eq!(stage.phase, RunPhase::Completed, "{stage:?}");
    assert_eq!(stage.how, Some(how), "{stage:?}");
}

/// The run and its stage failed, for a reason that says all of this.
#[track_caller]
pub(crate) fn assert_failed(report: &ApplyReport, name: &str, words: &[&str]) {
    assert_eq!(first(report).phase, RunPhase::Failed, "{:?}", first(report));
    let stage = stage(report, name);
    assert_eq!(stage.phase, RunPhase::Failed, "{stage:?}");
    assert_says(&stage.reason, words);
    assert_says(&first(report).reason, words);
}

/// The run is held, for a reason that says all of this.
#[track_caller]
pub(crate) fn assert_held(report: &ApplyReport, words: &[&str]) {
    assert_eq!(first(report).phase, RunPhase::Held, "{:?}", first(report));
    assert_says(&first(report).reason, words);
}

/// A text says all of this.
#[track_caller]
pub(crate) fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{text}` does not say `{word}`");
    }
}

/// What requests caused and what happened by itself, in order, sessions left out.
pub(crate) fn story(world: &World) -> Vec<String> {
    world
        .ledger(BMC)
        .into_iter()
        .flat_map(|line| match line.kind {
            Kind::Request | Kind::Fetch => line.caused,
            Kind::State => line.detail.into_iter().collect(),
            Kind::Reset | Kind::Fault => Vec::new(),
        })
        .filter(|told| !told.starts_with("session ") && !told.starts_with("login "))
        .collect()
}

/// The lines of a story that begin with one of these.
pub(crate) fn told(world: &World, beginnings: &[&str]) -> Vec<String> {
    let begins = |line: &String| beginnings.iter().any(|begin| line.starts_with(begin));
    story(world).into_iter().filter(begins).collect()
}

/// Bodies of requests that change something, by the end of their path.
pub(crate) fn bodies(world: &World, path_end: &str) -> Vec<Value> {
    world
        .ledger(BMC)
        .into_iter()
        .filter(|line| line.kind == Kind::Request)
        .filter(|line| {
            line.path
                .as_deref()
                .is_some_and(|path| path.ends_with(path_end))
        })
        .filter_map(|line| line.body)
        .collect()
}

/// Everything that was ever written down, oldest first.
pub(crate) fn journal(world: &World) -> Vec<Record> {
    let store = world.engine().store();
    let events = events_after(store.as_ref(), 0, usize::from(u16::MAX)).unwrap();
    events
        .into_iter()
        .filter_map(|event| event.record)
        .collect()
}

/// A BIOS attribute of the first system as it is in effect.
pub(crate) fn bios_attribute(world: &World, name: &str) -> Value {
    let state = world.bmc(BMC, |bmc| bmc.state());
    state.systems[0].attributes[name].clone()
}

/// An attribute of the BMC as it is in effect.
pub(crate) fn bmc_attribute(world: &World, name: &str) -> Value {
    let state = world.bmc(BMC, |bmc| bmc.state());
    state.bmc_attributes[name].clone()
}
