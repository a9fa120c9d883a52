//! This room changes what clients may change by `PATCH`.
//!
//! It deliberately leaves the meaning of settings to their room; here are plain resources, whose members are what they
//! say.

use http::StatusCode;
use serde_json::{Map, Value};

use super::answer::{Answer, Body};
use super::asked::Asked;
use super::core::Bmc;
use crate::docs::messages::Message;
use crate::docs::patch;
use crate::script::Fault;

impl Bmc {
    /// Answers a `PATCH` whose condition holds.
    pub(super) fn patch(&mut self, asked: &Asked<'_>) -> Answer {
        let body = match asked.object() {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        if body.keys().all(|name| name.contains('@')) {
            return Answer::bad(Message::base("NoOperation", &[]));
        }
        let uri = asked.uri.clone();
        if let Some(index) = self.system_written_at(&uri) {
            return self.write_bios(index, &uri, &body);
        }
        if let Some(index) = self.set_written_at(&uri) {
            return self.write_set(index, &uri, &body);
        }
        if self.account_at(&uri).is_some() {
            return self.change_account(&uri, &body);
        }
        self.change_resource(&uri, &body)
    }

    fn change_resource(&mut self, uri: &str, body: &Map<String, Value>) -> Answer {
        let names: Vec<&str> = body.keys().map(String::as_str).collect();
        let names = names.join(",");
        let document = self.store.get(uri).unwrap_or(&Value::Null);
        let mut wrong = patch::check(document, body);
        wrong.extend(self.wrong_for_service(uri, body));
        if !wrong.is_empty() {
            self.ledger.cause(format!("resource refused {uri} {names}"));
            return Answer::refused(StatusCode::BAD_REQUEST, &wrong);
        }
        self.ledger.cause(format!("resource changed {uri} {names}"));
        let settings = &self.habits.bmc_settings;
        let listed = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, uri));
        let waits = listed(&settings.needs_reset());
        let severs = listed(&settings.severs());
        if waits {
            self.waiting_changes.push((uri.to_owned(), body.clone()));
        } else if !listed(&settings.not_kept()) {
            self.store
                .edit(uri, |document| patch::apply(document, body));
        }
        if severs {
            self.leave_soon();
        }
        self.changed(uri, waits)
    }

    fn changed(&self, uri: &str, waits: bool) -> Answer {
        let mut answer = Answer::json(StatusCode::OK, self.view(uri).unwrap_or_default());
        let message = self.reset_required().filter(|_| waits);
        if let (Some(message), Body::Json(body)) = (message, &mut answer.body) {
            body["@Message.ExtendedInfo"] = Value::Array(vec![message.to_json()]);
        }
        self.with_tag(answer, uri)
    }

    /// What a type's schema forbids beyond the kinds of its members.
    fn wrong_for_service(&self, uri: &str, body: &Map<String, Value>) -> Option<Message> {
        let timeout = body
            .get("SessionTimeout")
            .filter(|_| uri == self.bindings.sessions.service)?;
        // DSP0268 gives these bounds.
        let fits = timeout
            .as_u64()
            .is_some_and(|timeout| (30..=86400).contains(&timeout));
        let message = || {
            Message::base(
                "PropertyValueOutOfRange",
                &[&timeout.to_string(), "SessionTimeout"],
            )
            .about("/SessionTimeout")
        };
        (!fits).then(message)
    }
}

/// Whether a resource is one of those that a script means.
fn matches(pattern: &str, uri: &str) -> bool {
    let fault = Fault {
        path: Some(pattern.to_owned()),
        ..Fault::default()
    };
    fault.fits("PATCH", uri, b"")
}
