//! Before a disruptive step: are its servers granted, and is there time for it?

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::call::HookCall;
use super::rest::mid_step;
use crate::model::order::Verb;
use crate::model::{LookRequest, Order, ServerName};
use crate::pipeline::{Policy, Window};
use crate::plan::{RunSpec, approval_digest, disturbed, look_request, report};
use crate::run::deadline::after;
use crate::run::pass::Pass;
use crate::run::record::{HoldStep, HookSide, Place, Record};
use crate::run::state::{Hold, HoldPhase, HookState, RunState};

/// Whether a step that disturbs a place's servers may begin now; says what it waits for. `takes` = how long the servers
/// are away, as far as can be expected; `None` = the step is under way already and only goes on.
pub(in crate::run) fn may_disturb(
    pass: &mut Pass<'_>,
    place: &Place,
    takes: Option<Duration>,
) -> bool {
    if pass.spec.maintenance.is_plain() {
        return true;
    }
    if !pass.may_act(place) {
        return false;
    }
    let touched: BTreeSet<ServerName> = disturbed(pass.spec, pass.look, &place.target)
        .into_iter()
        .collect();
    match pass.state.hold.clone() {
        Some(hold) if matches!(hold.phase, HoldPhase::Releasing(_)) => {
            pass.hold(place, giving_back(&hold));
            false
        }
        Some(hold) if takes.is_none() && touched.is_subset(&hold.was_granted) => true,
        Some(hold) if is_current(pass.spec, &hold) && touched.is_subset(&hold.granted) => {
            let fits = fits(pass, place, takes);
            pass.shut |= !fits;
            fits
        }
        Some(hold) if is_current(pass.spec, &hold) && touched.is_subset(&hold.servers) => {
            is_approved(pass, place, &hold) && fits(pass, place, takes) && is_prepared(pass, place)
        }
        Some(_) | None => {
            ask(pass, place, touched);
            false
        }
    }
}

/// Why nothing begins while servers are given back.
pub(super) fn giving_back(hold: &Hold) -> String {
    match &hold.hook {
        HookState::Failed(words) => format!("release failed: {words}; mend it, then apply again"),
        HookState::Idle | HookState::Running => {
            "the servers are given back before anything else begins".to_owned()
        }
    }
}

/// What must be read before servers are asked for: they are asked for once, for all that the run will disturb.
pub(in crate::run) fn needs(state: &RunState, spec: &RunSpec) -> Option<LookRequest> {
    let is_asked = state
        .hold
        .as_ref()
        .is_some_and(|hold| is_current(spec, hold));
    (!is_asked && !spec.maintenance.is_plain()).then(|| look_request(spec))
}

/// Whether a hold is for the stages, images and servers as they are read now.
fn is_current(spec: &RunSpec, hold: &Hold) -> bool {
    approval_digest(&spec.digest, &hold.servers) == hold.digest
}

/// Asks for everything that the run will disturb as far as this look tells, this step's servers, and what is granted.
fn ask(pass: &mut Pass<'_>, place: &Place, touched: BTreeSet<ServerName>) {
    let mut servers = touched;
    if let Some(needed) = needs(&pass.state, pass.spec) {
        if !pass.request.covers(&needed) {
            return pass.wait(place, "reading whom the run will disturb", None);
        }
        servers.extend(report(pass.spec, pass.look, pass.context).disturbs());
    }
    let old = pass.state.hold.as_ref();
    let granted: Vec<ServerName> = match old {
        Some(old) if is_current(pass.spec, old) => old.granted.iter().cloned().collect(),
        Some(_) | None => Vec::new(),
    };
    // What was prepared once is owed its end, whatever is asked for now.
    servers.extend(old.into_iter().flat_map(|old| old.servers.clone()));
    let step = HoldStep::Asked {
        digest: approval_digest(&pass.spec.digest, &servers),
        servers: servers.into_iter().collect(),
        granted,
        approval: pass.spec.maintenance.policy == Policy::OwnerApproval,
    };
    pass.record(Record::Hold { step });
}

