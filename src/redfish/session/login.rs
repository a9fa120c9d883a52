//! One login: a session where the BMC offers them, else basic authentication where that is allowed.

use std::time::Duration;

use http::{HeaderMap, Method};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::basic::basic_header;
use super::credentials::Login;
use super::{Sessions, Standing, refusal};
use crate::model::inventory::AuthMode;
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::line::{Answer, Line, Trouble, is_session_limit, path_on, scrub};
use crate::redfish::memory::SessionNote;
use crate::redfish::transport::WireBody;
use crate::redfish::wire::ROOT;

/// How one login went.
pub(super) enum Tried {
    /// We are in.
    In(Standing),
    /// User or password were refused.
    Refused(Fault),
    /// Neither.
    Failed(Trouble),
}

/// Reads the service root without logging in. In an outage it must have been good for the settle time: a service that
/// has just come back answers for some seconds before it goes away again.
pub(super) async fn root_links(line: &Line) -> Result<Value, Trouble> {
    let (answer, _) = line
        .exchange(Method::GET, ROOT, HeaderMap::new(), WireBody::Empty)
        .await?;
    if answer.status == 401 {
        // Against the standard, but a login may still be possible.
        return Ok(Value::Null);
    }
    if !answer.is_good() || answer.not_json {
        return Err(Trouble::from(answer.fault("GET")));
    }
    if !has_links(&answer.json) {
        return Err(Trouble::from(not_ready(
            line,
            "its service root shows no links yet",
        )));
    }
    let (good_for, wanted) = (line.root_good_for(), line.pace.settle_for);
    if line.in_outage() && good_for < wanted {
        return Err(Trouble::from(settling(line, good_for, wanted)));
    }
    Ok(answer.json)
}

/// Logs in once.
pub(super) async fn log_in(sessions: &Sessions, line: &Line, login: &Login, root: &Value) -> Tried {
    match (sessions.mode, sessions_link(line, root)) {
        (AuthMode::None, _) => Tried::In(Standing::Nobody),
        (AuthMode::Basic, _) => by_basic(line, login, root).await,
        (AuthMode::Auto | AuthMode::Session, Some(path)) => {
            by_session(sessions, line, login, root, &path).await
        }
        (AuthMode::Auto | AuthMode::Session, None) => {
            without_sessions(sessions, line, login, root).await
        }
    }
}

/// The collection that sessions are created in: `Links.Sessions`, whose place moved between versions of the standard.
pub(super) fn sessions_link(line: &Line, root: &Value) -> Option<String> {
    link(line, root.get("Links")?, "Sessions")
}

/// A link of a resource as a path on this BMC.
pub(super) fn link(line: &Line, resource: &Value, name: &str) -> Option<String> {
    path_on(
        &line.address,
        resource.get(name)?.get("@odata.id")?.as_str()?,
    )
}

async fn by_session(
    sessions: &Sessions,
    line: &Line,
    login: &Login,
    root: &Value,
    path: &str,
) -> Tried {
    let body = json!({"UserName": login.username, "Password": login.password.expose_secret()});
    let note = SessionNote {
        uri: None,
        opened_at: line.now(),
    };
    sessions.opening(&note);
    let sent = line
        .exchange(
            Method::POST,
            path,
            HeaderMap::new(),
            WireBody::Bytes(body.to_string().into()),
        )
        .await;
    let (mut answer, token) = match sent {
        Ok(answered) => answered,
        Err(trouble) => {
            if trouble.is_unsent() {
                sessions.opened(&note, None);
            }
            return Tried::Failed(trouble);
        }
    };
    scrub(
        &mut answer.messages,
        &[login.password.expose_secret().to_owned()],
    );
    // A session that may do nothing but change the password is one all the same, and is ended like one; the first read tells.
    let is_open =
        answer.is_good() || (200..300).contains(&answer.status) && answer.wants_other_password();
    if let (true, Some(token)) = (is_open, token) {
        let uri = answer
            .location
            .clone()
            .or_else(|| path_on(&line.address, answer.json.get("@odata.id")?.as_str()?));
        let held = SessionNote {
            uri: uri.clone(),
            ..note.clone()
        };
        sessions.opened(&note, Some(&held));
        return Tried::In(Standing::Session { uri, token });
    }
    sessions.opened(&note, None);
    if answer.is_good() || matches!(answer.status, 404 | 405 | 501) {
        return without_sessions(sessions, line, login, root).await;
    }
    judged(line, login, &answer)
}

