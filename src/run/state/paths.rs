//! Computed hops that a run has made, and those that it has before it.

use super::run::RunState;
use crate::model::{StageName, Target};
use crate::plan::{HopPath, HopPaths};
use crate::run::record::Place;

impl RunState {
    /// The hops that were computed when the run began, each path starting from the last of its hops that is done.
    pub fn paths(&self) -> HopPaths {
        let mut paths = self
            .start
            .as_ref()
            .map_or_else(HopPaths::new, |start| start.paths.clone());
        for (stage, by_target) in &mut paths {
            for (target, path) in by_target {
                if let Some(reached) = self.reached(stage, target, path) {
                    path.from = Some(reached);
                }
            }
        }
        paths
    }

    fn reached(&self, stage: &StageName, target: &Target, path: &HopPath) -> Option<String> {
        let is_done = |hop: &&String| {
            self.is_done(&Place {
                stage: stage.hop(hop),
                target: target.clone(),
            })
        };
        path.hops.iter().rfind(is_done).cloned()
    }
}
