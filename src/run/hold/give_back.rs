//! Servers are given back once: when the run ends, or when its window closes between two steps.

use super::call::HookCall;
use super::gate::{giving_back, start};
use super::rest::mid_step;
use crate::model::order::Verb;
use crate::model::{ServerName, Target};
use crate::run::pass::{Pass, STOPPING};
use crate::run::record::{HoldStep, HookSide, OutcomeWord, Place, Record, RunPhase, ServerOutcome};
use crate::run::state::{Hold, HoldPhase, HookState, REMOVED, Release, RunState, Work, WorkStatus};

/// Gives servers back whose window is over, once nothing is in the middle of a step, and carries a giving back on.
pub(in crate::run) fn settle(pass: &mut Pass<'_>) {
    let Some(hold) = &pass.state.hold else { return };
    if let HoldPhase::Releasing(release) = &hold.phase {
        if release.end.is_none() {
            go_on(pass);
        }
        return;
    }
    let is_shut = match &pass.spec.maintenance.window {
        None => false,
        Some(window) => pass.shut || !window.is_open(pass.now),
    };
    let is_due = hold.is_owed() && is_shut && !pass.state.active().is_empty();
    if is_due && mid_step(&pass.state, None).is_none() {
        release(pass, "the window is over", None);
        go_on(pass);
    }
}

/// How the run ends once its servers are given back, where that has begun.
pub(in crate::run) fn ended(state: &RunState) -> Option<(RunPhase, String)> {
    match &state.hold.as_ref()?.phase {
        HoldPhase::Releasing(release) => Some((release.end?, release.reason.clone())),
        HoldPhase::Asked | HoldPhase::Approved(_) | HoldPhase::Granted => None,
    }
}

/// Whether the run may end like this: true once its servers are given back. Goes on with that otherwise.
pub(in crate::run) fn gave_back(pass: &mut Pass<'_>, end: RunPhase, reason: &str) -> bool {
    let Some(hold) = &pass.state.hold else {
        return true;
    };
    match &hold.phase {
        HoldPhase::Releasing(Release { end: Some(_), .. }) => {}
        HoldPhase::Releasing(_) => return go_on(pass),
        HoldPhase::Asked | HoldPhase::Approved(_) | HoldPhase::Granted => {
            if !hold.is_owed() {
                return true;
            }
            release(pass, reason, Some(end));
        }
    }
    go_on(pass)
}

fn release(pass: &mut Pass<'_>, reason: &str, end: Option<RunPhase>) {
    if let Some(record) = releasing(&pass.state, end, reason) {
        pass.record(record);
    }
}

/// The record that begins to give servers back; `None` where none are held.
pub(in crate::run) fn releasing(
    state: &RunState,
    end: Option<RunPhase>,
    reason: &str,
) -> Option<Record> {
    let hold = state.hold.as_ref().filter(|hold| hold.is_owed())?;
    let servers = hold.servers.iter().map(|server| outcome(state, server));
    let step = HoldStep::Releasing {
        reason: reason.to_owned(),
        end,
        servers: servers.collect(),
    };
    Some(Record::Hold { step })
}

/// Runs the next `after` hook; true once all have done their part and the servers are free.
fn go_on(pass: &mut Pass<'_>) -> bool {
    let Some(hold) = pass.state.hold.clone() else {
        return true;
    };
    let HoldPhase::Releasing(release) = &hold.phase else {
        return false;
    };
    let is_free = |one: &&ServerOutcome| one.outcome != OutcomeWord::LeftBehind;
    let free: Vec<ServerName> = release
        .servers
        .iter()
        .filter(is_free)
        .map(|one| one.server.clone())
        .collect();
    let hooks = pass.spec.maintenance.after.len();
    if hold.hooks_done >= hooks || free.is_empty() {
        skipped(pass, &hold, free.is_empty());
        let step = HoldStep::Released;
        pass.record(Record::Hold { step });
        return true;
    }
    match &hold.hook {
        HookState::Failed(words) if is_given_up(&pass.state) => {
            let text = format!("the run is given up, and its servers were not given back: {words}");
            pass.record(Record::Notice { at: None, text });
            let step = HoldStep::Released;
            pass.record(Record::Hold { step });
            return true;
        }
        HookState::Failed(_) => wait(pass, &giving_back(&hold), true),
        HookState::Running => {}
        HookState::Idle if !pass.permits.acts => wait(pass, STOPPING, false),
        HookState::Idle => {
            let call = HookCall::new(pass, HookSide::After, hold.hooks_done, free);
            if let Some(mut call) = call.filter(|_| pass.act.is_none() && pass.hook.is_none()) {
                call.document.end = release.end;
                call.document.outcomes.clone_from(&release.servers);
                wait(
                    pass,
                    "the hook that gives the servers back is running",
                    false,
                );
                start(pass, call);
            }
        }
    }
    false
}

