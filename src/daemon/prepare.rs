//! Before any BMC is contacted: which pipeline goes to which BMC, with every value read and every image checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::inventory::{Bmc, Inventory, SecretSource, Server};
use crate::model::{Fault, FaultKind, Look, Retry, RunKey, ServerName};
use crate::pipeline::{Given, Pipeline, Selector};
use crate::plan::{ImageCatalog, RunSpec, Unresolvable, WantedImage, resolve, wanted_images};
use crate::run::RunState;

/// One pipeline on one BMC, with all that a plan needs but the BMC's own answers.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Which pipeline.
    pub pipeline: Arc<Pipeline>,
    /// Which BMC.
    pub bmc: Bmc,
    /// Further narrowing by `--limit`.
    pub limit: Option<Selector>,
    /// Environment and files that templates name.
    pub given: Arc<Given>,
    /// Images found and hashed.
    pub images: Arc<ImageCatalog>,
    /// Variables of the environment that may hold a secret: no hook sees them.
    pub hidden: Arc<BTreeSet<String>>,
    /// Servers of a run under way that the inventory lists no more.
    pub gone: BTreeSet<ServerName>,
}

/// Pairs every pipeline with the BMCs that own at least one selected server, by pipeline and BMC name.
pub fn assign(
    inventory: &Inventory,
    pipelines: &[Arc<Pipeline>],
    limit: Option<&Selector>,
    given: &Arc<Given>,
) -> Vec<Assignment> {
    let hidden = Arc::new(secret_variables(inventory, given));
    let mut assignments = Vec::new();
    for pipeline in pipelines {
        for bmc in &inventory.bmcs {
            let assignment = Assignment {
                pipeline: Arc::clone(pipeline),
                bmc: bmc.clone(),
                limit: limit.cloned(),
                given: Arc::clone(given),
                images: Arc::default(),
                hidden: Arc::clone(&hidden),
                gone: BTreeSet::new(),
            };
            if assignment.selects_any() {
                assignments.push(assignment);
            }
        }
    }
    assignments
}

/// The pipeline and the BMC of one run, whatever is selected now; `None` where the files name one of them no more.
pub fn assign_run(
    inventory: &Inventory,
    pipelines: &[Arc<Pipeline>],
    key: &RunKey,
    given: &Arc<Given>,
) -> Option<Assignment> {
    let pipeline = pipelines.iter().find(|p| p.name == key.pipeline)?;
    Some(Assignment {
        pipeline: Arc::clone(pipeline),
        bmc: inventory.bmc(&key.bmc)?.clone(),
        limit: None,
        given: Arc::clone(given),
        images: Arc::default(),
        hidden: Arc::new(secret_variables(inventory, given)),
        gone: BTreeSet::new(),
    })
}

/// Variables that passwords are read from, and those that pipelines put into values.
fn secret_variables(inventory: &Inventory, given: &Given) -> BTreeSet<String> {
    let passwords =
        inventory
            .bmcs
            .iter()
            .filter_map(|bmc| match &bmc.credentials.as_ref()?.password {
                SecretSource::Env(name) => Some(name.clone()),
                SecretSource::Plain(_) | SecretSource::File(_) | SecretSource::Command(_) => None,
            });
    passwords.chain(given.env.keys().cloned()).collect()
}

impl Assignment {
    fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.pipeline.selector.matches(labels)
            && self
                .limit
                .as_ref()
                .is_none_or(|limit| limit.matches(labels))
    }

    pub(super) fn selects_any(&self) -> bool {
        if self.bmc.servers.is_empty() {
            return self.selects(&self.bmc.labels);
        }
        self.bmc
            .servers
            .iter()
            .any(|server| self.selects(&server.labels))
    }

    /// Selected servers as the inventory lists them; empty where it lists none.
    pub fn listed(&self) -> Vec<Server> {
        self.bmc
            .servers
            .iter()
            .filter(|server| self.selects(&server.labels))
            .cloned()
            .collect()
    }

    /// Names of the selected servers: as listed, or all that the BMC shows where the inventory lists none.
    pub fn servers(&self, look: &Look) -> Result<Vec<ServerName>, Fault> {
        if self.bmc.servers.is_empty() {
            return Ok(look.systems.keys().cloned().collect());
        }
        let listed: Vec<ServerName> = self
            .listed()
            .into_iter()
            .map(|server| server.name)
            .collect();
        let missing: Vec<String> = look
            .missing_systems
            .iter()
            .filter(|name| listed.contains(name))
            .map(ToString::to_string)
            .collect();
        if missing.is_empty() {
            return Ok(listed);
        }
        let message = format!(
            "bmc `{}` shows no system for {}",
            self.bmc.name,
            missing.join(", ")
        );
        Err(
            Fault::new(FaultKind::SystemMissing, Retry::Operator, message)
                .with_hint("compare `system` in the inventory with `redpipe inventory check`"),
        )
    }

    /// The same with the servers of a run under way that the inventory lists no more, as the run found them.
    pub(super) fn carrying(&self, state: &RunState) -> Self {
        let mut carrying = self.clone();
        let Some(start) = state
            .start
            .as_ref()
            .filter(|_| !self.bmc.servers.is_empty())
        else {
            return carrying;
        };
        for name in start
            .servers
            .iter()
            .filter(|name| self.bmc.server(name).is_none())
        {
            let system = start.boxes.get(name).map(|found| found.uri.clone());
            carrying.gone.insert(name.clone());
            carrying.bmc.servers.push(Server {
                name: name.clone(),
                system,
                labels: self.bmc.labels.clone(),
                expect: crate::model::inventory::Expect::default(),
            });
        }
        carrying
    }

    /// The specification of a run on these servers.
    pub fn spec(&self, servers: &[ServerName]) -> Result<RunSpec, Fault> {
        let servers: Vec<Server> = servers.iter().map(|name| self.server(name)).collect();
        let spec = resolve(
            &self.pipeline,
            &self.bmc,
            &servers,
            &self.given,
            &self.images,
        )
        .map_err(|errors| unresolvable(&errors))?;
        let gone = self.gone.clone();
        Ok(RunSpec { gone, ..spec })
    }

    /// Images that the run will need, as far as the inventory alone says.
    pub fn wanted_images(&self) -> Result<BTreeSet<WantedImage>, Vec<Unresolvable>> {
        let mut listed = self.listed();
        if listed.is_empty() {
            listed.push(self.server(&ServerName(format!("{}/*", self.bmc.name))));
        }
        wanted_images(&self.pipeline, &self.bmc, &listed, &self.given)
    }

    /// A server as listed, or one found behind a BMC that lists none: it has the BMC's labels.
    fn server(&self, name: &ServerName) -> Server {
        self.bmc.server(name).cloned().unwrap_or_else(|| Server {
            name: name.clone(),
            system: name.as_str().rsplit('/').next().map(str::to_owned),
            labels: self.bmc.labels.clone(),
            expect: crate::model::inventory::Expect::default(),
        })
    }
}

/// Everything unresolvable of one run as one fault.
pub(super) fn unresolvable(errors: &[Unresolvable]) -> Fault {
    let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let fault = Fault::new(FaultKind::Blocked, Retry::Operator, all.join("; "));
    match errors.iter().find_map(|error| error.hint.clone()) {
        Some(hint) => fault.with_hint(hint),
        None => fault,
    }
}
