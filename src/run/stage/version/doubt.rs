//! An update request whose answer is unknown: the BMC is looked at until evidence, or enough quiet time, says whether it
//! happened. Nothing is sent before.

use jiff::Timestamp;

use super::follow;
use super::hop::Hop;
use crate::model::IntentId;
use crate::plan::{is_version_of, live_version};
use crate::run::deadline::after;
use crate::run::foreign::{foreign_update, only_task_since, unexplained_task};
use crate::run::pass::Pass;
use crate::run::record::{Intent, Place, Record};
use crate::run::stage::doubt::{self, RESENDS_MAX};
use crate::run::state::{Act, Work};

/// Looks for what an intent without outcome did.
pub(super) fn step(pass: &mut Pass<'_>, place: &Place, id: &IntentId, hop: &Hop<'_>) {
    if !pass.request.work || !pass.request.software {
        return;
    }
    let Some(act) = pass.work(place).act(id).cloned() else {
        return;
    };
    match &act.intent {
        Intent::Update { from, .. } => {
            if let Some(record) = evidence(pass, place, &act, hop) {
                return pass.record(record);
            }
            if let Some(reason) = uncertain(pass, place, &act, from) {
                return pass.hold(place, reason);
            }
            quiet(pass, place, &act);
        }
        Intent::ResetSystem { .. }
        | Intent::ResetManager { .. }
        | Intent::Withdraw { .. }
        | Intent::Attributes { .. }
        | Intent::Resource { .. }
        | Intent::Call { .. } => doubt::reset(pass, place, &act, None),
    }
}

/// What shows that the request happened: the version, a tied task, or the hop's own version staged where nothing was, with
/// the task that brought it.
fn evidence(pass: &Pass<'_>, place: &Place, act: &Act, hop: &Hop<'_>) -> Option<Record> {
    let happened = |reason: String| Record::Happened {
        at: place.clone(),
        id: act.id.clone(),
        reason,
    };
    if hop.is_at_target(pass, place) {
        return Some(happened("the wanted version is running".to_owned()));
    }
    if let Some((task, tie)) = follow::tied(pass, place, &act.id) {
        return Some(Record::Adopted {
            at: place.clone(),
            id: act.id.clone(),
            task,
            tie,
        });
    }
    if pass.look.fetched.contains(&act.id) {
        return Some(happened("the BMC has fetched the image from us".to_owned()));
    }
    let staged = follow::staged_for(pass, place)
        .into_iter()
        .find(|software| {
            let version = software.version.as_deref();
            version.is_some_and(|v| is_version_of(hop.spec, v, &place.target, pass.look))
        })?;
    let shows = format!(
        "{} shows `{}` as staged, and nothing was before",
        staged.uri,
        staged.version.as_deref().unwrap_or_default()
    );
    // Where such a job is sure to be listed, the only one that came since is no stranger's. Elsewhere ours may be gone from
    // the list, and the one that is there somebody else's.
    let job = pass.look.capability.stages_in_job;
    let Some(task) = only_task_since(pass, &act.intent).filter(|_| job) else {
        return Some(happened(shows));
    };
    Some(Record::Adopted {
        at: place.clone(),
        id: act.id.clone(),
        task: follow::handle_of(task),
        tie: format!("it is the only one that came since, and {shows}"),
    })
}

/// What makes it impossible to tell, now or once the time is over.
fn uncertain(pass: &Pass<'_>, place: &Place, act: &Act, from: &str) -> Option<String> {
    let untold = "whether the lost update request happened cannot be told";
    if let Some(found) = foreign_update(pass) {
        return Some(format!(
            "{untold}: {found}, and nothing ties it to our request; it is neither followed nor activated"
        ));
    }
    if let Some(other) = follow::staged_for(pass, place).first() {
        let version = other.version.as_deref().unwrap_or("(no version)");
        return Some(format!(
            "{untold}: {} shows `{version}` as staged, which is not the hop's version; nothing is activated",
            other.uri
        ));
    }
    if pass.now < after(act.at, pass.spec.pace.lost_update) {
        return None;
    }
    let live = live_version(pass.look, &place.target).unwrap_or("(none shown)");
    let why = if live != from {
        format!("`{from}` ran before, and `{live}` runs now")
    } else if has_restarted(pass, &act.intent, act.at) {
        "the BMC has been away meanwhile".to_owned()
    } else if let Some(task) = unexplained_task(pass, &act.intent) {
        let state = task.state.as_deref().unwrap_or("(no state)");
        format!(
            "task {} came and is `{state}`, and nothing ties it to our request",
            task.uri
        )
    } else if sent_anew(pass.work(place)) >= RESENDS_MAX {
        "this stage was in doubt before".to_owned()
    } else {
        return None;
    };
    Some(format!(
        "{untold}: {why}; find out on the BMC what it did with the image"
    ))
}

/// Update requests of this stage that were lost before and were sent anew.
fn sent_anew(work: &Work) -> usize {
    work.acts
        .iter()
        .filter(|act| act.never_arrived && matches!(act.intent, Intent::Update { .. }))
        .count()
}

/// Whether the BMC may have restarted since a time after an update was decided: it was away in a declared outage, says
/// another start than at the update, or was away at all and says nothing of its start.
pub(super) fn has_restarted(pass: &Pass<'_>, update: &Intent, since: Timestamp) -> bool {
    let was = |at: Option<Timestamp>| at.is_some_and(|at| at >= since);
    let Intent::Update {
        manager_started, ..
    } = update
    else {
        return false;
    };
    match (manager_started, &pass.look.manager_started) {
        (Some(before), Some(now)) => before != now || was(pass.state.back_at),
        _ => was(pass.state.answered_at),
    }
}

/// Nothing moves: time decides.
fn quiet(pass: &mut Pass<'_>, place: &Place, act: &Act) {
    let until = after(act.at, pass.spec.pace.lost_update);
    if pass.now < until {
        let reason = "the update request may have been lost; nothing is sent until it is certain";
        return pass.wait(place, reason, Some(until));
    }
    let reason =
        "no task, no staged image, no restart and the old version for as long as a flash may take";
    pass.record(Record::NotHappened {
        at: place.clone(),
        id: act.id.clone(),
        reason: reason.to_owned(),
    });
}
