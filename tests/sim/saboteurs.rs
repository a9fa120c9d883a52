//! Engines that are wrong in one way each. They stand before an engine's store, wires and orders, never in the product;
//! each has to be caught.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};
use redpipe::daemon::Assignment;
use redpipe::model::{About, Order, Verb};
use redpipe::pipeline::Maintenance;
use redpipe::redfish::{BoxFuture, Transport, WireBody, WireError, WireRequest, WireResponse};
use redpipe::store::StoredRecord;
use serde_json::{Value, json};

use crate::support::process::Meddler;

/// How an engine is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saboteur {
    /// Sends an update again whose answer was lost.
    RepostAfterLostAnswer,
    /// Takes the version that it wants for the one that runs.
    SkipTheReadBack,
    /// Sends without writing down what.
    ForgetAnIntent,
    /// Drives a BMC whose lease another holds.
    IgnoreTheLease,
    /// Resets the BMC while a task runs.
    ResetWhileATaskRuns,
    /// Takes any version for an older one, and flashes.
    AcceptADowngrade,
    /// Writes what came of a request down nowhere.
    LoseARecord,
    /// Changes something while it makes a plan.
    WriteUnderAPlan,
    /// Never ends its sessions.
    LeaveSessions,
    /// Begins runs whatever has failed.
    IgnoreTheBudget,
    /// Takes an approval of one run for one of the next run as well.
    UseAnApprovalTwice,
    /// Asks nobody before it disturbs servers, and waits for no window.
    AskNobody,
    /// Hears no cancel and no pause.
    HearNothing,
}

impl Saboteur {
    /// Every one, with the seed from which on it is caught soon.
    pub(crate) const ALL: [(Self, u64); 13] = [
        (Self::RepostAfterLostAnswer, 38),
        (Self::SkipTheReadBack, 1),
        (Self::ForgetAnIntent, 1),
        (Self::IgnoreTheLease, 88),
        (Self::ResetWhileATaskRuns, 1),
        (Self::AcceptADowngrade, 5),
        (Self::LoseARecord, 1),
        (Self::WriteUnderAPlan, 14),
        (Self::LeaveSessions, 0),
        (Self::IgnoreTheBudget, 217),
        (Self::UseAnApprovalTwice, 145),
        (Self::AskNobody, 0),
        (Self::HearNothing, 10_000),
    ];

    /// What a wrong engine takes its files for.
    pub(crate) fn misreads(self, assignments: &mut [Assignment]) {
        for assignment in assignments {
            let mut pipeline = assignment.pipeline.as_ref().clone();
            if self == Self::IgnoreTheBudget {
                pipeline.rollout.max_failures = 0;
            } else if self == Self::AskNobody {
                pipeline.maintenance = Maintenance::default();
            }
            assignment.pipeline = Arc::new(pipeline);
        }
    }

    /// At work in one process.
    pub(crate) fn at_work(self, is_planner: bool) -> AtWork {
        AtWork {
            saboteur: self,
            is_planner,
            wanted: Mutex::default(),
            has_lost: AtomicBool::new(false),
            polls: AtomicU32::new(0),
        }
    }
}

/// A saboteur in one process.
pub(crate) struct AtWork {
    saboteur: Saboteur,
    is_planner: bool,
    /// Versions of accepted updates: of the BMC, of a BIOS.
    wanted: Mutex<(Option<String>, Option<String>)>,
    has_lost: AtomicBool,
    polls: AtomicU32,
}

impl AtWork {
    fn is(&self, saboteur: Saboteur) -> bool {
        self.saboteur == saboteur
    }

