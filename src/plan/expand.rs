//! `path = "auto"`: from one stage to the hops that lead to its version from what runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::path::Atlas;
use super::running::live_version;
use crate::model::component::Component;
use crate::model::version::{Comparison, compare};
use crate::model::{Look, StageName, Target};
use crate::pipeline::FirmwareImage;

/// What hops are computed from.
#[derive(Debug, Clone, Copy)]
pub enum Footing<'a> {
    /// What a look shows to run.
    Now(&'a Look),
    /// What a run wrote down when it began: it walks the same hops to its end.
    Begun {
        /// Class of machine that answered.
        platform: &'a str,
        /// Its hops; each starts from the last of them that is done.
        paths: &'a HopPaths,
    },
    /// Nothing: where it ends is all that is asked.
    End,
}

/// By stage as authored, then by target.
pub type HopPaths = BTreeMap<StageName, BTreeMap<Target, HopPath>>;

/// The hops that were computed for one stage on one target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopPath {
    /// From this version; `None` = nothing said what runs.
    pub from: Option<String>,
    /// To these, the last one being the stage's own.
    pub hops: Vec<String>,
    /// Why no path leads there; the stage's own hop stands alone then, and is not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// One stage whose hops are computed.
pub(super) struct Wanted<'a> {
    /// Its name.
    pub(super) stage: &'a StageName,
    /// Where it leads.
    pub(super) version: String,
    /// Of what.
    pub(super) component: Component,
    /// Images to make hops of.
    pub(super) images: &'a [FirmwareImage],
    /// Versions that hops before it in the pipeline lead to.
    pub(super) before: &'a BTreeMap<Target, String>,
}

/// One computed hop.
pub(super) struct ComputedHop<'a> {
    /// Its version: as the stage writes it for the last one, else as the catalogue does.
    pub(super) version: String,
    /// Its image; `None` where the catalogue has none for this platform.
    pub(super) image: Option<&'a FirmwareImage>,
    /// On what, each with the reason why it is not made there.
    pub(super) targets: BTreeMap<Target, Option<String>>,
}

/// What one target goes through on its way to the stage's version.
struct Course<'a> {
    from: Option<String>,
    between: Vec<&'a FirmwareImage>,
    missing: Option<String>,
}

/// The hops of one stage over all its targets, in the order in which they are made, and what to write down of them.
pub(super) fn expand<'a>(
    wanted: &Wanted<'a>,
    targets: &[Target],
    footing: Footing<'a>,
) -> (Vec<ComputedHop<'a>>, BTreeMap<Target, HopPath>) {
    let platform = match footing {
        Footing::Now(look) => Some(look.capability.platform.as_str()),
        Footing::Begun { platform, .. } => Some(platform),
        Footing::End => None,
    };
    let atlas = Atlas::new(wanted.images, platform, wanted.component);
    let (mut hops, mut paths) = (Vec::<ComputedHop<'a>>::new(), BTreeMap::new());
    let mut last = ComputedHop {
        version: wanted.version.clone(),
        image: match footing {
            Footing::Now(_) | Footing::Begun { .. } => atlas.image(&wanted.version),
            Footing::End => wanted.any_image(),
        },
        targets: BTreeMap::new(),
    };
    for target in targets {
        let course = wanted.course(&atlas, target, footing);
        for image in &course.between {
            let targets = &mut place_of(&mut hops, &atlas, image).targets;
            targets.insert(target.clone(), None);
        }
        let names = course.between.iter().map(|image| image.version.clone());
        let path = HopPath {
            from: course.from,
            hops: names.chain([wanted.version.clone()]).collect(),
            missing: course.missing.clone(),
        };
        paths.insert(target.clone(), path);
        last.targets.insert(target.clone(), course.missing);
    }
    hops.push(last);
    (hops, paths)
}

/// The hop by an image, put in its place among those that are there.
fn place_of<'h, 'a>(
    hops: &'h mut Vec<ComputedHop<'a>>,
    atlas: &Atlas<'a>,
    image: &'a FirmwareImage,
) -> &'h mut ComputedHop<'a> {
    let is_below =
        |hop: &ComputedHop<'_>| atlas.compare(&hop.version, &image.version) == Comparison::Less;
    let at = hops.partition_point(is_below);
    let is_there = hops.get(at).is_some_and(|hop| hop.version == image.version);
    if !is_there {
        let hop = ComputedHop {
            version: image.version.clone(),
            image: Some(image),
            targets: BTreeMap::new(),
        };
        hops.insert(at, hop);
    }
    &mut hops[at]
}

/// Images of which hops to a stage's version may be made on a platform; `None` = it is not known which.
pub(super) fn useful<'a>(
    images: &'a [FirmwareImage],
    version: &str,
    component: Component,
    platform: Option<&'a str>,
) -> Vec<&'a FirmwareImage> {
    let named = images.iter().filter_map(|image| image.platform.as_deref());
    let platforms: Vec<Option<&str>> = match platform {
        Some(_) => vec![platform],
        None => named.map(Some).chain([None]).collect(),
    };
    let all = platforms
        .into_iter()
        .flat_map(|platform| Atlas::new(images, platform, component).useful(version));
    let mut found: Vec<&FirmwareImage> = Vec::new();
    for image in all {
        if !found.iter().any(|known| std::ptr::eq(*known, image)) {
            found.push(image);
        }
    }
    found
}

