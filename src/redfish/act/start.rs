//! Images in two steps: handed over and verified first, then started.
//!
//! Nothing is written before the start: whoever dies in between has flashed nothing, and no start is ever sent twice.

use std::time::Duration;

use tokio::time::sleep;

use super::verdict::{Ask, judge};
use crate::model::look::TaskView;
use crate::model::{Fault, FaultKind, Outcome, Retry};
use crate::redfish::conversation::Conversation;
use crate::redfish::line::scaled;
use crate::redfish::read::task_view;
use crate::redfish::transport::WireBody;

/// Between two looks at the verification, at the default pace: it takes seconds to a few minutes.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Looks after which the verification is given up: 20 minutes at the default pace, far beyond the largest image.
const LOOKS_MAX: u32 = 240;

/// Follows the verification that a push began, and starts what was verified.
pub(super) async fn start_verified(
    conversation: &Conversation,
    start: &str,
    pushed: Outcome,
) -> Outcome {
    let Outcome::Accepted { task, .. } = &pushed else {
        return pushed;
    };
    let Some(uri) = task.as_ref().and_then(|task| task.task.clone()) else {
        return Outcome::Lost {
            fault: lost("the BMC named no task that verifies the image"),
        };
    };
    match verified(conversation, &uri).await {
        Ok(view) if is_good(&view) => {
            let body = WireBody::Bytes("{}".into());
            judge(conversation.post(start, body).await, Ask::Update)
        }
        Ok(view) => Outcome::Refused {
            fault: unverified(view),
            later: false,
            retry_after_secs: None,
        },
        Err(fault) => Outcome::Lost { fault },
    }
}

/// The verification once it has ended.
async fn verified(conversation: &Conversation, uri: &str) -> Result<TaskView, Fault> {
    for _ in 0..LOOKS_MAX {
        let view = task_view(uri, &conversation.get(uri).await?.json);
        if view.is_finished() {
            return Ok(view);
        }
        sleep(scaled(conversation.pace(), LOOK_AGAIN)).await;
    }
    Err(lost("the BMC does not end the verification of the image"))
}

fn is_good(view: &TaskView) -> bool {
    let is_completed = view.state.as_deref() == Some("Completed");
    is_completed && view.status.as_deref().is_none_or(|status| status == "OK")
}

fn unverified(view: TaskView) -> Fault {
    let text = format!(
        "the BMC did not verify the image: task `{}` ended",
        view.uri
    );
    let mut fault = Fault::new(FaultKind::UpdateRefused, Retry::Never, text);
    fault.messages = view.messages;
    fault
}

fn lost(text: &str) -> Fault {
    Fault::new(FaultKind::BadAnswer, Retry::Transient, text)
}
