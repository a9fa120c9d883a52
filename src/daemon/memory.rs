//! What the conversation with a BMC remembers, kept in the store.
//!
//! A store that fails here must not stop a conversation under way: reads then know nothing, writes are told to the log.

use std::sync::Arc;

use serde_json::Value;

use crate::model::BmcName;
use crate::redfish::{LoginRecord, Memory, PushClaim, SessionNote};
use crate::store::{Owner, Store, StoreError};

/// The store, seen by one BMC's conversation.
pub(super) struct StoreMemory {
    pub(super) store: Arc<dyn Store>,
    pub(super) bmc: BmcName,
    pub(super) owner: Arc<Owner>,
}

impl StoreMemory {
    fn told<T: Default>(&self, doing: &'static str, result: Result<T, StoreError>) -> T {
        result.unwrap_or_else(|error| {
            tracing::error!(bmc = %self.bmc, doing, %error, "the state database failed");
            T::default()
        })
    }
}

impl Memory for StoreMemory {
    fn pin(&self, host_port: &str) -> Option<String> {
        self.told("read a pin", self.store.pin(host_port))
    }

    fn remember_pin(&self, host_port: &str, fingerprint: &str) -> bool {
        self.told(
            "remember a pin",
            self.store.remember_pin(host_port, fingerprint),
        )
    }

    fn is_certificate_new(&self, host_port: &str) -> bool {
        let old = self.told("read an old pin", self.store.old_pin(host_port));
        old.is_some() && self.pin(host_port).is_some_and(|pin| Some(pin) != old)
    }

    fn settle_certificate(&self, host_port: &str) {
        let result = self.store.keep_old_pin(host_port, None);
        self.told("forget an old pin", result);
    }

    fn root_uuid(&self) -> Option<String> {
        let known = self.told("read an identity", self.store.identity(&self.bmc));
        known.and_then(|known| known.root_uuid)
    }

    fn left_sessions(&self) -> Vec<SessionNote> {
        let notes = self.told(
            "read sessions",
            self.store.left_sessions(&self.bmc, &self.owner),
        );
        notes
            .into_iter()
            .filter_map(|note| serde_json::from_value(note).ok())
            .collect()
    }

    fn forget_left_session(&self, note: &SessionNote) {
        let result = self
            .store
            .forget_left_session(&self.bmc, &self.owner, &json(note));
        self.told("forget a session", result);
    }

    fn remember_session(&self, note: Option<&SessionNote>) {
        let note = note.map(json);
        let result = self
            .store
            .remember_session(&self.bmc, &self.owner, note.as_ref());
        self.told("remember a session", result);
    }

    fn push_claim(&self) -> Option<PushClaim> {
        let claim = self.told("read a claim", self.store.push_claim(&self.bmc));
        claim.and_then(|claim| serde_json::from_value(claim).ok())
    }

    fn remember_push_claim(&self, claim: Option<&PushClaim>) {
        let claim = claim.and_then(|claim| serde_json::to_value(claim).ok());
        let result = self.store.remember_push_claim(&self.bmc, claim);
        self.told("remember a claim", result);
    }

    fn etag_form(&self) -> Option<String> {
        self.told("read the etag form", self.store.etag_form(&self.bmc))
    }

    fn remember_etag_form(&self, form: &str) {
        self.told(
            "remember the etag form",
            self.store.remember_etag_form(&self.bmc, form),
        );
    }

    fn lockout_threshold(&self) -> Option<u32> {
        self.told(
            "read the lockout threshold",
            self.store.lockout_threshold(&self.bmc),
        )
    }

    fn remember_lockout_threshold(&self, threshold: u32) {
        let result = self.store.remember_lockout_threshold(&self.bmc, threshold);
        self.told("remember the lockout threshold", result);
    }

    fn with_logins(&self, mark: &str, change: &mut dyn FnMut(&mut LoginRecord)) {
        let result = self.store.update_logins(mark, &mut |old| {
            let mut record = old
                .and_then(|value| serde_json::from_value(value).ok())
                .unwrap_or_default();
            change(&mut record);
            serde_json::to_value(&record).ok()
        });
        self.told("note a login", result);
    }
}

fn json(note: &SessionNote) -> Value {
    serde_json::to_value(note).unwrap_or_default()
}
