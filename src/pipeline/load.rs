//! Everything at once: texts in, checked values or all findings out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::check::{Catalogue, Check, Names, check_pipeline};
use super::checked::{ImageFile, Pipeline};
use super::diagnostic::{Diagnostic, Diagnostics, Source, SourceId};
use super::document::{
    CatalogueDocument, InventoryDocument, PipelineDocument, schema_catalogue, schema_inventory,
    schema_pipeline,
};
use super::inventory::{InventoryFile, merge_inventory};
use super::maintenance::Hook;
use super::shape::{masked, read};
use super::template::{Given, Needs, Variable};
use crate::model::inventory::Inventory;

/// What a set of files says.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// All inventory files merged.
    pub inventory: Inventory,
    /// One for each pipeline file, in the order given.
    pub pipelines: Vec<Pipeline>,
    /// What is odd but does not stop the load.
    pub warnings: Diagnostics,
    noted: Noted,
}

/// What files name outside themselves, and where.
#[derive(Debug, Clone, Default)]
struct Noted {
    references: Vec<(Variable, SourceId, Range<usize>)>,
    hooks: Vec<(Hook, SourceId, Range<usize>)>,
    images: Vec<(ImageFile, SourceId, Range<usize>)>,
}

impl Noted {
    fn take(&mut self, check: Check<'_>) {
        self.references.extend(check.references);
        self.images.extend(check.images);
        self.hooks.extend(check.hooks);
    }
}

/// Why an image file cannot be flashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableImage {
    /// The file as a pipeline names it.
    pub image: ImageFile,
    /// What is wrong.
    pub message: String,
    /// What was found.
    pub found: String,
    /// What a person can do.
    pub hint: Option<String>,
}

/// Keys of which a pipeline has one at least, and a catalogue none.
const OF_PIPELINES: [&str; 3] = ["name", "selector", "stage"];

/// Whether a file beside pipelines lists images and nothing else.
fn is_catalogue(source: &Source) -> bool {
    let (table, _) = toml::de::DeTable::parse_recoverable(source.text());
    let has = |key: &str| table.get_ref().contains_key(key);
    has("firmware") && !OF_PIPELINES.into_iter().any(has)
}

/// Checks inventory and pipeline files together; a file among the latter that only lists firmware is a catalogue for all
/// of them. The error holds every finding of every file, warnings included.
pub fn load(inventory: &[Source], pipelines: &[Source]) -> Result<Loaded, Diagnostics> {
    let (mut findings, mut secrets) = (Vec::new(), BTreeMap::new());
    let merged = load_inventory(inventory, &mut findings, &mut secrets);
    let mut noted = Noted::default();
    let (catalogues, pipelines_only): (Vec<_>, Vec<_>) = pipelines
        .iter()
        .enumerate()
        .map(|(index, source)| (SourceId(inventory.len() + index), source))
        .partition(|(_, source)| is_catalogue(source));
    let (schema, mut shared) = (schema_catalogue(), Catalogue::default());
    for (id, source) in catalogues {
        let hidden = secrets.entry(id).or_insert_with(Vec::new);
        if let Some((file, document)) =
            read::<CatalogueDocument>(id, source, &schema, &mut findings, hidden)
        {
            let mut check = Check::new(&file, &mut findings);
            shared.add(document.firmware.as_ref(), &mut check);
            noted.take(check);
        }
    }
    let (schema, mut names, mut checked) = (schema_pipeline(), Names::default(), Vec::new());
    let count = pipelines_only.len();
    for (id, source) in pipelines_only {
        let hidden = secrets.entry(id).or_insert_with(Vec::new);
        if let Some((file, document)) =
            read::<PipelineDocument>(id, source, &schema, &mut findings, hidden)
        {
            let mut check = Check::new(&file, &mut findings);
            checked.extend(check_pipeline(&document, &shared, &mut names, &mut check));
            noted.take(check);
        }
    }
    findings.sort_by_key(|finding| (finding.source, finding.span.start, finding.severity));
    let sources = inventory
        .iter()
        .chain(pipelines)
        .enumerate()
        .map(|(index, source)| {
            let hidden = secrets.get(&SourceId(index)).map_or(&[][..], Vec::as_slice);
            Source::new(source.name(), masked(source.text(), hidden))
        });
    let diagnostics = Diagnostics {
        sources: sources.collect(),
        findings,
    };
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    assert_eq!(
        checked.len(),
        count,
        "a pipeline without a finding is a checked pipeline"
    );
    Ok(Loaded {
        inventory: merged,
        pipelines: checked,
        warnings: diagnostics,
        noted,
    })
}

