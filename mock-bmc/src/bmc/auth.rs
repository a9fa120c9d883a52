//! This room finds out who asks, and whether they may.
//!
//! It deliberately lets everybody read what DSP0266 makes public, and nothing else.

use http::header::AUTHORIZATION;
use http::{Method, StatusCode};

use super::account::Account;
use super::answer::Answer;
use super::asked::Asked;
use super::core::Bmc;
use super::login::TOKEN;
use crate::docs::messages::Message;
use crate::script::PasswordChange;

/// What anybody may read.
const PUBLIC: [&str; 4] = [
    "/redfish",
    "/redfish/v1",
    "/redfish/v1/odata",
    "/redfish/v1/$metadata",
];

/// Who asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Caller {
    pub(super) user: String,
    pub(super) role: String,
    /// The session's id and URI.
    pub(super) session: Option<(String, String)>,
}

/// What is known of who asks.
#[derive(Clone, Debug)]
pub(super) enum Who {
    /// They said who they are, and it is true.
    Known(Caller),
    /// They said nothing.
    Nobody,
    /// What they said is not true.
    Wrong,
}

impl Bmc {
    /// Who asks.
    pub(super) fn who(&mut self, asked: &Asked<'_>) -> Who {
        if let Some(token) = asked.header(TOKEN) {
            return match self.session_of(token) {
                Some(session) => Who::Known(Caller {
                    session: Some((session.id, session.uri)),
                    user: session.user,
                    role: session.role,
                }),
                None => Who::Wrong,
            };
        }
        let Some(sent) = asked.header(AUTHORIZATION.as_str()) else {
            return Who::Nobody;
        };
        let login = sent
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
        let login = login.and_then(|(_, encoded)| decoded(encoded.trim()));
        let login = login.filter(|_| self.habits.sessions.basic());
        let Some((user, password)) = login else {
            return Who::Wrong;
        };
        match self.admit(&user, &password) {
            Some(role) => Who::Known(Caller {
                user,
                role,
                session: None,
            }),
            None => Who::Wrong,
        }
    }

    /// Whether anybody may ask this without saying who they are.
    pub(super) fn is_public(&self, asked: &Asked<'_>) -> bool {
        let reads = asked.is_read() || asked.method() == Method::OPTIONS;
        (reads && PUBLIC.contains(&asked.uri.as_str())) || self.is_login(asked)
    }

    /// Whether it is a login.
    pub(super) fn is_login(&self, asked: &Asked<'_>) -> bool {
        let collection = &self.bindings.sessions.collection;
        asked.method() == Method::POST && asked.uri.trim_end_matches("/Members") == collection
    }

    /// Why a known caller may not do this.
    pub(super) fn forbidden(&self, asked: &Asked<'_>, caller: &Caller) -> Option<Answer> {
        let account = self
            .accounts
            .iter()
            .find(|account| account.user == caller.user);
        let own_account = account.is_some_and(|account| account.uri == asked.uri);
        let own_session = caller
            .session
            .as_ref()
            .is_some_and(|(_, uri)| *uri == asked.uri);
        if let Some(account) = account.filter(|account| account.must_change_password) {
            let changes = own_account && (asked.is_read() || asked.method() == Method::PATCH);
            let message = Message::base("PasswordChangeRequired", &[&account.uri]);
            let answer = match self.habits.sessions.password_change() {
                PasswordChange::Reads | PasswordChange::Login => {
                    Answer::refused(StatusCode::FORBIDDEN, &[message])
                }
                PasswordChange::Unauthorized => Answer::unauthorized(message),
            };
            return (!changes && !own_session).then_some(answer);
        }
        let allowed = asked.is_read()
            || asked.method() == Method::OPTIONS
            || own_session
            || own_account && asked.method() == Method::PATCH && self.changes_only_password(asked)
            || self.role_allows(asked, &caller.role);
        let message = Message::base("InsufficientPrivilege", &[]);
        (!allowed).then(|| Answer::refused(StatusCode::FORBIDDEN, &[message]))
    }

    /// What a login meets where it shows there already that its password must change.
    pub(super) fn refused_before_change(&self, user: &str) -> Option<Answer> {
        let account = self.accounts.iter().find(|account| account.user == user)?;
        let message = Message::base("PasswordChangeRequired", &[&account.uri]);
        match self.habits.sessions.password_change() {
            _ if !account.must_change_password => None,
            PasswordChange::Reads => None,
            PasswordChange::Login => Some(Answer::refused(StatusCode::FORBIDDEN, &[message])),
            PasswordChange::Unauthorized => Some(Answer::unauthorized(message)),
        }
    }

    fn changes_only_password(&self, asked: &Asked<'_>) -> bool {
        let body = asked.object_or_empty().unwrap_or_default();
        self.account_at(&asked.uri).is_some() && body.keys().all(|name| name == "Password")
    }

    fn role_allows(&self, asked: &Asked<'_>, role: &str) -> bool {
        let systems = self
            .bindings
            .systems
            .iter()
            .any(|system| asked.uri.starts_with(&system.uri));
        Account::is_administrator(role) || (systems && Account::is_operator(role))
    }
}

/// User and password of basic authentication.
fn decoded(encoded: &str) -> Option<(String, String)> {
    let text = String::from_utf8(base64(encoded)?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// RFC 4648, with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_authentication_is_decoded() {
        assert_eq!(
            decoded("cm9vdDpzZWM6cmV0"),
            Some(("root".into(), "sec:ret".into()))
        );
        assert_eq!(
            decoded("cm9vdDpzZWNyZXQ="),
            Some(("root".into(), "secret".into()))
        );
        assert_eq!(decoded("cm9vdA"), None);
        assert_eq!(decoded("%%"), None);
    }
}
