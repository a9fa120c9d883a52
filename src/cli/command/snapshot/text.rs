//! A golden server as a pipeline file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::written::{quoted, word};
use crate::daemon::GoldenServer;
use crate::model::facts::{Facts, Label};
use crate::model::version::is_absent;
use crate::model::{BmcName, ServerName};
use crate::plan::golden::{Golden, LeftOut};

/// Where an image is said to be that nobody named: the reserved domain in which no name is ever found (RFC 2606).
const NO_IMAGE: &str = "http://image.invalid";

/// Longest list of attribute names in a comment: more of them help nobody.
const NAMES_MAX: usize = 40;

/// Images as a person named them: a URI or a file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Images<'a> {
    /// Of the BMC's version.
    pub(super) bmc: Option<&'a str>,
    /// Of the BIOS's version.
    pub(super) bios: Option<&'a str>,
}

/// The whole file. It selects every machine of this model, wants at least these versions, and exactly these settings.
pub(super) fn pipeline_text(
    bmc: &BmcName,
    server: &ServerName,
    golden: &GoldenServer,
    images: &Images<'_>,
) -> String {
    let facts = Facts::of(&golden.look);
    let bmc_version = golden.look.bmc_version();
    let bios_version = golden.look.bios_version(server);
    let bmc_image = bmc_version.map(|version| image(images.bmc, "bmc", version));
    let bios_image = bios_version.map(|version| image(images.bios, "bios", version));
    let mut text = head(bmc, server, golden);
    if [&bmc_image, &bios_image]
        .iter()
        .any(|image| image.as_ref().is_some_and(|image| image.contains(NO_IMAGE)))
    {
        text +=
            "# Put the address of each image in place of the ones below: nothing is found there.\n";
    }
    writeln!(text, "name = {}\n", quoted(&name_of(server))).ok();
    selector(&mut text, server, &facts);
    version(&mut text, "bmc", bmc_version, bmc_image.as_deref());
    version(&mut text, "bios", bios_version, bios_image.as_deref());
    settings(&mut text, "bmc", golden.bmc_settings.as_ref());
    settings(&mut text, "bios", golden.bios_settings.as_ref());
    text
}

fn head(bmc: &BmcName, server: &ServerName, golden: &GoldenServer) -> String {
    let at = golden.look.at.strftime("%Y-%m-%d");
    let mut text = format!("# Server `{server}` behind BMC `{bmc}` as it was on {at}.\n");
    for (whose, settings) in [
        ("BMC", &golden.bmc_settings),
        ("BIOS", &golden.bios_settings),
    ] {
        let unsaid = settings.as_ref().map_or(0, |golden| golden.without_default);
        if unsaid > 0 {
            writeln!(
                text,
                "# Nobody states the defaults of {unsaid} {whose} attributes: all that can be written are here."
            )
            .ok();
        }
    }
    text
}

fn selector(text: &mut String, server: &ServerName, facts: &Facts) {
    text.push_str("[selector]\n");
    let known =
        ["redfish.model", "redfish.platform"].map(|name| match facts.label(Some(server), name) {
            Label::Is(value) => Some((name, value.to_owned())),
            Label::Absent | Label::Unknown => None,
        });
    let terms: Vec<String> = known
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{} = {}", quoted(name), quoted(&value)))
        .collect();
    writeln!(text, "match_labels = {{ {} }}", terms.join(", ")).ok();
}

fn version(text: &mut String, component: &str, version: Option<&str>, image: Option<&str>) {
    match (version.filter(|version| !is_absent(version)), image) {
        (Some(version), Some(image)) => {
            writeln!(
                text,
                "\n[[stage]]\nname = \"{component}-version\"\nkind = \"{component}-version\"\nversion = {}\nimage = {image}",
                plain(version)
            )
            .ok();
        }
        _ => {
            writeln!(
                text,
                "\n# No stage `{component}-version`: no version is shown."
            )
            .ok();
        }
    }
}

fn image(named: Option<&str>, component: &str, version: &str) -> String {
    match named {
        Some(uri) if uri.contains("://") => format!("{{ uri = {} }}", plain(uri)),
        Some(file) => format!("{{ file = {} }}", quoted(file)),
        None => {
            let version = word(version, '_');
            format!("{{ uri = \"{NO_IMAGE}/{component}/{version}\" }}")
        }
    }
}

fn settings(text: &mut String, component: &str, golden: Option<&Golden>) {
    let Some(golden) = golden else {
        writeln!(
            text,
            "\n# No stage `{component}-settings`: no attributes are shown."
        )
        .ok();
        return;
    };
    text.push('\n');
    for (why, names) in &golden.left_out {
        if let Some(why) = told(*why) {
            writeln!(text, "# Left out, {why}: {}", listed(names)).ok();
        }
    }
    if golden.flow.is_empty() {
        writeln!(
            text,
            "# No stage `{component}-settings`: nothing differs from the defaults."
        )
        .ok();
        return;
    }
    writeln!(
        text,
        "[[stage]]\nname = \"{component}-settings\"\nkind = \"{component}-settings\""
    )
    .ok();
    for (index, group) in golden.flow.iter().enumerate() {
        let (rank, priority) = (index + 1, (index + 1) * 10);
        writeln!(
            text,
            "  [[stage.flow]]\n  name = \"step-{rank}\"\n  priority = {priority}"
        )
        .ok();
        table(text, group);
    }
}

fn table(text: &mut String, group: &BTreeMap<String, Value>) {
    text.push_str("  [stage.flow.settings]\n");
    for (name, value) in group {
        let value = match value {
            Value::String(value) => plain(value),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            // None of these can be an attribute's value, and none is ever chosen.
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
        };
        writeln!(text, "  {} = {value}", quoted(name)).ok();
    }
}

/// Why names are told; what is as it comes from the factory or cannot be written is no news.
fn told(why: LeftOut) -> Option<&'static str> {
    match why {
        LeftOut::ThisMachine => Some("of this machine alone"),
        LeftOut::Secret => Some("secret"),
        LeftOut::NoValue => Some("without a value that can be written"),
        LeftOut::Default | LeftOut::ReadOnly => None,
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(NAMES_MAX)
        .map(|name| name.chars().filter(|c| !c.is_control()).collect())
        .collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A name that a pipeline may have.
fn name_of(server: &ServerName) -> String {
    let name = word(server.as_str(), '-');
    format!("golden-{name}")
}

/// A TOML string in which nothing is a variable.
fn plain(text: &str) -> String {
    quoted(&text.replace('$', "$$"))
}
