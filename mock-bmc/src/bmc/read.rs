//! This room reads documents as clients see them: with tags and times, expanded, in pages.
//!
//! It deliberately changes nothing but counters of reads.

use http::StatusCode;
use http::header::{ETAG, LINK};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::asked::Asked;
use super::core::Bmc;
use super::route::Place;
use crate::docs::messages::Message;
use crate::docs::odata;
use crate::docs::query::{self, Query, Refused};
use crate::docs::store::normal;
use crate::script::Expand;

impl Bmc {
    /// Answers a read of something that is there.
    pub(super) fn read_place(&mut self, asked: &Asked<'_>, place: &Place) -> Answer {
        match place {
            Place::Versions => Answer::json(StatusCode::OK, odata::versions()),
            Place::Text => {
                let text = self.store.text(&asked.uri).unwrap_or_default();
                Answer::text(StatusCode::OK, "application/xml; charset=utf-8", text)
            }
            Place::Document | Place::Action(_) | Place::Monitor(_) | Place::Nothing => {
                self.read_document(asked)
            }
        }
    }

    fn read_document(&mut self, asked: &Asked<'_>) -> Answer {
        let query = match Query::read(asked.query) {
            Ok(query) => query,
            Err(Refused::Wrong(message)) => return Answer::bad(message),
            Err(Refused::Unsupported(message)) => {
                return Answer::refused(StatusCode::NOT_IMPLEMENTED, &[message]);
            }
        };
        let expand = self.habits.collections.expand();
        if query.expand.is_some() && expand == Expand::Refused {
            let message = Message::base("QueryParameterUnsupported", &["$expand"]);
            return Answer::refused(StatusCode::NOT_IMPLEMENTED, &[message]);
        }
        let mut uri = asked.uri.clone();
        if self.is_unchanged(asked, &uri) {
            let tag = self.header_tag(&uri).unwrap_or_default();
            return Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, &tag);
        }
        self.reads += 1;
        if query.only {
            match self.only_of(&uri) {
                Ok(Some(member)) => uri = member,
                Ok(None) => {}
                Err(refused) => return refused,
            }
        }
        self.represented(&uri, &query)
    }

    fn only_of(&self, uri: &str) -> Result<Option<String>, Answer> {
        let document = self.store.get(uri).unwrap_or(&Value::Null);
        if document.get("Members").is_none() {
            let message = Message::base("QueryNotSupportedOnResource", &[]);
            return Err(Answer::bad(message));
        }
        Ok(query::only_member(document))
    }

    fn represented(&mut self, uri: &str, query: &Query) -> Answer {
        let Some(mut document) = self.view(uri) else {
            return Answer::missing(uri);
        };
        let paged = document.get("Members").is_some();
        if !paged && (query.skip.is_some() || query.top.is_some()) {
            return Answer::bad(Message::base("QueryNotSupportedOnResource", &[]));
        }
        let size = usize::try_from(self.habits.collections.page_size()).unwrap_or(0);
        query::page(&mut document, uri, query, (size > 0).then_some(size));
        let supported = self.habits.collections.expand() == Expand::Supported;
        let asked_for = query.expand.filter(|_| supported);
        if let Some(expand) = asked_for {
            query::expand(&mut document, expand, &mut |uri| self.view(uri));
        }
        self.count_read_of_version(normal(uri));
        let mut answer = Answer::json(StatusCode::OK, document.clone());
        if let Some(schema) = odata::described_by(&document) {
            answer = answer.with(LINK, &schema);
        }
        // What is expanded has no one tag.
        if asked_for.is_some() {
            answer
        } else {
            self.with_tag(answer, uri)
        }
    }

    /// A document with what is only known when it is read.
    pub(super) fn view(&self, uri: &str) -> Option<Value> {
        let uri = normal(uri);
        let mut document = self.store.get(uri)?.clone();
        let date = self.date(self.now);
        let services = [&self.bindings.tasks.service];
        let jobs = self.bindings.jobs.as_ref().map(|jobs| &jobs.service);
        let dated = self
            .bindings
            .managers
            .iter()
            .chain(services)
            .chain(jobs)
            .any(|dated| dated == uri);
        let members = document.as_object_mut()?;
        if dated && members.contains_key("DateTime") {
            members.insert("DateTime".into(), date.into());
        }
        if self.habits.versions.inventory_named_after_manager() {
            forget_relations(members);
        }
        let tagged = members.contains_key("@odata.id");
        members.remove("@odata.etag");
        if let Some(tag) = self.body_tag(uri).filter(|_| tagged) {
            members.insert("@odata.etag".into(), tag.into());
        }
        Some(document)
    }
}

/// Leaves a name alone to tell which software is the manager's.
fn forget_relations(members: &mut Map<String, Value>) {
    let kind = members.get("@odata.type").and_then(Value::as_str);
    match kind.and_then(|kind| kind.split('.').next()) {
        Some("#SoftwareInventory") => {
            members.remove("RelatedItem");
            members.remove("RelatedItem@odata.count");
        }
        Some("#Manager") => {
            members.remove("FirmwareVersion");
        }
        Some(_) | None => {}
    }
}
