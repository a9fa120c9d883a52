//! Bodies of version stages.

use super::context::Check;
use super::firmware::Catalogue;
use super::image::check_image;
use super::requires::{Written, check_reach, parse_requires};
use super::stage::StagePlace;
use super::template;
use crate::model::component::Component;
use crate::model::version::is_absent;
use crate::pipeline::checked::{Route, VersionStage};
use crate::pipeline::document::{At, StageDocument};

pub(super) fn check_version(
    stage: &StageDocument,
    place: &StagePlace,
    catalogue: &Catalogue,
    check: &mut Check<'_>,
) -> Option<VersionStage> {
    missing(stage, place, check);
    let version = stage.version.as_ref().map(|version| {
        if is_absent(version.get()) {
            let message = format!("`version` of stage `{}` is not a version", place.name);
            check
                .error(version.span(), message, "no version")
                .hint("write it as the BMC will state it");
        }
        template::text(version, place, check)
    });
    let route = if stage.path.is_some() {
        computed(stage, place, catalogue, check)
    } else {
        written(stage, place, check)
    };
    Some(VersionStage {
        version: version??,
        route: route?,
    })
}

/// One hop, as the stage says.
fn written(stage: &StageDocument, place: &StagePlace, check: &mut Check<'_>) -> Option<Route> {
    let requires = stage
        .requires
        .as_ref()
        .map(|requires| parse_requires(requires, check));
    if let (Some(Some(required)), Some(written), Some(version)) =
        (&requires, &stage.requires, &stage.version)
    {
        let hop = Written {
            title: &place.title,
            component: place.component(),
            platform: None,
            version,
            requires: written,
            goes_down: stage.allow_downgrade.as_ref().is_some_and(|it| *it.get()),
        };
        check_reach(required, &hop, check);
    }
    let image = stage
        .image
        .as_ref()
        .map(|image| check_image(image, place, check));
    Some(Route::Hop {
        requires: match requires {
            Some(requires) => Some(requires?),
            None => None,
        },
        image: image??,
    })
}

/// `path = "auto"`: hops from the catalogue.
fn computed(
    stage: &StageDocument,
    place: &StagePlace,
    catalogue: &Catalogue,
    check: &mut Check<'_>,
) -> Option<Route> {
    let path = stage.path.as_ref()?;
    let of_images = [
        ("image", stage.image.as_ref().map(At::span)),
        ("requires", stage.requires.as_ref().map(At::span)),
    ];
    for (key, span) in of_images {
        let Some(span) = span else { continue };
        let message = format!("{} has both `path` and `{key}`", place.title);
        let (source, here) = (check.file.id, check.file.key_of(&path.span()));
        check
            .error(check.file.key_of(&span), message, "one too many")
            .hint(
                "with `path = \"auto\"` it belongs to an image of the catalogue, in `[[firmware]]`",
            )
            .related(source, here, "hops are computed here");
    }
    let version = stage.version.as_ref()?;
    if version.get().contains("${") {
        let message = format!("`version` of {} has a variable", place.title);
        check
            .error(
                version.span(),
                message,
                "not known before a BMC is looked at",
            )
            .hint(
                "with `path = \"auto\"` it is a version of the catalogue; write one stage for each",
            );
        return None;
    }
    let component = place.component();
    if !catalogue.speaks_of(component) {
        let message = format!("{} has no catalogue to compute hops from", place.title);
        let label = format!("no `[[firmware]]` with `component = \"{component}\"`");
        check
            .error(check.file.key_of(&path.span()), message, label)
            .hint(
                "list the images in `[[firmware]]`, here or in a file that is read beside this one",
            );
        return None;
    }
    if !catalogue.brings(component, version.get()) {
        no_image(version, component, catalogue, check);
        return None;
    }
    let images = catalogue.up_to(component, version.get());
    let (images, written): (Vec<_>, Vec<_>) = images.into_iter().unzip();
    check
        .hop_images
        .extend(written.into_iter().map(str::to_owned));
    Some(Route::Auto(images))
}

fn no_image(
    version: &At<String>,
    component: Component,
    catalogue: &Catalogue,
    check: &mut Check<'_>,
) {
    /// More would not be read.
    const NAMED_MAX: usize = 8;
    let versions = catalogue.versions(component);
    let named: Vec<String> = versions
        .iter()
        .take(NAMED_MAX)
        .map(|version| format!("`{version}`"))
        .collect();
    let more = if versions.len() > NAMED_MAX {
        ", .."
    } else {
        ""
    };
    let message = format!(
        "the catalogue has no {component} image of `{}`",
        version.get()
    );
    check
        .error(version.span(), message, "no image brings it")
        .hint(format!(
            "add it in `[[firmware]]`, or want one of {}{more}",
            named.join(", ")
        ));
}

fn missing(stage: &StageDocument, place: &StagePlace, check: &mut Check<'_>) {
    let absent = [
        (
            "version",
            stage.version.is_none(),
            "add `version` as the BMC will state it after the update",
        ),
        (
            "image",
            stage.image.is_none()
                && stage.path.is_none()
                && !check.file.was_reported(&place.span, "path"),
            "add `image = { uri = \"..\" }` or `{ file = \"..\" }`",
        ),
    ];
    for (section, absent, hint) in absent {
        if absent && !check.file.was_reported(&place.span, section) {
            let message = format!(
                "stage `{}` of kind `{}` has no `{section}`",
                place.name,
                place.kind()
            );
            check
                .error(place.span.clone(), message, "incomplete")
                .hint(hint);
        }
    }
}
