//! `inventory check`: reach every BMC and tell what it is.

use serde::Serialize;

use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::cli::{report, table};
use crate::daemon::{Awaited, Checked, Stop, check};
use crate::model::look::{Power, Problem};
use crate::model::{Capability, Fault, FaultKind, Look, Target};

#[derive(Debug, Serialize)]
struct Document {
    bmcs: Vec<BmcRow>,
}

#[derive(Debug, Serialize)]
struct BmcRow {
    bmc: String,
    address: String,
    uuid: Option<String>,
    platform: Option<String>,
    vendor: Option<String>,
    product: Option<String>,
    bmc_version: Option<String>,
    capabilities: Option<Capability>,
    servers: Vec<ServerRow>,
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
struct ServerRow {
    server: String,
    system: String,
    model: Option<String>,
    serial: Option<String>,
    bios_version: Option<String>,
    bios_attributes: Option<usize>,
    pending: Option<usize>,
    power_state: Power,
}

/// Reads every BMC of the inventory.
pub(crate) async fn run(shell: &Shell) -> Exit {
    let loaded = match shell.inventory() {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let bmcs = &loaded.inventory.bmcs;
    if bmcs.is_empty() {
        let message = "the inventory lists no bmc";
        return shell.refuse(Exit::NothingMatched, "nothing-matched", message, None);
    }
    let engine = match shell.engine(bmcs.len()) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let (stop, awaited) = (Stop::new(), Awaited::default());
    let work = check(&engine, bmcs, &stop, &awaited);
    let checked = match shell.reading(&stop, &awaited, work).await {
        Ok(checked) => checked,
        Err(exit) => return exit,
    };
    for (bmc, fault) in checked
        .iter()
        .filter_map(|one| Some((&one.bmc.name, one.look.as_ref().err()?)))
    {
        shell
            .printer
            .error(&report::fault(&format!("bmc `{bmc}`"), fault));
    }
    let document = Document {
        bmcs: checked.iter().map(row).collect(),
    };
    for line in text(&document) {
        shell.printer.text(&line);
    }
    shell.document(&document);
    Exit::worst(
        checked
            .iter()
            .filter_map(|one| one.look.as_ref().err())
            .map(exit_of),
    )
}

/// What a BMC that cannot be worked with means for the exit code.
pub(crate) fn exit_of(fault: &Fault) -> Exit {
    match fault.kind {
        FaultKind::Unreachable
        | FaultKind::BadAnswer
        | FaultKind::NotReady
        | FaultKind::SessionsExhausted
        | FaultKind::Deadline => Exit::Unreachable,
        FaultKind::Bug => Exit::Bug,
        FaultKind::LoginRefused
        | FaultKind::CredentialsBad
        | FaultKind::LooksReset
        | FaultKind::PasswordChangeRequired
        | FaultKind::CertificateChanged
        | FaultKind::CertificateUntrusted
        | FaultKind::SecretUnavailable
        | FaultKind::WrongBox
        | FaultKind::SystemMissing
        | FaultKind::Blocked
        | FaultKind::UpdateRefused
        | FaultKind::UpdateFailed
        | FaultKind::VersionUnchanged
        | FaultKind::SideEffect
        | FaultKind::SettingsInvalid
        | FaultKind::SettingsRefused
        | FaultKind::SettingsNotApplied
        | FaultKind::ResetFailed
        | FaultKind::ImageInvalid
        | FaultKind::Unsupported
        | FaultKind::LeaseHeld
        | FaultKind::Cancelled => Exit::Held,
    }
}

fn row(checked: &Checked) -> BmcRow {
    let mut row = BmcRow {
        bmc: checked.bmc.name.to_string(),
        address: checked.bmc.address.to_string(),
        uuid: None,
        platform: None,
        vendor: None,
        product: None,
        bmc_version: None,
        capabilities: None,
        servers: Vec::new(),
        problems: Vec::new(),
    };
    match &checked.look {
        Err(fault) => {
            let kind = fault.kind.as_str().to_owned();
            row.problems.push(Problem {
                kind,
                message: fault.to_string(),
            });
        }
        Ok(look) => fill(&mut row, look),
    }
    row
}

fn fill(row: &mut BmcRow, look: &Look) {
    row.uuid.clone_from(&look.identity.root_uuid);
    row.platform = Some(look.capability.platform.clone());
    row.vendor.clone_from(&look.identity.vendor);
    row.product.clone_from(&look.identity.product);
    row.bmc_version = look.bmc_version().map(str::to_owned);
    row.capabilities = Some(look.capability.clone());
    row.problems.clone_from(&look.problems);
    for name in &look.missing_systems {
        let message = format!("the inventory lists `{name}`, and the BMC shows no such system");
        row.problems.push(Problem {
            kind: "system-missing".to_owned(),
            message,
        });
    }
    for (name, system) in &look.systems {
        let settings = look.settings.get(&Target::Server(name.clone()));
        let count = |of: &dyn Fn(&crate::model::setting::AttributeResource) -> usize| {
            let resources = &settings?.resources;
            resources
                .iter()
                .any(|resource| !resource.current.is_empty())
                .then(|| resources.iter().map(of).sum())
        };
        row.servers.push(ServerRow {
            server: name.to_string(),
            system: system.uri.clone(),
            model: system.model.clone(),
            serial: system.serial.clone(),
            bios_version: look.bios_version(name).map(str::to_owned),
            bios_attributes: count(&|resource| resource.current.len()),
            pending: count(&|resource| resource.pending.len()),
            power_state: system.power,
        });
    }
}

fn text(document: &Document) -> Vec<String> {
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
