//! This file keeps facts in memory.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::state::MemoryStore;
use crate::store::error::StoreError;
use crate::store::fact_kind::FactKind;
use crate::store::facts::Facts;

impl Facts for MemoryStore {
    fn fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
    ) -> Result<Option<Value>, StoreError> {
        Ok(self
            .state()
            .facts
            .get(&(kind, about.to_owned(), subject.to_owned()))
            .cloned())
    }

    fn facts(&self, kind: FactKind, about: &str) -> Result<BTreeMap<String, Value>, StoreError> {
        let state = self.state();
        let found = state
            .facts
            .iter()
            .filter(|((k, a, _), _)| *k == kind && a == about);
        Ok(found
            .map(|((_, _, subject), value)| (subject.clone(), value.clone()))
            .collect())
    }

    fn holders(&self, kind: FactKind, subject: &str) -> Result<BTreeSet<String>, StoreError> {
        let state = self.state();
        let found = state
            .facts
            .keys()
            .filter(|(k, _, s)| *k == kind && s == subject);
        Ok(found.map(|(_, about, _)| about.clone()).collect())
    }

    fn update_fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
        change: &mut dyn FnMut(Option<Value>) -> Option<Value>,
    ) -> Result<Option<Value>, StoreError> {
        let mut state = self.state();
        let key = (kind, about.to_owned(), subject.to_owned());
        let changed = change(state.facts.get(&key).cloned());
        match &changed {
            Some(value) => state.facts.insert(key, value.clone()),
            None => state.facts.remove(&key),
        };
        Ok(changed)
    }
}
