//! The document of `inventory check`.

use serde::Serialize;

use crate::daemon::Checked;
use crate::model::circumstances::{BmcClock, Licence, SessionsShown};
use crate::model::inventory::{Bmc, Scheme, TlsMode};
use crate::model::look::{Power, Problem};
use crate::model::setting::AttributeResource;
use crate::model::{Capability, Look, Target};

#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) bmcs: Vec<BmcRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct BmcRow {
    pub(super) bmc: String,
    pub(super) address: String,
    pub(super) uuid: Option<String>,
    pub(super) platform: Option<String>,
    pub(super) vendor: Option<String>,
    pub(super) product: Option<String>,
    pub(super) bmc_version: Option<String>,
    pub(super) capabilities: Option<Capability>,
    /// What the platform was recognized by.
    pub(super) recognized_by: Vec<String>,
    pub(super) licences: Option<Vec<Licence>>,
    pub(super) lockdown: Option<bool>,
    pub(super) clock: Option<BmcClock>,
    pub(super) sessions: SessionsShown,
    pub(super) tls: TlsRow,
    pub(super) work: WorkRow,
    pub(super) servers: Vec<ServerRow>,
    pub(super) problems: Vec<Problem>,
}

/// How the wire is protected.
#[derive(Debug, Serialize)]
pub(super) struct TlsRow {
    /// As the inventory says it; `off` where the address is http.
    pub(super) mode: &'static str,
    /// SHA-256 of the certificate that is remembered or written down.
    pub(super) pin: Option<String>,
}

/// What runs and what waits.
#[derive(Debug, Default, Serialize)]
pub(super) struct WorkRow {
    pub(super) tasks: Vec<TaskRow>,
    pub(super) jobs: Vec<JobRow>,
    pub(super) staged: Vec<StagedRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct TaskRow {
    pub(super) uri: String,
    pub(super) name: Option<String>,
    pub(super) state: Option<String>,
    pub(super) percent: Option<u8>,
}

#[derive(Debug, Serialize)]
pub(super) struct JobRow {
    pub(super) uri: String,
    pub(super) name: Option<String>,
    pub(super) state: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct StagedRow {
    pub(super) uri: String,
    pub(super) version: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ServerRow {
    pub(super) server: String,
    pub(super) system: String,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) bios_version: Option<String>,
    pub(super) bios_attributes: Option<usize>,
    pub(super) pending: Option<usize>,
    pub(super) power_state: Power,
}

/// What one BMC told.
pub(super) fn row(checked: &Checked) -> BmcRow {
    let mut row = BmcRow {
        bmc: checked.bmc.name.to_string(),
        address: checked.bmc.address.to_string(),
        uuid: None,
        platform: None,
        vendor: None,
        product: None,
        bmc_version: None,
        capabilities: None,
        recognized_by: checked.circumstances.recognized_by.clone(),
        licences: checked.circumstances.licences.clone(),
        lockdown: checked.circumstances.lockdown,
        clock: checked.circumstances.clock.clone(),
        sessions: checked.circumstances.sessions.clone(),
        tls: tls(&checked.bmc, checked.pin.as_deref()),
        work: WorkRow::default(),
        servers: Vec::new(),
        problems: checked.problems.clone(),
    };
    if let Ok(look) = &checked.look {
        fill(&mut row, look);
    }
    row
}

fn tls(bmc: &Bmc, remembered: Option<&str>) -> TlsRow {
    let mode = match (&bmc.address.scheme, &bmc.tls) {
        (Scheme::Http, _) => "off",
        (Scheme::Https, TlsMode::Verify) => "verify",
        (Scheme::Https, TlsMode::FirstUse) => "first-use",
        (Scheme::Https, TlsMode::Insecure) => "insecure",
        (Scheme::Https, TlsMode::Ca(_)) => "ca",
        (Scheme::Https, TlsMode::Pin(_)) => "pin",
    };
    let pin = match &bmc.tls {
        TlsMode::Pin(pin) => Some(pin.as_str()),
        TlsMode::FirstUse => remembered,
        TlsMode::Verify | TlsMode::Insecure | TlsMode::Ca(_) => None,
    };
    TlsRow {
        mode,
        pin: pin.map(str::to_owned),
    }
}

fn work(look: &Look) -> WorkRow {
    let tasks = look.tasks.iter().filter(|task| !task.is_finished());
    let staged = look.software.iter().filter(|software| software.staged);
    WorkRow {
        tasks: tasks
            .map(|task| TaskRow {
                uri: task.uri.clone(),
                name: task.name.clone(),
                state: task.state.clone(),
                percent: task.percent,
            })
            .collect(),
        jobs: look
            .jobs
            .iter()
            .map(|job| JobRow {
                uri: job.uri.clone(),
                name: job.name.clone(),
                state: job.state.clone(),
            })
            .collect(),
        staged: staged
            .map(|software| StagedRow {
                uri: software.uri.clone(),
                version: software.version.clone(),
            })
            .collect(),
    }
}

fn fill(row: &mut BmcRow, look: &Look) {
    row.uuid.clone_from(&look.identity.root_uuid);
    row.platform = Some(look.capability.platform.clone());
    row.vendor.clone_from(&look.identity.vendor);
    row.product.clone_from(&look.identity.product);
    row.bmc_version = look.bmc_version().map(str::to_owned);
    row.capabilities = Some(look.capability.clone());
    row.work = work(look);
    for (name, system) in &look.systems {
        let settings = look.settings.get(&Target::Server(name.clone()));
        let count = |of: &dyn Fn(&AttributeResource) -> usize| {
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
