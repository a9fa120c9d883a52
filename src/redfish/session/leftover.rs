//! Sessions of ours that nobody uses any more: of a killed process, or of a login that was refused later.
//!
//! Only sessions that are surely ours are deleted; everything here may fail without harm, they run out by themselves.

use std::collections::BTreeSet;
use std::time::Duration;

use http::{HeaderMap, Method};
use jiff::Timestamp;
use serde_json::Value;

use crate::redfish::line::{Answer, Line, path_on, scaled};
use crate::redfish::memory::{Memory, SessionNote};
use crate::redfish::transport::WireBody;
use crate::redfish::wire::{links, next_page};

/// Most sessions looked through for one whose URI was never learned: above every limit seen (8 to 16).
const MEMBERS_MAX: usize = 32;

/// Who cleans, and with which session of its own.
pub(super) struct Cleaner<'a> {
    pub(super) line: &'a Line,
    pub(super) headers: HeaderMap,
    /// Our own session, never deleted here.
    pub(super) own: Option<String>,
    /// The collection of sessions.
    pub(super) collection: Option<String>,
}

impl Cleaner<'_> {
    /// Deletes sessions of ours that were dropped in this process.
    pub(super) async fn delete_stale(&self, stale: Vec<String>) {
        for uri in stale {
            if !self.is_own(&uri) {
                self.delete(&uri).await;
            }
        }
    }

    /// Deletes what killed processes left.
    pub(super) async fn delete_left(&self, memory: &dyn Memory) {
        for note in memory.left_sessions() {
            let done = match &note.uri {
                Some(uri) if self.is_own(uri) => true,
                Some(uri) => self.delete(uri).await,
                None => self.delete_unnamed(&note).await,
            };
            if done {
                memory.forget_left_session(&note);
            }
        }
    }

    fn is_own(&self, uri: &str) -> bool {
        self.own.as_deref() == Some(uri)
    }

    /// True where it is gone: deleted, or no longer known (some answer 401 for a session that ended).
    async fn delete(&self, uri: &str) -> bool {
        match self
            .line
            .exchange(Method::DELETE, uri, self.headers.clone(), WireBody::Empty)
            .await
        {
            Ok((answer, _)) => answer.status < 500 && !answer.is_later(),
            Err(_) => false,
        }
    }

    /// A process died between sending its login and learning the URI. The session is told by its user, where it came
    /// from and when it began, all measured against our own; where a BMC does not say these it is left alone. True
    /// where nothing more can be done about it.
    pub(super) async fn delete_unnamed(&self, note: &SessionNote) -> bool {
        let (Some(own), Some(collection)) = (&self.own, &self.collection) else {
            return true;
        };
        let Some(own) = self.read(own).await else {
            return false;
        };
        let Some(since) =
            Born::of(&own.json).and_then(|born| born.at.checked_sub(self.age_on_bmc(note)).ok())
        else {
            return true;
        };
        let Some(others) = self.others(collection).await else {
            return false;
        };
        for uri in others {
            if let Some(answer) = self.read(&uri).await
                && is_ours(&own.json, &answer.json, since)
            {
                self.delete(&uri).await;
            }
        }
        true
    }

    /// Sessions of the collection, over all its pages, that are not our own; `None` where a page cannot be read.
    async fn others(&self, collection: &str) -> Option<Vec<String>> {
        let here = |link: &str| path_on(&self.line.address, link);
        let (mut others, mut asked) = (Vec::new(), BTreeSet::new());
        let mut page = Some(collection.to_owned());
        // A page that leads to one before it leads nowhere.
        while let Some(uri) = page.filter(|uri| asked.insert(uri.clone())) {
            let answer = self.read(&uri).await?;
            let members = links(&answer.json, "Members");
            let paths = members.iter().filter_map(|link| here(link));
            others.extend(paths.filter(|path| !self.is_own(path)));
            page = next_page(&answer.json).and_then(|next| here(&next));
            page = page.filter(|_| others.len() < MEMBERS_MAX && asked.len() < MEMBERS_MAX);
        }
        others.truncate(MEMBERS_MAX);
        Some(others)
    }

    /// How long ago the login was sent, by the BMC's clock: one that plays minutes as seconds has aged more.
    fn age_on_bmc(&self, note: &SessionNote) -> Duration {
        const SLACK: Duration = Duration::from_secs(10);
        const MINUTE: Duration = Duration::from_mins(1);
        let age = Duration::try_from(self.line.now().duration_since(note.opened_at))
            .unwrap_or(Duration::ZERO);
        (age + SLACK).mul_f64(MINUTE.div_duration_f64(scaled(&self.line.pace, MINUTE)))
    }

    async fn read(&self, uri: &str) -> Option<Answer> {
        let (answer, _) = self
            .line
            .exchange(Method::GET, uri, self.headers.clone(), WireBody::Empty)
            .await
            .ok()?;
        answer.is_good().then_some(answer)
    }
}

/// Who opened a session, from where, when.
#[derive(PartialEq, Eq)]
struct Born<'a> {
    user: &'a str,
    from: Option<&'a str>,
    at: Timestamp,
}

impl<'a> Born<'a> {
    fn of(session: &'a Value) -> Option<Self> {
        let text = |name: &str| session.get(name).and_then(Value::as_str);
        Some(Self {
            user: text("UserName")?,
            from: text("ClientOriginIPAddress"),
            at: text("CreatedTime")?.parse().ok()?,
        })
    }
}

fn is_ours(own: &Value, other: &Value, since: Timestamp) -> bool {
    let (Some(own), Some(other)) = (Born::of(own), Born::of(other)) else {
        return false;
    };
    own.user == other.user && own.from == other.from && other.at >= since && other.at <= own.at
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_sessions_of_our_user_place_and_time_are_ours() {
        let session = |user: &str, from: &str, at: &str| json!({"UserName": user, "ClientOriginIPAddress": from, "CreatedTime": at});
        let own = session("root", "10.0.0.9", "2026-03-01T12:00:30Z");
        let since: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        assert!(is_ours(
            &own,
            &session("root", "10.0.0.9", "2026-03-01T12:00:10Z"),
            since
        ));
        assert!(!is_ours(
            &own,
            &session("root", "10.0.0.8", "2026-03-01T12:00:10Z"),
            since
        ));
        assert!(!is_ours(
            &own,
            &session("ops", "10.0.0.9", "2026-03-01T12:00:10Z"),
            since
        ));
        assert!(!is_ours(
            &own,
            &session("root", "10.0.0.9", "2026-03-01T11:59:59Z"),
            since
        ));
        assert!(!is_ours(&own, &json!({"UserName": "root"}), since));
    }
}
