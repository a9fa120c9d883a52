//! Updates of this run on other targets: who has the update service, and whom a reset would cut off.

use jiff::Timestamp;

use crate::model::{FaultKind, Target};
use crate::run::deadline::after;
use crate::run::foreign::system;
use crate::run::pass::Pass;
use crate::run::record::Place;
use crate::run::state::WorkStatus;

/// An update of this run on another target.
pub(super) struct Busy {
    /// Whose.
    pub(super) place: Place,
    /// For people.
    pub(super) reason: String,
    /// Whether nothing but a person ends it.
    pub(super) held: bool,
    /// When it counts as over, where its stage is.
    pub(super) until: Option<Timestamp>,
}

/// The update of another target that is between intent and verified version, or that failed so lately that it may still
/// be at work: an ended task is no proof that flashing stopped.
pub(super) fn other_update(pass: &Pass<'_>, place: &Place) -> Option<Busy> {
    other_updates(pass, place).next()
}

fn other_updates<'p>(pass: &'p Pass<'_>, place: &'p Place) -> impl Iterator<Item = Busy> + 'p {
    pass.state
        .works
        .iter()
        .filter(move |(other, _)| *other != place)
        .filter_map(move |(other, work)| {
            let name = pass.name(&other.target);
            if work.is_flashing() {
                return Some(Busy {
                    place: other.clone(),
                    reason: format!("{name} is being updated by stage `{}`", other.stage),
                    held: pass.state.is_held(other),
                    until: None,
                });
            }
            let WorkStatus::Failed { fault, at } = &work.status else {
                return None;
            };
            let until = after(*at, pass.spec.pace.lost_update);
            let may_be_at_work = fault.kind == FaultKind::UpdateFailed
                && work.update_at_large().is_some()
                && pass.now < until;
            may_be_at_work.then(|| Busy {
                place: other.clone(),
                reason: format!("the failed update of {name} may still be at work"),
                held: false,
                until: Some(until),
            })
        })
}

/// The flash that a reset of this place's host would cut off: one of the BMC, or one in a chassis that it shares.
pub(super) fn flash_that_a_reset_would_cut(pass: &Pass<'_>, place: &Place) -> Option<Busy> {
    other_updates(pass, place).find_map(|busy| {
        let Target::Server(name) = &busy.place.target else {
            return Some(busy);
        };
        let own = system(pass.look, place)?;
        let other = pass.look.systems.get(name)?;
        let shares = other
            .chassis
            .iter()
            .any(|chassis| own.chassis.contains(chassis));
        (shares && pass.work(&busy.place).boot_began).then(|| Busy {
            reason: format!("{}, in a chassis that both share", busy.reason),
            ..busy
        })
    })
}

/// Waits for it, and is held with it.
pub(super) fn wait_for(pass: &mut Pass<'_>, place: &Place, busy: &Busy, meanwhile: &str) {
    if busy.held {
        pass.hold(
            place,
            format!("{}, which is held; {meanwhile}", busy.reason),
        );
    } else {
        pass.wait(place, format!("{}; {meanwhile}", busy.reason), busy.until);
    }
}
