//! What a person should know before work: read beside a look, and only on demand.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::Client;
use crate::model::circumstances::{BmcClock, Circumstances, SessionsShown};
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::quirk::{lockdown, session_limit};
use crate::redfish::read::{Links, Reader, expand_of, read_licences, systems_meant};
use crate::redfish::wire::{at, link, links, text};

impl Client {
    /// Circumstances of this BMC. Needs a look before it; writes nothing, and remembers nothing.
    pub async fn circumstances(&self) -> Result<Circumstances, Fault> {
        let found = self.links().ok_or_else(|| {
            let message = "circumstances are read after a look";
            Fault::new(FaultKind::Bug, Retry::Never, message)
        })?;
        let mut reader = Reader::new(&self.conversation, expand_of(&found));
        let root = reader.root().await?;
        let manager = self.acting_manager(&mut reader, &found).await?;
        let manager = manager.as_deref();
        let platform = self.platform_override.as_deref();
        let open = open_sessions(&mut reader, &root).await?;
        let licences = read_licences(&mut reader, &root, manager).await?;
        let lockdown = match manager {
            Some(manager) => read_lockdown(&mut reader, manager).await?,
            None => None,
        };
        Ok(Circumstances {
            recognized_by: match platform {
                Some(_) => vec!["the inventory says so".to_owned()],
                None => found.recognized_by.clone(),
            },
            licences,
            lockdown,
            clock: manager.and_then(|manager| clock(manager, self.conversation.now())),
            sessions: SessionsShown {
                open,
                limit: session_limit(platform.unwrap_or(&found.platform)),
            },
            problems: reader.problems,
        })
    }

    async fn acting_manager(
        &self,
        reader: &mut Reader<'_>,
        found: &Links,
    ) -> Result<Option<Arc<Value>>, Fault> {
        match found.manager(&systems_meant(found, &self.servers)) {
            Some(manager) => reader.read_if_well(&manager.uri, "manager").await,
            None => Ok(None),
        }
    }
}

/// Sessions by the link that logins use, else by the session service's.
async fn open_sessions(reader: &mut Reader<'_>, root: &Value) -> Result<Option<usize>, Fault> {
    let linked = at(root, &["Links"]).and_then(|all| link(all, "Sessions"));
    let collection = match (linked, link(root, "SessionService")) {
        (Some(collection), _) => Some(collection),
        (None, Some(service)) => {
            let doc = reader.read_if_well(&service, "session-service").await?;
            doc.and_then(|doc| link(&doc, "Sessions"))
        }
        (None, None) => None,
    };
    let Some(collection) = collection else {
        return Ok(None);
    };
    let noted = reader.problems.len();
    let members = reader.member_uris(&collection, "sessions").await?;
    Ok((reader.problems.len() == noted).then_some(members.len()))
}

/// Follows each vendor's links as far as they are there; the first place that says something counts.
async fn read_lockdown(reader: &mut Reader<'_>, manager: &Value) -> Result<Option<bool>, Fault> {
    for place in lockdown::PLACES {
        let mut docs = vec![Arc::new(manager.clone())];
        let Some((last, before)) = place.links.split_last() else {
            continue;
        };
        for path in before {
            let mut next = Vec::new();
            for uri in docs.iter().flat_map(|doc| linked(doc, path)) {
                next.extend(reader.read_if_well(&uri, "lockdown").await?);
            }
            docs = next;
        }
        let ends: Vec<String> = docs.iter().flat_map(|doc| linked(doc, last)).collect();
        for uri in ends {
            let doc = reader.read_if_well(&uri, "lockdown").await?;
            if let Some(says) = doc.and_then(|doc| place.read(&doc)) {
                return Ok(Some(says));
            }
        }
    }
    Ok(None)
}

fn linked(doc: &Value, path: &[&str]) -> Vec<String> {
    let Some((name, inside)) = path.split_last() else {
        return Vec::new();
    };
    at(doc, inside)
        .map(|holder| links(holder, name))
        .unwrap_or_default()
}

fn clock(manager: &Value, now: Timestamp) -> Option<BmcClock> {
    let says = text(manager, "DateTime")?;
    let theirs: Timestamp = says.parse().ok()?;
    let ahead_seconds = theirs.duration_since(now).as_secs();
    Some(BmcClock {
        says,
        ahead_seconds,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_clock_is_read_with_its_zone_and_a_word_is_none() {
        let now: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap_or_default();
        let ahead =
            |says: &str| clock(&json!({ "DateTime": says }), now).map(|clock| clock.ahead_seconds);
        assert_eq!(ahead("2026-03-01T11:00:30+01:00"), Some(30));
        assert_eq!(ahead("1970-01-01T00:00:00Z"), Some(-1_772_359_200));
        assert_eq!(ahead("0000-00-00T00:00:00+00:00"), None);
        assert_eq!(ahead("soon"), None);
    }
}
