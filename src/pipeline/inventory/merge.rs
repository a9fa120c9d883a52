//! All inventory files as one inventory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bmc::{Sight, check_bmc};
use super::credentials::check_credentials;
use super::defaults::{Layer, defaults_layer};
use crate::model::inventory::Inventory;
use crate::pipeline::check::{Check, Names};
use crate::pipeline::diagnostic::Diagnostic;
use crate::pipeline::document::InventoryDocument;
use crate::pipeline::shape::File;

/// One parsed file.
pub(crate) struct InventoryFile<'a> {
    pub(crate) file: File<'a>,
    pub(crate) document: InventoryDocument,
}

/// One inventory. What is faulty is left out of it and reported.
pub(crate) fn merge_inventory(
    files: &[InventoryFile<'_>],
    findings: &mut Vec<Diagnostic>,
) -> Inventory {
    let (mut names, mut credentials) = (Names::default(), BTreeMap::new());
    for InventoryFile { file, document } in files {
        let mut check = Check::new(file, findings);
        for (name, document) in &document.credentials {
            check.unique(&mut names, "credentials", name);
            if let Some(found) = check_credentials(name, document, &mut check) {
                credentials.insert(name.get().clone(), Arc::new(found));
            }
        }
    }
    let mut layers = Vec::new();
    for InventoryFile { file, document } in files {
        layers.push(defaults_layer(
            document,
            &names.0,
            &mut Check::new(file, findings),
        ));
    }
    let mut sight = Sight::new(credentials, names);
    let mut bmcs = Vec::new();
    for (index, InventoryFile { file, document }) in files.iter().enumerate() {
        if document.bmc.is_empty() {
            continue;
        }
        let mut check = Check::new(file, findings);
        let defaults = defaults_for(index, files, &layers, &document.bmc[0].span(), &mut check);
        bmcs.extend(
            document
                .bmc
                .iter()
                .filter_map(|bmc| check_bmc(bmc, &defaults, &mut sight, &mut check))
                .map(Arc::new),
        );
    }
    bmcs.sort_by(|a, b| a.name.cmp(&b.name));
    Inventory { bmcs }
}

/// What holds for the BMCs of one file: its own defaults over those of the others.
fn defaults_for<'d>(
    index: usize,
    files: &[InventoryFile<'_>],
    layers: &[Layer<'d>],
    place: &std::ops::Range<usize>,
    check: &mut Check<'_>,
) -> Layer<'d> {
    let own = &layers[index];
    let mut result = Layer {
        credentials: own.credentials.clone(),
        tls: own.tls.clone(),
        tls_change: own.tls_change,
        auth: own.auth,
        poll_interval: own.poll_interval,
        pace: own.pace,
        set: own.set.clone(),
    };
    let keys = [
        "credentials",
        "tls",
        "tls_change",
        "auth",
        "poll_interval",
        "pace",
    ];
    for key in keys {
        if own.set.contains_key(key) {
            continue;
        }
        let mut others = layers
            .iter()
            .zip(files)
            .filter_map(|(layer, file)| layer.set.get(key).map(|span| (layer, file, span)));
        let Some((layer, first, span)) = others.next() else {
            continue;
        };
        if let Some((_, second, second_span)) = others.next() {
            check
                .error(
                    place.clone(),
                    format!("default `{key}` of this file's BMCs is set in several other files"),
                    "which one?",
                )
                .hint(format!("set `{key}` in this file's `[defaults]`"))
                .related(first.file.id, span.clone(), "one is here")
                .related(second.file.id, second_span.clone(), "another here");
        }
        take(key, layer, &mut result);
    }
    result
}

fn take<'d>(key: &'static str, from: &Layer<'d>, to: &mut Layer<'d>) {
    match key {
        "credentials" => to.credentials.clone_from(&from.credentials),
        "tls" => to.tls.clone_from(&from.tls),
        "tls_change" => to.tls_change = from.tls_change,
        "auth" => to.auth = from.auth,
        "poll_interval" => to.poll_interval = from.poll_interval,
        "pace" => to.pace = from.pace,
        _ => unreachable!("every key of a layer is named above"),
    }
    to.set.insert(key, 0..0);
}