    async fn sends(
        &self,
        wire: &dyn Transport,
        request: WireRequest,
    ) -> Result<WireResponse, WireError> {
        let head = request.clone();
        if self.is(Saboteur::LeaveSessions) && head.method == Method::DELETE {
            return Ok(nothing_more());
        }
        if self.is(Saboteur::WriteUnderAPlan) && self.is_planner && head.path.contains("/Systems/")
        {
            wire.send(reset("/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"))
                .await?;
        }
        let answer = wire.send(request).await;
        if self.is(Saboteur::RepostAfterLostAnswer)
            && head.method == Method::POST
            && head.path.contains("/UpdateService")
            && matches!(answer, Err(WireError::Lost(_)))
        {
            return wire.send(head).await;
        }
        if self.is(Saboteur::ResetWhileATaskRuns)
            && head.path.contains("/Tasks/")
            && self.polls.fetch_add(1, Ordering::SeqCst) == 3
        {
            wire.send(reset("/redfish/v1/Managers/BMC/Actions/Manager.Reset"))
                .await
                .ok();
        }
        answer.map(|answer| self.believed(&head, answer))
    }

    /// What a wrong engine reads in an answer.
    fn believed(&self, request: &WireRequest, mut answer: WireResponse) -> WireResponse {
        let (bmc, bios) = if self.is(Saboteur::AcceptADowngrade) {
            (Some("1.00".to_owned()), Some("1.00".to_owned()))
        } else if self.is(Saboteur::SkipTheReadBack) {
            self.wanted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        } else {
            return answer;
        };
        let json: Option<Value> = serde_json::from_slice(&answer.body).ok();
        if let Some(mut json) = json.filter(|_| request.method == Method::GET) {
            for (member, version) in [("FirmwareVersion", bmc), ("BiosVersion", bios)] {
                if let (Some(shown), Some(version)) = (json.get_mut(member), version) {
                    *shown = version.into();
                }
            }
            answer.body = Bytes::from(json.to_string());
        }
        answer
    }
}

impl Meddler for AtWork {
    fn keeps(&self, record: &StoredRecord) -> bool {
        let kind = record.body["record"].as_str().unwrap_or_default();
        if self.is(Saboteur::SkipTheReadBack) && kind == "intent" {
            let to = record.body["intent"]["to"].as_str().map(str::to_owned);
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            if record.body["at"]["target"] == json!("bmc") {
                wanted.0 = to.or_else(|| wanted.0.clone());
            } else {
                wanted.1 = to.or_else(|| wanted.1.clone());
            }
        }
        let lost = (self.is(Saboteur::ForgetAnIntent) && matches!(kind, "intent" | "outcome"))
            || (self.is(Saboteur::LoseARecord) && kind == "outcome");
        if lost {
            self.has_lost.store(true, Ordering::SeqCst);
        }
        !lost
    }

    fn has_lost(&self) -> bool {
        self.has_lost.load(Ordering::SeqCst)
    }

    fn orders(&self, mut orders: Vec<Order>) -> Vec<Order> {
        if self.is(Saboteur::UseAnApprovalTwice) {
            let approvals = orders.clone().into_iter().filter_map(|mut order| {
                let About::Run(key) = &mut order.about else {
                    return None;
                };
                key.number += 1;
                matches!(order.verb, Verb::Approve { .. }).then_some(order)
            });
            orders.extend(approvals);
        } else if self.is(Saboteur::HearNothing) {
            orders.retain(|order| !matches!(order.verb, Verb::Cancel | Verb::Pause));
        }
        orders
    }

    fn ignores_leases(&self) -> bool {
        self.is(Saboteur::IgnoreTheLease)
    }

    fn send<'a>(
        &'a self,
        wire: &'a dyn Transport,
        request: WireRequest,
    ) -> BoxFuture<'a, Result<WireResponse, WireError>> {
        Box::pin(self.sends(wire, request))
    }
}

fn nothing_more() -> WireResponse {
    WireResponse {
        status: 204,
        headers: HeaderMap::new(),
        body: Bytes::new(),
        http2: false,
    }
}

fn reset(path: &str) -> WireRequest {
    let mut request = WireRequest::new(Method::POST, path);
    request.body = WireBody::Bytes(Bytes::from_static(b"{\"ResetType\":\"ForceRestart\"}"));
    request
}
