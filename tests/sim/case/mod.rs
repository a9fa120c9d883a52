//! One simulated fleet: what a seed draws.

mod draw;
pub(crate) mod orders;
pub(crate) mod platforms;
mod trouble;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use redpipe::model::Verb;

use self::draw::{edit, fleet, pace, pipeline};
use self::platforms::Machines;
use self::trouble::{deaths, deeds, hazards, scripts};
use crate::dice::Dice;
use crate::hazard::Hazard;
use crate::maintenance::Maintenance;
use crate::support::process::Death;
use crate::support::world::World;

/// A fleet, what is wanted of it, and all that will happen to it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Systems behind each BMC.
    pub(crate) systems: Vec<usize>,
    /// What each BMC is, as `mock-bmc platforms` lists it.
    pub(crate) platforms: Vec<&'static str>,
    /// The mocks' script.
    pub(crate) script: String,
    /// The same mocks once nothing is wrong with them any more.
    pub(crate) calm: String,
    /// BMCs that do not show what is staged.
    pub(crate) blind: BTreeSet<String>,
    /// What is wanted.
    pub(crate) stages: Vec<Stage>,
    /// What is wanted once the file is edited.
    pub(crate) edited: Vec<Stage>,
    /// Of all BMCs, as the inventory says it.
    pub(crate) pace: String,
    pub(crate) max_concurrent: u64,
    pub(crate) max_failures: u64,
    pub(crate) canary: u64,
    pub(crate) maintenance: Maintenance,
    /// The state is a file rather than memory.
    pub(crate) in_file: bool,
    /// Deaths of the first engines, in turn.
    pub(crate) deaths: Vec<Death>,
    /// Deeds of people and engines, in order of time.
    pub(crate) deeds: Vec<(Duration, Deed)>,
    pub(crate) hazards: BTreeSet<Hazard>,
    /// How long trouble lasts.
    pub(crate) trouble_for: Duration,
}

/// What somebody does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Kills the engines.
    Kill,
    /// Starts another engine.
    Second,
    /// Makes a plan.
    Plan,
    /// The clock goes forward or back by so many seconds.
    Jump(i64),
    /// Edits the pipeline.
    Edit,
    /// Approves whatever is asked for.
    Approve,
    /// Mends the hooks.
    Hooks,
    /// Flashes the BMC, or the BIOS of a system, past what is wanted or up to it.
    Flash(String, Option<usize>, &'static str),
    /// Leaves a setting pending.
    Pend(String, usize),
    /// Orders something of the latest run on a BMC.
    Order(String, Verb),
    /// Pauses the pipeline, or lets it go on.
    Pause(bool),
    /// Takes a server out of the inventory, or back into it.
    Listed(String, bool),
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) body: Body,
    /// More lines of TOML.
    pub(crate) more: String,
}

/// What a stage wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// A hop: component, version, whether it is pulled.
    Hop(Component, &'static str, bool),
    /// Attributes: of what, by name, as JSON; and whether they are wanted only for a while.
    Settings(Component, BTreeMap<&'static str, &'static str>, bool),
    /// A resource of the manager.
    Resource(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Bmc,
    Bios,
}

impl Component {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Bmc => "bmc",
            Self::Bios => "bios",
        }
    }
}

pub(crate) use self::draw::WRITE_ONLY;

