//! The place in which a push without parameters names its targets (DSP0268, UpdateService, `HttpPushUriTargets`): one
//! client at a time takes it, pushes, and gives it back.
//!
//! It never takes over what another client holds. What a killed process of ours holds is known by the trace that it left.

use serde_json::{Value, json};

use super::verdict::{Ask, judge};
use crate::model::{Fault, FaultKind, Outcome, Retry};
use crate::redfish::conversation::Conversation;
use crate::redfish::line::Patched;
use crate::redfish::memory::PushClaim;
use crate::redfish::read::lacking;
use crate::redfish::transport::WireBody;

const BUSY: &str = "HttpPushUriTargetsBusy";
const TARGETS: &str = "HttpPushUriTargets";

/// Pushes between claim and release. Without the claim nothing is pushed.
pub(super) async fn push_claimed(
    conversation: &Conversation,
    service: &str,
    targets: &[String],
    path: &str,
    body: WireBody,
) -> Outcome {
    let _claiming = conversation.claiming.lock().await;
    let wanted = PushClaim {
        service: service.to_owned(),
        targets: targets.to_vec(),
    };
    if let Some(outcome) = claim(conversation, &wanted).await {
        return outcome;
    }
    let outcome = judge(conversation.post(path, body).await, Ask::Update);
    release(conversation, &wanted).await;
    outcome
}

/// Gives back what a process of ours did not: it was killed, or its BMC did not answer. Only who drives the BMC does so.
pub(in crate::redfish) async fn give_back_left(conversation: &Conversation) {
    if !conversation.may_change() {
        return;
    }
    let Some(left) = conversation.memory.push_claim() else {
        return;
    };
    // A push under way gives back itself.
    if let Ok(_claiming) = conversation.claiming.try_lock() {
        release(conversation, &left).await;
    }
}

/// `None` = the claim is ours; else what came of the push that therefore was not sent.
async fn claim(conversation: &Conversation, wanted: &PushClaim) -> Option<Outcome> {
    let body = json!({ BUSY: true, TARGETS: wanted.targets });
    let left = conversation.memory.push_claim();
    let mut is_taken = false;
    let patched = conversation
        .patch(&wanted.service, |fresh| {
            let is_left = left.as_ref().is_some_and(|left| holds(fresh, left));
            // Asked anew on every try: a tag that no longer fits may mean that another was faster.
            is_taken = fresh[BUSY] == Value::Bool(true) && !is_left;
            if is_taken {
                return None;
            }
            conversation.memory.remember_push_claim(Some(wanted));
            lacking(&body, fresh)
        })
        .await;
    match patched {
        Patched::Unneeded(_) if is_taken => {
            conversation.memory.remember_push_claim(None);
            Some(taken(&wanted.service))
        }
        Patched::Unneeded(_) => None,
        Patched::Sent(sent) => {
            let lost = match judge(*sent, Ask::Update) {
                Outcome::Accepted { .. } => return None,
                Outcome::Lost { fault } => fault,
                outcome @ (Outcome::NotSent { .. } | Outcome::Refused { .. }) => {
                    conversation.memory.remember_push_claim(left.as_ref());
                    return Some(outcome);
                }
            };
            // No image left us. The claim may be there, and can only be ours: nobody had it right before.
            release(conversation, wanted).await;
            Some(Outcome::NotSent { fault: lost })
        }
    }
}

/// What nobody gives back keeps the next push out, so it stays noted until it is; the update is none the worse.
async fn release(conversation: &Conversation, held: &PushClaim) {
    let free = json!({ BUSY: false, TARGETS: [] });
    let patched = conversation
        .patch(&held.service, |fresh| {
            holds(fresh, held).then(|| lacking(&free, fresh)).flatten()
        })
        .await;
    let outcome = match patched {
        Patched::Unneeded(_) => return conversation.memory.remember_push_claim(None),
        Patched::Sent(sent) => judge(*sent, Ask::Update),
    };
    if matches!(outcome, Outcome::Accepted { .. }) {
        conversation.memory.remember_push_claim(None);
    } else {
        tracing::warn!(
            service = held.service,
            "the claim on the targets of pushes could not be given back yet"
        );
    }
}

/// Whether a service shows this claim, and not another's that came after it.
fn holds(service: &Value, claim: &PushClaim) -> bool {
    let targets = service[TARGETS].as_array();
    let shown: Vec<&str> = targets
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    service[BUSY] == Value::Bool(true) && shown == claim.targets
}

fn taken(service: &str) -> Outcome {
    let message = "another client has reserved the targets of pushes";
    let hint = format!(
        "wait until it has pushed; where it is gone, set `{BUSY}` of `{service}` to false by hand"
    );
    let mut fault = Fault::new(FaultKind::NotReady, Retry::Transient, message).with_hint(hint);
    fault.uri = Some(service.to_owned());
    Outcome::Refused {
        fault,
        later: true,
        retry_after_secs: None,
    }
}
