//! What the BMCs of a fleet say alike, one copy for all that say it.
//!
//! Machines of one model and version describe a thousand attributes in the same words: a fleet that kept each BMC's own
//! copy would hold gigabytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};

use super::learned::{Knowledge, Learned};
use crate::model::one_copy::OneCopy;
use crate::model::setting::AttributeRegistry;
use crate::redfish::lock::lock;

/// What the clients of a process know alike. Clones share it; what no client keeps any more is gone from it.
#[derive(Debug, Clone, Default)]
pub struct Shelf(Arc<Parts>);

#[derive(Debug, Default)]
struct Parts {
    registries: Mutex<BTreeMap<String, Vec<Weak<AttributeRegistry>>>>,
    learned: Mutex<HashMap<u64, Vec<Weak<Learned>>>>,
    texts: Mutex<OneCopy<str>>,
}

impl Shelf {
    /// The one copy of this registry. Registries of one `Id` may differ: equal is what is equal in all that is kept of it.
    pub(super) fn one_copy(&self, registry: AttributeRegistry) -> Arc<AttributeRegistry> {
        let mut shelf = lock(&self.0.registries);
        let alike = shelf.entry(registry.id.clone()).or_default();
        alike.retain(|known| known.strong_count() > 0);
        let mut known = alike.iter().filter_map(Weak::upgrade);
        if let Some(same) = known.find(|known| **known == registry) {
            return same;
        }
        let first = Arc::new(registry);
        alike.push(Arc::downgrade(&first));
        first
    }

    /// The one copy of a text.
    pub(super) fn text(&self, text: &str) -> Arc<str> {
        lock(&self.0.texts).of(text)
    }

    /// Puts the one copy in the place of what a client has learned, where that was news.
    pub(super) fn settle(&self, known: &mut Knowledge) {
        // What is on the shelf has a place there that waits for it.
        if Arc::weak_count(&known.learned) > 0 {
            return;
        }
        let mut shelf = lock(&self.0.learned);
        if shelf.len() == shelf.capacity() {
            shelf.retain(|_, alike| alike.iter().any(|one| one.strong_count() > 0));
        }
        let alike = shelf.entry(known.learned.mark()).or_default();
        alike.retain(|one| one.strong_count() > 0);
        let mut living = alike.iter().filter_map(Weak::upgrade);
        match living.find(|one| one.is_same(&known.learned)) {
            Some(same) => known.learned = same,
            None => alike.push(Arc::downgrade(&known.learned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::setting::AttributeDefinition;

    fn registry(id: &str, attribute: &str) -> AttributeRegistry {
        AttributeRegistry {
            id: id.to_owned(),
            attributes: [(attribute.to_owned(), AttributeDefinition::default())].into(),
            ..AttributeRegistry::default()
        }
    }

    #[test]
    fn equal_registries_are_one_for_as_long_as_somebody_keeps_it() {
        let shelf = Shelf::default();
        let first = shelf.one_copy(registry("R", "A"));
        let second = shelf.one_copy(registry("R", "A"));
        assert!(Arc::ptr_eq(&first, &second));
        let other = shelf.one_copy(registry("R", "B"));
        assert!(!Arc::ptr_eq(&first, &other));

        drop((first, second, other));
        shelf.one_copy(registry("R", "C"));
        assert_eq!(lock(&shelf.0.registries)["R"].len(), 1);
    }
}
