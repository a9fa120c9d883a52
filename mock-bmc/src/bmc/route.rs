//! This room takes a request from its arrival to its answer: faults, who asks, what is there, who does it.
//!
//! It deliberately does nothing itself but refuse what DSP0266 refuses for every resource.

use http::header::{ALLOW, CACHE_CONTROL};
use http::{HeaderName, HeaderValue, Method, StatusCode};

use super::answer::Answer;
use super::asked::Asked;
use super::auth::Who;
use super::core::Bmc;
use crate::docs::bindings::Action;
use crate::docs::messages::Message;
use crate::docs::patch;
use crate::message::{Reply, Request, Response};
use crate::time::Moment;

/// What is at a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The versions of the protocol.
    Versions,
    Document,
    Text,
    Action(Action),
    /// The monitor of a task.
    Monitor(String),
    Nothing,
}

impl Bmc {
    /// Answers one request, after what was due by now.
    pub fn handle(&mut self, now: Moment, request: &Request) -> Reply {
        self.advance(now);
        if !self.manager.is_present() {
            return Reply::Refused;
        }
        self.refresh_tasks();
        let mut asked = Asked::of(request);
        // Recorded trees hold documents under the encoded names by which their links name them.
        if self.store.get(&asked.uri).is_none() && self.store.get(asked.sent_path()).is_some() {
            asked.sent_path().clone_into(&mut asked.uri);
        }
        self.ledger.open();
        let who = self.who(&asked);
        let session = match &who {
            Who::Known(caller) => caller.session.as_ref().map(|(id, _)| id.clone()),
            Who::Nobody | Who::Wrong => None,
        };
        let reply = self.with_faults(&asked, &who);
        let status = seen_status(&reply);
        self.ledger
            .close(self.now, asked.ledger_line(session), status);
        reply
    }

    /// The answer that it would get without any fault.
    pub(super) fn answer(&mut self, asked: &Asked<'_>, who: &Who) -> Response {
        let place = self.place(&asked.uri);
        let answer = match refused_protocol(asked).or_else(|| self.refused_caller(asked, who)) {
            Some(refused) => refused,
            None => self.dispatch(asked, &place),
        };
        let answer = self.with_usual_headers(answer, asked, &place);
        answer.response(asked.method() == Method::HEAD)
    }

    fn refused_caller(&self, asked: &Asked<'_>, who: &Who) -> Option<Answer> {
        if self.is_public(asked) {
            return None;
        }
        match who {
            Who::Known(caller) => self.forbidden(asked, caller),
            Who::Nobody | Who::Wrong => {
                Some(Answer::unauthorized(Message::base("NoValidSession", &[])))
            }
        }
    }

    /// What is at a URI.
    pub(super) fn place(&self, uri: &str) -> Place {
        if uri == "/redfish" {
            return Place::Versions;
        }
        if let Some(action) = self.bindings.actions.get(uri) {
            return Place::Action(action.clone());
        }
        if self.store.get(uri).is_some() {
            return Place::Document;
        }
        if self.store.text(uri).is_some() {
            return Place::Text;
        }
        if let Some(task) = self.task_monitored_at(uri) {
            return Place::Monitor(task);
        }
        Place::Nothing
    }

    fn dispatch(&mut self, asked: &Asked<'_>, place: &Place) -> Answer {
        let method = asked.method();
        if self.is_login(asked) && self.habits.sessions.offered() {
            return self.login(asked);
        }
        if *place == Place::Nothing {
            return self.dispatch_respelt(asked);
        }
        if method == Method::OPTIONS {
            return Answer::done();
        }
        if !self.allowed(&asked.uri, place).contains(method) {
            return Answer::not_allowed();
        }
        match place {
            Place::Action(action) if method == Method::POST => self.run_action(asked, action),
            Place::Monitor(task) if method == Method::DELETE => self.delete_task(task),
            Place::Monitor(task) => self.read_monitor(task),
            Place::Action(_) | Place::Versions | Place::Text | Place::Document | Place::Nothing => {
                if asked.is_read() {
                    self.read_place(asked, place)
                } else {
                    self.change(asked)
                }
            }
        }
    }

    /// Some recorded services answer to any letter case; a link in them may rely on it.
    fn dispatch_respelt(&mut self, asked: &Asked<'_>) -> Answer {
        let respelt = self
            .store
            .respelt(&asked.uri)
            .filter(|_| self.any_case)
            .map(str::to_owned);
        let Some(uri) = respelt else {
            return Answer::missing(&asked.uri);
        };
        let again = Asked {
            request: asked.request,
            uri,
            query: asked.query,
        };
        let place = self.place(&again.uri);
        self.dispatch(&again, &place)
    }

    fn change(&mut self, asked: &Asked<'_>) -> Answer {
        let method = asked.method();
        if method == Method::POST && self.takes_jobs_at(&asked.uri) {
            return self.order_job(asked);
        }
        if method == Method::POST {
            return self.create_account(asked);
        }
        if let Some(refused) = self.refused_condition(asked, &asked.uri) {
            return refused;
        }
        if method == Method::DELETE {
            return self.delete(asked);
        }
        self.patch(asked)
    }

    fn delete(&mut self, asked: &Asked<'_>) -> Answer {
        if self.sessions.iter().any(|session| session.uri == asked.uri) {
            return self.logout(&asked.uri);
        }
        if let Some(task) = self.task_at(&asked.uri) {
            return self.delete_task(&task);
        }
        if self.jobs.iter().any(|job| job.uri == asked.uri) {
            return self.delete_job(&asked.uri);
        }
        self.delete_account(&asked.uri)
    }

