//! What an attribute's registry line says once the registry's dependencies have been applied to it.

use std::cmp::Ordering;

use serde_json::Value;

use super::assess::AttributeItem;
use super::value::{same, shown, whole};
use crate::model::SettingsView;
use crate::model::setting::{AttributeDefinition, Dependency, DependencyTerm};

/// A registry line in effect, and the dependency that decides its lock.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effective<'a> {
    /// The line with all dependencies that hold applied.
    pub(super) definition: AttributeDefinition,
    /// The dependency that locks it now.
    pub(super) locked_by: Option<&'a Dependency>,
    /// A dependency that would unlock it, and does not hold now.
    pub(super) unlocked_by: Option<&'a Dependency>,
}

/// The registry's line about an attribute with the values in effect; `None` where the registry has none.
pub(super) fn effective<'a>(
    name: &str,
    item: &AttributeItem<'_>,
    view: &'a SettingsView,
) -> Option<Effective<'a>> {
    let registry = view.registry.as_ref()?;
    let definition = registry.attributes.get(name)?.clone();
    let mut effective = Effective {
        definition,
        locked_by: None,
        unlocked_by: None,
    };
    for dependency in registry
        .dependencies
        .iter()
        .filter(|d| d.to_attribute == name)
    {
        if holds(dependency, item, view) {
            effective.apply(dependency);
        } else if Lock::of(&dependency.to_property).is_some()
            && dependency.to_value == Value::Bool(false)
        {
            effective.unlocked_by.get_or_insert(dependency);
        }
    }
    Some(effective)
}

/// Whether an attribute cannot be written with the values in effect.
pub(crate) fn is_locked(name: &str, item: &AttributeItem<'_>, view: &SettingsView) -> bool {
    effective(name, item, view)
        .is_some_and(|effective| effective.definition.read_only || effective.definition.locked)
}

/// Which attributes a registry locks or unlocks, each with those that decide it.
pub(crate) fn locks(view: &SettingsView) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let dependencies = view.registry.iter().flat_map(|known| &known.dependencies);
    dependencies
        .filter(|dependency| Lock::of(&dependency.to_property).is_some())
        .map(|dependency| {
            let from = dependency.from.iter().map(|term| term.attribute.as_str());
            (dependency.to_attribute.as_str(), from.collect())
        })
}

/// A dependency's condition in words: "`SysProfile` is `Custom`".
pub(super) fn described(dependency: &Dependency) -> String {
    let terms: Vec<String> = dependency.from.iter().map(term_described).collect();
    terms.join(if dependency.joined_by_or {
        " or "
    } else {
        " and "
    })
}

/// The properties that stand in the way of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    ReadOnly,
    Hidden,
}

impl Lock {
    /// Registries spell property names in any case (`Readonly`).
    fn of(property: &str) -> Option<Self> {
        if property.eq_ignore_ascii_case("ReadOnly") {
            return Some(Self::ReadOnly);
        }
        let hiding = ["GrayOut", "Hidden", "Immutable"];
        hiding
            .iter()
            .any(|word| property.eq_ignore_ascii_case(word))
            .then_some(Self::Hidden)
    }

    fn get(self, definition: &AttributeDefinition) -> bool {
        match self {
            Self::ReadOnly => definition.read_only,
            Self::Hidden => definition.locked,
        }
    }
}

impl<'a> Effective<'a> {
    fn apply(&mut self, dependency: &'a Dependency) {
        if let (Some(lock), Some(on)) = (
            Lock::of(&dependency.to_property),
            dependency.to_value.as_bool(),
        ) {
            match lock {
                Lock::ReadOnly => self.definition.read_only = on,
                Lock::Hidden => self.definition.locked = on,
            }
            self.locked_by = if on { Some(dependency) } else { None };
        } else if dependency.to_property.eq_ignore_ascii_case("LowerBound") {
            self.definition.lower = whole(&dependency.to_value).or(self.definition.lower);
        } else if dependency.to_property.eq_ignore_ascii_case("UpperBound") {
            self.definition.upper = whole(&dependency.to_value).or(self.definition.upper);
        }
    }
}

fn holds(dependency: &Dependency, item: &AttributeItem<'_>, view: &SettingsView) -> bool {
    let mut terms = dependency
        .from
        .iter()
        .map(|term| term_holds(term, item, view));
    // Without a term nothing is said, and "all of none" must not lock an attribute.
    if dependency.from.is_empty() {
        false
    } else if dependency.joined_by_or {
        terms.any(|holds| holds)
    } else {
        terms.all(|holds| holds)
    }
}

fn term_holds(term: &DependencyTerm, item: &AttributeItem<'_>, view: &SettingsView) -> bool {
    let definition = view.definition(&term.attribute);
    let found = match (Lock::of(&term.property), definition) {
        (Some(lock), Some(definition)) => Value::Bool(lock.get(definition)),
        (Some(_), None) => return false,
        (None, _) if !term.property.eq_ignore_ascii_case("CurrentValue") => return false,
        (None, _) => match item.current(&term.attribute, view) {
            Some(value) => value.clone(),
            None => return false,
        },
    };
    let equal = same(&found, &term.value, definition);
    let order = whole(&found)
        .zip(whole(&term.value))
        .map(|(found, wanted)| found.cmp(&wanted));
    match term.condition.to_ascii_uppercase().as_str() {
        "EQU" => equal,
        "NEQ" => !equal,
        "GTR" => order == Some(Ordering::Greater),
        "GEQ" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        "LSS" => order == Some(Ordering::Less),
        "LEQ" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => false,
    }
}

fn term_described(term: &DependencyTerm) -> String {
    let condition = match term.condition.to_ascii_uppercase().as_str() {
        "EQU" => "is",
        "NEQ" => "is not",
        "GTR" => "is above",
        "GEQ" => "is at least",
        "LSS" => "is below",
        "LEQ" => "is at most",
        _ => "compares with",
    };
    let property = if Lock::of(&term.property).is_some() {
        format!(" {}", term.property)
    } else {
        String::new()
    };
    format!(
        "`{}`{property} {condition} `{}`",
        term.attribute,
        shown(&term.value)
    )
}
