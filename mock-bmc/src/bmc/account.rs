//! This room is the accounts that clients log in with.
//!
//! It deliberately keeps passwords out of documents; those only ever show null.

use http::StatusCode;
use serde_json::{Map, Value};

use super::answer::Answer;
use super::asked::Asked;
use super::core::Bmc;
use crate::docs::bindings::Bindings;
use crate::docs::messages::Message;
use crate::docs::patch;
use crate::docs::registry::shown;
use crate::docs::store::Store;
use crate::docs::walk::members;
use crate::platform::generic;
use crate::script::Habits;

/// The roles that accounts can have.
const ROLES: [&str; 3] = ["Administrator", "Operator", "ReadOnly"];

/// One account that somebody can log in with.
#[derive(Clone)]
pub(super) struct Account {
    pub(super) uri: String,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) role: String,
    pub(super) enabled: bool,
    pub(super) must_change_password: bool,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("user", &self.user)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

impl Account {
    /// The account that the BMC was configured with.
    pub(super) fn first(
        store: &Store,
        bindings: &Bindings,
        user: &str,
        password: &str,
        habits: &Habits,
    ) -> Vec<Self> {
        let uris = members(store, &bindings.accounts.collection);
        let ours = uris.into_iter().find(|uri| {
            store
                .get(uri)
                .is_some_and(|account| account["UserName"] == user)
        });
        vec![Self {
            uri: ours.unwrap_or_else(|| format!("{}/1", bindings.accounts.collection)),
            user: user.to_owned(),
            password: password.to_owned(),
            role: ROLES[0].to_owned(),
            enabled: true,
            must_change_password: habits.sessions.must_change_password(),
        }]
    }

    /// What the role allows.
    pub(super) fn is_administrator(role: &str) -> bool {
        role == ROLES[0]
    }

    /// Whether the role allows to change components, such as systems.
    pub(super) fn is_operator(role: &str) -> bool {
        role == ROLES[0] || role == ROLES[1]
    }
}

impl Bmc {
    /// The account with this document.
    pub(super) fn account_at(&self, uri: &str) -> Option<usize> {
        self.accounts.iter().position(|account| account.uri == uri)
    }

