//! From a checked pipeline to what one run of it wants of one BMC, every variable replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use super::digest::digest;
use super::spec::{
    ActionSpec, FlowItemSpec, ImageOrigin, ImageSpec, ResourceSpec, RunSpec, ServerSpec,
    SettingsSpec, StageKindSpec, StageSpec, VersionSpec,
};
use crate::model::inventory::{Bmc, Server, TlsChange, TlsMode};
use crate::model::{StageName, Target};
use crate::pipeline::{
    FlowItem, Given, Image, Pipeline, ResourcePatch, Scope, SettingsStage, Stage, StageKind,
    Template, Unresolved, VersionStage,
};

/// Images whose bytes were found and hashed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageCatalog {
    /// By path, as the pipeline names it.
    pub files: BTreeMap<PathBuf, CatalogImage>,
    /// By URI, with variables replaced: those that were downloaded.
    pub uris: BTreeMap<String, CatalogImage>,
    /// Nobody looked for images, because none will be sent: what is not listed may be there.
    pub is_unread: bool,
}

/// One image on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogImage {
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Where the bytes lie.
    pub path: PathBuf,
}

/// An image that a run needs, before it was looked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedImage {
    /// Where it is.
    pub origin: ImageOrigin,
    /// The digest promised, lower-case hex. A URI without one is left to the BMC.
    pub sha256: Option<String>,
}

/// Why a stage cannot be resolved on a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: stage `{stage}` on {}: {message}", target.words())]
pub struct Unresolvable {
    /// The pipeline file.
    pub file: String,
    /// The stage's line, from 1.
    pub line: usize,
    /// The stage.
    pub stage: StageName,
    /// On what.
    pub target: Target,
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub hint: Option<String>,
}

/// What one run of a pipeline wants of a BMC and the selected servers behind it, or everything that keeps it from
/// being said.
pub fn resolve(
    pipeline: &Pipeline,
    bmc: &Bmc,
    servers: &[Server],
    given: &Given,
    images: &ImageCatalog,
) -> Result<RunSpec, Vec<Unresolvable>> {
    let resolver = Resolver {
        pipeline,
        bmc,
        servers,
        given,
    };
    let mut errors = Vec::new();
    let stages = pipeline
        .stages
        .iter()
        .enumerate()
        .map(|(index, stage)| resolver.stage(index, stage, images, &mut errors))
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut spec = RunSpec {
        pipeline: pipeline.name.clone(),
        source: pipeline.source.clone(),
        bmc: bmc.name.clone(),
        servers: servers.iter().map(server_spec).collect(),
        gone: BTreeSet::new(),
        tls_change: tls_change(bmc),
        pace: bmc.pace.clone(),
        rollout: pipeline.rollout,
        maintenance: pipeline.maintenance.clone(),
        drift_policy: pipeline.drift_policy,
        generation: pipeline.generation.clone(),
        stages,
        digest: String::new(),
    };
    spec.digest = digest(&spec);
    Ok(spec)
}

/// Only a certificate that was remembered can be remembered anew: a written pin, or roots, say what counts.
fn tls_change(bmc: &Bmc) -> TlsChange {
    match bmc.tls {
        TlsMode::FirstUse => bmc.tls_change,
        TlsMode::Verify | TlsMode::Insecure | TlsMode::Ca(_) | TlsMode::Pin(_) => TlsChange::Hold,
    }
}

/// Every image that one run needs, so that a shell can find and hash it before [`resolve`].
pub fn wanted_images(
    pipeline: &Pipeline,
    bmc: &Bmc,
    servers: &[Server],
    given: &Given,
) -> Result<BTreeSet<WantedImage>, Vec<Unresolvable>> {
    let resolver = Resolver {
        pipeline,
        bmc,
        servers,
        given,
    };
    let (mut wanted, mut errors) = (BTreeSet::new(), Vec::new());
    for stage in &pipeline.stages {
        let Some(version) = stage.kind.version() else {
            continue;
        };
        resolver.each_target(stage, &mut errors, |scope| {
            let origin = origin(&version.image, scope)?;
            let sha256 = version.image.sha256().map(ToOwned::to_owned);
            wanted.insert(WantedImage { origin, sha256 });
            Ok(())
        });
    }
    if errors.is_empty() {
        Ok(wanted)
    } else {
        Err(errors)
    }
}

/// Why something cannot be said, before it is known of which stage.
struct Trouble {
    message: String,
    hint: Option<String>,
}

impl From<Unresolved> for Trouble {
    fn from(unresolved: Unresolved) -> Self {
        Self {
            message: unresolved.to_string(),
            hint: None,
        }
    }
}

struct Resolver<'a> {
    pipeline: &'a Pipeline,
    bmc: &'a Bmc,
    servers: &'a [Server],
    given: &'a Given,
}

