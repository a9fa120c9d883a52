//! Handing an image to the update service: one request, built from what discovery found.
//!
//! It never decides whether to flash, and never sends anything twice.

use serde_json::{Map, Value, json};

use super::claim::push_claimed;
use super::conversation::Conversation;
use super::links::UpdateLinks;
use super::quirk::{claims_every_push, wants_oem_parameter};
use super::transport::WireBody;
use super::verdict::{Ask, judge};
use crate::model::action::{ImageSource, UpdateAction};
use crate::model::{Fault, FaultKind, Outcome, Retry, UpdateMethod};

const APPLY_TIME: &str = "@Redfish.OperationApplyTime";

/// Sends the update request that an action describes.
pub(super) async fn send_update(
    conversation: &Conversation,
    links: &UpdateLinks,
    platform: &str,
    action: &UpdateAction,
) -> Outcome {
    let (path, body) = match request(links, platform, action) {
        Ok(request) => request,
        Err(fault) => return Outcome::NotSent { fault },
    };
    match claimed(links, platform, action) {
        Some(service) => push_claimed(conversation, service, &action.targets, &path, body).await,
        None => judge(conversation.post(&path, body).await, Ask::Update),
    }
}

/// The service whose targets are reserved before this push, where it has any to name or would be refused without.
fn claimed<'l>(
    links: &'l UpdateLinks,
    platform: &str,
    action: &UpdateAction,
) -> Option<&'l String> {
    let service = links.push_targets.as_ref()?;
    let is_push = action.method == UpdateMethod::HttpPush;
    (is_push && (!action.targets.is_empty() || claims_every_push(platform))).then_some(service)
}

/// Where the request goes and what it carries; a fault where this BMC cannot be asked so.
pub(super) fn request(
    links: &UpdateLinks,
    platform: &str,
    action: &UpdateAction,
) -> Result<(String, WireBody), Fault> {
    match (action.method, &action.image) {
        (UpdateMethod::SimpleUpdate, ImageSource::Uri(uri)) => simple_update(links, action, uri),
        (UpdateMethod::MultipartPush, ImageSource::File { path, bytes }) => {
            let uri = offered(links.multipart_push.as_ref(), action.method)?;
            check_size(links, *bytes)?;
            check_apply_time(&links.push_apply_times, action)?;
            let file_name = path.file_name().map_or_else(
                || "image.bin".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            );
            let body = WireBody::Multipart {
                parameters: update_parameters(platform, action).to_string().into(),
                file: path.clone(),
                file_name,
                bytes: *bytes,
            };
            Ok((uri, body))
        }
        (UpdateMethod::HttpPush, ImageSource::File { path, bytes }) => {
            let uri = offered(links.http_push.as_ref(), action.method)?;
            check_size(links, *bytes)?;
            if !action.targets.is_empty() && links.push_targets.is_none() {
                return Err(unsupported("a push to this BMC cannot name targets"));
            }
            Ok((
                uri,
                WireBody::File {
                    path: path.clone(),
                    bytes: *bytes,
                },
            ))
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
    action: &UpdateAction,
    uri: &str,
) -> Result<(String, WireBody), Fault> {
    let target = offered(links.simple_update.as_ref(), action.method)?;
    check_apply_time(&links.simple_apply_times, action)?;
    let mut body = Map::new();
    body.insert("ImageURI".to_owned(), json!(uri));
    if let Some(protocol) = transfer_protocol(&links.transfer_protocols, uri)? {
        body.insert("TransferProtocol".to_owned(), json!(protocol));
    }
    if !action.targets.is_empty() {
        body.insert("Targets".to_owned(), json!(action.targets));
    }
    if let Some(time) = &action.apply_time {
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

/// `UpdateParameters` (DSP0266, "Multipart HTTP push updates"): some services refuse any key that they do not need.
fn update_parameters(platform: &str, action: &UpdateAction) -> Value {
    let mut parameters = Map::new();
    parameters.insert("Targets".to_owned(), json!(action.targets));
    if let Some(time) = &action.apply_time {
        parameters.insert(APPLY_TIME.to_owned(), json!(time));
    }
    if wants_oem_parameter(platform) {
        parameters.insert("Oem".to_owned(), json!({}));
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

fn check_apply_time(allowed: &[String], action: &UpdateAction) -> Result<(), Fault> {
    match &action.apply_time {
        Some(time) if !allowed.is_empty() && !allowed.contains(time) => Err(unsupported(format!(
            "this BMC does not offer apply time `{time}`, only {}",
            allowed.join(", ")
        ))),
        Some(_) | None => Ok(()),
    }
}

fn unsupported(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Unsupported, Retry::Operator, message)
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
