//! The walk that every platform takes.

use mock_bmc::bmc::Source;
use mock_bmc::ledger::Kind;
use redpipe::run::RunPhase;
use serde_json::Value;

use crate::support::world::{World, status};

/// The BMC of every walk.
pub(crate) const BMC: &str = "mock-1";

/// A change of the BMC's settings by a standard resource, where a vendor has no attributes for it.
pub(crate) const NTP: &str = "[[stage.flow]]\nname = \"ntp\"\nresources = [{ uri = \"{manager}/NetworkProtocol\", set = { NTP = { ProtocolEnabled = true, NTPServers = [\"192.0.2.1\"] } } }]";

/// What a walk does on one platform.
pub(crate) struct Walk {
    /// As `mock-bmc serve --platform` names it.
    pub(crate) mock: &'static str,
    /// As redpipe tells it by its own evidence.
    pub(crate) platform: &'static str,
    /// The stage body that changes the BMC's settings.
    pub(crate) bmc_settings: &'static str,
    /// Two hops of the BMC.
    pub(crate) bmc: [&'static str; 2],
    /// Two hops of the BIOS.
    pub(crate) bios: [&'static str; 2],
}

impl Walk {
    /// A lab with one such machine, with more habits than its own.
    pub(crate) fn world(&self, script: &str) -> World {
        let source = Source::Platform(self.mock.to_owned());
        World::from_sources(vec![(source, 1)], script)
    }

    /// Walks to the end. The machine is told for what it is, and ends as the pipeline says.
    pub(crate) async fn take(&self) -> World {
        self.take_with("").await
    }

    /// The same, with more lines in every stage of the BMC's firmware.
    pub(crate) async fn take_with(&self, more: &str) -> World {
        let world = self.world("");
        let report = world.apply(&[&self.pipeline(&world, more)]).await;
        let run = status(&report, "p", BMC);
        let told = story(&world);
        assert_eq!(run.phase, RunPhase::Completed, "{run:#?}\n{told:#?}");
        let known = world.engine().store().hardware(&BMC.into()).unwrap();
        let labels = known
            .map(|hardware| hardware.labels(None))
            .unwrap_or_default();
        assert_eq!(
            labels.get("redfish.platform").map(String::as_str),
            Some(self.platform)
        );
        let state = world.bmc(BMC, |bmc| bmc.state());
        assert_eq!(state.bmc_version.as_deref(), Some(self.bmc[1]));
        assert_eq!(state.systems[0].bios_version.as_deref(), Some(self.bios[1]));
        assert_eq!(state.systems[0].attributes["QuietBoot"], false);
        assert_eq!(state.systems[0].attributes["BootRetryCount"], 5);
        world
    }

    fn pipeline(&self, world: &World, more: &str) -> String {
        let mut stages = "\n[[stage]]\nname = \"bios\"\nkind = \"bios-settings\"\nsettings = { QuietBoot = false, BootRetryCount = 5 }\n".to_owned();
        stages += &stage(self.bmc_settings);
        for (component, versions) in [("bmc", self.bmc), ("bios", self.bios)] {
            for version in versions {
                stages += &hop(world, component, version);
                stages += if component == "bmc" { more } else { "" };
                stages += "\n";
            }
        }
        pipeline(&stages)
    }
}

/// A stage of the BMC's settings.
pub(crate) fn stage(body: &str) -> String {
    format!("\n[[stage]]\nname = \"bmc\"\nkind = \"bmc-settings\"\n{body}\n")
}

/// A pipeline for every server.
pub(crate) fn pipeline(stages: &str) -> String {
    format!("name = \"p\"\n[selector]\nmatch_labels = {{}}\n{stages}")
}

/// A hop whose image is a file named as Dell wants it.
pub(crate) fn hop(world: &World, component: &str, version: &str) -> String {
    let image = world.image_named(component, version, ".exe");
    let name: String = version
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect::<String>()
        .to_lowercase();
    format!(
        "\n[[stage]]\nname = \"{component}-{name}\"\nkind = \"{component}-version\"\nversion = \"{version}\"\nimage = {image}\n"
    )
}

/// Every request that changes something, in order, sessions left out: `METHOD path status`, and of a reset what was asked.
pub(crate) fn story(world: &World) -> Vec<String> {
    let told = world.write_lines(BMC).into_iter().map(|line| {
        let reset = line
            .caused
            .into_iter()
            .find(|cause| cause.starts_with("reset "));
        reset.unwrap_or_else(|| {
            format!(
                "{} {} {}",
                line.method.unwrap_or_default(),
                line.path.unwrap_or_default(),
                line.status.unwrap_or_default()
            )
        })
    });
    told.collect()
}

/// Bodies of requests to a path, in order.
pub(crate) fn bodies(world: &World, path: &str) -> Vec<Value> {
    let lines = world.ledger(BMC).into_iter();
    lines
        .filter(|line| line.kind == Kind::Request && line.path.as_deref() == Some(path))
        .filter_map(|line| line.body)
        .collect()
}
