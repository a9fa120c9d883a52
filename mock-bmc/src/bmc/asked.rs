//! This room is a request as a BMC sees it: method, URI, query, headers, body.
//!
//! It deliberately judges nothing but form.

use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::update::multipart;
use crate::docs::messages::Message;
use crate::docs::query::decoded;
use crate::docs::store::normal;
use crate::ledger::{RequestLine, masked};
use crate::message::Request;

/// A request as a BMC sees it.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) request: &'a Request,
    /// The path, decoded, without a slash at its end.
    pub(super) uri: String,
    pub(super) query: &'a str,
}

impl<'a> Asked<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        Self {
            request,
            uri: normal(&decoded(path)).to_owned(),
            query: query.split('#').next().unwrap_or_default(),
        }
    }

    /// The path as it was sent, percent signs and all.
    pub(super) fn sent_path(&self) -> &'a str {
        let path = self.request.path.split('?').next().unwrap_or_default();
        normal(path)
    }

    pub(super) fn method(&self) -> &Method {
        &self.request.method
    }

    /// Whether it only reads.
    pub(super) fn is_read(&self) -> bool {
        [Method::GET, Method::HEAD].contains(self.method())
    }

    /// A header's text.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        self.request.headers.get(name)?.to_str().ok()
    }

    /// The body as a JSON object with at least one member.
    pub(super) fn object(&self) -> Result<Map<String, Value>, Answer> {
        let object = self.object_or_empty()?;
        if object.is_empty() {
            return Err(Answer::bad(Message::base("EmptyJSON", &[])));
        }
        Ok(object)
    }

    /// The body as a JSON object; no body is an empty one.
    pub(super) fn object_or_empty(&self) -> Result<Map<String, Value>, Answer> {
        if self.request.body.is_empty() {
            return Ok(Map::new());
        }
        let kind = self
            .header(CONTENT_TYPE.as_str())
            .unwrap_or("application/json");
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = Message::base("HeaderInvalid", &["Content-Type"]);
            return Err(Answer::refused(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                &[message],
            ));
        }
        match serde_json::from_slice(&self.request.body) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Answer::bad(Message::base("UnrecognizedRequestBody", &[]))),
            Err(_) => Err(Answer::bad(Message::base("MalformedJSON", &[]))),
        }
    }

    /// What the ledger says of it.
    pub(super) fn ledger_line(&self, session: Option<String>) -> RequestLine {
        RequestLine {
            method: self.method().to_string(),
            path: self.request.path.clone(),
            request_id: self.header("x-request-id").map(str::to_owned),
            session,
            body: if self.is_read() {
                None
            } else {
                self.masked_body()
            },
        }
    }

    /// JSON is kept, in parts of a form too; anything else is only measured.
    fn masked_body(&self) -> Option<Value> {
        let body = &self.request.body;
        if body.is_empty() {
            return None;
        }
        let json: Option<Value> = serde_json::from_slice(body).ok();
        let measured = || {
            let kind = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
            let short = kind.split(';').next().unwrap_or_default();
            let mut measured = serde_json::json!({ "content_type": short, "bytes": body.len() });
            if let Some(parts) = multipart::parts(kind, body) {
                measured["parts"] = parts.iter().map(shown_part).collect();
            }
            measured
        };
        Some(json.as_ref().map_or_else(measured, masked))
    }
}

fn shown_part(part: &multipart::Part) -> Value {
    let json: Option<Value> = serde_json::from_slice(&part.body).ok();
    let mut shown = serde_json::json!({ "name": part.name });
    if let Some(name) = &part.file_name {
        shown["file_name"] = name.as_str().into();
    }
    match json.as_ref().filter(|json| json.is_object()) {
        Some(json) => shown["json"] = masked(json),
        None => shown["bytes"] = part.body.len().into(),
    }
    shown
}
