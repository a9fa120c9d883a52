//! Who agreed, when, and what ran before: no server is disturbed without, and an approval serves once.

use std::collections::BTreeSet;

use jiff::Timestamp;
use redpipe::model::{About, BmcName, Order, RunKey, ServerName, Target, Verb};
use redpipe::run::Record;
use redpipe::run::record::{HoldStep, HookSide, Intent, Place};

use super::seen::Seen;

/// The hold of the run on one BMC.
#[derive(Default)]
pub(super) struct HoldSeen {
    run: Option<RunKey>,
    servers: BTreeSet<ServerName>,
    asked: Option<Asked>,
    granted: BTreeSet<ServerName>,
    /// Places whose stage sent something while their servers were granted, and is not over.
    begun: BTreeSet<Place>,
    /// Something was prepared that is not given back.
    taken: bool,
}

/// What is asked for and not granted.
struct Asked {
    digest: String,
    servers: BTreeSet<ServerName>,
    approved: bool,
    prepared: bool,
}

impl HoldSeen {
    /// What waits for a person.
    pub(super) fn asks(&self) -> Option<(RunKey, String)> {
        let asked = self.asked.as_ref().filter(|asked| !asked.approved)?;
        Some((self.run.clone()?, asked.digest.clone()))
    }
}

impl Seen {
    /// A record, with the orders that were ever given and the time on the clock of the engine.
    pub(super) fn hold(
        &mut self,
        bmc: &BmcName,
        record: &Record,
        orders: &[Order],
        now: Timestamp,
    ) {
        if let Record::Started { key, servers, .. } = record {
            self.bmc(bmc).hold = HoldSeen {
                run: Some(key.clone()),
                servers: servers.iter().cloned().collect(),
                ..HoldSeen::default()
            };
        } else if let Record::Edited { added, removed, .. } = record {
            let servers = &mut self.bmc(bmc).hold.servers;
            servers.retain(|server| !removed.contains(server));
            servers.extend(added.iter().cloned());
        } else if let Record::Hold { step } = record {
            self.step(bmc, step, orders);
        } else if let Record::Intent { at, intent, .. } = record {
            self.disturbs(bmc, at, intent, now);
        } else if let Record::Done { at, .. }
        | Record::Failed { at, .. }
        | Record::Stopped { at, .. } = record
        {
            self.bmc(bmc).hold.begun.remove(at);
        }
    }

    fn step(&mut self, bmc: &BmcName, step: &HoldStep, orders: &[Order]) {
        let hold = &mut self.bmc(bmc).hold;
        match step {
            HoldStep::Asked {
                digest,
                servers,
                granted,
                ..
            } => {
                hold.granted.retain(|server| granted.contains(server));
                hold.asked = Some(Asked {
                    digest: digest.clone(),
                    servers: servers.iter().cloned().collect(),
                    approved: false,
                    prepared: false,
                });
            }
            HoldStep::Approved { order, .. } => self.approved(bmc, *order, orders),
            HoldStep::Lapsed { .. } => {
                if let Some(asked) = &mut hold.asked {
                    asked.approved = false;
                }
            }
            HoldStep::HookStarted { side, .. } => hold.taken |= *side == HookSide::Before,
            HoldStep::HookEnded { side, outcome, .. } => {
                if let Some(asked) = hold.asked.as_mut().filter(|_| *side == HookSide::Before) {
                    asked.prepared = outcome.is_good();
                }
            }
            HoldStep::Granted => self.granted(bmc),
            HoldStep::Releasing { .. } => {
                hold.granted.clear();
                hold.begun.clear();
                hold.asked = None;
            }
            HoldStep::Released => hold.taken = false,
        }
    }

    /// An approval is an order of a person, about this run and what it asks for, and serves once.
    fn approved(&mut self, bmc: &BmcName, id: u64, orders: &[Order]) {
        let is_first = self.served.insert(id);
        let hold = &mut self.bmc(bmc).hold;
        let Some(asked) = &mut hold.asked else {
            return self.breaks("approval", format!("{bmc}: nothing was asked for"));
        };
        asked.approved = true;
        let about = hold.run.clone().map(About::Run);
        let verb = Verb::Approve {
            digest: asked.digest.clone(),
        };
        let is_given = orders.iter().any(|order| {
            order.id == id && Some(&order.about) == about.as_ref() && order.verb == verb
        });
        if !is_given {
            let how = format!("{bmc}: order {id} does not approve what {about:?} asks for");
            self.breaks("approval", how);
        }
        if !is_first {
            let how = format!("{bmc}: approval {id} serves a second time");
            self.breaks("approval", how);
        }
    }

    fn granted(&mut self, bmc: &BmcName) {
        let (approval, hooks) = (self.maintenance.approval, self.maintenance.hooks);
        let hold = &mut self.bmc(bmc).hold;
        let Some(asked) = hold.asked.take() else {
            return self.breaks("hold", format!("{bmc}: granted, and nothing was asked for"));
        };
        hold.granted.extend(asked.servers);
        hold.taken = true;
        if approval && !asked.approved {
            self.breaks("approval", format!("{bmc}: granted before it was approved"));
        }
        if hooks && !asked.prepared {
            self.breaks("hold", format!("{bmc}: granted before its hook said so"));
        }
    }

    /// A request that takes servers away: they are granted, or were when what it ends began, and an update begins in its
    /// window. An edit asks anew for what the file says now; a stage that is under way is ended as it was begun, with the
    /// host as it was before, and only an update would be a new step.
    fn disturbs(&mut self, bmc: &BmcName, at: &Place, intent: &Intent, now: Timestamp) {
        if self.maintenance.is_plain() {
            return;
        }
        let is_open = self.maintenance.is_open(now);
        let hold = &mut self.bmc(bmc).hold;
        let disturbed = match &at.target {
            Target::Bmc => hold.servers.clone(),
            Target::Server(name) => BTreeSet::from([name.clone()]),
        };
        let is_granted = disturbed.is_subset(&hold.granted);
        let goes_on = hold.begun.contains(at);
        if is_granted {
            hold.begun.insert(at.clone());
        }
        let (may, is_update) = match intent {
            Intent::Update { .. } => (is_granted, true),
            Intent::ResetSystem { .. } | Intent::ResetManager { .. } => {
                (is_granted || goes_on, false)
            }
            Intent::Withdraw { .. }
            | Intent::Attributes { .. }
            | Intent::Resource { .. }
            | Intent::Call { .. } => return,
        };
        let how = format!("{bmc}: {at:?} {intent:?} at {now}");
        if !may {
            self.breaks("hold", format!("not granted: {how}"));
        } else if is_update && !is_open {
            self.breaks("window", format!("outside of the window: {how}"));
        }
    }

    /// What was taken is given back before a run ends.
    pub(super) fn given_back(&mut self, bmc: &BmcName) {
        if self.bmc(bmc).hold.taken {
            self.breaks(
                "hold",
                format!("{bmc}: over, and its servers are not given back"),
            );
        }
    }
}
