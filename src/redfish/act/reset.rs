//! Resets: one POST to the action that the resource itself names, with a type that it allows.

use serde_json::{Value, json};

use super::verdict::{Ask, judge};
use crate::model::{Fault, FaultKind, Outcome, Retry};
use crate::redfish::conversation::Conversation;
use crate::redfish::read::{Expand, Links, Reader, allowed_values, system_view};
use crate::redfish::transport::WireBody;
use crate::redfish::wire::{at, link, text};

/// Resets a system or a manager. The resource is read first: its action's address and allowed types are its own words.
pub(in crate::redfish) async fn send_reset(
    conversation: &Conversation,
    found: &mut Links,
    uri: &str,
    action: &str,
    reset_type: &str,
) -> Outcome {
    let mut reader = Reader::new(conversation, Expand::Unusable);
    let (target, spelled) = match find_action(&mut reader, found, uri, action, reset_type).await {
        Ok(found) => found,
        Err(fault) => return Outcome::NotSent { fault },
    };
    let body = WireBody::Bytes(json!({ "ResetType": spelled }).to_string().into());
    let outcome = judge(conversation.post(&target, body).await, Ask::Reset);
    if let Outcome::Refused { fault, .. } = &outcome
        && matches!(fault.status, Some(400 | 409))
        && is_there(conversation, uri, reset_type).await
    {
        return Outcome::Accepted {
            task: None,
            messages: fault.messages.clone(),
            reset_required: false,
        };
    }
    outcome
}

async fn find_action(
    reader: &mut Reader<'_>,
    found: &mut Links,
    uri: &str,
    action: &str,
    reset_type: &str,
) -> Result<(String, String), Fault> {
    let doc = reader.read(uri).await?;
    if let Some(fault) = boots_by_itself(uri, &doc, reset_type) {
        return Err(fault);
    }
    let offered = at(&doc, &["Actions", action]);
    let target = offered.and_then(|offered| link(offered, "target"));
    let (Some(offered), Some(target)) = (offered, target) else {
        return Err(Fault::new(
            FaultKind::Unsupported,
            Retry::Operator,
            format!("`{uri}` offers no `{}`", action.trim_start_matches('#')),
        ));
    };
    let allowed = allowed_values(reader, found, offered, "ResetType").await?;
    let spelled = spelled(&allowed, reset_type).ok_or_else(|| {
        Fault::new(
            FaultKind::Unsupported,
            Retry::Operator,
            format!(
                "`{uri}` does not allow reset type `{reset_type}`, only {}",
                allowed.join(", ")
            ),
        )
    })?;
    Ok((target, spelled))
}

/// A host that began its POST after the look that decided on a reset may be flashing: it is left alone. A look at many
/// systems takes minutes, and some flashes restart their host by themselves.
fn boots_by_itself(uri: &str, doc: &Value, reset_type: &str) -> Option<Fault> {
    let goes_on = matches!(reset_type, "On" | "ForceOn");
    let in_post = system_view(uri, doc, None).in_post == Some(true);
    (in_post && !goes_on).then(|| {
        let text = format!("`{uri}` is in POST by now; `{reset_type}` is not sent");
        Fault::new(FaultKind::NotReady, Retry::Transient, text)
    })
}

/// The type in the BMC's spelling; as it is where the BMC states no list.
fn spelled(allowed: &[String], reset_type: &str) -> Option<String> {
    if allowed.is_empty() {
        return Some(reset_type.to_owned());
    }
    allowed
        .iter()
        .find(|word| word.eq_ignore_ascii_case(reset_type))
        .cloned()
}

/// Whether the system stands already where a refused reset would have brought it: services refuse such a request with
/// words of their own, so the power state is asked instead.
async fn is_there(conversation: &Conversation, uri: &str, reset_type: &str) -> bool {
    let wanted = match reset_type {
        "On" | "ForceOn" => "On",
        "ForceOff" | "GracefulShutdown" => "Off",
        _ => return false,
    };
    match conversation.get(uri).await {
        Ok(answer) => power(&answer.json).is_some_and(|state| state.eq_ignore_ascii_case(wanted)),
        Err(_) => false,
    }
}

fn power(doc: &Value) -> Option<String> {
    text(doc, "PowerState")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_began_its_post_meanwhile_is_not_reset() {
        let post = json!({
            "PowerState": "On",
            "BootProgress": { "LastState": "PrimaryProcessorInitializationStarted" },
        });
        assert!(boots_by_itself("/s", &post, "ForceOff").is_some());
        assert!(boots_by_itself("/s", &post, "On").is_none());
        assert!(boots_by_itself("/s", &json!({"PowerState": "On"}), "ForceOff").is_none());
    }

    #[test]
    fn a_type_that_is_not_allowed_has_no_spelling() {
        let allowed = ["On".to_owned(), "forceoff".to_owned()];
        assert_eq!(spelled(&allowed, "GracefulRestart"), None);
        assert_eq!(spelled(&allowed, "ForceOff").as_deref(), Some("forceoff"));
        assert_eq!(
            spelled(&[], "GracefulRestart").as_deref(),
            Some("GracefulRestart")
        );
    }
}
