//! What a pipeline wants in the end of every target: the last hop of each component, and of every setting the last stage
//! that sets it.

use std::collections::BTreeMap;

use crate::model::{Look, LookRequest, StageName, Target};
use crate::plan::ask_settings;
use crate::plan::spec::{RunSpec, SettingsSpec, StageSpec, VersionSpec};
use crate::plan::superseded::{standings, superseded};

/// The desired end state of one BMC.
#[derive(Debug)]
pub struct Desired<'a> {
    /// The last hop of each target's component.
    pub versions: BTreeMap<&'a Target, (&'a StageSpec, &'a VersionSpec)>,
    /// Settings that stay, in stage order.
    pub settings: Vec<Lasting<'a>>,
}

/// What of one settings stage is wanted in the end on one target.
#[derive(Debug)]
pub struct Lasting<'a> {
    /// Which stage.
    pub stage: &'a StageName,
    /// On which target.
    pub target: &'a Target,
    /// What no later stage sets again.
    pub settings: SettingsSpec,
}

impl<'a> Desired<'a> {
    /// What the pipeline wants of the BMC that a look shows. Stages whose guard keeps them away want nothing.
    pub fn of(spec: &'a RunSpec, look: &Look) -> Self {
        let mut standings = standings(spec, look);
        // In the end every hop is made: what is wanted only before one is not wanted at all.
        for standing in standings.values_mut() {
            standing.is_hop_due = false;
        }
        let superseded = superseded(spec, &standings);
        let mut desired = Self {
            versions: BTreeMap::new(),
            settings: Vec::new(),
        };
        for (index, stage) in spec.stages.iter().enumerate() {
            for target in stage.kind.targets() {
                if let Some(version) = stage.kind.version(target) {
                    desired.versions.insert(target, (stage, version));
                }
                let place = (index, target.clone());
                let applies = standings.get(&place).is_some_and(|s| s.is_applicable);
                let Some(settings) = stage.kind.settings(target).filter(|_| applies) else {
                    continue;
                };
                if stage.transient {
                    continue;
                }
                let settings = match superseded.get(&place) {
                    Some(gone) => gone.rest(settings),
                    None => settings.clone(),
                };
                desired.settings.push(Lasting {
                    stage: &stage.name,
                    target,
                    settings,
                });
            }
        }
        desired
    }
}

/// The look that one observation needs: what runs, and every setting that is watched. `full` asks in addition who is at
/// work, which is worth its requests only where something seems to have drifted.
pub fn look_request(spec: &RunSpec, full: bool) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        work: full,
        ..LookRequest::default()
    };
    for stage in spec.stages.iter().filter(|stage| !stage.transient) {
        for target in stage.kind.targets() {
            if let Some(settings) = stage.kind.settings(target) {
                ask_settings(&mut request, target, settings);
            }
        }
    }
    request
}
