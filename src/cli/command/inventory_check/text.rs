//! What `inventory check` tells people.

use super::document::{BmcRow, Document};
use crate::cli::table;

/// One table of versions, then what each BMC is like, then what is odd.
pub(super) fn text(document: &Document) -> Vec<String> {
    let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let number =
        |count: Option<usize>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let mut rows = Vec::new();
    for bmc in &document.bmcs {
        rows.push(vec![
            bmc.bmc.clone(),
            bmc.address.clone(),
            dash(&bmc.platform),
            dash(&bmc.bmc_version),
            String::new(),
            String::new(),
        ]);
        for server in &bmc.servers {
            rows.push(vec![
                format!("  {}", server.server),
                server.system.clone(),
                dash(&server.model),
                dash(&server.bios_version),
                number(server.bios_attributes),
                number(server.pending),
            ]);
        }
    }
    let mut lines = table::lines(
        &[
            "BMC / SERVER",
            "ADDRESS / SYSTEM",
            "PLATFORM / MODEL",
            "VERSION",
            "ATTRIBUTES",
            "PENDING",
        ],
        &rows,
    );
    lines.extend(document.bmcs.iter().filter_map(words));
    for bmc in &document.bmcs {
        lines.extend(bmc.problems.iter().map(|problem| {
            format!(
                "problem: {}: {}: {}",
                bmc.bmc, problem.kind, problem.message
            )
        }));
    }
    lines
}

/// What one BMC is like, in one line; `None` where it did not answer.
fn words(bmc: &BmcRow) -> Option<String> {
    let capabilities = bmc.capabilities.as_ref()?;
    let methods: Vec<&str> = capabilities
        .update_methods
        .iter()
        .map(|method| method.as_str())
        .collect();
    let mut words = vec![if methods.is_empty() {
        "no update method".to_owned()
    } else {
        format!("updates by {}", methods.join(", "))
    }];
    if let Some(licences) = &bmc.licences {
        let names: Vec<&str> = licences.iter().map(|one| one.name.as_str()).collect();
        words.push(match names.as_slice() {
            [] => "no licence".to_owned(),
            names => format!("licence {}", names.join(", ")),
        });
    }
    words.extend(bmc.lockdown.map(|locked| {
        let word = if locked { "locked" } else { "not locked" };
        word.to_owned()
    }));
    words.extend(bmc.clock.as_ref().map(|clock| match clock.ahead_seconds {
        0 => "clock right".to_owned(),
        ahead @ 1.. => format!("clock {ahead} s ahead"),
        behind => format!("clock {} s behind", behind.unsigned_abs()),
    }));
    words.extend(bmc.sessions.open.map(|open| match bmc.sessions.limit {
        Some(limit) => format!("{open} of {limit} sessions"),
        None => format!("{open} sessions"),
    }));
    words.push(format!("tls {}", bmc.tls.mode));
    if !bmc.recognized_by.is_empty() {
        words.push(format!("recognized by {}", bmc.recognized_by.join(", ")));
    }
    Some(format!("{}: {}", bmc.bmc, words.join("; ")))
}
