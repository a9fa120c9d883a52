//! This room reads what an update request asks for: image, protocol, targets.
//!
//! It deliberately knows nothing of what is inside an image.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::super::answer::Answer;
use super::super::core::Bmc;
use crate::docs::messages::Message;
use crate::docs::registry::shown;
use crate::docs::walk::{action, allowable, texts};
use crate::ledger::masked_url;
use crate::script::Targets;

/// The parameters of `SimpleUpdate` that a request may carry (DSP0268, `UpdateService`).
const PARAMETERS: [&str; 6] = [
    "ImageURI",
    "TransferProtocol",
    "Targets",
    "Username",
    "Password",
    "ForceUpdate",
];

/// A request for an update that may be.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) targets: Vec<String>,
    pub(super) image: Image,
    pub(super) parameters: Map<String, Value>,
}

pub(super) enum Image {
    Url(String),
    Bytes(Bytes),
}

impl Bmc {
    /// What a pull asks for, if it may be.
    pub(super) fn wanted_url(&self, body: Map<String, Value>) -> Result<Wanted, Answer> {
        let refused = |key: &str, args: &[&str]| Answer::bad(Message::base(key, args));
        let unknown = body.keys().find(|name| {
            !PARAMETERS.contains(&name.as_str()) && !name.starts_with('@') && *name != "Oem"
        });
        if let Some(unknown) = unknown {
            return Err(refused(
                "ActionParameterUnknown",
                &["UpdateService.SimpleUpdate", unknown],
            ));
        }
        let uri = match body.get("ImageURI") {
            None => {
                return Err(refused(
                    "ActionParameterMissing",
                    &["UpdateService.SimpleUpdate", "ImageURI"],
                ));
            }
            Some(Value::String(uri)) if !uri.is_empty() => uri.clone(),
            Some(other) => {
                return Err(refused(
                    "ActionParameterValueTypeError",
                    &[&shown(other), "ImageURI", "UpdateService.SimpleUpdate"],
                ));
            }
        };
        let url = self.full_url(&uri, &body)?;
        Ok(Wanted {
            name: masked_url(&uri),
            targets: self.wanted_targets(body.get("Targets"))?,
            image: Image::Url(url),
            parameters: body,
        })
    }

    /// The image's URL, with its protocol and the user that the request gives.
    fn full_url(&self, uri: &str, body: &Map<String, Value>) -> Result<String, Answer> {
        let refused = |key: &str, args: &[&str]| Answer::bad(Message::base(key, args));
        let given = body.get("TransferProtocol").map(shown);
        let allowed = self.allowed_protocols();
        let is_allowed = |protocol: &str| {
            allowed.as_ref().is_none_or(|allowed| {
                allowed
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(protocol))
            })
        };
        if let Some(given) = given.as_ref().filter(|given| !is_allowed(given)) {
            return Err(refused(
                "ActionParameterValueNotInList",
                &[given, "TransferProtocol", "UpdateService.SimpleUpdate"],
            ));
        }
        let url = match (uri.split_once("://"), given) {
            (Some((scheme, _)), _) if !is_allowed(scheme) => {
                return Err(refused(
                    "ActionParameterValueFormatError",
                    &[&masked_url(uri), "ImageURI", "UpdateService.SimpleUpdate"],
                ));
            }
            (Some(_), _) => uri.to_owned(),
            (None, Some(given)) => format!("{}://{uri}", given.to_ascii_lowercase()),
            (None, None) => {
                return Err(refused(
                    "ActionParameterMissing",
                    &["UpdateService.SimpleUpdate", "TransferProtocol"],
                ));
            }
        };
        let text = |name: &str| body.get(name).and_then(Value::as_str);
        Ok(
            match (text("Username"), text("Password"), url.split_once("://")) {
                (Some(user), password, Some((scheme, rest))) if !rest.contains('@') => {
                    format!("{scheme}://{user}:{}@{rest}", password.unwrap_or_default())
                }
                (_, _, _) => url,
            },
        )
    }

    fn allowed_protocols(&self) -> Option<Vec<String>> {
        let service = self
            .bindings
            .update
            .as_ref()
            .and_then(|update| self.store.get(&update.service))?;
        let (_, action) = action(service, "#UpdateService.SimpleUpdate")?;
        allowable(&self.store, action, "TransferProtocol")
    }

    /// The targets of a request, if they are things that can be updated.
    pub(super) fn wanted_targets(&self, targets: Option<&Value>) -> Result<Vec<String>, Answer> {
        let Some(targets) = targets else {
            return Ok(Vec::new());
        };
        if self.habits.update.targets() == Targets::Absent
            && targets.as_array().is_none_or(|targets| !targets.is_empty())
        {
            return Err(Answer::bad(Message::base(
                "ActionParameterUnknown",
                &["UpdateService", "Targets"],
            )));
        }
        if !targets.is_array() {
            let args = [&shown(targets), "Targets", "UpdateService"];
            return Err(Answer::bad(Message::base(
                "ActionParameterValueTypeError",
                &args,
            )));
        }
        let targets = texts(targets);
        let known = |target: &&String| {
            self.bindings.is_bmc(target) || self.bindings.system_of(target).is_some()
        };
        match targets.iter().find(|target| !known(target)) {
            Some(unknown) => {
                let args = [unknown.as_str(), "Targets", "UpdateService"];
                Err(Answer::bad(Message::base(
                    "ActionParameterValueNotInList",
                    &args,
                )))
            }
            None => Ok(targets),
        }
    }
}
