//! One wanted attribute: where it stands, and whether it can be written.

use serde_json::Value;

use super::assess::{AttributeItem, Finding, FindingKind};
use super::dependency::{self, Effective};
use super::nearest::nearest;
use super::value::{coerce, same, shown};
use crate::model::setting::{AttributeDefinition, AttributeType};
use crate::model::{SettingsView, Target};
use crate::plan::secrecy;

/// Whether an attribute cannot be read back: the registry says so, or it is named like a secret and reads like one.
pub(super) fn is_write_only(
    name: &str,
    definition: Option<&AttributeDefinition>,
    current: Option<&Value>,
) -> bool {
    definition.is_some_and(|d| d.write_only || d.kind == Some(AttributeType::Password))
        || (secrecy::is_secret(name) && current.is_none_or(secrecy::is_hidden))
}

/// Where one wanted attribute stands.
pub(super) enum Standing {
    /// As wanted.
    InEffect,
    /// As wanted, while a configuration job is open.
    Unconfirmed,
    /// The wanted value waits for a reset.
    Waiting,
    /// Otherwise.
    Different,
}

/// One wanted attribute beside what is known of it.
pub(super) struct Attribute<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// As authored.
    pub(super) wanted: &'a Value,
    /// The value in effect.
    pub(super) current: Option<&'a Value>,
    /// Whether it cannot be read back.
    pub(super) write_only: bool,
    effective: Option<Effective<'a>>,
}

impl<'a> Attribute<'a> {
    pub(super) fn of(
        name: &'a str,
        wanted: &'a Value,
        item: &AttributeItem<'a>,
        view: &'a SettingsView,
    ) -> Self {
        let effective = dependency::effective(name, item, view);
        let current = item.current(name, view);
        let write_only = is_write_only(name, effective.as_ref().map(|e| &e.definition), current);
        Self {
            name,
            wanted,
            current,
            write_only,
            effective,
        }
    }

    fn definition(&self) -> Option<&AttributeDefinition> {
        self.effective
            .as_ref()
            .map(|effective| &effective.definition)
    }

    /// Where it stands.
    pub(super) fn standing(&self, item: &AttributeItem<'_>, view: &SettingsView) -> Standing {
        let is_assumed = item.assumed.contains_key(self.name);
        let pending = view.pending(self.name).filter(|_| !is_assumed);
        if self.write_only {
            return match (item.written.holds(self.name, self.wanted), pending) {
                (true, None) => Standing::InEffect,
                (true, Some(_)) => Standing::Waiting,
                (false, _) => Standing::Different,
            };
        }
        let is_wanted = |value: &Value| same(value, self.wanted, self.definition());
        match (pending, self.current) {
            (Some(pending), _) if is_wanted(pending) => Standing::Waiting,
            (None, Some(current)) if is_wanted(current) => {
                if view.config_jobs.is_empty() || is_assumed {
                    Standing::InEffect
                } else {
                    Standing::Unconfirmed
                }
            }
            (Some(_) | None, _) => Standing::Different,
        }
    }

    /// The value to write, or why it cannot be written.
    pub(super) fn writable(
        &self,
        item: &AttributeItem<'_>,
        view: &SettingsView,
    ) -> Result<Value, Finding> {
        self.placed(item, view)?;
        self.unlocked(item)?;
        coerce(self.wanted, self.definition(), self.current).map_err(|misfit| {
            self.finding(
                misfit.kind,
                format!("`{}` {}", self.name, misfit.message),
                misfit.hint,
            )
        })
    }

    /// Whether exactly one resource takes it.
    fn placed(&self, item: &AttributeItem<'_>, view: &SettingsView) -> Result<(), Finding> {
        let name = self.name;
        let owner = match item.target {
            Target::Bmc => "BMC",
            Target::Server(_) => "BIOS",
        };
        let holders: Vec<&str> = view
            .resources
            .iter()
            .filter(|resource| resource.current.contains_key(name))
            .map(|resource| resource.uri.as_str())
            .collect();
        match (holders.as_slice(), self.definition()) {
            ([_], _) => Ok(()),
            ([], Some(_)) if self.write_only && view.resources.len() == 1 => Ok(()),
            ([], Some(_)) => {
                let message = format!(
                    "`{name}` is in the attribute registry, and the BMC shows no value of it"
                );
                Err(self.finding(FindingKind::NotShown, message, None))
            }
            ([], None) => {
                let registry = view
                    .registry
                    .iter()
                    .flat_map(|registry| registry.attributes.keys());
                let shown = view
                    .resources
                    .iter()
                    .flat_map(|resource| resource.current.keys());
                let hint = nearest(name, registry.chain(shown).map(String::as_str))
                    .map(|near| format!("did you mean `{near}`?"));
                let message = format!("`{name}` is no attribute of this {owner}");
                Err(self.finding(FindingKind::Unknown, message, hint))
            }
            (several, _) => {
                let message = format!(
                    "`{name}` is in more than one resource: {}",
                    several.join(", ")
                );
                Err(self.finding(FindingKind::Ambiguous, message, None))
            }
        }
    }

    fn unlocked(&self, item: &AttributeItem<'_>) -> Result<(), Finding> {
        let Some(effective) = &self.effective else {
            return Ok(());
        };
        if !effective.definition.read_only && !effective.definition.locked {
            return Ok(());
        }
        let word = if effective.definition.read_only {
            "read-only"
        } else {
            "hidden or locked"
        };
        let name = self.name;
        let now = self.current.map_or_else(
            || "nothing".to_owned(),
            |value| format!("`{}`", shown(&secrecy::masked(name, value))),
        );
        let (kind, message, condition) = match (effective.locked_by, effective.unlocked_by) {
            (Some(lock), _) => {
                let message = format!("`{name}` is {word} while {}", dependency::described(lock));
                (FindingKind::DependencyLocked, message, Some(lock))
            }
            (None, Some(key)) => {
                let message = format!("`{name}` is {word} until {}", dependency::described(key));
                (FindingKind::DependencyLocked, message, Some(key))
            }
            (None, None) => (
                FindingKind::ReadOnly,
                format!("`{name}` is {word}, and is {now} now"),
                None,
            ),
        };
        let together = condition.and_then(|dependency| {
            dependency
                .from
                .iter()
                .find(|term| item.wanted.contains_key(&term.attribute))
        });
        let hint = together.map(|term| {
            format!(
                "set `{}` in a flow item with a lower `priority`: it must be in effect first",
                term.attribute
            )
        });
        Err(self.finding(kind, message, hint))
    }

    fn finding(&self, kind: FindingKind, message: String, hint: Option<String>) -> Finding {
        Finding {
            name: self.name.to_owned(),
            kind,
            message,
            hint,
        }
    }
}