/// Whether a person agreed, where one is asked.
fn is_approved(pass: &mut Pass<'_>, place: &Place, hold: &Hold) -> bool {
    let maintenance = &pass.spec.maintenance;
    if maintenance.policy == Policy::Enforced {
        return true;
    }
    let ttl = maintenance.approval_ttl;
    if let HoldPhase::Approved(approval) = &hold.phase {
        if pass.now < after(approval.given_at, ttl) {
            return true;
        }
        let given = approval.given_at.strftime("%Y-%m-%d %H:%M:%S UTC");
        let reason = format!(
            "the approval by {} at {given} was not used in time",
            approval.by
        );
        let step = HoldStep::Lapsed { reason };
        pass.record(Record::Hold { step });
        return false;
    }
    match approval(pass, hold, ttl).cloned() {
        Ok(order) => {
            let step = HoldStep::Approved {
                order: order.id,
                by: order.by,
                given_at: order.at,
            };
            pass.record(Record::Hold { step });
            true
        }
        Err(remark) => {
            let names: Vec<&str> = hold.servers.iter().map(ServerName::as_str).collect();
            let run = format!("{}/{}", pass.spec.pipeline, pass.spec.bmc);
            let reason = format!(
                "waits for approval: {} will be disturbed{remark}; `redpipe approve {run}` agrees",
                names.join(", ")
            );
            pass.hold(place, reason);
            false
        }
    }
}

/// The order that approves what is asked for and has not served yet; the error says what is wrong with the last one.
fn approval<'p>(pass: &'p Pass<'_>, hold: &Hold, ttl: Duration) -> Result<&'p Order, &'static str> {
    let mut remark = "";
    for order in pass.state.orders.iter().rev() {
        let Verb::Approve { digest } = &order.verb else {
            continue;
        };
        if pass.state.approvals_used.contains(&order.id) {
            continue;
        }
        if *digest != hold.digest {
            remark = " (the last approval was for other stages, images or servers)";
        } else if pass.now >= after(order.at, ttl) {
            remark = " (the last approval was not used in time)";
        } else {
            return Ok(order);
        }
    }
    Err(remark)
}

/// Whether enough is left of the window; says when there will be.
fn fits(pass: &mut Pass<'_>, place: &Place, takes: Option<Duration>) -> bool {
    let (Some(window), Some(takes)) = (&pass.spec.maintenance.window, takes) else {
        return true;
    };
    let opening = window.opening(pass.now);
    if opening.is_some_and(|now| now.opens_at <= pass.now && now.fits(pass.now, takes)) {
        return true;
    }
    let minutes = takes.as_secs().div_ceil(60);
    let Some(opens_at) = next_fitting(window, pass.now, takes) else {
        let reason = format!(
            "blocked: this step takes about {minutes} min, and window `{window}` is never open for so long"
        );
        pass.hold(place, reason);
        return false;
    };
    let reason = format!(
        "waits for window `{window}`, which opens {}; this step takes about {minutes} min",
        window.local(opens_at)
    );
    pass.hold_until(place, reason, Some(opens_at));
    false
}

/// When the window opens next for long enough. One that is too short this week may be longer in the next, when clocks
/// change.
fn next_fitting(window: &Window, now: Timestamp, takes: Duration) -> Option<Timestamp> {
    let mut from = now;
    for _ in 0..OPENINGS_MAX {
        let opening = window.opening(from)?;
        if opening.opens_at > now && opening.fits(opening.opens_at, takes) {
            return Some(opening.opens_at);
        }
        from = opening.closes_at;
    }
    None
}

/// Openings looked at for one that is long enough: a week of days, twice.
const OPENINGS_MAX: usize = 14;

/// Whether the `before` hooks have done their part; runs the next one otherwise, once everything else is at rest.
fn is_prepared(pass: &mut Pass<'_>, place: &Place) -> bool {
    let Some(hold) = pass.state.hold.clone() else {
        return false;
    };
    let hooks = pass.spec.maintenance.before.len();
    if hold.hooks_done >= hooks {
        let step = HoldStep::Granted;
        pass.record(Record::Hold { step });
        return true;
    }
    match &hold.hook {
        HookState::Failed(words) => {
            pass.hold(place, format!("{words}; mend it, then apply again"));
        }
        HookState::Running => pass.wait(place, "a hook is running", None),
        HookState::Idle => {
            if let Some(busy) = mid_step(&pass.state, Some(place)) {
                let reason = format!(
                    "more servers are prepared once stage `{}` on {} is at rest",
                    busy.stage, busy.target
                );
                pass.wait(place, reason, None);
                return false;
            }
            let servers = hold.servers.iter().cloned().collect();
            let call = HookCall::new(pass, HookSide::Before, hold.hooks_done, servers);
            if let Some(call) = call {
                start(pass, call);
                let reason = "the hook that prepares the servers is running";
                pass.wait(place, reason, None);
            }
        }
    }
    false
}

/// Writes down that a hook begins, and hands it over.
pub(super) fn start(pass: &mut Pass<'_>, call: HookCall) {
    pass.record(call.started());
    pass.hook = Some(call);
}
