//! Version stages: hops as written, and hops that were computed.

use std::collections::BTreeMap;

use super::{ImageCatalog, Resolver, Trouble, Unresolvable};
use crate::model::Target;
use crate::model::component::Component;
use crate::pipeline::{Image, Route, Scope, Stage, StageOptions, VersionStage};
use crate::plan::expand::{ComputedHop, Wanted};
use crate::plan::spec::{ImageOrigin, ImageSpec, StageKindSpec, StageSpec, VersionSpec};

/// What to compute, where a stage's hops are computed; `before` = where earlier hops lead.
pub(super) fn computed<'a>(
    stage: &'a Stage,
    before: &'a BTreeMap<Target, String>,
) -> Option<Wanted<'a>> {
    let version = stage.kind.version()?;
    Some(Wanted {
        stage: &stage.name,
        version: version.version.literal()?,
        component: component(stage),
        images: version.catalogue()?,
        before,
    })
}

pub(super) fn component(stage: &Stage) -> Component {
    if stage.kind.is_bmc() {
        Component::Bmc
    } else {
        Component::Bios
    }
}

/// Where the last stage leads every target whose version it moves.
pub(super) fn note_version(stage: Option<&StageSpec>, before: &mut BTreeMap<Target, String>) {
    let Some(stage) = stage else { return };
    for target in stage.kind.targets() {
        if let Some(version) = stage.kind.version(target) {
            before.insert(target.clone(), version.version.clone());
        }
    }
}

/// One hop as the file says.
pub(super) fn written(
    options: &StageOptions,
    is_last: bool,
    body: &VersionStage,
    images: &ImageCatalog,
    scope: &Scope<'_>,
) -> Result<VersionSpec, Trouble> {
    let Route::Hop { requires, image } = &body.route else {
        unreachable!("a stage whose hops are computed is resolved hop by hop");
    };
    Ok(VersionSpec {
        version: body.version.resolve_text(scope)?,
        requires: requires.clone(),
        image: image_spec(image, images, scope)?,
        is_last,
        exact: is_last && options.exact,
        allow_downgrade: is_last && options.allow_downgrade,
        missing: None,
    })
}

impl Resolver<'_> {
    /// One computed hop, as a stage of its own.
    pub(super) fn hop(
        &self,
        stage: &Stage,
        hop: &ComputedHop<'_>,
        is_last: bool,
        images: &ImageCatalog,
        errors: &mut Vec<Unresolvable>,
    ) -> StageSpec {
        let mut options = stage.options.clone();
        options.exact &= is_last;
        options.allow_downgrade &= is_last;
        let mut versions = BTreeMap::new();
        for (target, scope) in self.scopes(stage) {
            let Some(missing) = hop.targets.get(&target) else {
                continue;
            };
            let image = match hop.image {
                Some(image) => image_spec(&image.image, images, &scope),
                None => Ok(ImageSpec::none()),
            };
            match image {
                Err(trouble) => errors.push(self.unresolvable(stage, target, trouble)),
                Ok(image) => {
                    let version = VersionSpec {
                        version: hop.version.clone(),
                        requires: hop.image.and_then(|image| image.requires.clone()),
                        image,
                        is_last,
                        exact: options.exact,
                        allow_downgrade: options.allow_downgrade,
                        missing: missing.clone(),
                    };
                    versions.insert(target, version);
                }
            }
        }
        StageSpec {
            name: stage.name.hop(&hop.version),
            kind: if stage.kind.is_bmc() {
                StageKindSpec::BmcVersion(versions)
            } else {
                StageKindSpec::BiosVersion(versions)
            },
            options,
            transient: stage.transient,
            line: stage.line,
        }
    }
}

pub(super) fn origin(image: &Image, scope: &Scope<'_>) -> Result<ImageOrigin, Trouble> {
    Ok(match image {
        Image::Uri { uri, .. } => ImageOrigin::Uri(uri.resolve_text(scope)?),
        Image::File(file) => ImageOrigin::File(file.path.clone()),
    })
}

/// An image with what is known of its bytes, or why it cannot be used.
fn image_spec(
    image: &Image,
    images: &ImageCatalog,
    scope: &Scope<'_>,
) -> Result<ImageSpec, Trouble> {
    let origin = origin(image, scope)?;
    let promised = image.sha256();
    let known = match &origin {
        ImageOrigin::Uri(uri) => images.uris.get(uri),
        ImageOrigin::File(path) => images.files.get(path),
    };
    match (known, promised, &origin) {
        (Some(known), Some(promised), _) if !known.sha256.eq_ignore_ascii_case(promised) => {
            Err(Trouble {
                message: format!(
                    "image `{origin}` has sha256 `{}`, and `{promised}` is promised",
                    known.sha256
                ),
                hint: Some("get the right file, or correct `sha256`".to_owned()),
            })
        }
        (Some(known), _, _) => Ok(ImageSpec {
            sha256: Some(known.sha256.clone()),
            bytes: Some(known.bytes),
            held: Some(known.path.clone()),
            origin,
        }),
        (None, _, ImageOrigin::File(_)) if !images.is_unread => Err(Trouble {
            message: format!("image `{origin}` was not found"),
            hint: Some("paths are relative to the pipeline file".to_owned()),
        }),
        (None, promised, _) => Ok(ImageSpec {
            sha256: promised.map(str::to_lowercase),
            bytes: None,
            held: None,
            origin,
        }),
    }
}
