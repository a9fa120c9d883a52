//! One observation of one BMC against everything that is wanted of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::prepare::Assignment;
use super::stop::Stop;
use super::survey::{Awaited, READS_MAX, in_order, read};
use crate::drift::{Comparison, DriftItem, DriftState, compare, look_request};
use crate::model::look::Problem;
use crate::model::{
    BmcName, Fault, Look, LookRequest, PipelineName, Seen, ServerName, StageName, Target,
};
use crate::plan::{ImageCatalog, RunSpec};
use crate::redfish::Client;

/// The document of `drift`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DriftDocument {
    /// Every BMC that a pipeline speaks about, by name.
    pub bmcs: Vec<BmcDrift>,
}

/// How one BMC stands to all pipelines that select it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BmcDrift {
    /// Which BMC.
    pub bmc: BmcName,
    /// In one word.
    pub state: DriftState,
    /// All that differs.
    pub items: Vec<DriftLine>,
    /// Versions past the last hop; what cannot be judged; why it could not be read.
    pub problems: Vec<Problem>,
}

/// One thing that differs, as JSON shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftLine {
    /// Which pipeline wants it.
    pub pipeline: PipelineName,
    /// `bmc` or `server:NAME`.
    pub target: Target,
    /// Which stage wants it.
    pub stage: StageName,
    /// `version`, an attribute's name, or `URI#/pointer`.
    pub name: String,
    /// What is wanted.
    pub expected: Value,
    /// What was read.
    pub actual: Value,
    /// When it was seen first, where somebody watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl DriftLine {
    /// For people.
    pub fn words(&self) -> String {
        let target = match &self.target {
            Target::Bmc => "bmc".to_owned(),
            Target::Server(server) => server.to_string(),
        };
        let Self {
            stage,
            name,
            expected,
            actual,
            ..
        } = self;
        format!("{target}: {name} is {actual}, and `{stage}` wants {expected}")
    }

    pub(super) fn new(pipeline: &PipelineName, item: &DriftItem, since: Option<Timestamp>) -> Self {
        Self {
            pipeline: pipeline.clone(),
            target: item.target.clone(),
            stage: item.stage.clone(),
            name: item.name.clone(),
            expected: item.expected.clone(),
            actual: item.actual.clone(),
            since,
        }
    }
}

/// What one observation found.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    /// What was seen.
    pub(super) look: Box<Look>,
    /// By pipeline.
    pub(super) compared: BTreeMap<PipelineName, Comparison>,
}

/// What is wanted of one BMC, by every pipeline that selects it.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// In name order of the pipelines.
    pub(super) specs: Vec<RunSpec>,
}

impl Wanted {
    /// Without a look, where the inventory lists the servers.
    pub(super) fn listed(assignments: &[Assignment]) -> Option<Result<Self, Fault>> {
        let by_name = |assignment: &Assignment| {
            let listed = assignment.listed();
            listed.into_iter().map(|server| server.name).collect()
        };
        let all_listed = assignments.iter().all(|a| !a.bmc.servers.is_empty());
        all_listed.then(|| Self::of(assignments, by_name))
    }

    /// With the systems that a look shows, where it lists none.
    fn shown(assignments: &[Assignment], look: &Look) -> Result<Self, Fault> {
        Self::of(assignments, |assignment| {
            if assignment.bmc.servers.is_empty() {
                return look.systems.keys().cloned().collect();
            }
            let listed = assignment.listed();
            listed.into_iter().map(|server| server.name).collect()
        })
    }

    fn of(
        assignments: &[Assignment],
        servers: impl Fn(&Assignment) -> Vec<ServerName>,
    ) -> Result<Self, Fault> {
        let images = Arc::new(ImageCatalog {
            is_unread: true,
            ..ImageCatalog::default()
        });
        let spec = |each: &Assignment| {
            let images = Arc::clone(&images);
            let observing = Assignment {
                images,
                ..each.clone()
            };
            observing.spec(&servers(each))
        };
        let specs = assignments.iter().map(spec);
        Ok(Self {
            specs: specs.collect::<Result<_, Fault>>()?,
        })
    }

    /// What one observation has to ask.
    pub(super) fn request(&self, full: bool) -> LookRequest {
        let mut request = LookRequest {
            state: true,
            ..LookRequest::default()
        };
        for spec in &self.specs {
            request.merge(look_request(spec, full));
        }
        request.brief = !full;
        request
    }
}

