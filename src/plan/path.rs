//! The shortest allowed way from what runs to a version, by images of the catalogue.

use super::running::meets;
use crate::model::component::Component;
use crate::model::version::{Comparison, compare};
use crate::pipeline::{FirmwareImage, Requirement, RequirementOp};

/// The images of a catalogue that fit one platform, for one component.
pub(super) struct Atlas<'a> {
    images: Vec<&'a FirmwareImage>,
    platform: Option<&'a str>,
    component: Component,
}

impl<'a> Atlas<'a> {
    /// `platform` is the machine's; an image for exactly that one goes before an image for any.
    pub(super) fn new(
        all: &'a [FirmwareImage],
        platform: Option<&'a str>,
        component: Component,
    ) -> Self {
        let own = |image: &&FirmwareImage| image.platform.is_some();
        let fits = all.iter().filter(|image| {
            let wanted = image.platform.as_deref();
            wanted.is_none_or(|wanted| platform.is_some_and(|p| p.eq_ignore_ascii_case(wanted)))
        });
        let (mut images, any): (Vec<_>, Vec<_>) = fits.partition(own);
        // "Generic" says that nothing is known of the machine, which must not keep a rule from being found by shape.
        let platform = platform.filter(|name| !matches!(*name, "" | "generic"));
        let mut atlas = Self {
            images: Vec::new(),
            platform,
            component,
        };
        for image in any {
            let is_same = |own: &&FirmwareImage| {
                atlas.compare(&own.version, &image.version) == Comparison::Equal
            };
            if !images.iter().any(is_same) {
                images.push(image);
            }
        }
        atlas.images = images;
        atlas
    }

    /// The image that brings a version.
    pub(super) fn image(&self, version: &str) -> Option<&'a FirmwareImage> {
        let mut images = self.images.iter().copied();
        images.find(|image| self.compare(&image.version, version) == Comparison::Equal)
    }

    /// How one version stands to another on this platform.
    pub(super) fn compare(&self, one: &str, other: &str) -> Comparison {
        compare(one, other, self.platform, Some(self.component)).comparison
    }

    /// The hops from below a version up to it, the last one being its own; or, for people, which image is missing.
    ///
    /// Of ways with equally many hops it is the one whose hops, seen from the end, are the latest.
    pub(super) fn path(&self, from: &str, to: &str) -> Result<Vec<&'a FirmwareImage>, String> {
        let Some(goal) = self.image(to) else {
            return Err(self.no_image(to));
        };
        let between = |image: &&&FirmwareImage| {
            self.compare(from, &image.version) == Comparison::Less
                && matches!(self.compare(&image.version, to), Comparison::Less)
        };
        let mut rest: Vec<&FirmwareImage> = self.images.iter().filter(between).copied().collect();
        rest.push(goal);
        // Images by how many hops lead to them at least.
        let mut layers: Vec<Vec<&FirmwareImage>> = Vec::new();
        loop {
            let reached = layers.last().map_or(vec![from], |layer| versions(layer));
            let is_next =
                |image: &&FirmwareImage| reached.iter().any(|version| self.leads(version, image));
            let (next, left): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_next);
            if next.is_empty() {
                return Err(self.gap(from, goal, &left));
            }
            if next.iter().any(|image| std::ptr::eq(*image, goal)) {
                return Ok(self.back(&layers, goal));
            }
            layers.push(next);
            rest = left;
        }
    }

    /// Images of which some way to a version may be made, wherever it begins.
    pub(super) fn useful(&self, to: &str) -> Vec<&'a FirmwareImage> {
        let mut useful: Vec<&FirmwareImage> = self.image(to).into_iter().collect();
        let mut at = 0;
        while let Some(next) = useful.get(at).copied() {
            at += 1;
            let before = self
                .images
                .iter()
                .filter(|image| next.requires.is_some() && self.leads(&image.version, next));
            for image in before {
                if !useful.iter().any(|known| std::ptr::eq(*known, *image)) {
                    useful.push(image);
                }
            }
        }
        useful
    }

    /// Whether an image may be flashed where a version runs.
    fn leads(&self, version: &str, image: &FirmwareImage) -> bool {
        self.compare(version, &image.version) == Comparison::Less
            && image
                .requires
                .as_ref()
                .is_none_or(|requires| self.is_met(requires, version))
    }

    fn is_met(&self, requires: &Requirement, version: &str) -> bool {
        meets(requires.op, self.compare(version, &requires.version))
    }

    /// The way back from the goal: in each layer the latest image that leads on.
    fn back(
        &self,
        layers: &[Vec<&'a FirmwareImage>],
        goal: &'a FirmwareImage,
    ) -> Vec<&'a FirmwareImage> {
        let mut path = vec![goal];
        let mut next = goal;
        for layer in layers.iter().rev() {
            let mut leading = layer
                .iter()
                .filter(|image| self.leads(&image.version, next));
            let first = leading
                .next()
                .expect("each layer is reached from the one before it");
            next = leading.fold(first, |best, image| {
                match self.compare(&best.version, &image.version) {
                    Comparison::Less => image,
                    Comparison::Equal | Comparison::Greater | Comparison::Incomparable => best,
                }
            });
            path.push(next);
        }
        path.reverse();
        path
    }

    /// For people: why a version cannot be flashed here.
    pub(super) fn no_image(&self, version: &str) -> String {
        let of = self.of();
        format!("the catalogue has no image of `{version}`{of}")
    }

    fn of(&self) -> String {
        let component = self.component;
        let platform = self.platform.unwrap_or("generic");
        format!(" for the {component} of platform `{platform}`")
    }

    /// Which image is missing: from the goal backwards, the first requirement that no image meets.
    fn gap(&self, from: &str, goal: &'a FirmwareImage, left: &[&'a FirmwareImage]) -> String {
        let mut next = goal;
        // Each turn goes to a lower image, so that it ends.
        while let Some(requires) = &next.requires {
            let leading = left.iter().filter(|image| self.leads(&image.version, next));
            let lowest = leading.copied().reduce(|lowest, image| {
                match self.compare(&image.version, &lowest.version) {
                    Comparison::Less => image,
                    Comparison::Equal | Comparison::Greater | Comparison::Incomparable => lowest,
                }
            });
            if let Some(lowest) = lowest {
                next = lowest;
                continue;
            }
            return format!(
                "no path from `{from}` to `{}`: `{}` requires `{} {}`, and {}",
                goal.version,
                next.version,
                requires.op.as_str(),
                requires.version,
                self.lack(from, requires)
            );
        }
        // What requires nothing is reached from whatever is below it.
        format!("no path from `{from}` to `{}`", goal.version)
    }

    fn lack(&self, from: &str, requires: &Requirement) -> String {
        let bounds_above = match requires.op {
            RequirementOp::Equal | RequirementOp::AtMost | RequirementOp::Below => true,
            RequirementOp::AtLeast | RequirementOp::Above | RequirementOp::NotEqual => false,
        };
        let is_past = matches!(
            self.compare(from, &requires.version),
            Comparison::Greater | Comparison::Equal
        );
        if bounds_above && is_past {
            return "what runs is past that".to_owned();
        }
        let of = self.of();
        format!("an image of such a version is missing from the catalogue{of}")
    }
}

fn versions<'v>(images: &[&'v FirmwareImage]) -> Vec<&'v str> {
    images.iter().map(|image| image.version.as_str()).collect()
}

#[cfg(test)]
mod tests;
