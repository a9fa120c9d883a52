//! `snapshot`: a pipeline file from a golden server's versions and settings.

mod text;

use std::sync::Arc;

use serde_json::json;
use text::{Images, pipeline_text};

use crate::cli::args::SnapshotArgs;
use crate::cli::command::inventory_check::exit_of;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::daemon::{Awaited, GoldenServer, Stop, read_golden};
use crate::model::inventory::{Bmc, Inventory};
use crate::model::{BmcName, ServerName};

/// Reads one server and prints its pipeline.
pub(crate) async fn run(shell: &Shell, args: &SnapshotArgs) -> Exit {
    let loaded = match shell.inventory() {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let server = ServerName::from(args.server.as_str());
    let Some(bmc) = bmc_of(&loaded.inventory, &server) else {
        let message = format!("the inventory has no server `{server}`");
        let names = loaded.inventory.bmcs.iter().flat_map(|bmc| names(bmc));
        let hint = format!("it has: {}", names.collect::<Vec<_>>().join(", "));
        let (exit, kind) = (Exit::NothingMatched, "nothing-matched");
        return shell.refuse(exit, kind, &message, Some(&hint));
    };
    let engine = match shell.engine(1) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let (stop, awaited) = (Stop::new(), Awaited::default());
    let work = Box::pin(read_golden(&engine, bmc, &server, &stop));
    let golden = match shell.reading(&stop, &awaited, work).await {
        Ok(Ok(golden)) => golden,
        Ok(Err(fault)) => return shell.failed(bmc.name.as_str(), &fault, exit_of(&fault)),
        Err(exit) => return exit,
    };
    tell_what_waits(shell, &golden);
    let images = Images {
        bmc: args.bmc_image.as_deref(),
        bios: args.bios_image.as_deref(),
    };
    let pipeline = pipeline_text(&bmc.name, &server, &golden, &images);
    shell.printer.text(pipeline.trim_end());
    shell.document(&json!({ "bmc": bmc.name, "server": server, "pipeline": pipeline }));
    Exit::Done
}

/// A pipeline tells what is in effect; what waits for a restart is not in it.
fn tell_what_waits(shell: &Shell, golden: &GoldenServer) {
    let views = golden.look.settings.iter();
    for (target, view) in views {
        let waiting = view
            .resources
            .iter()
            .flat_map(|resource| resource.pending.keys());
        let names: Vec<String> = waiting.map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            let whose = target.server().map_or("the BMC", |server| server.as_str());
            shell.printer.note(&format!(
                "note: {} wait on {whose} for a reset and are left as they are in effect now",
                names.join(", ")
            ));
        }
    }
}

/// The BMC that a server is listed behind, or the one that its name `BMC/ID` begins with where that lists none.
fn bmc_of<'i>(inventory: &'i Inventory, server: &ServerName) -> Option<&'i Bmc> {
    if let Some((bmc, _)) = inventory.server(server) {
        return Some(bmc);
    }
    let (bmc, _) = server.as_str().split_once('/')?;
    inventory
        .bmc(&BmcName::from(bmc))
        .filter(|bmc| bmc.servers.is_empty())
        .map(Arc::as_ref)
}

fn names(bmc: &Bmc) -> Vec<String> {
    if bmc.servers.is_empty() {
        return vec![format!("{}/ID", bmc.name)];
    }
    let servers = bmc.servers.iter();
    servers.map(|server| server.name.to_string()).collect()
}