/// Whether a person gave the run up, whatever is left.
fn is_given_up(state: &RunState) -> bool {
    let mut orders = state.orders.iter();
    orders.any(|order| order.verb == Verb::Leave)
}

fn skipped(pass: &mut Pass<'_>, hold: &Hold, nothing_free: bool) {
    if nothing_free && hold.hooks_done < pass.spec.maintenance.after.len() {
        let text = "no `after` hook runs: something of an update is left on every server";
        pass.record(Record::Notice {
            at: None,
            text: text.to_owned(),
        });
    }
}

/// What the run waits for meanwhile: every place that could move, or the run itself where none can.
fn wait(pass: &mut Pass<'_>, reason: &str, held: bool) {
    let places = pass.state.active();
    for place in places.iter().filter(|_| held) {
        pass.start(place);
        pass.hold(place, reason);
    }
    if places.is_empty() {
        pass.run_wait(reason, None, held);
    }
}

fn outcome(state: &RunState, server: &ServerName) -> ServerOutcome {
    let own = Target::Server(server.clone());
    let is_about_it = |place: &Place| place.target == own || place.target == Target::Bmc;
    let (mut word, mut said) = (OutcomeWord::Completed, String::new());
    let works = state.works.iter().filter(|(place, _)| is_about_it(place));
    for (place, work) in works {
        let (found, why) = match &work.status {
            WorkStatus::Failed { fault, .. } => (OutcomeWord::Failed, fault.to_string()),
            _ if is_left(state, work) => {
                let why = "its update may still be on the BMC";
                (OutcomeWord::LeftBehind, why.to_owned())
            }
            WorkStatus::Active | WorkStatus::Done { .. } | WorkStatus::Stopped { .. } => continue,
        };
        if word != OutcomeWord::LeftBehind {
            (word, said) = (found, format!("stage `{}`: {why}", place.stage));
        }
    }
    let stages = state.start.iter().flat_map(|start| &start.stages);
    let undone = stages.into_iter().find(|head| {
        let target = if head.kind.is_bmc() {
            &Target::Bmc
        } else {
            &own
        };
        let is_of_run = head.kind.is_bmc()
            || is_selected(state, server) && !head.targets(std::slice::from_ref(server)).is_empty();
        is_of_run
            && !state.is_done(&Place {
                stage: head.name.clone(),
                target: target.clone(),
            })
    });
    if let (OutcomeWord::Completed, Some(head)) = (word, undone) {
        let why = if state.is_removed(&own) {
            REMOVED.to_owned()
        } else {
            format!("stage `{}` is not done", head.name)
        };
        (word, said) = (OutcomeWord::Unfinished, why);
    }
    ServerOutcome {
        server: server.clone(),
        outcome: word,
        reason: said,
    }
}

/// Whether something of a place's update may be on the BMC although nobody follows it any more.
fn is_left(state: &RunState, work: &Work) -> bool {
    match work.status {
        WorkStatus::Active => work.is_flashing(),
        WorkStatus::Stopped { .. } => is_given_up(state) && work.update_at_large().is_some(),
        WorkStatus::Done { .. } | WorkStatus::Failed { .. } => false,
    }
}

fn is_selected(state: &RunState, server: &ServerName) -> bool {
    let start = state.start.as_ref();
    start.is_some_and(|start| start.servers.contains(server))
}
