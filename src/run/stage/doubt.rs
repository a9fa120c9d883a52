//! A request whose answer is unknown: the BMC is looked at until evidence, or enough quiet time, says whether it
//! happened. Nothing is sent before.

use super::{follow, version};
use crate::model::look::Power;
use crate::model::{FaultKind, IntentId, Retry};
use crate::run::deadline::{after, elapsed};
use crate::run::foreign::system;
use crate::run::pass::{Pass, fault, spacing};
use crate::run::record::{Intent, Place, Record, ResetPurpose};

/// New intents that a doubt may end in, per stage and target: a second doubt is a person's business.
const RESENDS_MAX: u32 = 1;

/// Looks for what an intent without outcome did.
pub(super) fn step(pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
    let Some(act) = pass.work(place).act(id).cloned() else {
        return;
    };
    match &act.intent {
        Intent::Update {
            from,
            manager_started,
            ..
        } => {
            update(pass, place, id, from, manager_started.as_deref(), act.at);
        }
        Intent::ResetSystem { purpose, .. } => {
            let shown = reset_shows(pass, place, *purpose);
            by_effect(pass, place, id, shown);
        }
        Intent::ResetManager { .. } => {
            let gone_after = pass.state.back_at.is_some_and(|at| at >= act.at);
            by_effect(
                pass,
                place,
                id,
                gone_after.then(|| "the BMC went away and came back".to_owned()),
            );
        }
        Intent::Attributes { .. } | Intent::Resource { .. } => {}
    }
}

fn update(
    pass: &mut Pass<'_>,
    place: &Place,
    id: &IntentId,
    from: &str,
    started: Option<&str>,
    sent_at: jiff::Timestamp,
) {
    if !pass.request.work || !pass.request.software {
        return;
    }
    if version::is_at(pass, place) {
        let reason = "the wanted version is running".to_owned();
        return pass.record(Record::Happened {
            at: place.clone(),
            id: id.clone(),
            reason,
        });
    }
    if let Some((task, tie)) = follow::tied(pass, place, id) {
        return pass.record(Record::Adopted {
            at: place.clone(),
            id: id.clone(),
            task,
            tie,
        });
    }
    if let Some(staged) =
        system(pass.look, place).and_then(|system| follow::staged_version(pass.look, system))
    {
        let reason = format!("the BMC shows `{staged}` as staged, and nothing was before");
        return pass.record(Record::Happened {
            at: place.clone(),
            id: id.clone(),
            reason,
        });
    }
    if let Some(stranger) = version::stranger(pass) {
        return pass.hold(
            place,
            format!("{stranger} is not tied to our request; it is neither followed nor activated"),
        );
    }
    let until = after(sent_at, pass.spec.pace.lost_update);
    if pass.now < until {
        let reason = "the update request may have been lost; nothing is sent until it is certain";
        return pass.wait(place, reason, Some(until));
    }
    let live = pass.look.version(&place.target).unwrap_or_default();
    let restarted = pass.state.back_at.is_some_and(|at| at >= sent_at)
        || matches!((started, pass.look.manager_started.as_deref()), (Some(before), Some(now)) if before != now);
    if live != from || restarted || pass.work(place).resends >= RESENDS_MAX {
        let why = if restarted {
            "the BMC restarted meanwhile"
        } else {
            "it was in doubt before"
        };
        return pass.hold(
            place,
            format!(
                "whether the lost update request happened cannot be told: {why}, running `{live}`"
            ),
        );
    }
    let reason =
        "no task, no staged image, no restart and the old version for as long as a flash may take"
            .to_owned();
    pass.record(Record::NotHappened {
        at: place.clone(),
        id: id.clone(),
        reason,
    });
}

/// Evidence that a host reset happened.
fn reset_shows(pass: &Pass<'_>, place: &Place, purpose: ResetPurpose) -> Option<String> {
    let system = system(pass.look, place)?;
    let booting = system.in_post == Some(true);
    let shown = match purpose {
        ResetPurpose::Down | ResetPurpose::ForceDown | ResetPurpose::Restore => {
            matches!(system.power, Power::Off | Power::Changing)
        }
        ResetPurpose::Up => booting || matches!(system.power, Power::On | Power::Changing),
        ResetPurpose::Restart | ResetPurpose::ForceRestart => {
            booting || matches!(system.power, Power::Off | Power::Changing)
        }
    };
    shown.then(|| {
        format!(
            "power is {:?}{}",
            system.power,
            if booting { ", in POST" } else { "" }
        )
    })
}

/// Resets and settings are probed by what they change, several times over a while.
pub(super) fn by_effect(pass: &mut Pass<'_>, place: &Place, id: &IntentId, shown: Option<String>) {
    if let Some(reason) = shown {
        return pass.record(Record::Happened {
            at: place.clone(),
            id: id.clone(),
            reason,
        });
    }
    let pace = &pass.spec.pace;
    let (reads, over) = (pace.settle_reads.max(1), pace.probe_for);
    let before = pass.work(place).good;
    let count = match before {
        None => 1,
        Some(good) if elapsed(good.last_at, pass.now) >= spacing(over, reads) => good.count + 1,
        Some(good) => good.count,
    };
    if before.map(|good| good.count) != Some(count) {
        pass.record(Record::GoodReads {
            at: place.clone(),
            count,
        });
    }
    if count < reads {
        return pass.wait(
            place,
            "the answer was lost; looking whether it happened",
            None,
        );
    }
    if pass.work(place).resends >= RESENDS_MAX.saturating_mul(3) {
        let message = "the request was lost again and again".to_owned();
        return pass.fail(
            place,
            fault(FaultKind::Unreachable, Retry::Operator, message),
        );
    }
    let reason = format!("{count} reads show no trace of it");
    pass.record(Record::NotHappened {
        at: place.clone(),
        id: id.clone(),
        reason,
    });
}
