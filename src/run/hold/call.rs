//! A hook to run, and what it is told.

use std::time::Duration;

use serde::Serialize;

use crate::model::{BmcName, PipelineName, ServerName, StageName};
use crate::pipeline::Hook;
use crate::run::pass::Pass;
use crate::run::record::{HoldStep, HookOutcome, HookSide, Record, RunPhase, ServerOutcome};

/// A hook to run.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    /// On which side of the disruptive steps.
    pub side: HookSide,
    /// Its index on that side.
    pub index: usize,
    /// Which program.
    pub hook: Hook,
    /// When it has had enough time.
    pub timeout: Duration,
    /// What it reads.
    pub document: HookDocument,
}

/// The JSON document that a hook reads on stdin. It holds no secret.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookDocument {
    /// `before` or `after`.
    pub hook: HookSide,
    /// The pipeline's name.
    pub pipeline: PipelineName,
    /// The BMC's name.
    pub bmc: BmcName,
    /// `PIPELINE/BMC#N`.
    pub run: String,
    /// Servers that will be disturbed, or that are free again; `BMC/ID` where the inventory does not list one.
    pub servers: Vec<ServerName>,
    /// The run's stages, in order.
    pub stages: Vec<HookStage>,
    /// `after`: how the run ends, `null` where it goes on later. `before`: `null`.
    pub end: Option<RunPhase>,
    /// `after`: what became of every server, those that are not free included. `before`: empty.
    pub outcomes: Vec<ServerOutcome>,
}

/// One stage, as a hook is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookStage {
    /// Its name.
    pub name: StageName,
    /// Its kind.
    pub kind: &'static str,
}

impl HookCall {
    pub(super) fn new(
        pass: &Pass<'_>,
        side: HookSide,
        index: usize,
        servers: Vec<ServerName>,
    ) -> Option<Self> {
        let maintenance = &pass.spec.maintenance;
        let hooks = match side {
            HookSide::Before => &maintenance.before,
            HookSide::After => &maintenance.after,
        };
        let start = pass.state.start.as_ref()?;
        let stages = start.stages.iter().map(|head| HookStage {
            name: head.name.clone(),
            kind: head.kind.as_str(),
        });
        Some(Self {
            side,
            index,
            hook: hooks.get(index)?.clone(),
            timeout: maintenance.hook_timeout,
            document: HookDocument {
                hook: side,
                pipeline: start.key.pipeline.clone(),
                bmc: start.key.bmc.clone(),
                run: start.key.to_string(),
                servers,
                stages: stages.collect(),
                end: None,
                outcomes: Vec::new(),
            },
        })
    }

    pub(super) fn started(&self) -> Record {
        Record::Hold {
            step: HoldStep::HookStarted {
                side: self.side,
                index: self.index,
                hook: self.hook.name.clone(),
            },
        }
    }

    /// The record of its end.
    pub(in crate::run) fn ended(&self, outcome: &HookOutcome) -> Record {
        Record::Hold {
            step: HoldStep::HookEnded {
                side: self.side,
                index: self.index,
                hook: self.hook.name.clone(),
                outcome: outcome.clone(),
            },
        }
    }
}
