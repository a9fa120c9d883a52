//! What is wanted, against what the mocks really are: I4 and I8.

use mock_bmc::bmc::StateView;
use redpipe::model::{BmcName, Target};
use redpipe::run::record::Place;
use serde_json::Value;

use super::number;
use super::seen::Seen;
use crate::case::{Body, Component, Stage, WRITE_ONLY};

impl Seen {
    /// I4: what a run says it did was read after its last write, and is so.
    pub(super) fn done(&mut self, bmc: &BmcName, at: &Place, state: &StateView) {
        let of = self.bmc(bmc);
        if of.last_read <= of.last_write {
            let how = format!("{bmc} {at:?}: done without a read after the last write");
            return self.breaks("I4", how);
        }
        let differs = self
            .own_wishes(at.stage.as_str())
            .and_then(|stage| self.differs(bmc, &stage, at, state));
        if let Some(how) = differs {
            self.breaks("I4", how);
        }
    }

    /// What of a stage is not so on a target; `None` = all of it is.
    fn differs(
        &self,
        bmc: &BmcName,
        stage: &Stage,
        place: &Place,
        state: &StateView,
    ) -> Option<String> {
        let systems: Vec<usize> = match &place.target {
            Target::Bmc => (0..state.systems.len())
                .filter(|index| self.is_listed(bmc, *index))
                .collect(),
            Target::Server(name) => vec![index_of(name.as_str())],
        };
        match &stage.body {
            Body::Hop(Component::Bmc, wanted, _) => below(state.bmc_version.as_deref(), wanted)
                .then(|| {
                    format!(
                        "{bmc} is at {wanted}, says the run; {:?} runs",
                        state.bmc_version
                    )
                }),
            Body::Hop(Component::Bios, wanted, _) => systems.iter().find_map(|index| {
                let runs = state.systems.get(*index)?.bios_version.as_deref();
                below(runs, wanted)
                    .then(|| format!("{bmc}/{index} is at {wanted}, says the run; {runs:?} runs"))
            }),
            Body::Settings(component, values, _) => values.iter().find_map(|(name, wanted)| {
                self.wrong_value(bmc, *component, (name, wanted), &systems, state)
            }),
            Body::Resource(_) => None,
        }
    }

    fn wrong_value(
        &self,
        bmc: &BmcName,
        component: Component,
        (name, wanted): (&str, &str),
        systems: &[usize],
        state: &StateView,
    ) -> Option<String> {
        if WRITE_ONLY.contains(&name) {
            return None;
        }
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        let wrong = |value: Option<&Value>, whose: &str| {
            (value != Some(&wanted))
                .then(|| format!("{bmc}{whose}: {name} is {wanted}, says the run; it is {value:?}"))
        };
        match component {
            Component::Bmc => wrong(state.bmc_attributes.get(name), ""),
            Component::Bios => systems.iter().find_map(|index| {
                if self.touched.contains(&(bmc.to_string(), *index)) {
                    return None;
                }
                let system = state.systems.get(*index)?;
                wrong(system.attributes.get(name), &format!("/{index}"))
            }),
        }
    }

    /// A stage with what no other stage sets as well.
    fn own_wishes(&self, name: &str) -> Option<Stage> {
        let mut stage = self.stages.get(name)?.clone();
        if let Body::Settings(component, values, _) = &mut stage.body {
            for other in self.stages.values().filter(|other| other.name != name) {
                if let Body::Settings(of, set, _) = &other.body
                    && of == component
                {
                    values.retain(|name, _| !set.contains_key(name));
                }
            }
        }
        Some(stage)
    }

    /// I4 at the end of a run, for what was set last; and I8.
    pub(super) fn completed(&mut self, bmc: &BmcName, state: &StateView) {
        let place = Place {
            stage: redpipe::model::StageName::from("the whole run"),
            target: Target::Bmc,
        };
        let mut wanted: Vec<Stage> = Vec::new();
        for name in &self.order {
            let Some(stage) = self.stages.get(name) else {
                continue;
            };
            if let Body::Settings(component, values, transient) = &stage.body {
                for earlier in &mut wanted {
                    if let Body::Settings(of, set, _) = &mut earlier.body
                        && of == component
                    {
                        set.retain(|name, _| !values.contains_key(name));
                    }
                }
                if *transient {
                    continue;
                }
            }
            wanted.push(stage.clone());
        }
        for stage in wanted {
            if let Some(how) = self.differs(bmc, &stage, &place, state) {
                self.breaks("I4", how);
            }
        }
        let of = &self.bmcs[bmc.as_str()];
        let power: Vec<String> = state.systems.iter().map(|s| s.power.clone()).collect();
        let differs = |before: &[String]| {
            (0..power.len())
                .filter(|index| self.is_listed(bmc, *index))
                .any(|index| before.get(index) != power.get(index))
        };
        if let Some(before) = &of.power
            && differs(before)
            && !of.power_is_excused
        {
            let how = format!("{bmc}: power was {before:?}, and is {power:?} after the run");
            self.breaks("I8", how);
        }
    }
}

/// `mock-1-s3` is system 2, counted from 0.
fn index_of(server: &str) -> usize {
    let digits = server.rsplit("-s").next().unwrap_or_default();
    digits.parse::<usize>().map_or(0, |number| number - 1)
}

fn below(runs: Option<&str>, wanted: &str) -> bool {
    runs.and_then(number) < number(wanted)
}