fn load_inventory(
    sources: &[Source],
    findings: &mut Vec<Diagnostic>,
    secrets: &mut BTreeMap<SourceId, Vec<Range<usize>>>,
) -> Inventory {
    let schema = schema_inventory();
    let mut files = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let id = SourceId(index);
        let hidden = secrets.entry(id).or_default();
        if let Some((file, document)) =
            read::<InventoryDocument>(id, source, &schema, findings, hidden)
        {
            files.push(InventoryFile { file, document });
        }
    }
    merge_inventory(&files, findings)
}

impl Loaded {
    /// What the shell must read before templates can be resolved.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for pipeline in &self.pipelines {
            needs.merge(pipeline.needs());
        }
        needs
    }

    /// An error for every place that names something which could not be read.
    pub fn check_given(&self, given: &Given) -> Result<(), Diagnostics> {
        let absent = self
            .noted
            .references
            .iter()
            .filter_map(|(variable, source, span)| {
                let (label, hint) = match variable {
                    Variable::Env(name) if !given.env.contains_key(name) => (
                        "the environment variable is not set",
                        "set it before redpipe starts",
                    ),
                    Variable::File(path) if !given.files.contains_key(path) => (
                        "the file cannot be read",
                        "put the file there, readable for redpipe",
                    ),
                    Variable::Env(_)
                    | Variable::File(_)
                    | Variable::BmcName
                    | Variable::ServerName
                    | Variable::Label(_) => return None,
                };
                let message = format!("variable `{variable}` has no value");
                let mut finding = Diagnostic::error(*source, span.clone(), message, label);
                finding.hint(hint);
                Some(finding)
            });
        self.found(absent.chain(self.absent_hooks(given)).collect())
    }

    /// An error for every place that names a hook which cannot be run.
    pub fn check_hooks(&self, given: &Given) -> Result<(), Diagnostics> {
        self.found(self.absent_hooks(given).collect())
    }

    fn absent_hooks(&self, given: &Given) -> impl Iterator<Item = Diagnostic> {
        let hooks = self
            .noted
            .hooks
            .iter()
            .filter(|(hook, ..)| !given.hooks.contains(&hook.path));
        hooks.map(|(hook, source, span)| {
            let message = format!("hook `{}` cannot be run", hook.name);
            let label = "no program is there, or nobody may execute it";
            let mut finding = Diagnostic::error(*source, span.clone(), message, label);
            finding.hint("put the program there and make it executable with `chmod +x`");
            finding
        })
    }

    /// Every image that is a file on this host.
    pub fn image_files(&self) -> BTreeSet<ImageFile> {
        self.noted
            .images
            .iter()
            .map(|(image, ..)| image.clone())
            .collect()
    }

    /// An error for every place that names an image file which turned out to be unusable.
    pub fn check_images(&self, unusable: &[UnusableImage]) -> Result<(), Diagnostics> {
        let named = self
            .noted
            .images
            .iter()
            .filter_map(|(image, source, span)| {
                let found = unusable.iter().find(|found| found.image == *image)?;
                let (message, label) = (found.message.as_str(), found.found.as_str());
                let mut finding = Diagnostic::error(*source, span.clone(), message, label);
                finding.hint.clone_from(&found.hint);
                Some(finding)
            });
        self.found(named.collect())
    }

    fn found(&self, findings: Vec<Diagnostic>) -> Result<(), Diagnostics> {
        if findings.is_empty() {
            return Ok(());
        }
        Err(Diagnostics {
            sources: self.warnings.sources.clone(),
            findings,
        })
    }
}
