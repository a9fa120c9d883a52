//! What stands between a target and what is wanted of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::plan::{
    FindingKind, FlowItemSpec, ItemAssessment, ItemContext, SettingsSpec, Written, assess_item,
};
use crate::run::pass::Pass;
use crate::run::record::Place;

static NOTHING: BTreeMap<String, Value> = BTreeMap::new();

/// One item as this look shows it. The look must have read all of its parts.
pub(super) fn assess(
    pass: &Pass<'_>,
    place: &Place,
    item: &FlowItemSpec,
    fingerprints: &BTreeMap<String, String>,
    ours: &BTreeMap<String, Value>,
) -> ItemAssessment {
    let written = Written {
        salt: &pass.context.salt,
        fingerprints,
    };
    let context = ItemContext {
        written,
        assumed: &NOTHING,
        ours,
    };
    assess_item(item, &place.target, pass.look, context)
}

/// What is known of write-only values: by this run, and by those before it.
pub(super) fn fingerprints(pass: &Pass<'_>, place: &Place) -> BTreeMap<String, String> {
    let mut all = pass
        .context
        .fingerprints
        .get(&place.target)
        .cloned()
        .unwrap_or_default();
    for (other, work) in &pass.state.works {
        if other.target == place.target {
            all.extend(work.write_only.clone());
        }
    }
    all
}

/// How all that a stage wants compares with a look that read all of it.
pub(in crate::run) enum Difference {
    /// It is there.
    None,
    /// Something of it is not shown: nothing can be said.
    NotShown(String),
    /// It is not there, in words.
    Values(String),
}

/// Compares all that a stage wants of a target with a look that read all of it.
pub(in crate::run) fn difference(
    pass: &Pass<'_>,
    place: &Place,
    wanted: &SettingsSpec,
) -> Difference {
    let fingerprints = fingerprints(pass, place);
    let mut values = Vec::new();
    let mut not_shown = Vec::new();
    for item in &wanted.flow {
        let seen = assess(pass, place, item, &fingerprints, &NOTHING);
        not_shown.extend(seen.not_shown(item));
        let (absent, wrong): (Vec<_>, Vec<_>) = seen
            .attributes
            .findings
            .iter()
            .partition(|f| matches!(f.kind, FindingKind::Unknown | FindingKind::NotShown));
        not_shown.extend(absent.iter().map(|finding| finding.name.clone()));
        values.extend(wrong.iter().map(ToString::to_string));
        let missing = missing(&seen);
        if !missing.is_empty() {
            values.push(missing);
        }
    }
    if !values.is_empty() {
        Difference::Values(values.join("; "))
    } else if !not_shown.is_empty() {
        Difference::NotShown(not_shown.join(", "))
    } else {
        Difference::None
    }
}

/// What differs or still waits, in words.
pub(super) fn missing(seen: &ItemAssessment) -> String {
    let changes = seen.changes();
    let differing = changes.iter().map(|change| {
        format!(
            "`{}` is {} instead of {}",
            change.name, change.from, change.to
        )
    });
    let waiting = seen
        .attributes
        .pending_ours
        .iter()
        .chain(&seen.attributes.unconfirmed);
    let waiting = waiting.map(|name| format!("`{name}` still waits for a reset or a job"));
    differing.chain(waiting).collect::<Vec<_>>().join("; ")
}
