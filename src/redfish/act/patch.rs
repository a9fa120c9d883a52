//! Settings requests: each looks first and sends only what is still to do.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::verdict::{Ask, judge};
use crate::model::action::AttributePatch;
use crate::model::{BmcMessage, Fault, Outcome, Retry, TaskHandle};
use crate::redfish::conversation::Conversation;
use crate::redfish::line::Patched;
use crate::redfish::read::{attributes_of, lacking, same_value};

/// Sends the parts one after another. The first that is not accepted ends it, and says which parts came before.
pub(in crate::redfish) async fn patch_attributes(
    conversation: &Conversation,
    parts: &[AttributePatch],
    read_uris: &BTreeMap<String, String>,
    apply_time: Option<&str>,
) -> Outcome {
    let mut done = Done::default();
    for (index, part) in parts.iter().enumerate() {
        let outcome = patch_part(conversation, part, read_uris.get(&part.uri), apply_time).await;
        match outcome {
            Outcome::Accepted {
                task,
                messages,
                reset_required,
            } => {
                done.take(task, messages, reset_required);
            }
            Outcome::NotSent { fault } if index > 0 => {
                // Something was applied already; what is left was not sent and may be sent later.
                let later = fault.retry == Retry::Transient;
                let fault = name_parts(fault, parts, index);
                return Outcome::Refused {
                    fault,
                    later,
                    retry_after_secs: None,
                };
            }
            Outcome::NotSent { fault } => return Outcome::NotSent { fault },
            Outcome::Refused {
                fault,
                later,
                retry_after_secs,
            } => {
                let fault = name_parts(fault, parts, index);
                return Outcome::Refused {
                    fault,
                    later,
                    retry_after_secs,
                };
            }
            Outcome::Lost { fault } => {
                return Outcome::Lost {
                    fault: name_parts(fault, parts, index),
                };
            }
        }
    }
    done.outcome()
}

/// Sends what a resource lacks of a desired object.
pub(in crate::redfish) async fn patch_resource(
    conversation: &Conversation,
    uri: &str,
    body: &Value,
) -> Outcome {
    let patched = conversation.patch(uri, |fresh| lacking(body, fresh)).await;
    outcome_of(patched)
}

async fn patch_part(
    conversation: &Conversation,
    part: &AttributePatch,
    read_uri: Option<&String>,
    apply_time: Option<&str>,
) -> Outcome {
    let mut current = BTreeMap::new();
    if let Some(uri) = read_uri.filter(|uri| **uri != part.uri) {
        match conversation.get(uri).await {
            Ok(answer) => current = attributes_of(&answer.json),
            Err(fault) => return Outcome::NotSent { fault },
        }
    }
    let patched = conversation
        .patch(&part.uri, |fresh| {
            let left = left_to_do(&part.attributes, &current, &attributes_of(fresh));
            (!left.is_empty()).then(|| body_of(left, apply_time))
        })
        .await;
    outcome_of(patched)
}

/// Attributes still to be sent: what the settings object shows decides, else what is in effect.
fn left_to_do(
    wanted: &BTreeMap<String, Value>,
    current: &BTreeMap<String, Value>,
    waiting: &BTreeMap<String, Value>,
) -> Map<String, Value> {
    wanted
        .iter()
        .filter(|(name, value)| {
            let shown = waiting
                .get(*name)
                .filter(|value| !value.is_null())
                .or_else(|| current.get(*name));
            shown.is_none_or(|shown| !same_value(shown, value))
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn body_of(attributes: Map<String, Value>, apply_time: Option<&str>) -> Value {
    let mut body = Map::new();
    body.insert("Attributes".to_owned(), Value::Object(attributes));
    if let Some(time) = apply_time {
        body.insert(
            "@Redfish.SettingsApplyTime".to_owned(),
            json!({"@odata.type": "#Settings.v1_1_0.PreferredApplyTime", "ApplyTime": time}),
        );
    }
    Value::Object(body)
}

fn outcome_of(patched: Patched) -> Outcome {
    match patched {
        Patched::Unneeded(_) => Outcome::Accepted {
            task: None,
            messages: Vec::new(),
            reset_required: false,
        },
        Patched::Sent(sent) => judge(*sent, Ask::Settings),
    }
}

/// Says which parts were applied before the one that failed, and which were not tried after it.
fn name_parts(fault: Fault, parts: &[AttributePatch], failed: usize) -> Fault {
    if parts.len() < 2 {
        return fault;
    }
    let list = |parts: &[AttributePatch]| {
        parts
            .iter()
            .map(|part| {
                let names: Vec<&str> = part.attributes.keys().map(String::as_str).collect();
                format!("`{}` ({})", part.uri, names.join(", "))
            })
            .collect::<Vec<String>>()
            .join("; ")
    };
    let (before, rest) = parts.split_at(failed);
    let mut fault = fault;
    if !before.is_empty() {
        fault = fault.with_cause(format!("applied before: {}", list(before)));
    }
    if let Some((_, after)) = rest.split_first().filter(|(_, after)| !after.is_empty()) {
        fault = fault.with_cause(format!("not sent: {}", list(after)));
    }
    fault
}

/// What accepted parts said together.
#[derive(Default)]
struct Done {
    task: Option<TaskHandle>,
    messages: Vec<BmcMessage>,
    reset_required: bool,
}

impl Done {
    fn take(&mut self, task: Option<TaskHandle>, messages: Vec<BmcMessage>, reset_required: bool) {
        self.task = task.or(self.task.take());
        self.messages.extend(messages);
        self.reset_required |= reset_required;
    }

    fn outcome(self) -> Outcome {
        Outcome::Accepted {
            task: self.task,
            messages: self.messages,
            reset_required: self.reset_required,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FaultKind;

    fn map(value: &Value) -> BTreeMap<String, Value> {
        attributes_of(&json!({ "Attributes": value }))
    }

    #[test]
    fn what_waits_decides_before_what_is_in_effect() {
        let wanted = map(&json!({"A": "new", "B": 5, "C": true, "D": "x"}));
        let current = map(&json!({"A": "new", "B": 5, "C": false, "D": "x"}));
        let waiting = map(&json!({"A": "other", "C": true, "D": null}));
        let left = left_to_do(&wanted, &current, &waiting);
        assert_eq!(Value::Object(left), json!({"A": "new"}));
    }

    #[test]
    fn an_attribute_nobody_shows_is_sent() {
        let left = left_to_do(
            &map(&json!({"Password": "p"})),
            &map(&json!({"Password": null})),
            &BTreeMap::new(),
        );
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn values_keep_their_json_type() {
        let left = left_to_do(
            &map(&json!({"N": 7})),
            &map(&json!({"N": 5})),
            &BTreeMap::new(),
        );
        assert_eq!(body_of(left, None).to_string(), r#"{"Attributes":{"N":7}}"#);
    }

    #[test]
    fn a_failure_names_the_parts_that_were_applied() {
        let part = |uri: &str, name: &str| AttributePatch {
            uri: uri.to_owned(),
            attributes: map(&json!({ name: 1 })),
        };
        let parts = [part("/a", "A"), part("/b", "B"), part("/c", "C")];
        let fault = Fault::new(FaultKind::SettingsRefused, Retry::Never, "no");
        let named = name_parts(fault, &parts, 1);
        assert_eq!(
            named.causes,
            ["applied before: `/a` (A)", "not sent: `/c` (C)"]
        );
    }
}
