//! What a run waits for, since when, and until when.

use jiff::Timestamp;

use super::record::Wait;
use super::state::RunState;
use super::status::active_waits;

/// One wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitStatus {
    /// The stage that waits; `None` = the run, between two stages.
    pub stage: Option<String>,
    /// `bmc`, or the server's name.
    pub target: Option<String>,
    /// For what.
    pub reason: String,
    /// Since when.
    pub since: Timestamp,
    /// When it turns into something else; `None` = only what the reason names ends it.
    pub until: Option<Timestamp>,
    /// Whether it is a hold.
    pub held: bool,
}

/// Everything that a run waits for, in stage order.
pub(super) fn waits(state: &RunState) -> Vec<WaitStatus> {
    if state.end.is_some() {
        return Vec::new();
    }
    let of_places = active_waits(state).filter_map(|(place, work)| {
        let (wait, since) = work.wait.as_ref()?;
        Some(WaitStatus {
            stage: Some(place.stage.to_string()),
            target: Some(place.target.name().to_owned()),
            ..wait_status(wait, *since)
        })
    });
    let of_run = state
        .wait
        .iter()
        .map(|(wait, since)| wait_status(wait, *since));
    of_places.chain(of_run).collect()
}

fn wait_status(wait: &Wait, since: Timestamp) -> WaitStatus {
    WaitStatus {
        stage: None,
        target: None,
        reason: wait.reason.clone(),
        since,
        until: wait.until,
        held: wait.held,
    }
}
