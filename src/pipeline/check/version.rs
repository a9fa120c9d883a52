//! Bodies of version stages.

use super::context::Check;
use super::stage::StagePlace;
use super::template;
use crate::model::component::Component;
use crate::model::version::{Comparison, compare, is_absent};
use crate::pipeline::checked::{Image, ImageFile, Requirement, RequirementOp, VersionStage};
use crate::pipeline::document::{At, ImageDocument, StageDocument};

pub(super) fn check_version(
    stage: &StageDocument,
    place: &StagePlace,
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
    let requires = stage
        .requires
        .as_ref()
        .map(|requires| parse_requires(requires, check));
    if let Some(Some(requires)) = &requires {
        check_reach(requires, stage, place, check);
    }
    let image = stage
        .image
        .as_ref()
        .map(|image| check_image(image, place, check));
    Some(VersionStage {
        version: version??,
        requires: match requires {
            Some(requires) => Some(requires?),
            None => None,
        },
        image: image??,
    })
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
            stage.image.is_none() && stage.path.is_none(),
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

fn parse_requires(requires: &At<String>, check: &mut Check<'_>) -> Option<Requirement> {
    let text = requires.get().trim();
    let found = RequirementOp::ALL.into_iter().find_map(|op| {
        text.strip_prefix(op.as_str())
            .map(|version| (op, version.trim()))
    });
    match found {
        Some((op, version))
            if !is_absent(version)
                && !version.starts_with(['<', '>', '=', '!'])
                && !version.contains("${") =>
        {
            Some(Requirement {
                op,
                version: version.to_owned(),
            })
        }
        Some(_) | None => {
            let label = "not a comparison with a version";
            check
                .error(
                    requires.span(),
                    format!("`requires` cannot be `{text}`"),
                    label,
                )
                .hint("write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too");
            None
        }
    }
}

/// A hop is made from below its version only, but for one that may go down.
fn check_reach(
    requires: &Requirement,
    stage: &StageDocument,
    place: &StagePlace,
    check: &mut Check<'_>,
) {
    let (Some(written), Some(version)) = (&stage.requires, &stage.version) else {
        return;
    };
    let lower = matches!(
        requires.op,
        RequirementOp::AtLeast | RequirementOp::Above | RequirementOp::Equal
    );
    let goes_down = stage.allow_downgrade.as_ref().is_some_and(|it| *it.get());
    if !lower || goes_down || version.get().contains("${") {
        return;
    }
    let component = if place.is_bmc() {
        Component::Bmc
    } else {
        Component::Bios
    };
    let sign = compare(&requires.version, version.get(), None, Some(component)).comparison;
    if matches!(sign, Comparison::Greater | Comparison::Equal) {
        let source = check.file.id;
        let message = format!("stage `{}` requires what is not below its hop", place.name);
        check
            .error(written.span(), message, "never met before the hop")
            .hint("require a version that is older than the hop, such as the hop before it")
            .related(source, version.span(), "the hop");
    }
}

fn check_image(
    image: &At<ImageDocument>,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<Image> {
    let ImageDocument { uri, file, sha256 } = image.get();
    let digest = sha256.as_ref().map(|digest| check.sha256("sha256", digest));
    let sha256 = match digest {
        Some(digest) => Some(digest?),
        None => None,
    };
    match (uri, file) {
        (Some(uri), None) => {
            check_image_uri(uri, place, check);
            Some(Image::Uri {
                uri: template::text(uri, place, check)?,
                sha256,
            })
        }
        (None, Some(file)) => check_image_file(file, sha256, check),
        (Some(_), Some(file)) => {
            let message = format!("image of stage `{}` has both `uri` and `file`", place.name);
            check
                .error(check.file.key_of(&file.span()), message, "one too many")
                .hint("keep one of them");
            None
        }
        (None, None) => {
            let reported = ["uri", "file"]
                .iter()
                .any(|key| check.file.was_reported(&image.span(), key));
            if !reported {
                let message = format!(
                    "image of stage `{}` has neither `uri` nor `file`",
                    place.name
                );
                check
                    .error(image.span(), message, "no image")
                    .hint("add `uri = \"http://..\"` or `file = \"..\"`");
            }
            None
        }
    }
}

fn check_image_uri(uri: &At<String>, place: &StagePlace, check: &mut Check<'_>) {
    let text = uri.get();
    if !text.contains("://") && !text.starts_with("${") {
        let message = format!("image URI of stage `{}` has no scheme", place.name);
        check
            .error(uri.span(), message, "not a URI")
            .hint("write `http://HOST/PATH`, or `file = \"..\"` for a file of your own");
    }
}

fn check_image_file(
    file: &At<String>,
    sha256: Option<String>,
    check: &mut Check<'_>,
) -> Option<Image> {
    let text = file.get();
    if text.is_empty() || text.contains("${") {
        check
            .error(
                file.span(),
                "`file` is not a path",
                "a path without variables stands here",
            )
            .hint("name a file, relative to this one; variables work in `uri`");
        return None;
    }
    let image = ImageFile {
        path: check.path(text),
        sha256,
    };
    check
        .images
        .push((image.clone(), check.file.id, file.span()));
    Some(Image::File(image))
}
