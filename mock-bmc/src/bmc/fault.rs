//! This room shows clients what a script wants them to see instead of the answer.
//!
//! It deliberately lets what is processed be processed: a lost answer is lost only to the client.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

use super::answer::Answer;
use super::asked::Asked;
use super::auth::Who;
use super::core::Bmc;
use super::host::Phase;
use crate::docs::messages::{Message, error_body};
use crate::ledger::Kind;
use crate::message::{Reply, Response};
use crate::script::{AnswerKind, During, Fault, RetryAfterForm, Span};
use crate::time::Moment;

const PAGE: &str =
    "<!DOCTYPE html><html><head><title>BMC</title></head><body><h1>Please wait</h1></body></html>";

impl Bmc {
    /// The reply to a request, with the first fault that fits it.
    pub(super) fn with_faults(&mut self, asked: &Asked<'_>, who: &Who) -> Reply {
        let Some((index, fault)) = self.firing(asked, who) else {
            return Reply::Answer(self.answer(asked, who));
        };
        let what = format!(
            "{:?} {} {} {}",
            fault.answer,
            index + 1,
            asked.method(),
            asked.uri
        );
        self.ledger.note(self.now, Kind::Fault, what);
        match fault.answer {
            AnswerKind::DropBefore => Reply::Drop,
            AnswerKind::Hang => Reply::Hang,
            AnswerKind::Refuse => Reply::Refused,
            AnswerKind::DropAfter => {
                self.answer(asked, who);
                Reply::Drop
            }
            AnswerKind::Truncate => Reply::Truncated {
                response: self.answer(asked, who),
                keep_bytes: usize::try_from(fault.keep_bytes.unwrap_or(10)).unwrap_or(usize::MAX),
            },
            AnswerKind::Delay => Reply::Delayed {
                answer: Box::new(Reply::Answer(self.answer(asked, who))),
                by: fault.by.unwrap_or(Span::from_secs(10)).0,
            },
            AnswerKind::Edit => Reply::Answer(edited(self.answer(asked, who), &fault)),
            AnswerKind::Status | AnswerKind::Html => {
                if fault.processed {
                    self.answer(asked, who);
                }
                let reply = Reply::Answer(self.scripted(&fault));
                match fault.by {
                    Some(by) => Reply::Delayed {
                        answer: Box::new(reply),
                        by: by.0,
                    },
                    None => reply,
                }
            }
        }
    }

    fn firing(&mut self, asked: &Asked<'_>, who: &Who) -> Option<(usize, Fault)> {
        for index in 0..self.habits.fault.len() {
            let fault = self.habits.fault.get(index)?;
            let authorized = !fault.authorized || matches!(who, Who::Known(_));
            let fits = fault.fits(asked.method().as_str(), &asked.uri, &asked.request.body);
            if !(authorized && fits && self.is_time_for(fault)) {
                continue;
            }
            let first = fault.nth.unwrap_or(1).max(1);
            let count = fault.count.unwrap_or(1);
            let hits = self.fault_hits.get_mut(index)?;
            *hits += 1;
            let fires = *hits >= first && (count == 0 || *hits < first.saturating_add(count));
            if fires {
                return Some((index, self.habits.fault.get(index)?.clone()));
            }
        }
        None
    }

    fn is_time_for(&self, fault: &Fault) -> bool {
        let from = fault.from.is_none_or(|from| self.now >= Moment(0) + from.0);
        let until = fault
            .until
            .is_none_or(|until| self.now < Moment(0) + until.0);
        from && until && self.is_doing(fault.during)
    }

    fn is_doing(&self, what: During) -> bool {
        match what {
            During::Any => true,
            During::BmcFlash => self.updates.is_flashing_bmc(),
            During::BmcReturn => self.manager.returns > 0,
            During::BiosStage => self.updates.is_staging_bios(),
            During::BiosStaged => self.hosts.iter().any(|host| host.staged.is_some()),
            During::Post => self
                .hosts
                .iter()
                .any(|host| matches!(host.phase, Phase::Post { .. })),
        }
    }

    fn scripted(&self, fault: &Fault) -> Response {
        let html = fault.answer == AnswerKind::Html;
        let usual = if html {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        let status = fault
            .status
            .and_then(|status| StatusCode::from_u16(status).ok())
            .unwrap_or(usual);
        let text = fault.body.as_ref().and_then(toml::Value::as_str);
        let mut answer = match (&fault.body, text) {
            (None, _) if html => Answer::text(status, "text/html", PAGE),
            (Some(_), Some(text)) => {
                Answer::text(status, if html { "text/html" } else { "text/plain" }, text)
            }
            (Some(table), None) => {
                Answer::json(status, serde_json::to_value(table).unwrap_or(Value::Null))
            }
            (None, _) => Answer::json(status, error_body(&[scripted_message(fault)])),
        };
        if let Some(span) = fault.retry_after {
            answer = answer.with(RETRY_AFTER, &self.retry_after(span, fault.retry_after_form));
        }
        with_headers(answer, fault).response(false)
    }

    fn retry_after(&self, span: Span, form: RetryAfterForm) -> String {
        match form {
            RetryAfterForm::Seconds => span.as_secs().to_string(),
            RetryAfterForm::Date => {
                let at = self.wall(self.now + span.0);
                at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
            }
        }
    }
}

fn scripted_message(fault: &Fault) -> Message {
    let id = fault
        .message_id
        .as_deref()
        .unwrap_or("Base.1.18.GeneralError");
    let text = fault.message.as_deref().unwrap_or_default();
    Message::worded(id, text, &fault.message_args)
}

fn with_headers(mut answer: Answer, fault: &Fault) -> Answer {
    for (name, value) in &fault.headers {
        if let Ok(name) = HeaderName::try_from(name.as_str()) {
            answer = answer.with(name, value);
        }
    }
    answer
}

/// The usual answer with other members in its body, and perhaps another status and more headers.
fn edited(mut response: Response, fault: &Fault) -> Response {
    let json: Option<Value> = serde_json::from_slice(&response.body).ok();
    let changes = fault
        .body
        .as_ref()
        .and_then(|body| serde_json::to_value(body).ok());
    if let (Some(mut json), Some(changes)) = (json, changes) {
        merge(&mut json, &changes);
        response.body = Bytes::from(json.to_string());
    }
    if let Some(status) = fault
        .status
        .and_then(|status| StatusCode::from_u16(status).ok())
    {
        response.status = status;
    }
    for (name, value) in &fault.headers {
        let header = HeaderName::try_from(name.as_str())
            .ok()
            .zip(HeaderValue::from_str(value).ok());
        match header {
            Some((name, value)) if !value.is_empty() => {
                response.headers.insert(name, value);
            }
            Some((name, _)) => {
                response.headers.remove(name);
            }
            None => {}
        }
    }
    if response.headers.get(CONTENT_TYPE).is_none() && !response.body.is_empty() {
        response
            .headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

/// RFC 7396, except that the text `null` stands for null, which TOML does not have; the text `-` takes a member away.
fn merge(value: &mut Value, changes: &Value) {
    let Some(changes) = changes.as_object() else {
        *value = changes.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(serde_json::Map::new());
    }
    for (name, change) in changes {
        match change.as_str() {
            Some("-") => {
                value
                    .as_object_mut()
                    .and_then(|members| members.remove(name));
            }
            Some("null") => value[name.as_str()] = Value::Null,
            Some(_) | None => merge(&mut value[name.as_str()], change),
        }
    }
}
