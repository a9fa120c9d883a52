//! Settings that wait for a job which the client must order.
//!
//! The job is ordered once, right after the values were taken; whether one is there already is seen by looks.

use serde_json::json;

use super::verdict::{Ask, judge};
use crate::model::action::AttributePatch;
use crate::model::{Outcome, Retry};
use crate::redfish::conversation::Conversation;
use crate::redfish::transport::WireBody;

/// Orders a job for each resource that took values; `jobs` is the collection that makes them.
pub(in crate::redfish) async fn order_jobs(
    conversation: &Conversation,
    jobs: &str,
    parts: &[AttributePatch],
    patched: Outcome,
) -> Outcome {
    let Outcome::Accepted {
        mut task,
        mut messages,
        reset_required,
    } = patched
    else {
        return patched;
    };
    // The answer names a job where the BMC made one by itself.
    if task.is_none() {
        for part in parts {
            let body = json!({ "TargetSettingsURI": part.uri }).to_string();
            let sent = conversation.post(jobs, WireBody::Bytes(body.into())).await;
            match judge(sent, Ask::Settings) {
                Outcome::Accepted {
                    task: job,
                    messages: said,
                    ..
                } => {
                    task = job.or(task);
                    messages.extend(said);
                }
                // The values were taken, so this is not as if nothing had been sent.
                Outcome::NotSent { fault } => {
                    return Outcome::Refused {
                        later: fault.retry == Retry::Transient,
                        fault,
                        retry_after_secs: None,
                    };
                }
                other @ (Outcome::Refused { .. } | Outcome::Lost { .. }) => return other,
            }
        }
    }
    Outcome::Accepted {
        task,
        messages,
        reset_required,
    }
}
