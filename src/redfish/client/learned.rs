//! What a client has learned of its BMC, kept between looks: the BMCs of one kind and version say the same of most of it,
//! and hold it in one copy.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use crate::model::setting::AttributeRegistry;
use crate::redfish::read::{Describes, Links};

/// A registry's place: what it describes, its name, and the version of what it describes.
pub(super) type RegistryPlace = (Describes, String, String);

/// What may be the same for many BMCs.
#[derive(Debug, Clone, Default)]
pub(super) struct Learned {
    /// Where things are; nothing in it tells one BMC from another of its kind.
    links: Option<Links>,
    /// Registries, each in one copy of the shelf.
    registries: BTreeMap<RegistryPlace, Arc<AttributeRegistry>>,
    /// Last versions seen, by URI of the system or manager.
    versions: BTreeMap<String, String>,
    /// Where attributes are read that are written elsewhere, by write URI.
    read_uris: BTreeMap<String, String>,
}

impl Learned {
    /// Whether another is the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<_>, &Arc<_>)| Arc::ptr_eq(a, b);
        self.links == other.links
            && self.versions == other.versions
            && self.read_uris == other.read_uris
            && self.registries.keys().eq(other.registries.keys())
            && self
                .registries
                .values()
                .zip(other.registries.values())
                .all(same)
    }

    /// Equal for all that are the same.
    pub(super) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.links.hash(&mut hasher);
        self.versions.hash(&mut hasher);
        hasher.finish()
    }
}

/// What one client knows: what others may know as well, and the names that are its BMC's alone.
#[derive(Debug, Default)]
pub(in crate::redfish) struct Knowledge {
    pub(super) learned: Arc<Learned>,
    root_uuid: Option<Box<str>>,
    manager_macs: Box<[String]>,
}

impl Knowledge {
    /// Where things are.
    pub(super) fn links(&self) -> Option<Links> {
        let mut links = self.learned.links.clone()?;
        links.root.uuid = self.root_uuid.as_deref().map(str::to_owned);
        links.manager_macs = self.manager_macs.iter().cloned().collect();
        Some(links)
    }

    /// Where things are from now on.
    pub(super) fn set_links(&mut self, links: Option<Links>) {
        let links = links.map(|mut links| {
            self.root_uuid = links.root.uuid.take().map(String::into_boxed_str);
            self.manager_macs = std::mem::take(&mut links.manager_macs)
                .into_iter()
                .collect();
            links
        });
        if self.learned.links != links {
            Arc::make_mut(&mut self.learned).links = links;
        }
    }

    pub(super) fn registry(&self, place: &RegistryPlace) -> Option<&Arc<AttributeRegistry>> {
        self.learned.registries.get(place)
    }

    pub(super) fn add_registry(&mut self, place: RegistryPlace, registry: Arc<AttributeRegistry>) {
        Arc::make_mut(&mut self.learned)
            .registries
            .insert(place, registry);
    }

    pub(super) fn version(&self, uri: &str) -> Option<&String> {
        self.learned.versions.get(uri)
    }

    pub(super) fn add_versions(&mut self, versions: impl Iterator<Item = (String, String)>) {
        for (uri, version) in versions {
            if self.learned.versions.get(&uri) != Some(&version) {
                Arc::make_mut(&mut self.learned)
                    .versions
                    .insert(uri, version);
            }
        }
    }

    pub(super) fn read_uris(&self) -> BTreeMap<String, String> {
        self.learned.read_uris.clone()
    }

    pub(super) fn add_read_uris(&mut self, pairs: impl Iterator<Item = (String, String)>) {
        for (write, read) in pairs {
            if self.learned.read_uris.get(&write) != Some(&read) {
                Arc::make_mut(&mut self.learned)
                    .read_uris
                    .insert(write, read);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redfish::client::shelf::Shelf;

    fn links(uuid: &str) -> Links {
        let mut links = Links {
            platform: "openbmc".to_owned(),
            manager_macs: [format!("aa:{uuid}")].into(),
            ..Links::default()
        };
        links.root.uuid = Some(uuid.to_owned());
        links
    }

    #[test]
    fn bmcs_of_one_kind_hold_one_copy_and_keep_their_own_names() {
        let shelf = Shelf::default();
        let known = ["1", "2"].map(|uuid| {
            let mut known = Knowledge::default();
            known.set_links(Some(links(uuid)));
            known.add_versions([("/m".to_owned(), "1.50".to_owned())].into_iter());
            shelf.settle(&mut known);
            known
        });
        let [mut first, second] = known;
        assert!(Arc::ptr_eq(&first.learned, &second.learned));
        assert_eq!(first.links(), Some(links("1")));
        assert_eq!(second.links(), Some(links("2")));

        first.add_versions([("/m".to_owned(), "1.60".to_owned())].into_iter());
        shelf.settle(&mut first);
        assert_eq!(second.version("/m").map(String::as_str), Some("1.50"));
        assert_eq!(first.version("/m").map(String::as_str), Some("1.60"));

        first.add_versions([("/m".to_owned(), "1.50".to_owned())].into_iter());
        shelf.settle(&mut first);
        assert!(Arc::ptr_eq(&first.learned, &second.learned));
    }
}
