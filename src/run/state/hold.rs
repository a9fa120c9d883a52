//! The hold of a run: which servers its disruptive steps may touch, who agreed, and how far the hooks are.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::model::ServerName;
use crate::run::record::{HoldStep, HookSide, RunPhase, ServerOutcome};

/// The hold of a run, from when servers are asked for until they are given back.
#[derive(Debug, Clone, PartialEq)]
pub struct Hold {
    /// What an approval has to be for.
    pub digest: String,
    /// Servers asked for.
    pub servers: BTreeSet<ServerName>,
    /// Servers that disruptive steps may touch now.
    pub granted: BTreeSet<ServerName>,
    /// Servers that were granted at any time since they were last given back: a step that has begun on them is ended,
    /// whatever is asked for meanwhile.
    pub was_granted: BTreeSet<ServerName>,
    /// Where it stands.
    pub phase: HoldPhase,
    /// When that began.
    pub since: Timestamp,
    /// Hooks of this phase that have done their part.
    pub hooks_done: usize,
    /// The next hook.
    pub hook: HookState,
    /// Whether a person has to agree.
    pub approval: bool,
    /// Whether a `before` hook began: the servers are to be given back, granted or not.
    pub began: bool,
}

/// Where a hold stands. Each variant says what is true and what ends it.
#[derive(Debug, Clone, PartialEq)]
pub enum HoldPhase {
    /// Asked for; an approval where one is needed, the window and the `before` hooks end this.
    Asked,
    /// A person agreed; the window and the `before` hooks end this, or time.
    Approved(Approval),
    /// Given; the end of the run, or of the window, ends this.
    Granted,
    /// Being given back; the `after` hooks end this.
    Releasing(Release),
}

/// A person's agreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Number of the order.
    pub order: u64,
    /// Who gave it.
    pub by: String,
    /// When.
    pub given_at: Timestamp,
}

/// Servers on their way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Why.
    pub reason: String,
    /// How the run ends with it; `None` = it goes on later.
    pub end: Option<RunPhase>,
    /// What became of each server.
    pub servers: Vec<ServerOutcome>,
}

/// The hook that is next, or under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// Not begun in this process; hooks are repeatable.
    Idle,
    /// Running; its end ends this, or the process's.
    Running,
    /// It failed, in words; another process or an order runs it again.
    Failed(String),
}

impl Hold {
    /// Whether servers have to be given back, rather than only no longer asked for.
    pub fn is_owed(&self) -> bool {
        self.began || !self.granted.is_empty()
    }

    /// Whether it waits for a person who has to agree.
    pub fn waits_for_approval(&self) -> bool {
        self.approval && self.phase == HoldPhase::Asked
    }

    /// Whether a person agreed, or more than that.
    pub fn is_taken(&self) -> bool {
        self.is_owed()
            || match &self.phase {
                HoldPhase::Asked => false,
                HoldPhase::Approved(_) | HoldPhase::Granted | HoldPhase::Releasing(_) => true,
            }
    }

    /// What a step makes of the hold before it.
    pub(super) fn after(old: Option<Self>, at: Timestamp, step: &HoldStep) -> Option<Self> {
        if let HoldStep::Asked {
            digest,
            servers,
            granted,
            approval,
        } = step
        {
            let began = old.as_ref().is_some_and(Self::is_owed);
            return Some(Self {
                digest: digest.clone(),
                servers: servers.iter().cloned().collect(),
                granted: granted.iter().cloned().collect(),
                was_granted: old.map(|old| old.was_granted).unwrap_or_default(),
                phase: HoldPhase::Asked,
                since: at,
                hooks_done: 0,
                hook: HookState::Idle,
                approval: *approval,
                began,
            });
        }
        let mut hold = old?;
        match step {
            HoldStep::Asked { .. } | HoldStep::Released => return None,
            HoldStep::Approved {
                order,
                by,
                given_at,
            } => {
                let approval = Approval {
                    order: *order,
                    by: by.clone(),
                    given_at: *given_at,
                };
                hold.enter(HoldPhase::Approved(approval), at);
            }
            HoldStep::Lapsed { .. } => hold.enter(HoldPhase::Asked, at),
            HoldStep::HookStarted { side, .. } => {
                hold.began |= *side == HookSide::Before;
                hold.hook = HookState::Running;
            }
            HoldStep::HookEnded { hook, outcome, .. } => {
                hold.hook = if outcome.is_good() {
                    hold.hooks_done += 1;
                    HookState::Idle
                } else {
                    HookState::Failed(format!("hook `{hook}` failed: {}", outcome.words()))
                };
            }
            HoldStep::Granted => {
                hold.granted.clone_from(&hold.servers);
                hold.was_granted.extend(hold.servers.iter().cloned());
                hold.enter(HoldPhase::Granted, at);
            }
            HoldStep::Releasing {
                reason,
                end,
                servers,
            } => {
                let release = Release {
                    reason: reason.clone(),
                    end: *end,
                    servers: servers.clone(),
                };
                hold.enter(HoldPhase::Releasing(release), at);
            }
        }
        Some(hold)
    }

    /// A hook that was under way has died with its process, and one that failed is tried again.
    pub(super) fn resumed(&mut self) {
        self.hook = HookState::Idle;
    }

    fn enter(&mut self, phase: HoldPhase, at: Timestamp) {
        self.phase = phase;
        self.since = at;
        self.hooks_done = 0;
        self.hook = HookState::Idle;
    }
}
