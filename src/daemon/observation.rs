//! One observation of one BMC against everything that is wanted of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::engine::Engine;
use super::prepare::Assignment;
use super::stop::Stop;
use super::survey::{Awaited, looked, read, side_by_side};
use crate::drift::{Comparison, DriftItem, DriftState, compare, look_request};
use crate::model::look::Problem;
use crate::model::{
    BmcName, Fault, Look, LookRequest, PipelineName, ServerName, StageName, Target,
};
use crate::plan::{Footing, ImageCatalog, RunSpec};
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
        let target = self.target.name();
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

/// What is known of what to ask a BMC. What its pipelines want is worked out anew each time: kept for every BMC of a
/// fleet it would be most of what a watching process holds.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Servers that the BMC showed, where the inventory leaves it to the BMC which there are.
    shown: Box<[ServerName]>,
    /// What an observation asks that finds nothing amiss.
    brief: LookRequest,
}

impl Known {
    /// What an observation asks that finds nothing amiss.
    pub(super) fn brief(&self) -> &LookRequest {
        &self.brief
    }
}

/// What is wanted of one BMC, by every pipeline that selects it, in name order; on the servers that the inventory lists,
/// or on these where it lists none.
fn specs(assignments: &[Assignment], shown: &[ServerName]) -> Result<Vec<RunSpec>, Fault> {
    let images = Arc::new(ImageCatalog {
        is_unread: true,
        ..ImageCatalog::default()
    });
    let spec = |each: &Assignment| {
        let observing = Assignment {
            images: Arc::clone(&images),
            ..each.clone()
        };
        let servers: Vec<ServerName> = if each.bmc.servers.is_empty() {
            each.found(shown.iter())
        } else {
            let listed = each.listed().into_iter();
            listed.map(|server| server.name).collect()
        };
        observing.spec(&servers, Footing::End)
    };
    assignments.iter().map(spec).collect()
}

/// What one observation has to ask.
fn request(specs: &[RunSpec], full: bool) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        // A BIOS version may stand there alone.
        software: full && specs.is_empty(),
        ..LookRequest::default()
    };
    for spec in specs {
        request.merge(look_request(spec, full));
    }
    request.brief = !full;
    request
}

/// The servers that a BMC shows, where somebody has to know; none where the inventory lists them.
async fn shown(client: &Client, assignments: &[Assignment]) -> Result<Box<[ServerName]>, Fault> {
    if assignments.iter().all(|each| !each.bmc.servers.is_empty()) {
        return Ok(Box::default());
    }
    let first = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    let look = looked(client.look(&first).await)?;
    Ok(look.systems.into_keys().collect())
}

/// Looks at a BMC and compares; `known` is kept for the next time. `full` asks in addition who is at work.
pub(super) async fn observe(
    engine: &Engine,
    client: &Client,
    assignments: &[Assignment],
    known: &mut Option<Known>,
    full: bool,
) -> Result<Observed, Fault> {
    let shown = match known.take() {
        Some(known) => known.shown,
        None => shown(client, assignments).await?,
    };
    let specs = specs(assignments, &shown)?;
    let brief = request(&specs, false);
    let asked = if full {
        client.look(&request(&specs, true)).await
    } else {
        client.look(&brief).await
    };
    *known = Some(Known { shown, brief });
    let look = looked(asked)?;
    let mut compared = BTreeMap::new();
    for (spec, assignment) in specs.iter().zip(assignments) {
        engine.check_identity(&assignment.bmc, spec, &look)?;
        let context = engine.context(&assignment.bmc.name, spec);
        let context = context.map_err(|error| error.fault())?;
        compared.insert(spec.pipeline.clone(), compare(spec, &look, &context));
    }
    Ok(Observed { look, compared })
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
    let readings = by_bmc.into_iter().map(|(bmc, assignments)| {
        let (engine, stop, name) = (engine.clone(), stop.clone(), bmc.clone());
        let observing = async move { drift_one(&engine, &bmc, &assignments, &stop).await };
        (name, observing)
    });
    side_by_side(readings, awaited).await
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
        Err(fault) => return Some((BmcDrift::unread(bmc, &fault), Some(fault))),
    };
    let mut known = None;
    let reading = observe(engine, &client, assignments, &mut known, true);
    let found = read(&client, stop, reading).await?;
    engine.keep_links(bmc, &client);
    Some(match found {
        Ok(observed) => (told(bmc, &observed), None),
        Err(fault) => (BmcDrift::unread(bmc, &fault), Some(fault)),
    })
}

impl BmcDrift {
    /// A BMC that did not say how it stands.
    pub fn unread(bmc: &BmcName, fault: &Fault) -> Self {
        Self {
            bmc: bmc.clone(),
            state: DriftState::Unreachable,
            items: Vec::new(),
            problems: vec![fault.into()],
        }
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
