//! Settings as a BMC shows them: current values, pending values, and what the attribute registry says of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One attribute that is not as wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingChange {
    /// Attribute name, or resource URI with a JSON pointer.
    pub name: String,
    /// The value found; null where write-only or absent.
    pub from: Value,
    /// The value wanted, in the registry's own form.
    pub to: Value,
}

/// All that one look learned about the attributes of one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsView {
    /// One per resource that holds attributes: one `Bios`, or several BMC attribute resources.
    pub resources: Vec<AttributeResource>,
    /// The registry that describes them, where one was found.
    pub registry: Option<Arc<AttributeRegistry>>,
    /// Open jobs or tasks that will apply configuration of this target, whoever made them.
    pub config_jobs: Vec<String>,
}

impl SettingsView {
    /// The resource that holds an attribute.
    pub fn holder(&self, name: &str) -> Option<&AttributeResource> {
        self.resources.iter().find(|r| r.current.contains_key(name))
    }

    /// The current value of an attribute.
    pub fn current(&self, name: &str) -> Option<&Value> {
        self.holder(name).and_then(|r| r.current.get(name))
    }

    /// The value waiting for a reset, where one waits.
    pub fn pending(&self, name: &str) -> Option<&Value> {
        self.resources.iter().find_map(|r| r.pending.get(name))
    }

    /// The registry's line about an attribute.
    pub fn definition(&self, name: &str) -> Option<&AttributeDefinition> {
        self.registry.as_ref().and_then(|r| r.attributes.get(name))
    }

    /// Whether anything can be said at all: an empty map is "not observable", not "unset".
    pub fn is_observable(&self) -> bool {
        self.resources.iter().any(|r| !r.current.is_empty())
    }
}

/// One resource with an `Attributes` map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttributeResource {
    /// Where the attributes are read.
    pub uri: String,
    /// Where they are written: the `@Redfish.Settings` object, or the resource itself.
    pub write_uri: String,
    /// Current values.
    pub current: BTreeMap<String, Value>,
    /// Only what differs from `current` in the settings object: accepted, not in effect.
    pub pending: BTreeMap<String, Value>,
    /// `SupportedApplyTimes`, empty where not published.
    pub apply_times: Vec<String>,
    /// `AttributeRegistry` as the resource names it.
    pub registry_name: Option<String>,
}

/// An attribute registry (DSP0268 AttributeRegistry), reduced to what a typed diff needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttributeRegistry {
    /// Id as found.
    pub id: String,
    /// By attribute name.
    pub attributes: BTreeMap<String, AttributeDefinition>,
    /// In document order.
    pub dependencies: Vec<Dependency>,
}

/// What the registry says of one attribute.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttributeDefinition {
    /// `Enumeration`, `String`, `Integer`, `Boolean`, `Password`; `None` where unknown.
    pub kind: Option<AttributeType>,
    /// `ReadOnly`, in any spelling.
    pub read_only: bool,
    /// `Immutable` or `Hidden` or `GrayOut`.
    pub locked: bool,
    /// `WriteOnly`, or a password.
    pub write_only: bool,
    /// `ResetRequired`, where stated.
    pub reset_required: Option<bool>,
    /// Enumeration values with their display names.
    pub values: Vec<EnumValue>,
    /// Integer bounds.
    pub lower: Option<i64>,
    /// Integer bounds.
    pub upper: Option<i64>,
    /// Integer step.
    pub increment: Option<i64>,
    /// String length bounds.
    pub min_length: Option<u64>,
    /// String length bounds.
    pub max_length: Option<u64>,
}

/// Types of attributes in a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeType {
    /// One of a list.
    Enumeration,
    /// Text.
    String,
    /// Whole number, 64 bits.
    Integer,
    /// True or false.
    Boolean,
    /// Write-only text.
    Password,
}

/// What an attribute is as it comes from the factory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactoryAttribute {
    /// `DefaultValue`, byte for byte; `None` = not stated.
    pub default: Option<Value>,
    /// What people call it.
    pub display_name: Option<String>,
}

/// By attribute name.
pub type FactoryAttributes = BTreeMap<String, FactoryAttribute>;

/// One value of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumValue {
    /// What is written.
    pub name: String,
    /// What people, and some BMCs, call it.
    pub display_name: Option<String>,
}

/// A registry's `Dependencies` entry of type Map, reduced to equality terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// All of these (joined by `joined_by_or` false) or any must hold.
    pub from: Vec<DependencyTerm>,
    /// Whether any term is enough.
    pub joined_by_or: bool,
    /// The attribute that changes.
    pub to_attribute: String,
    /// Its property that changes: `ReadOnly`, `Hidden`, `GrayOut`, `CurrentValue`, bounds…
    pub to_property: String,
    /// What that property becomes.
    pub to_value: Value,
}

/// One term of a dependency.
#[derive(Debug, Clone, PartialEq)]
pub struct DependencyTerm {
    /// The attribute looked at.
    pub attribute: String,
    /// `CurrentValue`, `ReadOnly`…
    pub property: String,
    /// `EQU`, `NEQ`, `GTR`, `GEQ`, `LSS`, `LEQ`.
    pub condition: String,
    /// The value compared with.
    pub value: Value,
}
