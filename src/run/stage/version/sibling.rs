//! BIOS versions of the other systems behind the BMC, which a hop must not touch.

use std::collections::BTreeMap;

use crate::model::{ServerName, Target};
use crate::run::pass::Pass;
use crate::run::record::{Intent, Place};
use crate::run::state::WorkStatus;

/// As they are before a BIOS hop: by server name, or by URI where the inventory leaves a system out.
pub(super) fn versions(pass: &Pass<'_>, place: &Place) -> BTreeMap<ServerName, String> {
    let Some(own) = place.target.server() else {
        return BTreeMap::new();
    };
    all(pass)
        .into_iter()
        .filter(|(name, _)| name != own)
        .collect()
}

fn all(pass: &Pass<'_>) -> BTreeMap<ServerName, String> {
    let look = pass.look;
    let named = look
        .systems
        .keys()
        .filter_map(|name| Some((name.clone(), look.bios_version(name)?.to_owned())));
    let others = look.other_systems.iter().filter_map(|system| {
        let version = system.bios_version.clone()?;
        Some((system.uri.as_str().into(), version))
    });
    named.chain(others).collect()
}

/// What the hop of a place changed besides its own system, in words.
pub(super) fn changed(pass: &Pass<'_>, place: &Place) -> Option<String> {
    let update = pass.work(place).update()?;
    let Intent::Update { siblings, .. } = &update.intent else {
        return None;
    };
    let now = all(pass);
    siblings.iter().find_map(|(name, before)| {
        let now = now.get(name)?;
        if now == before || has_own_update(pass, name, update.at) {
            return None;
        }
        Some(format!(
            "the update of {} changed `{name}` from `{before}` to `{now}`",
            pass.name(&place.target)
        ))
    })
}

/// Whether a sibling had a hop of its own since then.
fn has_own_update(pass: &Pass<'_>, name: &ServerName, since: jiff::Timestamp) -> bool {
    pass.state.works.iter().any(|(place, work)| {
        let over_at = match &work.status {
            WorkStatus::Active => None,
            WorkStatus::Done { at, .. }
            | WorkStatus::Failed { at, .. }
            | WorkStatus::Stopped { at, .. } => Some(*at),
        };
        matches!(&place.target, Target::Server(server) if server == name)
            && work.update_at_large().is_some()
            && over_at.is_none_or(|at| at >= since)
    })
}
