//! `image`: what is flashed.

use super::context::Check;
use super::stage::StagePlace;
use super::template;
use crate::pipeline::checked::{Image, ImageFile};
use crate::pipeline::document::{At, ImageDocument};

pub(super) fn check_image(
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
            let message = format!("image of {} has both `uri` and `file`", place.title);
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
                let message = format!("image of {} has neither `uri` nor `file`", place.title);
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
        let message = format!("image URI of {} has no scheme", place.title);
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
