//! Reads the documents of one look: each at most once, collections over all their pages, one bad member never voiding
//! the rest.
//!
//! It interprets nothing but collections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::model::look::Problem;
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::conversation::{Conversation, Glimpse};
use crate::redfish::line::Answer;
use crate::redfish::wire::{ROOT, key, links, member, next_page, text};

/// Pages followed of one collection: at 50 members a page, the smallest page seen, this is 5,000 members.
const PAGES_MAX: usize = 100;

/// Members of one collection that are read one by one. The fullest seen are lists of ended tasks and jobs, with a few
/// hundred; at two requests a second, the default pace, this many take eight minutes.
const MEMBERS_MAX: usize = 1_000;

/// Whether `$expand` may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redfish) enum Expand {
    /// The service offers it and has not refused it.
    Usable,
    /// It is not offered, or was refused.
    Unusable,
}

/// One member of a collection.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// Its URI.
    pub(super) uri: String,
    /// The document.
    pub(super) doc: Arc<Value>,
}

/// The reading half of one look.
pub(in crate::redfish) struct Reader<'a> {
    conversation: &'a Conversation,
    /// Documents by the key of their URI.
    pub(in crate::redfish) docs: BTreeMap<String, Arc<Value>>,
    /// What was read so far; `None` = something that was asked was not there, or not well.
    pub(in crate::redfish) glimpses: Option<Vec<Glimpse>>,
    /// Whether `$expand` may still be used; callers remember what is left here.
    pub(in crate::redfish) expand: Expand,
    /// Oddities met so far.
    pub(in crate::redfish) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// Reads nothing yet.
    pub(in crate::redfish) fn new(conversation: &'a Conversation, expand: Expand) -> Self {
        Self {
            conversation,
            docs: BTreeMap::new(),
            glimpses: Some(Vec::new()),
            expand,
            problems: Vec::new(),
        }
    }

    /// Takes these documents for its own. What is read beside them says nothing of whether they have changed.
    pub(in crate::redfish) fn go_on_from(&mut self, docs: BTreeMap<String, Arc<Value>>) {
        self.docs = docs;
        self.glimpses = None;
    }

    /// The conversation that this reader reads through.
    pub(super) fn conversation(&self) -> &'a Conversation {
        self.conversation
    }

    /// Notes an oddity, once.
    pub(in crate::redfish) fn problem(&mut self, kind: &str, message: impl Into<String>) {
        let problem = Problem {
            kind: kind.to_owned(),
            message: message.into(),
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The service root, without a login.
    pub(in crate::redfish) async fn root(&mut self) -> Result<Arc<Value>, Fault> {
        if let Some(doc) = self.docs.get(&key(ROOT)) {
            return Ok(Arc::clone(doc));
        }
        let answer = self.conversation.get_anonymous(ROOT).await?;
        Ok(self.keep(ROOT, answer.json))
    }

    /// A document, read now unless this look has read it before.
    pub(in crate::redfish) async fn read(&mut self, uri: &str) -> Result<Arc<Value>, Fault> {
        if let Some(doc) = self.docs.get(&key(uri)) {
            return Ok(Arc::clone(doc));
        }
        let path = self.path(uri)?;
        let answer = match self.conversation.get(&path).await {
            Ok(answer) => answer,
            Err(fault) => {
                self.glimpses = None;
                return Err(fault);
            }
        };
        self.glimpsed(&answer);
        if !answer.json.is_object() {
            let mut fault = Fault::new(
                FaultKind::BadAnswer,
                Retry::Transient,
                format!("`{path}` is not a JSON object"),
            );
            fault.uri = Some(path);
            return Err(fault);
        }
        Ok(self.keep(uri, answer.json))
    }

    /// A document that may be missing or ill without ending the look: then a problem is noted.
    pub(in crate::redfish) async fn read_if_well(
        &mut self,
        uri: &str,
        what: &str,
    ) -> Result<Option<Arc<Value>>, Fault> {
        match self.read(uri).await {
            Ok(doc) => Ok(Some(doc)),
            Err(fault) if ends_look(&fault) => Err(fault),
            Err(fault) => {
                self.problem(&format!("{what}-unreadable"), fault.to_string());
                Ok(None)
            }
        }
    }

    /// A document this look has read, without asking.
    pub(in crate::redfish) fn seen(&self, uri: &str) -> Option<Arc<Value>> {
        self.docs.get(&key(uri)).map(Arc::clone)
    }

    /// URIs of a collection's members, over all pages. A collection that answers 404 has none, and that is a problem.
    pub(in crate::redfish) async fn member_uris(
        &mut self,
        collection: &str,
        what: &str,
    ) -> Result<Vec<String>, Fault> {
        let Some(first) = self.collection(collection, what).await? else {
            return Ok(Vec::new());
        };
        let members = self.pages(first, what).await?;
        bounded(collection, members.len())?;
        Ok(members.into_iter().map(|(uri, _)| uri).collect())
    }

    /// All members of a collection with their documents, in one request where the service can expand. `wanted` is a
    /// property that an expanded member must have to be believed whole.
    pub(super) async fn members(
        &mut self,
        collection: &str,
        what: &str,
        wanted: &str,
    ) -> Result<Vec<Member>, Fault> {
        let expanded = self.expanded(collection).await?;
        let first = match expanded {
            Some(first) => Some(first),
            None => self.collection(collection, what).await?,
        };
        let Some(first) = first else {
            return Ok(Vec::new());
        };
        let entries = self.pages(first, what).await?;
        let bare = |(_, entry): &&(String, Value)| member(entry, wanted).is_none();
        bounded(collection, entries.iter().filter(bare).count())?;
        let mut members = Vec::new();
        for (uri, entry) in entries {
            if member(&entry, wanted).is_some() {
                let doc = self.keep(&uri, entry);
                members.push(Member { uri, doc });
            } else if let Some(doc) = self.read_if_well(&uri, what).await? {
                members.push(Member { uri, doc });
            }
        }
        Ok(members)
    }

    async fn collection(
        &mut self,
        collection: &str,
        what: &str,
    ) -> Result<Option<Arc<Value>>, Fault> {
        match self.read(collection).await {
            Ok(doc) => Ok(Some(doc)),
            Err(fault) if matches!(fault.status, Some(404 | 405 | 410 | 501)) => {
                self.problem(&format!("{what}-link-broken"), fault.to_string());
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    /// The collection with its members inside, where that works. Whatever 4xx or 5xx a query option meets only says that
    /// this option is not to be used; 401 says nothing about it.
    async fn expanded(&mut self, collection: &str) -> Result<Option<Arc<Value>>, Fault> {
        if self.expand == Expand::Unusable {
            return Ok(None);
        }
        let path = format!(
            "{}?$expand=.($levels=1)",
            self.path(collection)?.trim_end_matches('/')
        );
        if let Some(doc) = self.seen(&path) {
            return Ok(Some(doc));
        }
        match self.conversation.get_as_is(&path).await {
            Ok(answer) if answer.is_good() && answer.json.is_object() => {
                self.glimpsed(&answer);
                Ok(Some(self.keep(&path, answer.json)))
            }
            Ok(answer) => {
                if answer.status != 401 {
                    self.expand = Expand::Unusable;
                }
                Ok(None)
            }
            Err(fault) if fault.kind == FaultKind::Unreachable => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Every entry of a collection, page after page; each URI once, no page twice. A page that cannot be read ends the
    /// look: half a list of tasks says nothing about who is at work.
    async fn pages(
        &mut self,
        first: Arc<Value>,
        what: &str,
    ) -> Result<Vec<(String, Value)>, Fault> {
        let mut entries = Vec::new();
        let (mut uris, mut asked) = (BTreeSet::new(), BTreeSet::new());
        let mut page = first;
        for _ in 0..PAGES_MAX {
            for (uri, entry) in entries_of(&page) {
                if uris.insert(key(&uri)) {
                    entries.push((uri, entry));
                }
            }
            let Some(next) = next_page(&page).filter(|next| asked.insert(next.clone())) else {
                return Ok(entries);
            };
            page = self.read(&next).await?;
        }
        self.problem(
            &format!("{what}-too-many"),
            format!("more than {PAGES_MAX} pages; the rest is not read"),
        );
        Ok(entries)
    }

    fn path(&self, uri: &str) -> Result<String, Fault> {
        self.conversation.path_here(uri).ok_or_else(|| {
            Fault::new(
                FaultKind::BadAnswer,
                Retry::Never,
                format!("the link `{uri}` does not lead to this BMC"),
            )
        })
    }

    fn glimpsed(&mut self, answer: &Answer) {
        if let Some(glimpses) = &mut self.glimpses {
            glimpses.push(Glimpse::of(answer));
        }
    }

    fn keep(&mut self, uri: &str, doc: Value) -> Arc<Value> {
        let doc = Arc::new(doc);
        self.docs.insert(key(uri), Arc::clone(&doc));
        doc
    }
}

/// Refuses a collection that would take too long to read; a part of it would say nothing of the rest.
fn bounded(collection: &str, count: usize) -> Result<(), Fault> {
    if count <= MEMBERS_MAX {
        return Ok(());
    }
    let message = format!(
        "`{collection}` lists {count} members, and redpipe reads at most {MEMBERS_MAX} one by one"
    );
    let mut fault = Fault::new(FaultKind::BadAnswer, Retry::Operator, message);
    fault.uri = Some(collection.to_owned());
    Err(fault)
}

/// Whether a failed read says something about the whole BMC or the login, and not about one resource.
pub(in crate::redfish) fn ends_look(fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::Unreachable
        | FaultKind::NotReady
        | FaultKind::LoginRefused
        | FaultKind::CredentialsBad
        | FaultKind::LooksReset
        | FaultKind::PasswordChangeRequired
        | FaultKind::SessionsExhausted
        | FaultKind::CertificateChanged
        | FaultKind::CertificateUntrusted
        | FaultKind::SecretUnavailable
        | FaultKind::WrongBox
        | FaultKind::LeaseHeld
        | FaultKind::Deadline
        | FaultKind::Bug => true,
        FaultKind::BadAnswer
        | FaultKind::SystemMissing
        | FaultKind::Blocked
        | FaultKind::UpdateRefused
        | FaultKind::UpdateFailed
        | FaultKind::VersionUnchanged
        | FaultKind::SideEffect
        | FaultKind::SettingsInvalid
        | FaultKind::SettingsRefused
        | FaultKind::SettingsNotApplied
        | FaultKind::ResetFailed
        | FaultKind::ImageInvalid
        | FaultKind::Unsupported
        | FaultKind::Cancelled => false,
    }
}

/// Members of one page: their URIs, and whatever else the page holds of them.
fn entries_of(page: &Value) -> Vec<(String, Value)> {
    let Some(Value::Array(members)) = member(page, "Members") else {
        return links(page, "Members")
            .into_iter()
            .map(|uri| (uri, Value::Null))
            .collect();
    };
    members
        .iter()
        .filter_map(|entry| {
            let uri = text(entry, "@odata.id").or_else(|| entry.as_str().map(str::to_owned))?;
            Some((uri, entry.clone()))
        })
        .collect()
}
