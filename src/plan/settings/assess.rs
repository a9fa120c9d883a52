//! The typed diff of one flow item's attributes.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::attribute::{Attribute, Standing, is_write_only};
use super::value::same;
use crate::model::{SettingChange, SettingsView, Target};
use crate::plan::secrecy::{self, MASK, Written};

static NOTHING: BTreeMap<String, Value> = BTreeMap::new();

/// What one flow item wants of the attributes of one target.
#[derive(Clone, Copy)]
pub struct AttributeItem<'a> {
    /// Whose attributes.
    pub target: &'a Target,
    /// Wanted values by attribute name, as authored.
    pub wanted: &'a BTreeMap<String, Value>,
    /// What is known to have been written to write-only attributes.
    pub written: Written<'a>,
    /// Values that are taken as current although they were not read: what earlier steps of a plan will have set.
    pub assumed: &'a BTreeMap<String, Value>,
    /// Values of other steps of this run that may still wait for a reset; they are not other people's.
    pub ours: &'a BTreeMap<String, Value>,
}

impl<'a> AttributeItem<'a> {
    /// An item before which nothing was done.
    pub fn new(
        target: &'a Target,
        wanted: &'a BTreeMap<String, Value>,
        written: Written<'a>,
    ) -> Self {
        Self {
            target,
            wanted,
            written,
            assumed: &NOTHING,
            ours: &NOTHING,
        }
    }

    /// The value in effect when this item is reached.
    pub(super) fn current<'v>(&self, name: &str, view: &'v SettingsView) -> Option<&'v Value>
    where
        'a: 'v,
    {
        self.assumed.get(name).or_else(|| view.current(name))
    }
}

/// What stands between the attributes of a target and what one flow item wants of them.
#[derive(Clone, Default, PartialEq)]
pub struct SettingsAssessment {
    /// What makes the item impossible; all of it at once.
    pub findings: Vec<Finding>,
    /// What differs. Secret values are masked: what is sent comes from [`group_patches`](super::group_patches).
    pub changes: Vec<SettingChange>,
    /// Attributes whose wanted value waits for a reset already.
    pub pending_ours: Vec<String>,
    /// Attributes on which something waits that this run does not want.
    pub foreign_pending: Vec<String>,
    /// Attributes that show the wanted value while a configuration job is open: some BMCs show early what the job has
    /// not done yet.
    pub unconfirmed: Vec<String>,
    /// Whether the BMC shows no attributes at all: nothing can be said, and nothing may be written.
    pub not_observable: bool,
    /// Whether what differs or waits needs a reset to come into effect, as far as the registry says.
    pub reset_required: bool,
    /// Whether all that is wanted is in effect.
    pub satisfied: bool,
    /// What to remember of write-only values once the BMC has accepted them, by attribute name.
    pub fingerprints: BTreeMap<String, String>,
    writes: BTreeMap<String, Value>,
}

impl SettingsAssessment {
    /// Whether something is to be written or waited for. While it is, [`foreign_pending`](Self::foreign_pending) must be
    /// empty: a write or a reset would put it into effect too.
    pub fn is_due(&self) -> bool {
        !self.changes.is_empty() || self.waits()
    }

    /// Whether something that is wanted waits for a reset or a job.
    pub fn waits(&self) -> bool {
        !self.pending_ours.is_empty() || !self.unconfirmed.is_empty()
    }

    /// Values to write, in the registry's form and type. Secret ones are in the clear.
    pub(super) fn writes(&self) -> &BTreeMap<String, Value> {
        &self.writes
    }
}

impl fmt::Debug for SettingsAssessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsAssessment")
            .field("findings", &self.findings)
            .field("changes", &self.changes)
            .field("pending_ours", &self.pending_ours)
            .field("foreign_pending", &self.foreign_pending)
            .field("unconfirmed", &self.unconfirmed)
            .field("not_observable", &self.not_observable)
            .field("reset_required", &self.reset_required)
            .field("satisfied", &self.satisfied)
            .finish_non_exhaustive()
    }
}

