//! Handing an image to the update service: one request, built from what discovery found.
//!
//! It never decides whether to flash, and never sends anything twice.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::claim::push_claimed;
use super::start::start_verified;
use super::verdict::{Ask, judge};
use crate::model::action::{ImageSource, UpdateAction};
use crate::model::{Fault, FaultKind, Outcome, Retry, UpdateMethod};
use crate::redfish::conversation::Conversation;
use crate::redfish::quirk::{
    claims_every_push, drops_target, immediate_restarts_host, kept_by_push, oem_parameters,
    pushes_form_with_session, waits_for_start, wants_oem_parameter,
};
use crate::redfish::read::UpdateLinks;
use crate::redfish::transport::{FormPart, PartContent, WireBody};

const APPLY_TIME: &str = "@Redfish.OperationApplyTime";

/// Sends the update request that an action describes.
pub(in crate::redfish) async fn send_update(
    conversation: &Conversation,
    links: &UpdateLinks,
    platform: &str,
    action: &UpdateAction,
) -> Outcome {
    let (path, body) = match request(links, platform, action) {
        Ok(request) => request,
        Err(fault) => return Outcome::NotSent { fault },
    };
    if let Some(service) = claimed(links, platform, action) {
        return push_claimed(conversation, service, &held_targets(action), &path, body).await;
    }
    let outcome = judge(conversation.post(&path, body).await, Ask::Update);
    match starts(links, platform, action) {
        Some(start) => start_verified(conversation, start, outcome).await,
        None => outcome,
    }
}

/// The action that writes what a push only hands over for verification.
fn starts<'l>(links: &'l UpdateLinks, platform: &str, action: &UpdateAction) -> Option<&'l String> {
    let is_ours = action.method == UpdateMethod::MultipartPush && action.apply_time.is_none();
    let time = waits_for_start(platform).filter(|_| is_ours)?;
    let is_open = links.push_apply_times.is_empty()
        || links.push_apply_times.iter().any(|known| known == time);
    links.start_update.as_ref().filter(|_| is_open)
}

/// The service whose targets are reserved before this push, where it has any to name or would be refused without.
fn claimed<'l>(
    links: &'l UpdateLinks,
    platform: &str,
    action: &UpdateAction,
) -> Option<&'l String> {
    let service = links.push_targets.as_ref()?;
    let needs_it = match action.method {
        UpdateMethod::SimpleUpdate => false,
        UpdateMethod::MultipartPush => claims_every_push(platform),
        UpdateMethod::HttpPush => !action.targets.is_empty() || claims_every_push(platform),
    };
    needs_it.then_some(service)
}

/// What the service holds meanwhile: a push with parameters names its targets itself.
fn held_targets(action: &UpdateAction) -> Vec<String> {
    match action.method {
        UpdateMethod::HttpPush => action.targets.clone(),
        UpdateMethod::SimpleUpdate | UpdateMethod::MultipartPush => Vec::new(),
    }
}

/// Where the request goes and what it carries; a fault where this BMC cannot be asked so.
pub(super) fn request(
    links: &UpdateLinks,
    platform: &str,
    action: &UpdateAction,
) -> Result<(String, WireBody), Fault> {
    match (action.method, &action.image) {
        (UpdateMethod::SimpleUpdate, ImageSource::Uri(uri)) => {
            simple_update(links, platform, action, uri)
        }
        (UpdateMethod::MultipartPush, ImageSource::File { path, bytes, name }) => {
            let uri = offered(links.multipart_push.as_ref(), action.method)?;
            check_size(links, *bytes)?;
            let time = apply_time(&links.push_apply_times, platform, action)?;
            let body = WireBody::Multipart {
                parts: parts(platform, action, time),
                file_part: "UpdateFile",
                file: path.clone(),
                file_name: name.clone(),
                bytes: *bytes,
            };
            Ok((uri, body))
        }
        (UpdateMethod::HttpPush, ImageSource::File { path, bytes, name }) => {
            let uri = offered(links.http_push.as_ref(), action.method)?;
            check_size(links, *bytes)?;
            if !action.targets.is_empty() && links.push_targets.is_none() {
                return Err(unsupported("a push to this BMC cannot name targets"));
            }
            let body = if pushes_form_with_session(platform) {
                session_form(path.clone(), *bytes, name.clone())
            } else {
                WireBody::File {
                    path: path.clone(),
                    bytes: *bytes,
                }
            };
            Ok((uri, body))
        }
        (UpdateMethod::SimpleUpdate, ImageSource::File { .. } | ImageSource::Served(_)) => {
            Err(unsupported("`simple-update` needs an image with a URI"))
        }
        (
            UpdateMethod::MultipartPush | UpdateMethod::HttpPush,
            ImageSource::Uri(_) | ImageSource::Served(_),
        ) => Err(unsupported(format!(
            "`{}` needs an image file",
            action.method.as_str()
        ))),
    }
}

