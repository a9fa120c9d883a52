//! A record as one sentence for a person.

use crate::model::{Outcome, ServerName, StageName, Target};
use crate::run::record::{
    HoldStep, Intent, Milestone, Place, Record, Recovering, ResetPurpose, TaskFate,
};

/// The sentence; `None` for records that only count.
pub fn sentence(record: &Record) -> Option<String> {
    let (place, text) = match record {
        Record::Started {
            servers, recovery, ..
        } => return Some(started(servers, recovery.as_ref())),
        Record::Resumed { .. } => return Some("taken up again".to_owned()),
        Record::Edited { .. } => return edited(record),
        Record::Ordered { order } => {
            return Some(format!("ordered: {} {}", order.verb.as_str(), order.said()));
        }
        Record::Hold { step } => return Some(hold(step)),
        Record::Outage {
            gone,
            expected,
            reason,
        } => return Some(outage(*gone, *expected, reason)),
        Record::CertificateAccepted { reason, .. } => {
            return Some(format!(
                "another certificate is trusted from now on: {reason}"
            ));
        }
        Record::RunWaiting { wait } if wait.held => return Some(format!("held: {}", wait.reason)),
        Record::RunWaiting { wait } => return Some(format!("waits: {}", wait.reason)),
        Record::Notice { text, .. } => return Some(format!("notice: {text}")),
        Record::Ended { phase, reason } => return Some(format!("{}: {reason}", phase.as_str())),
        Record::GoodReads { .. } | Record::RootGood { .. } | Record::WriteOnly { .. } => {
            return None;
        }
        Record::StageStarted { at, .. } => (at, "begins".to_owned()),
        Record::Waiting { at, wait } if wait.held => (at, format!("held: {}", wait.reason)),
        Record::Waiting { at, wait } => (at, format!("waits: {}", wait.reason)),
        Record::Intent { at, intent, id } => (at, format!("will {} [{id}]", intention(intent))),
        Record::Outcome { at, outcome, .. } => (at, answer(outcome)),
        Record::Task { at, seen, .. } => (at, task(seen)),
        Record::Adopted { at, tie, .. } => (at, format!("the lost request's task is found: {tie}")),
        Record::NotHappened { at, reason, .. } => {
            (at, format!("the lost request did not happen: {reason}"))
        }
        Record::Happened { at, reason, .. } => (at, format!("the lost request happened: {reason}")),
        Record::PowerBefore { at, power } => (at, format!("power before is {power:?}")),
        Record::Boot { at, milestone } => (at, milestone_text(*milestone).to_owned()),
        Record::ItemDone { at, item, written } => {
            let how = if *written {
                "written and read back"
            } else {
                "nothing differs"
            };
            (at, format!("item {} is done: {how}", item + 1))
        }
        Record::Done { at, how, reason } => (at, format!("done ({}): {reason}", how.as_str())),
        Record::Retrying { at, fault } => (at, format!("the try failed, another begins: {fault}")),
        Record::Failing { at, fault } => (
            at,
            format!("the try failed; looking for what is left of it: {fault}"),
        ),
        Record::Reopened { at, after, reason } => (at, undone(after.as_ref(), reason)),
        Record::Failed { at, fault } => (at, format!("FAILED: {fault}")),
        Record::Stopped { at, reason } => (at, format!("ended by order: {reason}")),
    };
    Some(format!("{}: {text}", name(place)))
}

fn outage(gone: bool, expected: bool, reason: &str) -> String {
    let how = match (gone, expected) {
        (false, _) => "back",
        (true, true) => "away, as expected",
        (true, false) => "not answering",
    };
    format!("the BMC is {how}: {reason}")
}

fn hold(step: &HoldStep) -> String {
    let listed = |servers: &[ServerName]| {
        let names: Vec<&str> = servers.iter().map(ServerName::as_str).collect();
        names.join(", ")
    };
    match step {
        HoldStep::Asked { servers, .. } => {
            format!(
                "hold: asks for {}, which will be disturbed",
                listed(servers)
            )
        }
        HoldStep::Approved { by, given_at, .. } => {
            let at = given_at.strftime("%Y-%m-%d %H:%M:%S UTC");
            format!("hold: approved by {by} at {at}")
        }
        HoldStep::Lapsed { reason } => format!("hold: asks again, since {reason}"),
        HoldStep::HookStarted { side, hook, .. } => {
            format!("hold: runs {} hook {hook}", side.as_str())
        }
        HoldStep::HookEnded { hook, outcome, .. } if outcome.is_good() => {
            format!("hold: hook {hook} is done")
        }
        HoldStep::HookEnded { hook, outcome, .. } => {
            format!("hold: hook {hook} FAILED: {}", outcome.words())
        }
        HoldStep::Granted => "hold: granted".to_owned(),
        HoldStep::Releasing {
            reason, servers, ..
        } => {
            let each: Vec<String> = servers
                .iter()
                .map(|one| format!("{} {}", one.server, one.outcome.as_str()))
                .collect();
            format!(
                "hold: gives the servers back ({}): {reason}",
                each.join(", ")
            )
        }
        HoldStep::Released => "hold: released".to_owned(),
    }
}

