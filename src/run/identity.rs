//! Is this still the box that the run began on?

use super::pass::Pass;

/// Why the BMC that answers is not the one this run is about; `None` = it is, as far as it says.
pub(super) fn other_box(pass: &Pass<'_>) -> Option<String> {
    let start = pass.state.start.as_ref()?;
    for (name, before) in &start.boxes {
        let Some(now) = pass.look.systems.get(name) else {
            continue;
        };
        let pairs = [
            ("serial number", &before.serial, &now.serial),
            ("UUID", &before.uuid, &now.uuid),
        ];
        for (what, before, now) in pairs {
            if let (Some(before), Some(now)) = (before, now)
                && before != now
            {
                return Some(format!(
                    "another box? `{name}` had {what} `{before}` when the run began, and has `{now}` now"
                ));
            }
        }
    }
    let difference = start.identity.contradiction(&pass.look.identity)?;
    Some(format!(
        "another box? since the run began, the BMC {difference}"
    ))
}
