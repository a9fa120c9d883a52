//! Actions that make a setting: one POST to the target that the resource itself names, or to a collection.

use serde_json::Value;

use super::verdict::{Ask, judge};
use crate::model::{Fault, FaultKind, Outcome, Retry};
use crate::redfish::conversation::Conversation;
use crate::redfish::read::{Expand, Links, Reader, resolve};
use crate::redfish::transport::WireBody;
use crate::redfish::wire::{link, member};

/// How deep below `Actions` a service hides one: `Oem`, a vendor, the action.
const DEPTH_MAX: u32 = 3;

/// Posts a body to what stands below a base: `…/Actions/NAME`, or a collection. It is sent once, without a condition.
pub(in crate::redfish) async fn send_call(
    conversation: &Conversation,
    found: &mut Links,
    base: &str,
    rest: &str,
    body: &Value,
) -> Outcome {
    let mut reader = Reader::new(conversation, Expand::Unusable);
    let target = match find_target(&mut reader, found, base, rest).await {
        Ok(target) => target,
        Err(fault) => return Outcome::NotSent { fault },
    };
    let body = WireBody::Bytes(body.to_string().into());
    judge(conversation.post(&target, body).await, Ask::Settings)
}

async fn find_target(
    reader: &mut Reader<'_>,
    found: &mut Links,
    base: &str,
    rest: &str,
) -> Result<String, Fault> {
    let Some((resource, name)) = split(rest) else {
        return resolve(reader, found, base, rest).await;
    };
    let uri = resolve(reader, found, base, resource).await?;
    let doc = reader.read(&uri).await?;
    let target = member(&doc, "Actions").and_then(|actions| offered(actions, name, DEPTH_MAX));
    target.ok_or_else(|| {
        let text = format!("`{uri}` offers no action `{name}`");
        Fault::new(FaultKind::Unsupported, Retry::Operator, text)
    })
}

/// The resource of an action, and the action's name: `VirtualMedia/CD` and `VirtualMedia.InsertMedia`.
fn split(rest: &str) -> Option<(&str, &str)> {
    let (before, after) = match rest.strip_prefix("Actions/") {
        Some(after) => ("", after),
        None => rest.split_once("/Actions/")?,
    };
    let name = after.rsplit('/').next().unwrap_or_default();
    Some((before, name.trim_start_matches('#')))
}

/// The target of the action of that name, wherever below `Actions` it stands.
fn offered(actions: &Value, name: &str, depth: u32) -> Option<String> {
    let members = actions.as_object()?;
    let named = members
        .iter()
        .find(|(key, _)| key.trim_start_matches('#').eq_ignore_ascii_case(name));
    if let Some(target) = named.and_then(|(_, action)| link(action, "target")) {
        return Some(target);
    }
    let deeper = depth.checked_sub(1).filter(|left| *left > 0)?;
    members
        .values()
        .find_map(|inner| offered(inner, name, deeper))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_action_is_found_by_its_name_in_any_case_and_below_a_vendor() {
        let actions = json!({
            "#VirtualMedia.InsertMedia": {"target": "/a"},
            "Oem": {"Hpe": {"#HpeiLO.Do": {"target": "/b"}}},
        });
        let found = |name| offered(&actions, name, DEPTH_MAX);
        assert_eq!(found("virtualmedia.insertmedia").as_deref(), Some("/a"));
        assert_eq!(found("HpeiLO.Do").as_deref(), Some("/b"));
        assert_eq!(found("Other.Do"), None);
    }

    #[test]
    fn a_template_is_split_before_its_actions() {
        assert_eq!(
            split("VirtualMedia/CD/Actions/Oem/#X.Do"),
            Some(("VirtualMedia/CD", "X.Do"))
        );
        assert_eq!(split("Actions/Manager.Do"), Some(("", "Manager.Do")));
        assert_eq!(split("LicenseService/Licenses"), None);
    }
}
