//! What a run says of itself to machines: conditions.

use serde::Serialize;

use super::record::RunPhase;
use super::state::{Hold, HoldPhase, HookState, RunState};
use crate::model::ServerName;

/// A condition as Kubernetes' readers know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// `Progressing`, `Maintenance`, `Ahead`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `True` or `False`.
    pub status: &'static str,
    /// One word.
    pub reason: String,
    /// For people.
    pub message: String,
}

/// All that can be said of a run in one word each; `reason` is why it stands where it stands.
pub(super) fn conditions(state: &RunState, phase: RunPhase, reason: &str) -> Vec<Condition> {
    let progressing = phase == RunPhase::InProgress;
    let mut all = vec![Condition {
        kind: "Progressing",
        status: if progressing { "True" } else { "False" },
        reason: phase.as_str().to_owned(),
        message: reason.to_owned(),
    }];
    all.extend(state.hold.as_ref().map(maintenance));
    let ahead: Vec<&str> = state
        .notices
        .iter()
        .filter_map(|text| text.strip_prefix("ahead: "))
        .collect();
    if !ahead.is_empty() {
        all.push(Condition {
            kind: "Ahead",
            status: "True",
            reason: "Ahead".to_owned(),
            message: ahead.join("; "),
        });
    }
    all
}

/// Whether the servers of a run are held for it, and how that stands.
fn maintenance(hold: &Hold) -> Condition {
    let servers: Vec<&str> = hold.servers.iter().map(ServerName::as_str).collect();
    let (reason, message) = match &hold.phase {
        HoldPhase::Asked => ("Asked", format!("asks for {}", servers.join(", "))),
        HoldPhase::Approved(approval) => ("Approved", format!("approved by {}", approval.by)),
        HoldPhase::Granted => ("Granted", format!("may disturb {}", servers.join(", "))),
        HoldPhase::Releasing(release) => (
            "Releasing",
            format!("gives back {}: {}", servers.join(", "), release.reason),
        ),
    };
    let message = match &hold.hook {
        HookState::Failed(words) => format!("{message}; {words}"),
        HookState::Idle | HookState::Running => message,
    };
    Condition {
        kind: "Maintenance",
        status: if hold.is_owed() { "True" } else { "False" },
        reason: reason.to_owned(),
        message,
    }
}