impl Case {
    /// What a seed draws. Whoever changes this changes the story of every seed, those that once broke something among
    /// them: such a story is kept by a scenario test as well.
    pub(crate) fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut systems = fleet(&mut dice);
        let mut stages = pipeline(&mut dice, &systems);
        let mut edited = edit(&mut dice, &stages);
        let machines = Machines::draw(seed, &mut systems);
        machines.fit(&mut stages);
        machines.fit(&mut edited);
        let hazards = hazards(&mut dice);
        let trouble_mins = dice.between(30, 240);
        let (script, calm) = scripts(&mut dice, &systems, &machines, &hazards);
        let deeds = deeds(&mut dice, &systems, &hazards, trouble_mins);
        let mut case = Self {
            blind: blind(&script).chain(machines.blind()).collect(),
            script,
            calm,
            stages,
            edited,
            pace: pace(&mut dice),
            max_concurrent: dice.between(1, 4),
            max_failures: dice.between(0, 3),
            canary: 0,
            maintenance: Maintenance::default(),
            in_file: false,
            deaths: Vec::new(),
            deeds,
            trouble_for: Duration::from_secs(trouble_mins * 60),
            systems,
            platforms: machines.platforms,
            hazards,
        };
        if case.hazards.contains(&Hazard::Crash) {
            case.deaths = deaths(&mut dice);
        }
        case.terms(&mut dice, trouble_mins);
        if seed >= orders::FROM {
            let orders = orders::orders(seed, &case.systems, trouble_mins);
            case.deeds.extend(orders);
            case.deeds.sort_by_key(|(at, _)| *at);
        }
        case
    }

    /// Under which terms it is rolled out.
    fn terms(&mut self, dice: &mut Dice, mins: u64) {
        self.maintenance = Maintenance::draw(dice);
        self.canary = u64::from(dice.percent(15));
        self.in_file = dice.percent(3);
        for (may, deed) in [
            (self.maintenance.approval, Deed::Approve),
            (self.maintenance.approval, Deed::Approve),
            (self.maintenance.hooks, Deed::Hooks),
        ] {
            let at = Duration::from_secs(dice.between(1, mins * 60));
            self.deeds.extend(may.then_some((at, deed)));
        }
        self.deeds.sort_by_key(|(at, _)| *at);
    }

    /// The pipeline as a person wrote it.
    pub(crate) fn pipeline(&self, world: &World, edited: bool) -> String {
        let stages = if edited { &self.edited } else { &self.stages };
        let mut text = format!(
            "name = \"p\"\n[selector]\nmatch_labels = {{}}\n[rollout]\nmax_concurrent = {}\nmax_failures = {}\ncanary = {}\n",
            self.max_concurrent, self.max_failures, self.canary
        );
        self.maintenance.write(world, &mut text);
        for stage in stages {
            stage.write(world, &mut text);
        }
        text
    }
}

/// The BMCs of a script that do not show what is staged.
fn blind(script: &str) -> impl Iterator<Item = String> {
    let tables = script.split("[[bmc]]").skip(1);
    let blind = tables.filter(|table| table.contains("shows_staged = false"));
    blind.filter_map(|table| table.split('"').nth(1).map(ToOwned::to_owned))
}

impl Stage {
    fn write(&self, world: &World, text: &mut String) {
        let kind = match &self.body {
            Body::Hop(component, ..) => format!("{}-version", component.word()),
            Body::Settings(component, ..) => format!("{}-settings", component.word()),
            Body::Resource(_) => "bmc-settings".to_owned(),
        };
        writeln!(
            text,
            "[[stage]]\nname = \"{}\"\nkind = \"{kind}\"\n{}",
            self.name, self.more
        )
        .unwrap();
        match &self.body {
            Body::Hop(component, version, pulled) => {
                let image = if *pulled {
                    world.uri_image(component.word(), version)
                } else {
                    world.image_named(component.word(), version, ".exe")
                };
                writeln!(text, "version = \"{version}\"\nimage = {image}").unwrap();
            }
            Body::Settings(_, values, transient) => {
                let members: Vec<String> = values
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                writeln!(text, "transient = {transient}\nsettings = {{ {} }}", members.join(", "))
                    .unwrap();
            }
            Body::Resource(server) => writeln!(
                text,
                "[[stage.flow]]\nname = \"r\"\npriority = 1\nresources = [{{ uri = \"{{manager}}/NetworkProtocol\", set = {{ NTP = {{ NTPServers = [\"{server}\"] }} }} }}]"
            )
            .unwrap(),
        }
    }
}
