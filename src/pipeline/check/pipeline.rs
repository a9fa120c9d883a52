//! A whole pipeline file.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::context::{Check, Names};
use super::firmware::Catalogue;
use super::hops::check_hops;
use super::maintenance::check_maintenance;
use super::options::check_defaults;
use super::selector::check_selector;
use super::stage::check_stage;
use crate::pipeline::checked::{DriftPolicy, Pipeline, Rollout, Stage};
use crate::pipeline::document::{
    At, DriftDocument, PipelineDocument, RolloutDocument, StageDocument,
};

/// A checked pipeline; `None` only where findings say why. `shared` = what catalogue files list.
pub(crate) fn check_pipeline(
    document: &PipelineDocument,
    shared: &Catalogue,
    names: &mut Names,
    check: &mut Check<'_>,
) -> Option<Pipeline> {
    let name = check.name("pipeline", document.name.as_ref());
    if let Some(name) = name {
        check.unique(names, "pipeline", name);
    }
    let selector = document
        .selector
        .as_ref()
        .map(|selector| check_selector(selector, check));
    let rollout = document
        .rollout
        .as_ref()
        .map(|rollout| check_rollout(rollout.get()));
    let maintenance = document
        .maintenance
        .as_ref()
        .map(|maintenance| check_maintenance(maintenance.get(), check));
    let mut catalogue = shared.clone();
    catalogue.add(document.firmware.as_ref(), check);
    let defaults = document.defaults.as_ref().map(At::get);
    if let Some(defaults) = defaults {
        check_defaults(defaults, check);
    }
    let documents: &[At<StageDocument>] =
        document.stage.as_ref().map_or(&[], |stages| stages.get());
    unique_stages(documents, check);
    check_hops(documents, check);
    let stages: Vec<_> = documents
        .iter()
        .map(|stage| check_stage(stage, defaults, &catalogue, check))
        .collect();
    let stages = stages.into_iter().collect::<Option<Vec<_>>>();
    let mut rollout = rollout.unwrap_or_default();
    if stages.iter().flatten().any(Stage::severs) {
        // Whoever may lose a BMC loses no second one before the first has answered again.
        rollout.max_concurrent = 1;
    }
    Some(Pipeline {
        name: name?.get().as_str().into(),
        drift_policy: document
            .drift_policy
            .as_ref()
            .map_or_else(DriftPolicy::default, |policy| match policy.get() {
                DriftDocument::Observe => DriftPolicy::Observe,
                DriftDocument::Reconcile => DriftPolicy::Reconcile,
            }),
        selector: selector?,
        rollout,
        maintenance: maintenance.unwrap_or_default(),
        stages: stages?,
        source: check.file.source.name().to_owned(),
        generation: generation(check.file.source.text(), &check.hop_images),
    })
}

fn check_rollout(rollout: &RolloutDocument) -> Rollout {
    let default = Rollout::default();
    Rollout {
        max_concurrent: rollout
            .max_concurrent
            .as_ref()
            .map_or(default.max_concurrent, |value| *value.get()),
        max_failures: rollout
            .max_failures
            .as_ref()
            .map_or(default.max_failures, |value| *value.get()),
        canary: rollout
            .canary
            .as_ref()
            .map_or(default.canary, |value| *value.get()),
    }
}

/// Keys that say who is worked on, when and how many at once, and not what is done. Of the catalogue only those images
/// count of which hops may be made, wherever they are listed.
const NOT_OF_STAGES: [&str; 5] = [
    "rollout",
    "maintenance",
    "drift_policy",
    "selector",
    "firmware",
];

/// What the file says of its stages, whatever its comments and spaces.
fn generation(text: &str, hop_images: &BTreeSet<String>) -> String {
    let mut table: toml::Table = text.parse().unwrap_or_default();
    for key in NOT_OF_STAGES {
        table.remove(key);
    }
    let mut hash = Sha256::new_with_prefix(table.to_string());
    for image in hop_images {
        hash.update(image);
    }
    hex::encode(hash.finalize())
}

fn unique_stages(stages: &[At<StageDocument>], check: &mut Check<'_>) {
    let mut names = Names(BTreeMap::new());
    for stage in stages {
        if let Some(name) = check.name("stage", stage.get().name.as_ref()) {
            check.unique(&mut names, "stage", name);
        }
    }
}
