//! This room lists the built-in platforms and makes their documents.
//!
//! It deliberately lists no recorded trees: those are files.

pub(crate) mod generic;
mod recipe;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use self::recipe::Recipe;
use crate::docs::identity::Identity;
use crate::docs::store::Store;
use crate::script::{Habits, Script};

/// Name and one-line description of each built-in platform.
pub const PLATFORMS: &[(&str, &str)] = &[
    (
        "generic",
        "one manager with N systems and every service that an update needs",
    ),
    (
        "openbmc",
        "OpenBMC (bmcweb): push only, one target at most, tasks that die with the manager",
    ),
    (
        "xcc",
        "Lenovo XCC: the update service is reserved before a push, If-Match is required",
    ),
    (
        "idrac9",
        "Dell iDRAC 9: jobs for BIOS settings, three resources of attributes, a host that an image restarts",
    ),
    (
        "idrac10",
        "Dell iDRAC 10: as iDRAC 9, with tags that carry -gzip and actions that refuse If-Match",
    ),
    (
        "ilo5",
        "HPE iLO 5: push by a form with the session, no task for it, POST told in an Oem part",
    ),
    (
        "ilo6",
        "HPE iLO 6: as iLO 5, with the standard's word for POST",
    ),
    (
        "ilo7",
        "HPE iLO 7: as iLO 6, with versions that do not name it",
    ),
    (
        "smc-x12",
        "Supermicro X12: an image is verified, then started; settings are written to the BIOS itself",
    ),
    ("smc-x13", "Supermicro X13: as X12"),
    (
        "megarac",
        "AMI MegaRAC (Gigabyte): settings that nothing links to, a part OemParameters, If-Match only as *",
    ),
    (
        "nvidia-gb200",
        "NVIDIA GB200 NVL: two managers, two systems, no target for the BMC's own image",
    ),
    (
        "xcc3",
        "Lenovo XCC 3: pushes are answered with annotations only",
    ),
];

/// The files of the platforms that are `generic` with other names and habits.
const FILES: &[(&str, &str)] = &[
    ("openbmc", include_str!("openbmc.toml")),
    ("xcc", include_str!("xcc.toml")),
    ("idrac9", include_str!("idrac9.toml")),
    ("idrac10", include_str!("idrac10.toml")),
    ("ilo5", include_str!("ilo5.toml")),
    ("ilo6", include_str!("ilo6.toml")),
    ("ilo7", include_str!("ilo7.toml")),
    ("smc-x12", include_str!("smc-x12.toml")),
    ("smc-x13", include_str!("smc-x13.toml")),
    ("megarac", include_str!("megarac.toml")),
    ("nvidia-gb200", include_str!("nvidia-gb200.toml")),
    ("xcc3", include_str!("xcc3.toml")),
];

/// Makes all documents of a platform.
pub(crate) fn build(
    store: &mut Store,
    platform: &str,
    identity: &Identity,
    systems: usize,
    user: &str,
    habits: &Habits,
) {
    let documents = generic::documents(identity, systems, user, habits);
    let Some(recipe) = recipe(platform) else {
        generic::put(store, documents);
        return;
    };
    generic::put(store, recipe.renamed(documents, systems));
    recipe.put_words(store, systems);
}

/// The habits of a platform, where a person's script is silent.
pub(crate) fn habits(platform: &str) -> Option<&'static Script> {
    recipe(platform).map(|recipe| &recipe.habits)
}

/// Each file is read once.
fn recipe(platform: &str) -> Option<&'static Recipe> {
    static RECIPES: OnceLock<BTreeMap<&str, Recipe>> = OnceLock::new();
    let recipes = RECIPES.get_or_init(|| {
        let read = |(name, text): &(&'static str, &str)| match Recipe::read(text) {
            Ok(recipe) => (*name, recipe),
            Err(error) => unreachable!("the file of platform `{name}` is read by a test: {error}"),
        };
        FILES.iter().map(read).collect()
    });
    recipes.get(platform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_has_a_file_that_can_be_read_and_none_is_left_over() {
        let named: Vec<&str> = PLATFORMS.iter().map(|(name, _)| *name).collect();
        for (name, text) in FILES {
            assert!(named.contains(name), "{name}");
            assert!(
                Recipe::read(text).is_ok(),
                "{name}: {:?}",
                Recipe::read(text)
            );
        }
        for name in named {
            assert_eq!(recipe(name).is_some(), name != "generic", "{name}");
        }
    }
}