/// Why an attribute cannot be set as wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The attribute.
    pub name: String,
    /// Which rule it breaks.
    pub kind: FindingKind,
    /// For people, with the attribute's name.
    pub message: String,
    /// What was probably meant, or what helps.
    pub hint: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Rules that a wanted attribute can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// Neither the registry nor any resource knows the name.
    Unknown,
    /// The registry knows the name, and no resource shows it now.
    NotShown,
    /// More than one resource shows it.
    Ambiguous,
    /// It cannot be written.
    ReadOnly,
    /// It cannot be written until another attribute has another value.
    DependencyLocked,
    /// The value has the wrong type.
    WrongType,
    /// The value is not in the list.
    NotInEnumeration,
    /// The number is too small or too large.
    OutOfBounds,
    /// The number is between two steps.
    Step,
    /// The text is too short or too long.
    Length,
}

/// Compares what a flow item wants with what a look found.
///
/// A difference is one of meaning, not of form: see [`SettingsAssessment`] for what comes out. An attribute that is
/// already as wanted breaks no rule, whatever the registry says of it.
pub fn assess_settings(item: &AttributeItem<'_>, view: &SettingsView) -> SettingsAssessment {
    let mut assessment = SettingsAssessment {
        foreign_pending: foreign_pending(item, view),
        ..SettingsAssessment::default()
    };
    if !item.wanted.is_empty() && !view.is_observable() {
        assessment.not_observable = true;
        return assessment;
    }
    for (name, wanted) in item.wanted {
        let attribute = Attribute::of(name, wanted, item, view);
        match attribute.standing(item, view) {
            Standing::InEffect => {}
            Standing::Unconfirmed => assessment.unconfirmed.push(name.clone()),
            Standing::Waiting => assessment.pending_ours.push(name.clone()),
            Standing::Different => match attribute.writable(item, view) {
                Ok(value) => assessment.change(&attribute, item, value),
                Err(finding) => assessment.findings.push(finding),
            },
        }
    }
    assessment.reset_required = assessment.needs_reset(item.target, view);
    assessment.satisfied = assessment.findings.is_empty() && !assessment.is_due();
    assessment
}

impl SettingsAssessment {
    fn change(&mut self, attribute: &Attribute<'_>, item: &AttributeItem<'_>, value: Value) {
        let name = attribute.name;
        let secret = attribute.write_only || secrecy::is_secret(name);
        let masked = |value: &Value| {
            if secret && !value.is_null() {
                Value::from(MASK)
            } else {
                value.clone()
            }
        };
        let from = attribute
            .current
            .filter(|_| !attribute.write_only)
            .map_or(Value::Null, masked);
        self.changes.push(SettingChange {
            name: name.to_owned(),
            from,
            to: masked(&value),
        });
        if attribute.write_only {
            let fingerprint = secrecy::fingerprint(item.written.salt, name, attribute.wanted);
            self.fingerprints.insert(name.to_owned(), fingerprint);
        }
        self.writes.insert(name.to_owned(), value);
    }

    /// A silent registry means yes for a BIOS, whose settings are read at boot, and no for a BMC, whose answer says so.
    fn needs_reset(&self, target: &Target, view: &SettingsView) -> bool {
        let silent = match target {
            Target::Server(_) => true,
            Target::Bmc => false,
        };
        let changed = self.changes.iter().map(|change| &change.name);
        changed
            .chain(&self.pending_ours)
            .chain(&self.unconfirmed)
            .any(|name| {
                view.definition(name)
                    .and_then(|d| d.reset_required)
                    .unwrap_or(silent)
            })
    }
}

/// Names on which something waits that is neither wanted by this item nor by another of this run.
fn foreign_pending(item: &AttributeItem<'_>, view: &SettingsView) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, pending) in view.resources.iter().flat_map(|resource| &resource.pending) {
        let definition = view.definition(name);
        let is_ours = [item.wanted, item.ours]
            .iter()
            .filter_map(|values| values.get(name))
            .any(|value| {
                same(value, pending, definition)
                    || (is_write_only(name, definition, view.current(name))
                        && item.written.holds(name, value))
            });
        if !is_ours && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}