impl Resolver<'_> {
    fn stage(
        &self,
        index: usize,
        stage: &Stage,
        images: &ImageCatalog,
        errors: &mut Vec<Unresolvable>,
    ) -> StageSpec {
        let kind = match &stage.kind {
            StageKind::BmcSettings(body) => {
                StageKindSpec::BmcSettings(
                    self.each_target(stage, errors, |scope| settings(body, scope)),
                )
            }
            StageKind::BiosSettings(body) => {
                StageKindSpec::BiosSettings(
                    self.each_target(stage, errors, |scope| settings(body, scope)),
                )
            }
            StageKind::BmcVersion(body) => {
                let hop = Hop {
                    body,
                    stage,
                    is_last: self.is_last(index),
                    images,
                };
                StageKindSpec::BmcVersion(
                    self.each_target(stage, errors, |scope| hop.resolve(scope)),
                )
            }
            StageKind::BiosVersion(body) => {
                let hop = Hop {
                    body,
                    stage,
                    is_last: self.is_last(index),
                    images,
                };
                StageKindSpec::BiosVersion(
                    self.each_target(stage, errors, |scope| hop.resolve(scope)),
                )
            }
        };
        StageSpec {
            name: stage.name.clone(),
            kind,
            options: stage.options.clone(),
            transient: stage.transient,
            line: stage.line,
        }
    }

    /// Whether no later stage is a hop of the same component.
    fn is_last(&self, index: usize) -> bool {
        let kind = self
            .pipeline
            .stages
            .get(index)
            .map(|stage| stage.kind.as_str());
        !self
            .pipeline
            .stages
            .iter()
            .skip(index + 1)
            .any(|later| Some(later.kind.as_str()) == kind)
    }

    fn each_target<T>(
        &self,
        stage: &Stage,
        errors: &mut Vec<Unresolvable>,
        mut make: impl FnMut(&Scope<'_>) -> Result<T, Trouble>,
    ) -> BTreeMap<Target, T> {
        let scopes: Vec<(Target, Scope<'_>)> = if stage.kind.is_bmc() {
            vec![(Target::Bmc, self.scope(None, &self.bmc.labels))]
        } else {
            let scope = |server: &'_ Server| Target::Server(server.name.clone());
            self.servers
                .iter()
                .map(|server| {
                    (
                        scope(server),
                        self.scope(Some(server.name.as_str()), &server.labels),
                    )
                })
                .collect()
        };
        let mut made = BTreeMap::new();
        for (target, scope) in scopes {
            match make(&scope) {
                Ok(value) => {
                    made.insert(target, value);
                }
                Err(trouble) => errors.push(self.unresolvable(stage, target, trouble)),
            }
        }
        made
    }

    fn scope<'s>(
        &'s self,
        server: Option<&'s str>,
        labels: &'s BTreeMap<String, String>,
    ) -> Scope<'s> {
        Scope {
            bmc: self.bmc.name.as_str(),
            server,
            labels,
            given: self.given,
        }
    }

    fn unresolvable(&self, stage: &Stage, target: Target, trouble: Trouble) -> Unresolvable {
        Unresolvable {
            file: self.pipeline.source.clone(),
            line: stage.line,
            stage: stage.name.clone(),
            target,
            message: trouble.message,
            hint: trouble.hint,
        }
    }
}

fn server_spec(server: &Server) -> ServerSpec {
    ServerSpec {
        name: server.name.clone(),
        system: server.system.clone(),
        labels: server.labels.clone(),
        expect: server.expect.clone(),
    }
}

fn settings(body: &SettingsStage, scope: &Scope<'_>) -> Result<SettingsSpec, Trouble> {
    let flow = body
        .flow
        .iter()
        .map(|item| flow_item(item, scope))
        .collect::<Result<_, Unresolved>>()?;
    Ok(SettingsSpec {
        guard: body.guard.clone(),
        flow,
    })
}

fn flow_item(item: &FlowItem, scope: &Scope<'_>) -> Result<FlowItemSpec, Unresolved> {
    let value =
        |(name, template): (&String, &Template)| Ok((name.clone(), template.resolve(scope)?));
    let shown = |resource: &ResourcePatch| {
        Ok(ResourceSpec {
            uri: resource.uri.resolve_text(scope)?,
            set: resource.set.resolve(scope)?,
        })
    };
    let actions = item.actions.iter().map(|action| {
        Ok(ActionSpec {
            uri: action.uri.resolve_text(scope)?,
            body: action.body.resolve(scope)?,
            satisfied_when: shown(&action.satisfied_when)?,
        })
    });
    Ok(FlowItemSpec {
        name: item.name.clone(),
        settings: item
            .settings
            .iter()
            .map(value)
            .collect::<Result<_, Unresolved>>()?,
        resources: item
            .resources
            .iter()
            .map(shown)
            .collect::<Result<_, Unresolved>>()?,
        actions: actions.collect::<Result<_, Unresolved>>()?,
        severs: item.severs,
    })
}

fn origin(image: &Image, scope: &Scope<'_>) -> Result<ImageOrigin, Trouble> {
    Ok(match image {
        Image::Uri { uri, .. } => ImageOrigin::Uri(uri.resolve_text(scope)?),
        Image::File(file) => ImageOrigin::File(file.path.clone()),
    })
}

/// One version stage, the same for all targets but for its variables.
struct Hop<'a> {
    body: &'a VersionStage,
    stage: &'a Stage,
    is_last: bool,
    images: &'a ImageCatalog,
}

impl Hop<'_> {
    fn resolve(&self, scope: &Scope<'_>) -> Result<VersionSpec, Trouble> {
        Ok(VersionSpec {
            version: self.body.version.resolve_text(scope)?,
            requires: self.body.requires.clone(),
            image: self.image(origin(&self.body.image, scope)?)?,
            is_last: self.is_last,
            exact: self.is_last && self.stage.options.exact,
            allow_downgrade: self.is_last && self.stage.options.allow_downgrade,
        })
    }

    fn image(&self, origin: ImageOrigin) -> Result<ImageSpec, Trouble> {
        let promised = self.body.image.sha256();
        let known = match &origin {
            ImageOrigin::Uri(uri) => self.images.uris.get(uri),
            ImageOrigin::File(path) => self.images.files.get(path),
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
            (None, _, ImageOrigin::File(_)) if !self.images.is_unread => Err(Trouble {
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
}

impl fmt::Display for WantedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
    }
}

#[cfg(test)]
mod tests;
