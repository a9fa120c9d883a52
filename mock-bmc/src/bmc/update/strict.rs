//! This room is what services refuse of a push that the standard allows.
//!
//! It deliberately looks at the request only; the image is judged elsewhere.

use http::StatusCode;
use serde_json::Value;

use super::super::answer::Answer;
use super::super::asked::Asked;
use super::super::core::Bmc;
use super::multipart::{self, Part, Upload};
use crate::docs::messages::Message;

impl Bmc {
    /// A push by who has not reserved the service.
    pub(super) fn refused_unclaimed(&self) -> Result<(), Answer> {
        let service = self
            .bindings
            .update
            .as_ref()
            .and_then(|update| self.store.get(&update.service));
        let is_claimed =
            service.is_some_and(|service| service["HttpPushUriTargetsBusy"] == Value::Bool(true));
        if self.habits.update.push_refused_without_claim() && !is_claimed {
            let message = Message::base("OperationNotAllowed", &[]);
            return Err(Answer::refused(StatusCode::FORBIDDEN, &[message]));
        }
        Ok(())
    }

    /// Parameters, targets and a file name that this service does not like.
    pub(super) fn refused_parameters(&self, upload: &Upload) -> Result<(), Answer> {
        let habits = &self.habits.update;
        let refused = |key: &str, args: &[&str]| Err(Answer::bad(Message::base(key, args)));
        let known: &[&str] = if habits.other_parameters_refused() {
            &["Targets"]
        } else {
            &["Targets", "Oem", "ForceUpdate"]
        };
        let is_known =
            |name: &&String| known.contains(&name.as_str()) || name.starts_with("@Redfish.");
        if let Some(unknown) = upload.parameters.keys().find(|name| !is_known(name)) {
            let message = Message::base("PropertyUnknown", &[unknown]);
            return Err(Answer::bad(message.about(&format!("/{unknown}"))));
        }
        let types = habits.oem_image_types();
        if !types.is_empty() {
            let of = upload
                .oem
                .as_ref()
                .and_then(|oem| oem["ImageType"].as_str());
            let component = crate::image::parse(&upload.file).map(|header| header.component);
            let wanted = match component {
                Some(crate::image::Component::Bios) => types.get(1),
                Some(crate::image::Component::Bmc) | None => types.first(),
            };
            if of.is_none() || of != wanted.map(String::as_str) {
                return refused("MissingOrMalformedPart", &[]);
            }
        }
        if habits.push_wants_preserve() && !names_what_is_kept(upload) {
            return refused("PropertyMissing", &["Oem"]);
        }
        let has_oem = upload.parameters.get("Oem").is_some_and(Value::is_object);
        if habits.update_parameters_want_oem() && !has_oem {
            return refused("PropertyMissing", &["Oem"]);
        }
        let targets = upload.parameters.get("Targets").and_then(Value::as_array);
        let targets: Vec<&str> = targets
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let names_bmc = targets.iter().any(|target| self.bindings.is_bmc(target));
        if habits.one_target_at_most() && targets.len() > 1
            || habits.bmc_takes_no_target() && names_bmc
        {
            let shown = format!("{targets:?}");
            return refused("PropertyValueFormatError", &[&shown, "Targets"]);
        }
        let endings = habits.file_name_endings();
        let name = upload.file_name.to_ascii_lowercase();
        let fits = endings.is_empty() || endings.iter().any(|end| name.ends_with(end));
        if fits {
            Ok(())
        } else {
            refused("MissingOrMalformedPart", &[])
        }
    }
}

/// The file of a form that is sent with a session, if it may be.
pub(super) fn session_form(asked: &Asked<'_>, kind: &str) -> Result<Part, Answer> {
    let malformed = || Answer::bad(Message::base("MissingOrMalformedPart", &[]));
    let mut parts = multipart::parts(kind, &asked.request.body).ok_or_else(malformed)?;
    let file = parts
        .pop()
        .filter(|part| part.name == "file")
        .ok_or_else(malformed)?;
    let [key, parameters] = parts.as_slice() else {
        return Err(malformed());
    };
    let token = asked.header("x-auth-token").unwrap_or_default();
    let cookie = format!("sessionKey={token}");
    let is_ours = key.name == "sessionKey"
        && key.body == token.as_bytes()
        && asked.header("cookie") == Some(cookie.as_str());
    if token.is_empty() || !is_ours {
        return Err(Answer::unauthorized(Message::base("NoValidSession", &[])));
    }
    let parameters: Option<Value> = serde_json::from_slice(&parameters.body).ok();
    if parameters.is_some_and(|parameters| parameters["UpdateTarget"] == true) {
        Ok(file)
    } else {
        Err(malformed())
    }
}

/// Whether a push names a target, when, and what of its configuration is kept.
fn names_what_is_kept(upload: &Upload) -> bool {
    let parameters = &upload.parameters;
    let targets = parameters.get("Targets").and_then(Value::as_array);
    let kept = parameters.get("Oem").map(|oem| &oem["Supermicro"]);
    let of = |part: &str, name: &str| kept.is_some_and(|kept| kept[part][name].is_boolean());
    targets.is_some_and(|targets| targets.len() == 1)
        && parameters.contains_key("@Redfish.OperationApplyTime")
        && (of("BMC", "PreserveCfg") || of("BIOS", "PreserveNVRAM"))
}
