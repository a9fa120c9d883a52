//! What was taken over, as an inventory file.

use std::fmt::Write as _;
use std::path::Path;

use super::host::{Imported, ImportedBmc, ImportedServer, name_of};
use crate::cli::written::quoted;

/// The whole file.
pub(super) fn inventory_text(from: &Path, imported: &Imported) -> String {
    let mut text = format!("# From `{}`.\n", from.display());
    for (name, username) in &imported.accounts {
        let variable: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_uppercase()
                } else {
                    '_'
                }
            })
            .collect();
        writeln!(
            text,
            "\n[credentials.{}]\nusername = {}\npassword = {{ env = \"BMC_PASSWORD_{variable}\" }}",
            quoted(name),
            quoted(username)
        )
        .ok();
    }
    for bmc in &imported.all {
        bmc_text(&mut text, bmc);
    }
    text
}

fn bmc_text(text: &mut String, bmc: &ImportedBmc) {
    writeln!(
        text,
        "\n[[bmc]]\nname = {}\naddress = {}",
        quoted(&name_of(&bmc.name)),
        quoted(&bmc.address)
    )
    .ok();
    let keys = [
        ("credentials", &bmc.credentials),
        ("platform", &bmc.platform),
        ("tls", &bmc.tls),
    ];
    // Without an account of its own a BMC logs in with what `[defaults]` names, and that is for a person to write.
    if bmc.credentials.is_none() {
        text.push_str("auth = \"none\" # nobody says who logs in\n");
    }
    for (key, value) in keys {
        if let Some(value) = value {
            writeln!(text, "{key} = {}", quoted(value)).ok();
        }
    }
    if !bmc.labels.is_empty() {
        let labels: Vec<String> = bmc
            .labels
            .iter()
            .map(|(name, value)| format!("{} = {}", quoted(name), quoted(value)))
            .collect();
        writeln!(text, "labels = {{ {} }}", labels.join(", ")).ok();
    }
    for server in &bmc.servers {
        server_text(text, server);
    }
}

fn server_text(text: &mut String, server: &ImportedServer) {
    writeln!(
        text,
        "  [[bmc.server]]\n  name = {}",
        quoted(&name_of(&server.name))
    )
    .ok();
    if let Some(system) = &server.system {
        writeln!(text, "  system = {}", quoted(system)).ok();
    }
    let expected = [("serial", &server.serial), ("model", &server.model)];
    let expected: Vec<String> = expected
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key} = {}", quoted(value.as_ref()?))))
        .collect();
    if !expected.is_empty() {
        writeln!(text, "  expect = {{ {} }}", expected.join(", ")).ok();
    }
}