async fn without_sessions(sessions: &Sessions, line: &Line, login: &Login, root: &Value) -> Tried {
    if sessions.mode == AuthMode::Session {
        let text = format!("bmc `{}` offers no sessions", line.bmc);
        let hint = "set `auth = \"auto\"` or `auth = \"basic\"`";
        return Tried::Failed(Trouble::from(
            Fault::new(FaultKind::Unsupported, Retry::Operator, text).with_hint(hint),
        ));
    }
    sessions.note_no_sessions();
    by_basic(line, login, root).await
}

/// Basic credentials are tried on one resource that needs them, so that a refusal is counted before many are sent.
async fn by_basic(line: &Line, login: &Login, root: &Value) -> Tried {
    let standing = Standing::Basic {
        header: basic_header(login),
        mark: login.mark.clone(),
    };
    let guarded = ["Managers", "Systems", "Chassis", "AccountService"]
        .iter()
        .find_map(|name| link(line, root, name));
    let Some(path) = guarded else {
        return Tried::In(standing);
    };
    match line
        .exchange(Method::GET, &path, standing.headers(), WireBody::Empty)
        .await
    {
        Err(trouble) => Tried::Failed(trouble),
        Ok((answer, _)) if answer.wants_other_password() => {
            Tried::Failed(Trouble::from(answer.fault("GET")))
        }
        Ok((answer, _)) if answer.status == 401 => {
            Tried::Refused(refusal(line, login, 401, answer.messages))
        }
        Ok((answer, _)) if answer.status >= 500 || answer.is_later() => {
            Tried::Failed(Trouble::from(answer.fault("GET")))
        }
        Ok(_) => Tried::In(standing),
    }
}

/// What an answer without a session says. Any 4xx that does not name another reason counts as a refusal: some services
/// answer 400 or 403 to a wrong password, and too many of those lock the account.
fn judged(line: &Line, login: &Login, answer: &Answer) -> Tried {
    if answer.messages.iter().any(is_session_limit) {
        let text = format!("all sessions of bmc `{}` are taken", line.bmc);
        let mut fault = Fault::new(FaultKind::SessionsExhausted, Retry::Transient, text)
            .with_messages(answer.messages.clone())
            .with_hint("end sessions that nobody uses, or set `auth = \"basic\"`");
        fault.status = Some(answer.status);
        return Tried::Failed(Trouble::from(fault));
    }
    if answer.wants_other_password() {
        return Tried::Failed(Trouble::from(answer.fault("POST")));
    }
    if (400..500).contains(&answer.status) && answer.status != 408 && !answer.is_later() {
        return Tried::Refused(refusal(line, login, answer.status, answer.messages.clone()));
    }
    Tried::Failed(Trouble::from(answer.fault("POST")))
}

fn has_links(root: &Value) -> bool {
    ["Managers", "Systems", "SessionService", "Links"]
        .iter()
        .any(|name| root.get(*name).is_some_and(|link| !link.is_null()))
}

fn not_ready(line: &Line, why: &str) -> Fault {
    Fault::new(
        FaultKind::NotReady,
        Retry::Transient,
        format!("bmc `{}` is not ready: {why}", line.bmc),
    )
}

fn settling(line: &Line, good_for: Duration, wanted: Duration) -> Fault {
    let why = format!(
        "it has answered well for {:.1} s of {:.1} s; no login before",
        good_for.as_secs_f64(),
        wanted.as_secs_f64()
    );
    not_ready(line, &why)
}
