//! Attribute registries, one copy for all BMCs that publish the same.
//!
//! Machines of one model and version describe a thousand attributes in the same words: a fleet that kept each BMC's own
//! copy would hold gigabytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use super::pace::lock;
use crate::model::setting::AttributeRegistry;

/// What the clients of a process know of registries. Clones share it; what no client keeps any more is gone from it.
#[derive(Debug, Clone, Default)]
pub struct RegistryShelf {
    by_id: Arc<Mutex<BTreeMap<String, Vec<Weak<AttributeRegistry>>>>>,
}

impl RegistryShelf {
    /// The one copy of this registry. Registries of one `Id` may differ: equal is what is equal in all that is kept of it.
    pub(super) fn one_copy(&self, registry: AttributeRegistry) -> Arc<AttributeRegistry> {
        let mut shelf = lock(&self.by_id);
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
        let shelf = RegistryShelf::default();
        let first = shelf.one_copy(registry("R", "A"));
        let second = shelf.one_copy(registry("R", "A"));
        assert!(Arc::ptr_eq(&first, &second));
        let other = shelf.one_copy(registry("R", "B"));
        assert!(!Arc::ptr_eq(&first, &other));

        drop((first, second, other));
        shelf.one_copy(registry("R", "C"));
        assert_eq!(lock(&shelf.by_id)["R"].len(), 1);
    }
}
