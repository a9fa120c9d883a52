//! A request whose answer is unknown and whose effect shows by itself: a reset, or settings. It is looked for several
//! times over a while, and nothing is sent before.

use crate::model::look::Power;
use crate::model::{FaultKind, Retry};
use crate::run::deadline::{after, elapsed};
use crate::run::foreign::system;
use crate::run::pass::{Pass, fault, spacing};
use crate::run::record::{Intent, Place, Record, ResetPurpose};
use crate::run::state::Act;

/// New update intents that a doubt may end in, per stage and target: a second doubt is a person's business.
pub(super) const RESENDS_MAX: usize = 1;

/// The same for resets and settings, whose effect can be read: more, so that a bad network does not end a run.
const HARMLESS_RESENDS_MAX: u32 = 3;

/// New intents that a doubt may end in. What an action does beside what shows it is not known: one more at most.
fn resends_max(intent: &Intent) -> u32 {
    match intent {
        Intent::Call { .. } => 1,
        Intent::Update { .. }
        | Intent::Withdraw { .. }
        | Intent::ResetSystem { .. }
        | Intent::ResetManager { .. }
        | Intent::Attributes { .. }
        | Intent::Resource { .. } => HARMLESS_RESENDS_MAX,
    }
}

/// Looks for what a lost reset did; `shown` = something else that shows it.
pub(super) fn reset(pass: &mut Pass<'_>, place: &Place, act: &Act, shown: Option<String>) {
    let shown = shown.or_else(|| match &act.intent {
        Intent::ResetSystem { purpose, .. } => host_shows(pass, place, *purpose),
        Intent::ResetManager {
            manager_started, ..
        } => manager_shows(pass, act, manager_started.as_deref()),
        Intent::Update { .. }
        | Intent::Withdraw { .. }
        | Intent::Attributes { .. }
        | Intent::Resource { .. }
        | Intent::Call { .. } => None,
    });
    by_effect(pass, place, act, shown);
}

/// Evidence that a host reset happened.
fn host_shows(pass: &Pass<'_>, place: &Place, purpose: ResetPurpose) -> Option<String> {
    let system = system(pass.look, place)?;
    let boots = system.in_post == Some(true);
    let is_down = matches!(system.power, Power::Off | Power::Changing);
    let shown = match purpose {
        // A host that boots has been down in between.
        ResetPurpose::Down
        | ResetPurpose::ForceDown
        | ResetPurpose::Restart
        | ResetPurpose::ForceRestart => is_down || boots,
        ResetPurpose::Restore if pass.work(place).power_before == Some(Power::On) => {
            system.power != Power::Off
        }
        ResetPurpose::Restore => is_down,
        ResetPurpose::Up => boots || matches!(system.power, Power::On | Power::Changing),
    };
    let post = if boots { ", in POST" } else { "" };
    shown.then(|| format!("power is {:?}{post}", system.power))
}

fn manager_shows(pass: &Pass<'_>, act: &Act, started: Option<&str>) -> Option<String> {
    if pass.state.answered_at.is_some_and(|at| at >= act.at) {
        return Some("the BMC went away and came back".to_owned());
    }
    match (started, pass.look.manager_started.as_deref()) {
        (Some(before), Some(now)) if before != now => {
            Some(format!("the BMC says that it started at {now}"))
        }
        _ => None,
    }
}

/// Resets and settings are probed by what they change, several times over a while.
pub(super) fn by_effect(pass: &mut Pass<'_>, place: &Place, act: &Act, shown: Option<String>) {
    if let Some(reason) = shown {
        return pass.record(Record::Happened {
            at: place.clone(),
            id: act.id.clone(),
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
        // Looks come when they come: two reads may be almost twice as far apart as they have to be.
        let first_at = before.map_or(pass.now, |good| good.first_at);
        let until = after(first_at, over.saturating_mul(2));
        return pass.wait(
            place,
            "the answer was lost; looking whether it happened",
            Some(until),
        );
    }
    let most = resends_max(&act.intent);
    if pass.work(place).resends >= most {
        let message = format!(
            "the answer was lost {} times, and no read shows that it happened",
            most + 1
        );
        return pass.fail(
            place,
            fault(FaultKind::Unreachable, Retry::Operator, message),
        );
    }
    let reason = format!("{count} reads show no trace of it");
    pass.record(Record::NotHappened {
        at: place.clone(),
        id: act.id.clone(),
        reason,
    });
}
