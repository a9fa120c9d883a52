//! Before any BMC is contacted: which pipeline goes to which BMC, with every value read and every image checked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::facts::{FACT_PREFIX, Facts, Label};
use crate::model::inventory::{Bmc, Inventory, SecretSource, Server};
use crate::model::{BmcName, Fault, FaultKind, Look, Retry, RunKey, ServerName};
use crate::pipeline::{Given, Pipeline, Selector};
use crate::plan::{
    Footing, ImageCatalog, RunSpec, Unresolvable, WantedImage, resolve, wanted_images,
};
use crate::run::RunState;

/// One pipeline on one BMC, with all that a plan needs but the BMC's own answers.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Which pipeline.
    pub pipeline: Arc<Pipeline>,
    /// Which BMC.
    pub bmc: Arc<Bmc>,
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
    /// Whether the pipeline or the limit speaks of facts of the hardware.
    pub needs_facts: bool,
    /// What the hardware said of itself, where it is needed and was heard.
    pub facts: Option<Arc<Facts>>,
}

/// What is known of the hardware behind a BMC; `None` = it never answered.
pub type KnownFacts<'f> = &'f dyn Fn(&BmcName) -> Option<Arc<Facts>>;

/// Which BMCs the pipelines select.
#[derive(Debug, Default)]
pub struct Selected {
    /// Pipelines with the BMCs that own at least one selected server, by pipeline and BMC name.
    pub assignments: Vec<Assignment>,
    /// The same where that hangs on what the hardware says of itself, and it was not heard yet.
    pub undecided: Vec<Assignment>,
}

/// Pairs every pipeline with the BMCs that own at least one selected server, by pipeline and BMC name.
pub fn select(
    inventory: &Inventory,
    pipelines: &[Arc<Pipeline>],
    limit: Option<&Selector>,
    given: &Arc<Given>,
    facts: KnownFacts<'_>,
) -> Selected {
    let hidden = Arc::new(secret_variables(inventory, given));
    let images = Arc::default();
    let mut selected = Selected::default();
    for pipeline in pipelines {
        let needs_facts = pipeline.needs_facts() || limit.is_some_and(Selector::needs_facts);
        for bmc in &inventory.bmcs {
            let assignment = Assignment {
                pipeline: Arc::clone(pipeline),
                bmc: Arc::clone(bmc),
                limit: limit.cloned(),
                given: Arc::clone(given),
                images: Arc::clone(&images),
                hidden: Arc::clone(&hidden),
                gone: BTreeSet::new(),
                needs_facts,
                facts: needs_facts.then(|| facts(&bmc.name)).flatten(),
            };
            match assignment.selects_any() {
                Some(true) => selected.assignments.push(assignment),
                Some(false) => {}
                None => selected.undecided.push(assignment),
            }
        }
    }
    selected
}