    /// The methods that work at a URI.
    fn allowed(&self, uri: &str, place: &Place) -> Vec<Method> {
        match place {
            Place::Versions | Place::Text => vec![Method::GET, Method::HEAD],
            Place::Action(_) => self.allowed_on_action(uri),
            Place::Monitor(_) => vec![Method::GET, Method::HEAD, Method::DELETE],
            Place::Nothing => Vec::new(),
            Place::Document => self.allowed_on_document(uri),
        }
    }

    fn allowed_on_document(&self, uri: &str) -> Vec<Method> {
        let mut allowed = vec![Method::GET, Method::HEAD];
        let creates = uri == self.bindings.sessions.collection && self.habits.sessions.offered();
        if creates || uri == self.bindings.accounts.collection || self.takes_jobs_at(uri) {
            allowed.push(Method::POST);
        }
        if self.is_patched(uri) {
            allowed.push(Method::PATCH);
        }
        let session = self.sessions.iter().any(|session| session.uri == uri);
        let account = self.account_at(uri).is_some();
        let job = self.jobs.iter().any(|job| job.uri == uri);
        if session || account || job || self.task_at(uri).is_some() {
            allowed.push(Method::DELETE);
        }
        allowed
    }

    /// Some services push images to a URI that is a document as well, such as the firmware inventory.
    fn allowed_on_action(&self, uri: &str) -> Vec<Method> {
        let mut allowed = vec![Method::POST];
        if self.store.get(uri).is_some() {
            allowed.extend(self.allowed_on_document(uri));
        }
        allowed
    }

    fn is_patched(&self, uri: &str) -> bool {
        self.system_written_at(uri).is_some()
            || self.set_written_at(uri).is_some()
            || self.store.get(uri).is_some_and(patch::is_writable)
    }

    /// The system whose BIOS settings are written at a URI.
    pub(super) fn system_written_at(&self, uri: &str) -> Option<usize> {
        (0..self.hosts.len()).find(|index| self.settings_uri(*index) == Some(uri))
    }

    fn with_usual_headers(&self, mut answer: Answer, asked: &Asked<'_>, place: &Place) -> Answer {
        answer.headers.insert(
            HeaderName::from_static("odata-version"),
            HeaderValue::from_static("4.0"),
        );
        answer
            .headers
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let tells = asked.is_read()
            || asked.method() == Method::OPTIONS
            || answer.status == StatusCode::METHOD_NOT_ALLOWED;
        let allowed: Vec<String> = self
            .allowed(&asked.uri, place)
            .iter()
            .map(Method::to_string)
            .collect();
        if tells && !allowed.is_empty() {
            answer = answer.with(ALLOW, &allowed.join(", "));
        }
        answer
    }

    fn run_action(&mut self, asked: &Asked<'_>, action: &Action) -> Answer {
        if let Some(refused) = self.refused_action_condition(asked) {
            return refused;
        }
        match action {
            Action::SimpleUpdate => return self.simple_update(asked),
            Action::StartUpdate => return self.start_update(asked),
            Action::MultipartPush => return self.multipart_push(asked),
            Action::Push => return self.push(asked),
            Action::SystemReset(_)
            | Action::ManagerReset(_)
            | Action::ChassisReset(_)
            | Action::ResetBios(_)
            | Action::BiosPassword(_)
            | Action::InsertMedia(_)
            | Action::EjectMedia(_) => {}
        }
        let body = match asked.object_or_empty() {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        let kind = body.get("ResetType").and_then(serde_json::Value::as_str);
        let target = asked.uri.as_str();
        match action {
            Action::SystemReset(index) => self.reset_system(*index, target, kind),
            Action::ManagerReset(uri) => self.reset_manager(uri, target, kind),
            Action::ChassisReset(uri) => self.reset_chassis(uri, target, kind),
            Action::ResetBios(index) => self.reset_bios(*index, target),
            Action::BiosPassword(_) => change_bios_password(&body),
            Action::InsertMedia(slot) => self.insert_media(slot, &body),
            Action::EjectMedia(slot) => self.eject_media(slot),
            Action::SimpleUpdate | Action::StartUpdate | Action::MultipartPush | Action::Push => {
                Answer::not_allowed()
            }
        }
    }
}

fn refused_protocol(asked: &Asked<'_>) -> Option<Answer> {
    let version = asked.header("odata-version").map(str::trim);
    if version.is_some_and(|version| version != "4.0") {
        let message = Message::base("HeaderInvalid", &["OData-Version"]);
        return Some(Answer::refused(StatusCode::PRECONDITION_FAILED, &[message]));
    }
    let known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    let message = Message::base("OperationNotAllowed", &[]);
    (!known.contains(asked.method()))
        .then(|| Answer::refused(StatusCode::NOT_IMPLEMENTED, &[message]))
}

fn change_bios_password(body: &serde_json::Map<String, serde_json::Value>) -> Answer {
    let parameters = ["PasswordName", "OldPassword", "NewPassword"];
    let missing = parameters
        .into_iter()
        .filter(|name| !body.contains_key(*name));
    let missing: Vec<Message> = missing
        .map(|name| Message::base("ActionParameterMissing", &["Bios.ChangePassword", name]))
        .collect();
    if missing.is_empty() {
        Answer::done()
    } else {
        Answer::refused(StatusCode::BAD_REQUEST, &missing)
    }
}

/// The status that a client sees, if it sees any.
fn seen_status(reply: &Reply) -> Option<StatusCode> {
    match reply {
        Reply::Answer(response) | Reply::Truncated { response, .. } => Some(response.status),
        Reply::Delayed { answer, .. } => seen_status(answer),
        Reply::Refused | Reply::Drop | Reply::Hang => None,
    }
}