/// Looks at a BMC and compares; `wanted` is kept for the next time. `full` asks in addition who is at work.
pub(super) async fn observe(
    engine: &Engine,
    client: &Client,
    assignments: &[Assignment],
    wanted: &mut Option<Wanted>,
    full: bool,
) -> Result<Observed, Fault> {
    let known = match (wanted.take(), Wanted::listed(assignments)) {
        (Some(known), _) => known,
        (None, Some(listed)) => listed?,
        (None, None) => {
            let first = LookRequest {
                state: true,
                ..LookRequest::default()
            };
            Wanted::shown(assignments, looked(client.look(&first).await)?.as_ref())?
        }
    };
    let known = wanted.insert(known);
    let look = looked(client.look(&known.request(full)).await)?;
    let mut compared = BTreeMap::new();
    for (spec, assignment) in known.specs.iter().zip(assignments) {
        engine.check_identity(&assignment.bmc, spec, &look)?;
        let context = engine.context(&assignment.bmc.name, spec);
        let context = context.map_err(|error| error.fault())?;
        compared.insert(spec.pipeline.clone(), compare(spec, &look, &context));
    }
    Ok(Observed { look, compared })
}

fn looked(seen: Seen) -> Result<Box<Look>, Fault> {
    match seen {
        Seen::Looked(look) => Ok(look),
        Seen::Failed(fault) => Err(fault),
    }
}

/// One observation of the whole fleet, every BMC once; writes nothing but sessions and pins. `None` = stopped.
pub async fn drift(
    engine: &Engine,
    assignments: &[Assignment],
    stop: &Stop,
    awaited: &Awaited,
) -> Option<Vec<(BmcDrift, Option<Fault>)>> {
    let mut by_bmc: BTreeMap<BmcName, Vec<Assignment>> = BTreeMap::new();
    for assignment in assignments {
        let name = assignment.bmc.name.clone();
        by_bmc.entry(name).or_default().push(assignment.clone());
    }
    awaited.begin(by_bmc.keys());
    let reads = Arc::new(Semaphore::new(READS_MAX));
    let mut tasks = JoinSet::new();
    for (index, (bmc, assignments)) in by_bmc.into_iter().enumerate() {
        let (engine, stop, reads) = (engine.clone(), stop.clone(), Arc::clone(&reads));
        let awaited = awaited.clone();
        tasks.spawn(async move {
            let _permit = reads.acquire_owned().await;
            let found = Box::pin(drift_one(&engine, &bmc, &assignments, &stop)).await;
            awaited.done(&bmc);
            (index, found)
        });
    }
    in_order(tasks).await
}

async fn drift_one(
    engine: &Engine,
    bmc: &BmcName,
    assignments: &[Assignment],
    stop: &Stop,
) -> Option<(BmcDrift, Option<Fault>)> {
    let first = assignments.first()?;
    let client = match engine.client(&first.bmc) {
        Ok(client) => client,
        Err(fault) => return Some((unread(bmc, &fault), Some(fault))),
    };
    let mut wanted = None;
    let reading = observe(engine, &client, assignments, &mut wanted, true);
    let found = read(&client, stop, reading).await?;
    engine.keep_links(bmc, &client);
    Some(match found {
        Ok(observed) => (told(bmc, &observed), None),
        Err(fault) => (unread(bmc, &fault), Some(fault)),
    })
}

/// A BMC that did not say how it stands.
pub(super) fn unread(bmc: &BmcName, fault: &Fault) -> BmcDrift {
    BmcDrift {
        bmc: bmc.clone(),
        state: DriftState::Unreachable,
        items: Vec::new(),
        problems: vec![Problem {
            kind: fault.kind.as_str().to_owned(),
            message: fault.to_string(),
        }],
    }
}

fn told(bmc: &BmcName, observed: &Observed) -> BmcDrift {
    let compared = &observed.compared;
    let items = compared.iter().flat_map(|(pipeline, found)| {
        let lines = found.items.iter();
        lines.map(|item| DriftLine::new(pipeline, item, None))
    });
    let states = compared.values().map(Comparison::state);
    BmcDrift {
        bmc: bmc.clone(),
        state: states.max().unwrap_or(DriftState::InSync),
        items: items.collect(),
        problems: problems(observed),
    }
}

/// What is worth telling beside what differs.
pub(super) fn problems(observed: &Observed) -> Vec<Problem> {
    let problem = |kind: &str, message: &String| Problem {
        kind: kind.to_owned(),
        message: message.clone(),
    };
    let mut problems = observed.look.problems.clone();
    for found in observed.compared.values() {
        problems.extend(found.ahead.iter().map(|words| problem("ahead", words)));
        let hidden = found.not_observable.iter();
        problems.extend(hidden.map(|words| problem("not-observable", words)));
    }
    problems
}
