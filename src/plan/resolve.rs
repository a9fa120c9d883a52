//! From a checked pipeline to what one run of it wants of one BMC, every variable replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use self::hop::{component, computed, note_version, origin, written};
use super::digest::digest;
use super::expand::{Footing, HopPaths, expand, useful};
use super::spec::{
    ActionSpec, FlowItemSpec, ImageOrigin, ResourceSpec, RunSpec, ServerSpec, SettingsSpec,
    StageKindSpec, StageSpec,
};
use crate::model::inventory::{Bmc, Server, TlsChange, TlsMode};
use crate::model::{StageName, Target};
use crate::pipeline::{
    FlowItem, Given, Image, Pipeline, ResourcePatch, Route, Scope, SettingsStage, Stage, StageKind,
    Template, Unresolved,
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
    footing: Footing<'_>,
) -> Result<RunSpec, Vec<Unresolvable>> {
    let resolver = Resolver {
        pipeline,
        bmc,
        servers,
        given,
    };
    let (mut stages, mut paths, mut errors) = (Vec::new(), HopPaths::new(), Vec::new());
    let mut before = BTreeMap::new();
    for (index, stage) in pipeline.stages.iter().enumerate() {
        let is_last = resolver.is_last(index);
        if let Some(wanted) = computed(stage, &before) {
            let targets = resolver.targets(stage);
            let (hops, path) = expand(&wanted, &targets, footing);
            paths.insert(stage.name.clone(), path);
            let resolved = hops.iter().enumerate().map(|(at, hop)| {
                let is_last = is_last && at + 1 == hops.len();
                resolver.hop(stage, hop, is_last, images, &mut errors)
            });
            stages.extend(resolved);
        } else {
            stages.push(resolver.stage(stage, is_last, images, &mut errors));
        }
        note_version(stages.last(), &mut before);
    }
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
        paths,
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

/// Every image that one run may need, so that a shell can find and hash it before [`resolve`].
pub fn wanted_images(
    pipeline: &Pipeline,
    bmc: &Bmc,
    servers: &[Server],
    given: &Given,
    platform: Option<&str>,
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
        let images: Vec<&Image> = match (&version.route, version.version.literal()) {
            (Route::Auto(images), Some(version)) => {
                let useful = useful(images, &version, component(stage), platform);
                useful.into_iter().map(|one| &one.image).collect()
            }
            (Route::Auto(_) | Route::Hop { .. }, _) => version.images(),
        };
        resolver.each_target(stage, &mut errors, |scope| {
            for image in &images {
                let origin = origin(image, scope)?;
                let sha256 = image.sha256().map(ToOwned::to_owned);
                wanted.insert(WantedImage { origin, sha256 });
            }
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
        stage: &Stage,
        is_last: bool,
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
                StageKindSpec::BmcVersion(self.each_target(stage, errors, |scope| {
                    written(&stage.options, is_last, body, images, scope)
                }))
            }
            StageKind::BiosVersion(body) => {
                StageKindSpec::BiosVersion(self.each_target(stage, errors, |scope| {
                    written(&stage.options, is_last, body, images, scope)
                }))
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
        let mut made = BTreeMap::new();
        for (target, scope) in self.scopes(stage) {
            match make(&scope) {
                Ok(value) => {
                    made.insert(target, value);
                }
                Err(trouble) => errors.push(self.unresolvable(stage, target, trouble)),
            }
        }
        made
    }

    fn targets(&self, stage: &Stage) -> Vec<Target> {
        let scopes = self.scopes(stage).into_iter();
        scopes.map(|(target, _)| target).collect()
    }

    /// What a stage acts on, each with its variables.
    fn scopes(&self, stage: &Stage) -> Vec<(Target, Scope<'_>)> {
        if stage.kind.is_bmc() {
            return vec![(Target::Bmc, self.scope(None, &self.bmc.labels))];
        }
        let servers = self.servers.iter();
        servers
            .map(|server| {
                let scope = self.scope(Some(server.name.as_str()), &server.labels);
                (Target::Server(server.name.clone()), scope)
            })
            .collect()
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

impl fmt::Display for WantedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
    }
}

mod hop;
#[cfg(test)]
mod tests;