fn edited(record: &Record) -> Option<String> {
    let Record::Edited {
        again,
        added,
        removed,
    } = record
    else {
        return None;
    };
    let mut parts = Vec::new();
    let servers = |names: &[ServerName]| {
        names
            .iter()
            .map(ServerName::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !again.is_empty() {
        let places: Vec<String> = again.iter().map(name).collect();
        parts.push(format!("looked at anew: {}", places.join(", ")));
    }
    if !added.is_empty() {
        parts.push(format!("servers added: {}", servers(added)));
    }
    if !removed.is_empty() {
        parts.push(format!("servers removed: {}", servers(removed)));
    }
    Some(format!("the files were edited; {}", parts.join("; ")))
}

fn undone(after: Option<&StageName>, reason: &str) -> String {
    let by = after.map_or_else(
        || "by nobody of this run".to_owned(),
        |stage| format!("after stage {stage}"),
    );
    format!("undone {by}, applied again: {reason}")
}

fn name(place: &Place) -> String {
    match &place.target {
        Target::Bmc => format!("stage {}", place.stage),
        Target::Server(server) => format!("stage {} on {server}", place.stage),
    }
}

fn intention(intent: &Intent) -> String {
    match intent {
        Intent::Update {
            from,
            to,
            image,
            method,
            ..
        } => {
            format!(
                "update `{from}` to `{to}` with {image} by {}",
                method.as_str()
            )
        }
        Intent::ResetSystem {
            reset_type,
            purpose,
            ..
        } => format!("send {reset_type} to the host ({})", purpose_text(*purpose)),
        Intent::ResetManager { reset_type, .. } => format!("send {reset_type} to the BMC"),
        Intent::Withdraw { uri } => format!("delete {uri}, which is ours"),
        Intent::Attributes { names, .. } => format!("write {}", names.join(", ")),
        Intent::Resource { uri, .. } => format!("write {uri}"),
        Intent::Call { uri, .. } => format!("call {uri}"),
    }
}

fn purpose_text(purpose: ResetPurpose) -> &'static str {
    match purpose {
        ResetPurpose::Down => "down, to activate the image",
        ResetPurpose::ForceDown => "down by force, after the graceful time",
        ResetPurpose::Up => "up",
        ResetPurpose::Restart => "restart",
        ResetPurpose::ForceRestart => "restart by force, after the graceful time",
        ResetPurpose::Restore => "power as before",
    }
}

fn answer(outcome: &Outcome) -> String {
    match outcome {
        Outcome::NotSent { fault } => format!("nothing was sent: {fault}"),
        Outcome::Refused {
            fault, later: true, ..
        } => format!("asked to come later: {fault}"),
        Outcome::Refused { fault, .. } => format!("refused: {fault}"),
        Outcome::Accepted {
            task: Some(task), ..
        } => {
            let uri = task
                .task
                .as_deref()
                .or(task.monitor.as_deref())
                .unwrap_or("?");
            format!("accepted, task {uri}")
        }
        Outcome::Accepted { task: None, .. } => "accepted".to_owned(),
        Outcome::Lost { fault } => format!("the answer is lost: {fault}"),
    }
}

fn task(seen: &crate::run::record::TaskSeen) -> String {
    let state = seen.state.as_deref().unwrap_or("?");
    let percent = seen
        .percent
        .map(|percent| format!(" {percent} %"))
        .unwrap_or_default();
    match seen.fate {
        TaskFate::Running => format!("task is {state}{percent}"),
        TaskFate::AwaitsReset => format!("task is {state} and waits for a reset"),
        TaskFate::Good => format!("task ended {state}"),
        TaskFate::Bad => format!(
            "task ended {state}, {}",
            seen.status.as_deref().unwrap_or("no status")
        ),
        TaskFate::Gone => "the task is gone; the version decides".to_owned(),
    }
}

fn milestone_text(milestone: Milestone) -> &'static str {
    match milestone {
        Milestone::Off => "the host is off",
        Milestone::Booting => "the host boots",
        Milestone::PostOver => "reading back",
        Milestone::Reached => "reached; power goes back to what it was",
        Milestone::Restored => "power is as before",
    }
}

fn started(servers: &[ServerName], recovery: Option<&Recovering>) -> String {
    let names: Vec<&str> = servers.iter().map(ServerName::as_str).collect();
    let why = recovery.map_or_else(String::new, |recovery| {
        format!(", because of drift: {}", recovery.drifted.join("; "))
    });
    format!("started for {}{why}", names.join(", "))
}
