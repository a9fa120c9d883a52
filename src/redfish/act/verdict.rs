//! What an answer to a request that changes something means: done, refused, refused for now, or lost.
//!
//! A refusal must say so; whatever says nothing may have been processed.

use super::handle::task_handle;
use crate::model::{BmcMessage, Fault, FaultKind, Outcome, Retry};
use crate::redfish::line::{Answer, Sent};
use crate::redfish::quirk::keys::{
    ALREADY_THERE, LATER, PROPERTY_REFUSALS, REFUSALS, RESET_REQUIRED, SUCCESSES,
};

/// What was asked, for the words and the kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redfish) enum Ask {
    /// An image was handed over.
    Update,
    /// Attributes or a resource were patched.
    Settings,
    /// A reset was asked for.
    Reset,
    /// A task or job of ours was to be deleted.
    Withdraw,
}

impl Ask {
    fn words(self) -> &'static str {
        match self {
            Self::Update => "the update request",
            Self::Settings => "the settings request",
            Self::Reset => "the reset request",
            Self::Withdraw => "the request to delete a task of ours",
        }
    }

    fn refusal(self) -> FaultKind {
        match self {
            Self::Update => FaultKind::UpdateRefused,
            Self::Settings => FaultKind::SettingsRefused,
            Self::Reset => FaultKind::ResetFailed,
            Self::Withdraw => FaultKind::UpdateFailed,
        }
    }
}

/// Judges what came of one request.
pub(in crate::redfish) fn judge(sent: Sent, ask: Ask) -> Outcome {
    match sent {
        Sent::NotSent(fault) => Outcome::NotSent { fault },
        Sent::Lost(fault) => Outcome::Lost { fault },
        Sent::Answered(answer) => judge_answer(&answer, ask),
    }
}

/// Whether messages ask for a reset.
pub(super) fn asks_for_reset(messages: &[BmcMessage]) -> bool {
    has_key(messages, &RESET_REQUIRED)
}

fn judge_answer(answer: &Answer, ask: Ask) -> Outcome {
    if has_key(&answer.messages, &LATER) && answer.status >= 400 {
        return refused(answer, ask, true);
    }
    match answer.status {
        200..=299 => judge_good(answer, ask),
        400 | 409 if ask == Ask::Reset && has_key(&answer.messages, &ALREADY_THERE) => {
            accepted(answer)
        }
        404 | 410 if ask == Ask::Withdraw => accepted(answer),
        408 => lost(answer, ask),
        429 => refused(answer, ask, true),
        300..=499 => refused(answer, ask, false),
        _ if has_key(&answer.messages, &REFUSALS)
            || has_key(&answer.messages, &PROPERTY_REFUSALS) =>
        {
            refused(answer, ask, false)
        }
        _ => lost(answer, ask),
    }
}

fn judge_good(answer: &Answer, ask: Ask) -> Outcome {
    let refuses = answer.messages.iter().any(|message| {
        let key = message.key().unwrap_or_default();
        let critical = message
            .severity
            .as_deref()
            .is_some_and(|severity| severity.eq_ignore_ascii_case("critical"));
        PROPERTY_REFUSALS.contains(&key) || (critical && !SUCCESSES.contains(&key))
    });
    if refuses {
        return refused(answer, ask, false);
    }
    // A login page behind a 200 is no answer of Redfish: nobody knows whether anything was done.
    if answer.status == 200 && answer.not_json {
        return lost(answer, ask);
    }
    accepted(answer)
}

fn accepted(answer: &Answer) -> Outcome {
    Outcome::Accepted {
        task: task_handle(answer),
        messages: answer.messages.clone(),
        reset_required: asks_for_reset(&answer.messages),
    }
}

fn refused(answer: &Answer, ask: Ask, later: bool) -> Outcome {
    let mut fault = answer.fault("asking");
    fault.message = format!(
        "{} to `{}` was refused with status {}",
        ask.words(),
        answer.path,
        answer.status
    );
    match (later, fault.kind) {
        (true, _) => {
            fault.kind = FaultKind::NotReady;
            fault.retry = Retry::Transient;
        }
        (
            false,
            FaultKind::LoginRefused
            | FaultKind::PasswordChangeRequired
            | FaultKind::SessionsExhausted,
        ) => {}
        (false, _) => {
            fault.kind = ask.refusal();
            fault.retry = if answer.status == 403 {
                Retry::Operator
            } else {
                Retry::Never
            };
        }
    }
    Outcome::Refused {
        fault,
        later,
        retry_after_secs: answer
            .retry_after
            .map(|wait| wait.as_secs())
            .or_else(|| seconds_in(&answer.messages)),
    }
}

fn lost(answer: &Answer, ask: Ask) -> Outcome {
    let mut fault: Fault = answer.fault("asking");
    fault.kind = FaultKind::BadAnswer;
    fault.retry = Retry::Transient;
    fault.message = format!(
        "{} to `{}` was answered with status {}, which does not say whether it was done",
        ask.words(),
        answer.path,
        answer.status
    );
    Outcome::Lost { fault }
}

/// Most seconds that a message's argument is believed to ask for.
const WAIT_SECS_MAX: u64 = 300;

/// `ResourceNotReadyRetry` and `ServiceTemporarilyUnavailable` carry the seconds as an argument.
fn seconds_in(messages: &[BmcMessage]) -> Option<u64> {
    messages
        .iter()
        .filter(|message| message.key().is_some_and(|key| LATER.contains(&key)))
        .flat_map(|message| &message.args)
        .find_map(|arg| arg.trim().parse::<u64>().ok())
        .map(|seconds| seconds.min(WAIT_SECS_MAX))
}

fn has_key(messages: &[BmcMessage], keys: &[&str]) -> bool {
    messages
        .iter()
        .any(|message| message.key().is_some_and(|key| keys.contains(&key)))
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