/// The same where no pipeline hangs on facts of the hardware.
pub fn assign(
    inventory: &Inventory,
    pipelines: &[Arc<Pipeline>],
    limit: Option<&Selector>,
    given: &Arc<Given>,
) -> Vec<Assignment> {
    select(inventory, pipelines, limit, given, &|_| None).assignments
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
        bmc: Arc::clone(inventory.bmc(&key.bmc)?),
        limit: None,
        given: Arc::clone(given),
        images: Arc::default(),
        hidden: Arc::new(secret_variables(inventory, given)),
        gone: BTreeSet::new(),
        needs_facts: pipeline.needs_facts(),
        facts: None,
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
    /// Whether labels and facts are selected; of a BMC that lists no servers they are the BMC's. `None` = that hangs on
    /// what the hardware did not say yet.
    fn selects(
        &self,
        labels: &BTreeMap<String, String>,
        server: Option<&ServerName>,
    ) -> Option<bool> {
        let label = |name: &str| match (name.starts_with(FACT_PREFIX), &self.facts) {
            (false, _) => labels.get(name).map(String::as_str).into(),
            (true, Some(facts)) => facts.label(server, name),
            (true, None) => Label::Unknown,
        };
        let wanted = self.pipeline.selector.judge(label);
        let limit = self.limit.as_ref();
        let within = limit.map_or(Some(true), |limit| limit.judge(label));
        match (wanted, within) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            (None, _) | (_, None) => None,
        }
    }

    /// Whether one server at least is selected.
    pub(super) fn selects_any(&self) -> Option<bool> {
        let mut verdicts: Vec<Option<bool>> = if !self.bmc.servers.is_empty() {
            let servers = self.bmc.servers.iter();
            servers
                .map(|server| self.selects(&server.labels, Some(&server.name)))
                .collect()
        } else if let Some(facts) = &self.facts {
            let found = facts.servers();
            found
                .map(|server| self.selects(&self.bmc.labels, Some(server)))
                .collect()
        } else {
            vec![self.selects(&self.bmc.labels, None)]
        };
        // Largest last: not known counts for more than no, and yes for more than both.
        let rank = |verdict: &Option<bool>| verdict.map_or(1, |yes| if yes { 2 } else { 0 });
        verdicts.sort_by_key(rank);
        let verdict = verdicts.pop().unwrap_or(Some(false));
        let is_blind = self.needs_facts && self.facts.is_none();
        verdict.filter(|selects| !(*selects && is_blind))
    }

    /// The same, knowing what the hardware says of itself.
    pub(super) fn knowing(&self, facts: Option<Arc<Facts>>) -> Self {
        Self {
            facts: facts.filter(|_| self.needs_facts),
            ..self.clone()
        }
    }

    /// Selected servers as the inventory lists them; empty where it lists none.
    pub fn listed(&self) -> Vec<Server> {
        let is_selected =
            |server: &&Server| self.selects(&server.labels, Some(&server.name)) == Some(true);
        let servers = self.bmc.servers.iter();
        servers.filter(is_selected).cloned().collect()
    }

    /// Of these servers, shown by a BMC for which the inventory lists none, the selected ones.
    pub(super) fn found<'n>(&self, shown: impl Iterator<Item = &'n ServerName>) -> Vec<ServerName> {
        let is_selected =
            |name: &&ServerName| self.selects(&self.bmc.labels, Some(*name)) == Some(true);
        shown.filter(is_selected).cloned().collect()
    }

    /// Names of the selected servers: as listed, or all that the BMC shows where the inventory lists none.
    pub fn servers(&self, look: &Look) -> Result<Vec<ServerName>, Fault> {
        if self.bmc.servers.is_empty() {
            return self.if_any(self.found(look.systems.keys()));
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
            return self.if_any(listed);
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

    /// What hangs on facts may be selected no more.
    fn if_any(&self, servers: Vec<ServerName>) -> Result<Vec<ServerName>, Fault> {
        if self.needs_facts && servers.is_empty() {
            let message = format!(
                "`{}` does not select bmc `{}` as its hardware describes itself now",
                self.pipeline.name, self.bmc.name
            );
            return Err(Fault::new(FaultKind::Blocked, Retry::Operator, message)
                .with_hint("compare `[selector]` and `--limit` with `redpipe inventory check`"));
        }
        Ok(servers)
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
            Arc::make_mut(&mut carrying.bmc).servers.push(Server {
                name: name.clone(),
                system,
                labels: self.bmc.labels.clone(),
                expect: crate::model::inventory::Expect::default(),
            });
        }
        carrying
    }

    /// The specification of a run on these servers.
    pub fn spec(&self, servers: &[ServerName], footing: Footing<'_>) -> Result<RunSpec, Fault> {
        let servers = servers
            .iter()
            .map(|name| self.with_facts(self.server(name)));
        let servers: Vec<Server> = servers.collect();
        let spec = resolve(
            &self.pipeline,
            &self.labelled(),
            &servers,
            &self.given,
            &self.images,
            footing,
        )
        .map_err(|errors| unresolvable(&errors))?;
        let gone = self.gone.clone();
        Ok(RunSpec { gone, ..spec })
    }

    /// Images that the run will need, as far as the inventory alone says.
    pub fn wanted_images(&self) -> Result<BTreeSet<WantedImage>, Vec<Unresolvable>> {
        let mut listed = self.listed();
        if listed.is_empty() {
            let known = self.facts.as_ref().map(|facts| self.found(facts.servers()));
            let known = known.unwrap_or_default();
            listed.extend(known.iter().map(|name| self.server(name)));
        }
        if listed.is_empty() {
            listed.push(self.server(&format!("{}/*", self.bmc.name).into()));
        }
        let listed: Vec<Server> = listed
            .into_iter()
            .map(|server| self.with_facts(server))
            .collect();
        let told = self.facts.as_ref().and_then(|facts| facts.platform());
        let platform = self.bmc.platform.as_deref().or(told);
        wanted_images(
            &self.pipeline,
            &self.labelled(),
            &listed,
            &self.given,
            platform,
        )
    }

    /// A server with the facts among its labels, where something hangs on them.
    fn with_facts(&self, mut server: Server) -> Server {
        if let Some(facts) = &self.facts {
            Arc::make_mut(&mut server.labels).extend(facts.labels(Some(&server.name)));
        }
        server
    }

    /// The same for the BMC.
    fn labelled(&self) -> Cow<'_, Bmc> {
        let Some(facts) = &self.facts else {
            return Cow::Borrowed(&self.bmc);
        };
        let mut bmc = Bmc::clone(&self.bmc);
        Arc::make_mut(&mut bmc.labels).extend(facts.labels(None));
        Cow::Owned(bmc)
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
