//! Who may be worked on: stages in order, BMC stages as barriers, servers on their own between two barriers.

use super::hold::is_mid_step;
use super::record::{Place, RunPhase};
use super::state::{RunState, Start, WorkStatus};
use crate::model::Target;

impl RunState {
    /// The places that may be worked on, in stage order: at most one per target.
    pub fn active(&self) -> Vec<Place> {
        let Some(start) = &self.start else {
            return Vec::new();
        };
        // Whatever an edited file put before it, and be its stage gone: what has begun on a target comes first there.
        let mut places = self.mid_step();
        if let Some(place) = places.iter().find(|place| place.target == Target::Bmc) {
            return vec![place.clone()];
        }
        self.add_due(start, &mut places);
        let in_order = |place: &Place| {
            let stage = start
                .stages
                .iter()
                .position(|head| head.name == place.stage);
            let mut servers = start.servers.iter();
            let server = servers.position(|name| Some(name) == place.target.server());
            (stage, server)
        };
        places.sort_by_key(in_order);
        places
    }

    /// What is in the middle of a step: one place per target.
    fn mid_step(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for (place, _) in self.works.iter().filter(|(_, work)| is_mid_step(work)) {
            if places.iter().all(|known| known.target != place.target) {
                places.push(place.clone());
            }
        }
        places
    }

    /// The first stage that is not done of every target where nothing has begun, up to the next barrier.
    fn add_due(&self, start: &Start, places: &mut Vec<Place>) {
        let mut busy: Vec<Target> = places.iter().map(|place| place.target.clone()).collect();
        for stage in &start.stages {
            let targets = stage.targets(&start.servers);
            if stage.kind.is_bmc() && !busy.is_empty() {
                return;
            }
            for target in targets {
                let place = Place {
                    stage: stage.name.clone(),
                    target,
                };
                if busy.contains(&place.target) || self.is_done(&place) {
                    continue;
                }
                let may_begin = self.given_up(&place.target).is_none();
                let has_begun = self
                    .works
                    .get(&place)
                    .is_some_and(|work| work.status == WorkStatus::Active);
                if self.is_removed(&place.target) && !has_begun {
                    // Nothing waits for a server that is gone, but for what is under way there.
                    continue;
                }
                busy.push(place.target.clone());
                let may_begin = may_begin || self.works.contains_key(&place);
                if may_begin && !self.is_given_up(&place) {
                    places.push(place);
                }
            }
            if stage.kind.is_bmc() && !busy.is_empty() {
                return;
            }
        }
    }

    /// Whether a stage is done on a target.
    pub fn is_done(&self, place: &Place) -> bool {
        self.works
            .get(place)
            .is_some_and(|work| matches!(work.status, WorkStatus::Done { .. }))
    }

    /// Whether a stage ended on a target without having reached its aim.
    pub fn is_given_up(&self, place: &Place) -> bool {
        self.works.get(place).is_some_and(|work| {
            matches!(
                work.status,
                WorkStatus::Failed { .. } | WorkStatus::Stopped { .. }
            )
        })
    }

    /// Whether a target is stopped on purpose.
    pub fn is_held(&self, place: &Place) -> bool {
        self.works
            .get(place)
            .and_then(|work| work.wait.as_ref())
            .is_some_and(|(wait, _)| wait.held)
    }

    /// The run's phase: held only where everything that could move is held.
    pub fn phase(&self) -> RunPhase {
        if let Some((phase, ..)) = self.end {
            return phase;
        }
        if self.start.is_none() {
            return RunPhase::Pending;
        }
        let places = self.active();
        let held = if places.is_empty() {
            self.wait.as_ref().is_some_and(|(wait, _)| wait.held)
        } else {
            places.iter().all(|place| self.is_held(place))
        };
        if held {
            RunPhase::Held
        } else {
            RunPhase::InProgress
        }
    }
}