    /// Answers a `POST` on the collection of accounts.
    pub(super) fn create_account(&mut self, asked: &Asked<'_>) -> Answer {
        let body = match asked.object() {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let missing = ["UserName", "Password", "RoleId"]
            .into_iter()
            .filter(|name| !body.contains_key(*name));
        let mut wrong: Vec<Message> = missing
            .map(|name| Message::base("CreateFailedMissingReqProperties", &[name]))
            .collect();
        wrong.extend(self.wrong_members(&body));
        let text = |name: &str| {
            body.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (user, role) = (text("UserName"), text("RoleId"));
        if self.accounts.iter().any(|account| account.user == user) {
            wrong.push(Message::base(
                "ResourceAlreadyExists",
                &["ManagerAccount", "UserName", &user],
            ));
        }
        if !wrong.is_empty() {
            return Answer::refused(StatusCode::BAD_REQUEST, &wrong);
        }
        let collection = self.bindings.accounts.collection.clone();
        let mut ids = (2..=u32::MAX).map(|id| id.to_string());
        let free = ids.find(|id| self.store.get(&format!("{collection}/{id}")).is_none());
        let id = free.unwrap_or_default();
        let uri = format!("{collection}/{id}");
        self.store
            .put(&uri, generic::account::account(&uri, &id, &user, &role));
        self.store.add_member(&collection, &uri);
        let enabled = body.get("Enabled").and_then(Value::as_bool).unwrap_or(true);
        self.store.set(&uri, "/Enabled", enabled.into());
        let must_change_password = body
            .get("PasswordChangeRequired")
            .and_then(Value::as_bool)
            .unwrap_or_default();
        self.store
            .set(&uri, "/PasswordChangeRequired", must_change_password.into());
        self.accounts.push(Account {
            uri: uri.clone(),
            user: user.clone(),
            password: text("Password"),
            role,
            enabled,
            must_change_password,
        });
        self.ledger.cause(format!("account created {user}"));
        let resource = self.view(&uri).unwrap_or_default();
        let answer = Answer::json(StatusCode::CREATED, resource).with(http::header::LOCATION, &uri);
        self.with_tag(answer, &uri)
    }

    /// Members of an account that cannot be as they are wanted.
    fn wrong_members(&self, body: &Map<String, Value>) -> Vec<Message> {
        let service = self
            .store
            .get(&self.bindings.accounts.service)
            .unwrap_or(&Value::Null);
        let limit = |name: &str| {
            service[name]
                .as_u64()
                .and_then(|limit| usize::try_from(limit).ok())
        };
        let mut wrong = Vec::new();
        for (name, value) in body {
            let about = |message: Message| message.about(&format!("/{name}"));
            match (name.as_str(), value.as_str()) {
                ("UserName" | "Password" | "RoleId", None) => {
                    wrong.push(about(Message::base(
                        "PropertyValueTypeError",
                        &[&shown(value), name],
                    )));
                }
                // The password itself does not go into the message.
                ("Password", Some(text)) => {
                    let length = text.chars().count();
                    let short = limit("MinPasswordLength").is_some_and(|least| length < least);
                    let long = limit("MaxPasswordLength").is_some_and(|most| length > most);
                    if short || long {
                        wrong.push(about(Message::base(
                            "PropertyValueFormatError",
                            &["******", name],
                        )));
                    }
                }
                ("UserName", Some("")) => wrong.push(about(Message::base(
                    "PropertyValueFormatError",
                    &["", name],
                ))),
                ("RoleId", Some(role)) if !ROLES.contains(&role) => {
                    wrong.push(about(Message::base(
                        "PropertyValueNotInList",
                        &[role, name],
                    )));
                }
                (_, _) => {}
            }
        }
        wrong
    }

    /// Answers a change of an account.
    pub(super) fn change_account(&mut self, uri: &str, body: &Map<String, Value>) -> Answer {
        let mut wrong = self.wrong_members(body);
        if let Some(document) = self.store.get(uri) {
            wrong.extend(patch::check(document, body));
        }
        if !wrong.is_empty() {
            return Answer::refused(StatusCode::BAD_REQUEST, &wrong);
        }
        self.store
            .edit(uri, |document| patch::apply(document, body));
        if let Some(role) = body.get("RoleId").and_then(Value::as_str) {
            let role_uri = format!("{}/Roles/{role}", self.bindings.accounts.service);
            self.store
                .reset(uri, "/Links/Role/@odata.id", role_uri.into());
        }
        if let Some(index) = self.account_at(uri) {
            self.change_known_account(index, body);
        }
        let resource = self.view(uri).unwrap_or_default();
        let answer = Answer::json(StatusCode::OK, resource);
        self.with_tag(answer, uri)
    }

    fn change_known_account(&mut self, index: usize, body: &Map<String, Value>) {
        let Some(account) = self.accounts.get_mut(index) else {
            return;
        };
        let old = account.user.clone();
        for (name, value) in body {
            match (name.as_str(), value.as_str(), value.as_bool()) {
                ("Password", Some(text), _) => {
                    text.clone_into(&mut account.password);
                    account.must_change_password = false;
                }
                ("UserName", Some(text), _) => text.clone_into(&mut account.user),
                ("RoleId", Some(text), _) => text.clone_into(&mut account.role),
                ("PasswordChangeRequired", _, Some(flag)) => account.must_change_password = flag,
                ("Enabled", _, Some(flag)) => account.enabled = flag,
                (_, _, _) => {}
            }
        }
        let (ended, must) = (!account.enabled, account.must_change_password);
        let uri = account.uri.clone();
        self.store.set(&uri, "/PasswordChangeRequired", must.into());
        if ended {
            self.end_sessions_of(&old);
        }
        if body.get("Locked").and_then(Value::as_bool) == Some(false) {
            self.lockout.forget(&old);
        }
        self.ledger.cause(format!("account changed {old}"));
    }

    /// Answers the deletion of an account.
    pub(super) fn delete_account(&mut self, uri: &str) -> Answer {
        let Some(index) = self.account_at(uri).filter(|index| *index > 0) else {
            let message = Message::base("ResourceCannotBeDeleted", &[]);
            return Answer::refused(StatusCode::FORBIDDEN, &[message]);
        };
        let account = self.accounts.remove(index);
        self.end_sessions_of(&account.user);
        let collection = self.bindings.accounts.collection.clone();
        self.store.remove_member(&collection, uri);
        self.ledger
            .cause(format!("account deleted {}", account.user));
        Answer::done()
    }
}
