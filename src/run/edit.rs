//! Files that were edited while a run is under way: what has begun is ended as it was begun, everything else goes by
//! the files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::record::{Intent, Place, Record, StageHead};
use super::state::{RunState, Work, WorkStatus};
use crate::model::{ServerName, Target};
use crate::pipeline::StageOptions;
use crate::plan::{
    ImageOrigin, ImageSpec, RunSpec, SettingsSpec, StageKindSpec, StageSpec, VersionSpec,
    place_digest,
};

/// What a stage wants of each of its targets, as hashes.
pub(super) fn wants(stage: &StageSpec) -> BTreeMap<Target, String> {
    let targets = stage.kind.targets().into_iter();
    targets
        .map(|target| (target.clone(), place_digest(stage, target)))
        .collect()
}

/// What the files say now that they did not when the run was last taken up; `None` = nothing.
pub(super) fn edits(file: &RunSpec, state: &RunState) -> Option<Record> {
    let start = state.start.as_ref()?;
    let is_known =
        |server: &ServerName| start.servers.contains(server) && !start.removed.contains(server);
    let now = file.servers.iter().map(|server| &server.name);
    let added = now.filter(|name| !file.gone.contains(*name) && !is_known(name));
    let removed = file.gone.iter().filter(|name| is_known(name));
    let (added, removed): (Vec<_>, Vec<_>) = (added.cloned().collect(), removed.cloned().collect());
    let again: Vec<Place> = state
        .works
        .iter()
        .filter(|(_, work)| match work.status {
            WorkStatus::Active => !work.outdated,
            WorkStatus::Done { .. } => true,
            WorkStatus::Failed { .. } | WorkStatus::Stopped { .. } => false,
        })
        .map(|(place, _)| place)
        .filter(|place| wants_else(file, &start.stages, place, start.digest != file.digest))
        .cloned()
        .collect();
    let is_none = again.is_empty() && added.is_empty() && removed.is_empty();
    (!is_none).then_some(Record::Edited {
        again,
        added,
        removed,
    })
}

/// Whether the file wants something else of a place, or nothing. Where an older redpipe wrote no hash of it, any change
/// of the file may be one.
fn wants_else(file: &RunSpec, heads: &[StageHead], place: &Place, is_edited: bool) -> bool {
    let Some(stage) = file.stage(&place.stage) else {
        return true;
    };
    let before = heads.iter().find(|head| head.name == place.stage);
    match before.and_then(|head| head.wants.get(&place.target)) {
        Some(before) => *before != place_digest(stage, &place.target),
        None => is_edited,
    }
}

/// The specification as far as nothing is under way that was begun by another.
pub(super) fn as_begun(file: &RunSpec, state: &RunState) -> RunSpec {
    let mut spec = file.clone();
    let outdated = state
        .works
        .iter()
        .filter(|(_, work)| work.outdated && work.is_under_way());
    for (place, work) in outdated {
        match spec
            .stages
            .iter_mut()
            .find(|stage| stage.name == place.stage)
        {
            Some(stage) if is_of_one_kind(&stage.kind, work) => {
                begun_by(&mut stage.kind, place, work);
            }
            Some(_) | None => {
                spec.stages.retain(|stage| stage.name != place.stage);
                spec.stages.insert(0, gone(place, work));
            }
        }
    }
    spec
}

fn is_of_one_kind(kind: &StageKindSpec, work: &Work) -> bool {
    kind.is_version() == work.update_at_large().is_some()
}

/// A stage that the file does not have any more, for what of it is under way.
fn gone(place: &Place, work: &Work) -> StageSpec {
    let is_version = work.update_at_large().is_some();
    let mut kind = match (is_version, &place.target) {
        (true, Target::Bmc) => StageKindSpec::BmcVersion(BTreeMap::new()),
        (true, Target::Server(_)) => StageKindSpec::BiosVersion(BTreeMap::new()),
        (false, Target::Bmc) => StageKindSpec::BmcSettings(BTreeMap::new()),
        (false, Target::Server(_)) => StageKindSpec::BiosSettings(BTreeMap::new()),
    };
    begun_by(&mut kind, place, work);
    StageSpec {
        name: place.stage.clone(),
        kind,
        options: StageOptions::default(),
        transient: true,
        line: 0,
    }
}

/// What is under way at a place, as its intents say: the hop that was sent, or settings of which nothing more is sent.
fn begun_by(kind: &mut StageKindSpec, place: &Place, work: &Work) {
    match kind {
        StageKindSpec::BmcSettings(by) | StageKindSpec::BiosSettings(by) => {
            by.insert(place.target.clone(), SettingsSpec::default());
        }
        StageKindSpec::BmcVersion(by) | StageKindSpec::BiosVersion(by) => {
            if let Some(version) = sent(work) {
                by.insert(place.target.clone(), version);
            }
        }
    }
}

fn sent(work: &Work) -> Option<VersionSpec> {
    let Intent::Update {
        to, image, sha256, ..
    } = &work.update_at_large()?.intent
    else {
        return None;
    };
    Some(VersionSpec {
        version: to.clone(),
        requires: None,
        image: ImageSpec {
            origin: ImageOrigin::File(PathBuf::from(image)),
            sha256: sha256.clone(),
            bytes: None,
            held: None,
        },
        is_last: false,
        exact: false,
        allow_downgrade: false,
        missing: None,
    })
}
