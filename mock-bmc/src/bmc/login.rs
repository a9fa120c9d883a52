//! This room is sessions: logins, their limit, their end.
//!
//! It deliberately counts refused logins per user, so that a scripted lockout hits whom it would hit.

use std::collections::BTreeMap;

use http::StatusCode;
use http::header::{HeaderName, LOCATION};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::answer::Answer;
use super::asked::Asked;
use super::core::Bmc;
use crate::docs::messages::Message;
use crate::time::Moment;

/// The header that carries a session's token.
pub(crate) const TOKEN: &str = "x-auth-token";

/// One session.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) uri: String,
    pub(super) user: String,
    pub(super) role: String,
    token: String,
    used_at: Moment,
    /// Requests of this session whose bodies still arrive.
    pub(super) arriving: usize,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Refused logins, by user.
#[derive(Clone, Debug, Default)]
pub(super) struct Lockout {
    refused: BTreeMap<String, (u32, Moment)>,
}

impl Lockout {
    /// A user is let in again.
    pub(super) fn forget(&mut self, user: &str) {
        self.refused.remove(user);
    }
}

impl Bmc {
    /// Other people's sessions that were there before.
    pub(super) fn start_sessions(&mut self) {
        for _ in 0..self.habits.sessions.foreign() {
            self.open_strange_session();
        }
    }

    /// A session of somebody else's.
    pub(super) fn open_strange_session(&mut self) {
        self.open_session("somebody", "Administrator");
    }

