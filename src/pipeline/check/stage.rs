//! One `[[stage]]`: does its body fit its kind?

use std::ops::Range;

use super::context::Check;
use super::firmware::Catalogue;
use super::not_yet::tls_change;
use super::options::stage_options;
use super::settings::check_settings;
use super::version::check_version;
use crate::model::component::Component;
use crate::pipeline::checked::{Stage, StageKind};
use crate::pipeline::document::{At, KindDocument, StageDefaultsDocument, StageDocument};

/// What the parts of a stage need to know of it.
#[derive(Clone)]
pub(super) struct StagePlace {
    /// Its name, or a word for it where it has none.
    pub(super) name: String,
    /// What messages call it.
    pub(super) title: String,
    /// Its kind.
    pub(super) kind: KindDocument,
    /// Its header.
    pub(super) span: Range<usize>,
}

impl StagePlace {
    /// Whether it acts once per BMC.
    pub(super) fn is_bmc(&self) -> bool {
        match self.kind {
            KindDocument::BmcSettings | KindDocument::BmcVersion => true,
            KindDocument::BiosSettings | KindDocument::BiosVersion => false,
        }
    }

    /// What it moves or sets.
    pub(super) fn component(&self) -> Component {
        if self.is_bmc() {
            Component::Bmc
        } else {
            Component::Bios
        }
    }

    /// Whether it holds settings.
    pub(super) fn is_settings(&self) -> bool {
        match self.kind {
            KindDocument::BmcSettings | KindDocument::BiosSettings => true,
            KindDocument::BmcVersion | KindDocument::BiosVersion => false,
        }
    }

    /// The word of the file.
    pub(super) fn kind(&self) -> &'static str {
        match self.kind {
            KindDocument::BmcSettings => "bmc-settings",
            KindDocument::BmcVersion => "bmc-version",
            KindDocument::BiosSettings => "bios-settings",
            KindDocument::BiosVersion => "bios-version",
        }
    }
}

pub(super) fn check_stage(
    stage: &At<StageDocument>,
    defaults: Option<&StageDefaultsDocument>,
    catalogue: &Catalogue,
    check: &mut Check<'_>,
) -> Option<Stage> {
    let document = stage.get();
    let mut options = stage_options(document, defaults, check);
    tls_change(check, document.tls_change.as_ref());
    let name = document
        .name
        .as_ref()
        .map_or_else(|| "?".to_owned(), |name| name.get().clone());
    let place = StagePlace {
        title: format!("stage `{name}`"),
        name,
        kind: *document.kind.as_ref()?.get(),
        span: stage.span(),
    };
    foreign_sections(document, &place, check);
    let kind = if place.is_settings() {
        options.exact = false;
        let body = check_settings(document, &place, check)?;
        if place.is_bmc() {
            StageKind::BmcSettings(body)
        } else {
            StageKind::BiosSettings(body)
        }
    } else {
        let body = check_version(document, &place, catalogue, check)?;
        if place.is_bmc() {
            StageKind::BmcVersion(body)
        } else {
            StageKind::BiosVersion(body)
        }
    };
    Some(Stage {
        name: document.name.as_ref()?.get().as_str().into(),
        kind,
        options,
        transient: document
            .transient
            .as_ref()
            .is_some_and(|transient| *transient.get()),
        line: check.file.source.position(stage.span().start).line,
    })
}

/// Sections that belong to the other family of kinds.
fn foreign_sections(stage: &StageDocument, place: &StagePlace, check: &mut Check<'_>) {
    let sections = if place.is_settings() {
        vec![
            ("image", stage.image.as_ref().map(At::span)),
            ("requires", stage.requires.as_ref().map(At::span)),
            ("path", stage.path.as_ref().map(At::span)),
            ("method", stage.method.as_ref().map(At::span)),
            ("targets", stage.targets.as_ref().map(At::span)),
            (
                "allow_downgrade",
                stage.allow_downgrade.as_ref().map(At::span),
            ),
            ("preserve", stage.preserve.as_ref().map(At::span)),
        ]
    } else {
        vec![
            ("settings", stage.settings.as_ref().map(At::span)),
            ("flow", stage.flow.as_ref().map(At::span)),
            ("severs", stage.severs.as_ref().map(At::span)),
        ]
    };
    for (section, span) in sections {
        let Some(span) = span else { continue };
        let other = if place.is_settings() {
            "version"
        } else {
            "settings"
        };
        let message = format!(
            "stage `{}` of kind `{}` cannot have `{section}`",
            place.name,
            place.kind()
        );
        check
            .error(
                check.file.key_of(&span),
                message,
                "does not fit the stage's kind",
            )
            .hint(format!(
                "remove it, or move it to a stage of kind `bmc-{other}` or `bios-{other}`"
            ));
    }
}
