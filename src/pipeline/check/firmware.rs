//! `[[firmware]]`: the catalogue from which hops are computed, in a pipeline or in a file of its own.

use std::ops::Range;

use super::context::Check;
use super::image::check_image;
use super::requires::{Written, check_reach, parse_requires};
use super::stage::StagePlace;
use crate::model::component::Component;
use crate::model::version::{Comparison, compare, is_absent};
use crate::pipeline::checked::FirmwareImage;
use crate::pipeline::diagnostic::SourceId;
use crate::pipeline::document::{At, FirmwareDocument, KindDocument};

/// One checked image, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// What it updates.
    component: Component,
    /// What a hop is made of.
    image: FirmwareImage,
    /// Its table, whatever its comments and spaces.
    written: String,
    /// Where its version stands.
    place: (SourceId, Range<usize>),
}

/// The images that one pipeline may use: its own, and those of catalogue files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalogue {
    entries: Vec<Entry>,
    /// One at least was refused, so that what is missing may have been meant to be there.
    is_partial: bool,
}

impl Catalogue {
    /// Adds what a file lists.
    pub(crate) fn add(
        &mut self,
        documents: Option<&At<Vec<At<FirmwareDocument>>>>,
        check: &mut Check<'_>,
    ) {
        let Some(documents) = documents else { return };
        let written = tables(check.file.source.text());
        for (index, document) in documents.get().iter().enumerate() {
            let written = written.get(index).cloned().unwrap_or_default();
            let entry = check_firmware(document, written, check);
            match entry.filter(|entry| self.is_new(entry, check)) {
                Some(entry) => self.entries.push(entry),
                None => self.is_partial = true,
            }
        }
    }

    fn is_new(&self, entry: &Entry, check: &mut Check<'_>) -> bool {
        let Some(first) = self.entries.iter().find(|other| entry.is_same(other)) else {
            return true;
        };
        let (source, span) = first.place.clone();
        let message = format!("{} is there twice", entry.title());
        check
            .error(entry.place.1.clone(), message, "again here")
            .hint("keep one of them, or give each the `platform` that it is for")
            .related(source, span, "first here");
        false
    }

    /// Whether a component has an image at all, or had one that was refused.
    pub(super) fn speaks_of(&self, component: Component) -> bool {
        self.is_partial || self.of(component).next().is_some()
    }

    /// Whether a version has an image, or had one that was refused.
    pub(super) fn brings(&self, component: Component, version: &str) -> bool {
        let mut images = self.of(component);
        self.is_partial || images.any(|entry| entry.stands_to(version) == Comparison::Equal)
    }

    /// Versions that there are images of, in file order.
    pub(super) fn versions(&self, component: Component) -> Vec<&str> {
        let versions = self.of(component);
        versions.map(|entry| entry.image.version.as_str()).collect()
    }

    /// Images of which hops to a version may be made, with the text that they stand for in a file's generation.
    pub(super) fn up_to(&self, component: Component, version: &str) -> Vec<(FirmwareImage, &str)> {
        let images = self.of(component);
        images
            .filter(|entry| entry.stands_to(version) != Comparison::Greater)
            .map(|entry| (entry.image.clone(), entry.written.as_str()))
            .collect()
    }

    fn of(&self, component: Component) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter();
        entries.filter(move |entry| entry.component == component)
    }
}

impl Entry {
    fn title(&self) -> String {
        let platform = self.image.platform.as_deref();
        let of = platform.map_or_else(String::new, |platform| format!(" for `{platform}`"));
        format!("{} firmware `{}`{of}", self.component, self.image.version)
    }

    fn stands_to(&self, version: &str) -> Comparison {
        let platform = self.image.platform.as_deref();
        compare(&self.image.version, version, platform, Some(self.component)).comparison
    }

    fn is_same(&self, other: &Self) -> bool {
        self.component == other.component
            && self.image.platform == other.image.platform
            && self.stands_to(&other.image.version) == Comparison::Equal
    }
}

/// Every `[[firmware]]` table of a file, written out anew.
fn tables(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let listed = table.get("firmware").and_then(toml::Value::as_array);
    let tables = listed.into_iter().flatten();
    tables.map(ToString::to_string).collect()
}

fn check_firmware(
    entry: &At<FirmwareDocument>,
    written: String,
    check: &mut Check<'_>,
) -> Option<Entry> {
    let document = entry.get();
    let version = document.version.as_ref();
    let version = version.map(|version| check_version(version, check));
    let platform = document.platform.as_ref();
    let platform = platform.map(|platform| check_platform(platform, check));
    let requires = document.requires.as_ref();
    let requires = requires.map(|requires| parse_requires(requires, check));
    let component = document.component.as_ref().map(|it| it.get().component());
    let place = place(entry, component);
    let image = document.image.as_ref();
    let image = image.map(|image| check_image(image, &place, check));
    let platform = match platform {
        Some(platform) => Some(platform?),
        None => None,
    };
    if let (Some(Some(required)), Some(written), Some(at), Some(component)) =
        (&requires, &document.requires, &document.version, component)
    {
        let hop = Written {
            title: &place.title,
            component,
            platform: platform.as_deref(),
            version: at,
            requires: written,
            goes_down: false,
        };
        check_reach(required, &hop, check);
    }
    Some(Entry {
        component: component?,
        image: FirmwareImage {
            platform,
            version: version??,
            requires: match requires {
                Some(requires) => Some(requires?),
                None => None,
            },
            image: image??,
        },
        written,
        place: (check.file.id, document.version.as_ref()?.span()),
    })
}

/// What the check of an image needs to know of its surroundings.
fn place(entry: &At<FirmwareDocument>, component: Option<Component>) -> StagePlace {
    let version = entry.get().version.as_ref();
    let name = version.map_or_else(|| "?".to_owned(), |version| version.get().clone());
    StagePlace {
        title: format!("firmware `{name}`"),
        name,
        kind: match component {
            Some(Component::Bmc) => KindDocument::BmcVersion,
            Some(Component::Bios) | None => KindDocument::BiosVersion,
        },
        span: entry.span(),
    }
}

fn check_version(version: &At<String>, check: &mut Check<'_>) -> Option<String> {
    let text = version.get();
    if is_absent(text) || text.contains("${") {
        let message = format!("`version` of firmware `{text}` is not a version");
        check
            .error(version.span(), message, "no version")
            .hint("write it as the BMC will state it, without variables");
        return None;
    }
    Some(text.clone())
}

fn check_platform(platform: &At<String>, check: &mut Check<'_>) -> Option<String> {
    let text = platform.get();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || !text.chars().all(is_name) {
        let message = format!("`platform` cannot be `{text}`");
        check
            .error(platform.span(), message, "not the name of a platform")
            .hint("`redpipe inventory check` names it, such as `hpe-ilo6`; leave it out for any");
        return None;
    }
    Some(text.clone())
}