    /// Answers a login.
    pub(super) fn login(&mut self, asked: &Asked<'_>) -> Answer {
        let body = match asked.object() {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let missing = ["UserName", "Password"]
            .into_iter()
            .filter(|name| !body.contains_key(*name));
        let missing: Vec<Message> = missing
            .map(|name| Message::base("CreateFailedMissingReqProperties", &[name]))
            .collect();
        if !missing.is_empty() {
            return Answer::refused(StatusCode::BAD_REQUEST, &missing);
        }
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(role) = self.admit(text("UserName"), text("Password")) else {
            let message = Message::base(
                "ResourceAtUriUnauthorized",
                &[&asked.uri, "Invalid username or password"],
            );
            return Answer::unauthorized(message);
        };
        if let Some(answer) = self.refused_before_change(text("UserName")) {
            return answer;
        }
        if self.sessions.len() >= usize::try_from(self.habits.sessions.max()).unwrap_or(usize::MAX)
        {
            let message = Message::base("SessionLimitExceeded", &[]);
            return Answer::refused(StatusCode::SERVICE_UNAVAILABLE, &[message]);
        }
        let (uri, token) = self.open_session(text("UserName"), &role);
        if let Some(session) = self.sessions.last() {
            let phrase = format!("session created {}", session.id);
            self.ledger.cause(phrase);
        }
        let mut document = self.view(&uri).unwrap_or_default();
        let account = self
            .accounts
            .iter()
            .find(|account| account.user == text("UserName"));
        if let Some(account) = account.filter(|account| account.must_change_password) {
            let message = Message::base("PasswordChangeRequired", &[&account.uri]);
            document["@Message.ExtendedInfo"] = json!([message.to_json()]);
        }
        let mut answer = Answer::json(StatusCode::CREATED, document);
        answer = self.with_tag(answer, &uri);
        if !self.habits.sessions.no_location() {
            answer = answer.with(LOCATION, &uri);
        }
        if !self.habits.sessions.no_token() {
            answer = answer.with(HeaderName::from_static(TOKEN), &token);
        }
        answer
    }

    /// The role of a user who may come in.
    pub(super) fn admit(&mut self, user: &str, password: &str) -> Option<String> {
        let threshold = self.habits.sessions.lockout_threshold();
        let lockout = self.habits.sessions.lockout().0;
        let (refused, last) = self.lockout.refused.get(user).copied().unwrap_or_default();
        let locked = threshold > 0 && refused >= threshold && self.now.since(last) < lockout;
        let account = self
            .accounts
            .iter()
            .find(|account| account.user == user && account.password == password);
        let role = account
            .filter(|account| account.enabled && !locked)
            .map(|account| account.role.clone());
        if role.is_some() {
            self.lockout.forget(user);
        } else {
            // Who knocks while locked out does not prolong it.
            let entry = if locked {
                (refused, last)
            } else {
                (refused + 1, self.now)
            };
            self.lockout.refused.insert(user.to_owned(), entry);
            self.ledger.cause(format!("login refused {user}"));
        }
        role
    }

    fn open_session(&mut self, user: &str, role: &str) -> (String, String) {
        self.logins += 1;
        let id = self.logins.to_string();
        let collection = self.bindings.sessions.collection.clone();
        let uri = format!("{collection}/{id}");
        let secret = format!(
            "{}/{}/{id}",
            self.identity.salt(),
            self.identity.uuid_of("token")
        );
        let token: String = hex::encode(Sha256::digest(secret))
            .chars()
            .take(32)
            .collect();
        let document = json!({
            "@odata.id": uri,
            "@odata.type": "#Session.v1_5_0.Session",
            "Id": id,
            "Name": "User Session",
            "UserName": user,
            "CreatedTime": self.date(self.now),
            "SessionType": "Redfish",
        });
        self.store.put(&uri, document);
        self.store.add_member(&collection, &uri);
        self.sessions.push(Session {
            id,
            uri: uri.clone(),
            user: user.to_owned(),
            role: role.to_owned(),
            token: token.clone(),
            used_at: self.now,
            arriving: 0,
        });
        (uri, token)
    }

    /// The session of a token, which is thereby used.
    pub(super) fn session_of(&mut self, token: &str) -> Option<Session> {
        let now = self.now;
        let session = self.session_by(token)?;
        session.used_at = now;
        Some(session.clone())
    }

    /// The head of a request with this token is there, its body not yet: services look at who asks when the head comes,
    /// so a session in use does not run out under an upload, however long that takes.
    pub fn body_begins(&mut self, now: Moment, token: &str) {
        self.advance(now);
        if let Some(session) = self.session_by(token) {
            session.arriving += 1;
        }
    }

    /// The body of such a request is there, or will never be.
    pub fn body_ended(&mut self, now: Moment, token: &str) {
        self.advance(now);
        let used_at = self.now;
        if let Some(session) = self.session_by(token) {
            session.arriving = session.arriving.saturating_sub(1);
            // What arrived is a use of the session up to now.
            session.used_at = used_at;
        }
    }

    fn session_by(&mut self, token: &str) -> Option<&mut Session> {
        let mut sessions = self.sessions.iter_mut();
        sessions.find(|session| session.token == token)
    }

    /// Ends sessions that nobody used for too long.
    pub(super) fn expire_sessions(&mut self) {
        let shown = self
            .store
            .get(&self.bindings.sessions.service)
            .and_then(|service| service["SessionTimeout"].as_u64());
        let seconds = shown.unwrap_or_else(|| self.habits.sessions.timeout().as_secs());
        let idle = |session: &Session| {
            session.arriving == 0 && self.now.since(session.used_at).as_secs() >= seconds
        };
        let over = self.sessions.iter().filter(|session| idle(session));
        let over: Vec<(String, String)> = over
            .map(|session| (session.id.clone(), session.uri.clone()))
            .collect();
        for (id, uri) in &over {
            self.end_session(uri);
            self.note(format!("session expired {id}"));
        }
    }

    fn end_session(&mut self, uri: &str) {
        self.sessions.retain(|session| session.uri != uri);
        let collection = self.bindings.sessions.collection.clone();
        self.store.remove_member(&collection, uri);
    }

    /// Ends all sessions: the manager was away.
    pub(super) fn end_all_sessions(&mut self) {
        let all: Vec<String> = self
            .sessions
            .iter()
            .map(|session| session.uri.clone())
            .collect();
        for uri in &all {
            self.end_session(uri);
        }
    }

    /// Ends a user's sessions.
    pub(super) fn end_sessions_of(&mut self, user: &str) {
        let theirs = self.sessions.iter().filter(|session| session.user == user);
        let theirs: Vec<String> = theirs.map(|session| session.uri.clone()).collect();
        for uri in &theirs {
            self.end_session(uri);
        }
    }

    /// Answers the deletion of a session.
    pub(super) fn logout(&mut self, uri: &str) -> Answer {
        let found = self.sessions.iter().find(|session| session.uri == uri);
        let Some(id) = found.map(|session| session.id.clone()) else {
            return Answer::missing(uri);
        };
        self.end_session(uri);
        self.ledger.cause(format!("session deleted {id}"));
        Answer::done()
    }
}