impl<'a> Wanted<'a> {
    /// An image of the version for whatever platform.
    fn any_image(&self) -> Option<&'a FirmwareImage> {
        self.images.iter().find(|image| {
            let platform = image.platform.as_deref();
            compare(
                &image.version,
                &self.version,
                platform,
                Some(self.component),
            )
            .comparison
                == Comparison::Equal
        })
    }

    fn course(&self, atlas: &Atlas<'a>, target: &Target, footing: Footing<'_>) -> Course<'a> {
        let from = match footing {
            Footing::Now(look) => {
                live_version(look, target).map(|live| self.start(atlas, target, live))
            }
            Footing::Begun { paths, .. } => {
                let begun = paths.get(self.stage).and_then(|paths| paths.get(target));
                if let Some(course) = begun.and_then(|begun| self.again(atlas, begun)) {
                    return course;
                }
                begun.and_then(|begun| begun.from.clone())
            }
            Footing::End => {
                return Course {
                    from: None,
                    between: Vec::new(),
                    missing: None,
                };
            }
        };
        let (between, missing) = match self.way(atlas, from.as_deref()) {
            Ok(between) => (between, None),
            Err(missing) => (Vec::new(), Some(missing)),
        };
        Course {
            from,
            between,
            missing,
        }
    }

    /// What will run when the stage begins.
    fn start(&self, atlas: &Atlas<'a>, target: &Target, live: &str) -> String {
        let before = self.before.get(target);
        let leads_up = before.filter(|before| atlas.compare(live, before) == Comparison::Less);
        leads_up.cloned().unwrap_or_else(|| live.to_owned())
    }

    /// The same hops as when the run began, where the files still have them.
    fn again(&self, atlas: &Atlas<'a>, begun: &HopPath) -> Option<Course<'a>> {
        let (last, between) = begun.hops.split_last()?;
        let is_same = begun.missing.is_none()
            && atlas.compare(last, &self.version) == Comparison::Equal
            && atlas.image(&self.version).is_some();
        let between = between.iter().map(|version| atlas.image(version));
        Some(Course {
            from: begun.from.clone(),
            between: between.collect::<Option<_>>().filter(|_| is_same)?,
            missing: None,
        })
    }

    /// The hops before the last one; or why there is no way.
    fn way(&self, atlas: &Atlas<'a>, from: Option<&str>) -> Result<Vec<&'a FirmwareImage>, String> {
        let to = self.version.as_str();
        let Some(from) = from else {
            let goal = atlas.image(to).ok_or_else(|| atlas.no_image(to))?;
            return match goal.requires {
                None => Ok(Vec::new()),
                Some(_) => Err(format!(
                    "no path to `{to}`: nothing said what runs when hops were computed; cancel the run and apply again"
                )),
            };
        };
        match atlas.compare(from, to) {
            Comparison::Less => atlas.path(from, to).map(|mut path| {
                path.pop();
                path
            }),
            // Whether it is there, may go down or cannot be told is judged as for any hop, right before it.
            Comparison::Equal | Comparison::Greater | Comparison::Incomparable => atlas
                .image(to)
                .map(|_| Vec::new())
                .ok_or_else(|| atlas.no_image(to)),
        }
    }
}

#[cfg(test)]
mod tests;
