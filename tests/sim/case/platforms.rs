//! Machines of all vendors: every built-in platform of the mock, with its own habits instead of drawn ones.

use mock_bmc::bmc::{Bmc, BmcConfig, Source};
use mock_bmc::platform::PLATFORMS;
use mock_bmc::script::Script;
use mock_bmc::time::Moment;

use super::{Body, Component, Stage};
use crate::dice::Dice;
use crate::support::world::EPOCH;

/// The first seed of which this is drawn, by dice of its own: seeds before it keep their stories.
pub(crate) const FROM: u64 = 20_000;

/// The one with two managers: every hop of its BMC names the one that is meant, which no other platform would take.
const TWO_MANAGERS: &str = "nvidia-gb200";
const TARGET: &str = "targets = [\"/redfish/v1/UpdateService/FirmwareInventory/FW_BMC_0\"]\n";

/// Does not show what is staged.
const BLIND: &str = "openbmc";

/// Take images from files only: they pull none, or none of such a name.
const NO_PULL: [&str; 4] = ["openbmc", TWO_MANAGERS, "idrac9", "idrac10"];

/// Where jobs are.
const JOBS: &str = "/redfish/v1/JobService/Jobs";

/// Have attributes of the BMC.
const ATTRIBUTES: [&str; 3] = ["generic", "idrac9", "idrac10"];

/// What the BMCs of a fleet are.
pub(super) struct Machines {
    pub(super) platforms: Vec<&'static str>,
    is_drawn: bool,
}

impl Machines {
    /// A fleet of one kind, or a mixed one. Few vendors' machines have several systems.
    pub(super) fn draw(seed: u64, systems: &mut [usize]) -> Self {
        let is_drawn = seed >= FROM;
        if !is_drawn {
            let platforms = vec!["generic"; systems.len()];
            return Self {
                platforms,
                is_drawn,
            };
        }
        let mut dice = Dice::new(seed.rotate_left(32));
        let all: Vec<&'static str> = PLATFORMS.iter().map(|(name, _)| *name).collect();
        let one = dice.pick(&all);
        let mixed: Vec<&'static str> = all
            .into_iter()
            .filter(|name| *name != TWO_MANAGERS)
            .collect();
        let is_mixed = one != TWO_MANAGERS && dice.percent(50);
        let machine = |_| if is_mixed { dice.pick(&mixed) } else { one };
        let platforms = (0..systems.len()).map(machine).collect();
        let has_several = dice.percent(25);
        for count in systems {
            *count = if has_several { 2 } else { 1 };
        }
        Self {
            platforms,
            is_drawn,
        }
    }

    /// Makes of stages what all machines of the fleet can.
    pub(super) fn fit(&self, stages: &mut [Stage]) {
        if !self.is_drawn {
            return;
        }
        let has = |names: &[&str]| self.platforms.iter().any(|name| names.contains(name));
        let attributes = self.platforms.iter().all(|name| ATTRIBUTES.contains(name));
        for stage in stages {
            match &mut stage.body {
                Body::Settings(Component::Bmc, ..) if !attributes => {
                    stage.body = Body::Resource("10.1.0.1");
                }
                Body::Hop(component, _, pulled) => {
                    *pulled &= !has(&NO_PULL);
                    if *component == Component::Bmc && has(&[TWO_MANAGERS]) {
                        stage.more.push_str(TARGET);
                    }
                }
                Body::Settings(..) | Body::Resource(_) => {}
            }
        }
    }

    /// The BMCs that do not show what is staged.
    pub(super) fn blind(&self) -> impl Iterator<Item = String> {
        let blind = self
            .platforms
            .iter()
            .zip(1..)
            .filter(|(name, _)| **name == BLIND);
        blind.map(|(_, number)| format!("mock-{number}"))
    }

    /// Whether a BMC has no habits but those that are drawn.
    pub(super) fn is_plain(&self, index: usize) -> bool {
        self.platforms[index] == "generic"
    }

    /// Whether a BMC has jobs.
    pub(super) fn has_jobs(&self, index: usize) -> bool {
        !self.is_drawn || self.mock(index, 1).member(JOBS, "").is_some()
    }

    /// What a BMC calls its systems.
    pub(super) fn systems(&self, index: usize, count: usize) -> Vec<String> {
        if !self.is_drawn {
            return (1..=count).map(|number| number.to_string()).collect();
        }
        let state = self.mock(index, count).state();
        state.systems.into_iter().map(|system| system.id).collect()
    }

    /// One like a BMC of the fleet.
    fn mock(&self, index: usize, count: usize) -> Bmc {
        let config = BmcConfig {
            name: "another".to_owned(),
            source: Source::Platform(self.platforms[index].to_owned()),
            systems: count,
            user: "root".to_owned(),
            password: "secret".to_owned(),
            script: Script::default(),
            uuid_seed: 7,
            epoch: EPOCH.parse().unwrap(),
        };
        Bmc::new(config, Moment(0))
    }
}