fn simple_update(
    links: &UpdateLinks,
    platform: &str,
    action: &UpdateAction,
    uri: &str,
) -> Result<(String, WireBody), Fault> {
    let target = offered(links.simple_update.as_ref(), action.method)?;
    let time = apply_time(&links.simple_apply_times, platform, action)?;
    let mut body = Map::new();
    body.insert("ImageURI".to_owned(), json!(uri));
    if let Some(protocol) = transfer_protocol(&links.transfer_protocols, uri)? {
        body.insert("TransferProtocol".to_owned(), json!(protocol));
    }
    if !action.targets.is_empty() {
        body.insert("Targets".to_owned(), json!(action.targets));
    }
    if let Some(time) = time {
        body.insert(APPLY_TIME.to_owned(), json!(time));
    }
    let bytes = Value::Object(body).to_string().into();
    Ok((target, WireBody::Bytes(bytes)))
}

/// The URI's scheme in the BMC's spelling of `TransferProtocol`. Where the BMC states no list it is left out: the scheme
/// in the URI is enough (DSP0268, UpdateService.SimpleUpdate).
fn transfer_protocol(allowed: &[String], uri: &str) -> Result<Option<String>, Fault> {
    if allowed.is_empty() {
        return Ok(None);
    }
    let scheme = uri.split_once("://").map_or("http", |(scheme, _)| scheme);
    match allowed
        .iter()
        .find(|word| word.eq_ignore_ascii_case(scheme))
    {
        Some(word) => Ok(Some(word.clone())),
        None => Err(unsupported(format!(
            "this BMC does not fetch images by `{scheme}`, only by {}",
            allowed.join(", ")
        ))
        .with_hint("put the image where one of these reaches it, or use a `file` image")),
    }
}

/// iLO's own form. The image is flashed and not kept in its repository, which is small and wants names to be unique.
fn session_form(file: PathBuf, bytes: u64, file_name: String) -> WireBody {
    let parameters =
        json!({"UpdateRepository": false, "UpdateTarget": true, "ETag": "redpipe", "Section": 0});
    let part = |name, content| FormPart { name, content };
    WireBody::Multipart {
        parts: vec![
            part("sessionKey", PartContent::Token(None)),
            part(
                "parameters",
                PartContent::Json(parameters.to_string().into()),
            ),
        ],
        file_part: "file",
        file,
        file_name,
        bytes,
    }
}

/// The parts before the file: the standard's, and where a vendor wants one, its own.
fn parts(platform: &str, action: &UpdateAction, time: Option<&str>) -> Vec<FormPart> {
    let part = |name, json: &Value| FormPart {
        name,
        content: PartContent::Json(json.to_string().into()),
    };
    let mut parts = vec![part(
        "UpdateParameters",
        &update_parameters(platform, action, time),
    )];
    let oem = oem_parameters(platform, action.target.server().is_some());
    parts.extend(oem.map(|oem| part("OemParameters", &oem)));
    parts
}

/// `UpdateParameters` (DSP0266, "Multipart HTTP push updates"): some services refuse any key that they do not need.
fn update_parameters(platform: &str, action: &UpdateAction, time: Option<&str>) -> Value {
    let mut parameters = Map::new();
    let named: Vec<&String> = action
        .targets
        .iter()
        .filter(|target| !drops_target(platform, target))
        .collect();
    parameters.insert("Targets".to_owned(), json!(named));
    if let Some(time) = time {
        parameters.insert(APPLY_TIME.to_owned(), json!(time));
    }
    let is_host = action.target.server().is_some();
    let kept = kept_by_push(platform, is_host, action.keep.as_deref());
    let oem = kept.or_else(|| wants_oem_parameter(platform).then(|| json!({})));
    if let Some(oem) = oem {
        parameters.insert("Oem".to_owned(), oem);
    }
    Value::Object(parameters)
}

fn offered(link: Option<&String>, method: UpdateMethod) -> Result<String, Fault> {
    link.cloned()
        .ok_or_else(|| unsupported(format!("this BMC does not offer `{}`", method.as_str())))
}

fn check_size(links: &UpdateLinks, bytes: u64) -> Result<(), Fault> {
    match links.max_image_bytes {
        Some(max) if bytes > max => Err(Fault::new(
            FaultKind::ImageInvalid,
            Retry::Operator,
            format!("the image has {bytes} bytes, this BMC takes at most {max}"),
        )),
        Some(_) | None => Ok(()),
    }
}

/// The apply time to ask for: the author's word, else one that lets nobody but us restart a host.
fn apply_time<'a>(
    allowed: &[String],
    platform: &str,
    action: &'a UpdateAction,
) -> Result<Option<&'a str>, Fault> {
    const ON_RESET: &str = "OnReset";
    let is_open = |time: &str| allowed.is_empty() || allowed.iter().any(|known| known == time);
    match action.apply_time.as_deref() {
        Some(time) if !is_open(time) => Err(unsupported(format!(
            "this BMC does not offer apply time `{time}`, only {}",
            allowed.join(", ")
        ))),
        Some(time) => Ok(Some(time)),
        None => {
            let is_host = action.target.server().is_some() && immediate_restarts_host(platform);
            let is_push = action.method == UpdateMethod::MultipartPush;
            let starts = waits_for_start(platform).filter(|_| is_push);
            let wanted = starts.or(is_host.then_some(ON_RESET));
            Ok(wanted.filter(|time| is_open(time)))
        }
    }
}

fn unsupported(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Unsupported, Retry::Operator, message)
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
