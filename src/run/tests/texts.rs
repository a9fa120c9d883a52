//! Pipelines of tests, as text.

use crate::model::ServerName;

/// The name of a server.
pub(super) fn name(server: &str) -> ServerName {
    ServerName::from(server)
}

/// A hop of the BMC.
pub(super) fn bmc_hop(version: &str) -> String {
    hop("bmc", version, "{manager}", "")
}

/// A hop of every server's BIOS.
pub(super) fn bios_hop(version: &str) -> String {
    bios_hop_with(version, "")
}

/// A hop of every server's BIOS with further options.
pub(super) fn bios_hop_with(version: &str, options: &str) -> String {
    hop("bios", version, "{system}/Bios", options)
}

/// A hop of the BMC with further options.
pub(super) fn bmc_hop_with(version: &str, options: &str) -> String {
    hop("bmc", version, "{manager}", options)
}

fn hop(kind: &str, version: &str, target: &str, options: &str) -> String {
    let image = format!("{kind}{}.img", version.replace('.', ""));
    format!(
        "[[stage]]\nname = \"{kind}-{version}\"\nkind = \"{kind}-version\"\nversion = \"{version}\"\ntargets = [\"{target}\"]\nimage = {{ file = \"{image}\" }}\n{options}\n"
    )
}

/// A stage of BIOS settings.
pub(super) fn bios_settings(name: &str, rest: &str) -> String {
    format!("[[stage]]\nname = \"{name}\"\nkind = \"bios-settings\"\n{rest}\n")
}

/// A stage that sets resources of the BMC, each in a flow item of its own.
pub(super) fn bmc_resources(name: &str, sets: &[&str]) -> String {
    let mut text = format!("[[stage]]\nname = \"{name}\"\nkind = \"bmc-settings\"\n");
    for (index, set) in sets.iter().enumerate() {
        let priority = index + 1;
        let item = format!(
            "[[stage.flow]]\nname = \"item{index}\"\npriority = {priority}\nresources = [{set}]\n"
        );
        text.push_str(&item);
    }
    text
}
