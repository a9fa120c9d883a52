//! A pipeline file as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::at::{Any, At};
use super::firmware::FirmwareDocument;
use super::maintenance::MaintenanceDocument;
use super::preserve::PreserveDocument;

/// A pipeline: ordered stages for the servers that carry a label.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "redpipe pipeline")]
pub(crate) struct PipelineDocument {
    /// Unique name.
    #[schemars(required)]
    pub(crate) name: Option<At<String>>,
    /// What drift leads to; `observe` where left out.
    pub(crate) drift_policy: Option<At<DriftDocument>>,
    /// Which servers; `match_labels = {}` selects all.
    #[schemars(required)]
    pub(crate) selector: Option<At<SelectorDocument>>,
    /// How many BMCs at once, and when to stop.
    pub(crate) rollout: Option<At<RolloutDocument>>,
    /// Who agrees, when disruptive steps may run, and what runs around them.
    pub(crate) maintenance: Option<At<MaintenanceDocument>>,
    /// Stage options that hold for every stage that does not say otherwise.
    pub(crate) defaults: Option<At<StageDefaultsDocument>>,
    /// The steps, in order.
    #[schemars(required, length(min = 1))]
    pub(crate) stage: Option<At<Vec<At<StageDocument>>>>,
    /// Images from which `path = "auto"` computes hops, besides those of catalogue files.
    pub(crate) firmware: Option<At<Vec<At<FirmwareDocument>>>>,
}

/// What drift leads to.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DriftDocument {
    /// It is told.
    Observe,
    /// It is undone.
    Reconcile,
}

/// Which servers: all terms must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectorDocument {
    /// Labels that must have exactly this value; `{}` selects all.
    pub(crate) match_labels: Option<BTreeMap<At<String>, At<String>>>,
    /// Further terms.
    pub(crate) match_expressions: Option<Vec<At<ExpressionDocument>>>,
}

/// One term about one label.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpressionDocument {
    /// Label name.
    #[schemars(required)]
    pub(crate) key: Option<At<String>>,
    /// What must hold.
    #[schemars(required)]
    pub(crate) operator: Option<At<OperatorDocument>>,
    /// Values of `In` and `NotIn`.
    pub(crate) values: Option<At<Vec<At<String>>>>,
}

/// What must hold of a label.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(crate) enum OperatorDocument {
    /// Present, with one of the values.
    In,
    /// Absent, or with another value.
    NotIn,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
}

/// How many BMCs at once, and when to stop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RolloutDocument {
    /// BMCs in progress at once; 1 where left out.
    #[schemars(range(min = 1))]
    pub(crate) max_concurrent: Option<At<u32>>,
    /// No new run starts once this many have failed; 1 where left out, 0 = no limit.
    pub(crate) max_failures: Option<At<u32>>,
    /// Not supported yet: this many BMCs first.
    pub(crate) canary: Option<At<u32>>,
}

/// Stage options that hold for every stage that does not say otherwise.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageDefaultsDocument {
    /// Longest time for a whole stage, such as `"45m"`.
    pub(crate) timeout: Option<At<String>>,
    /// Whole tries of a stage; 1 where left out.
    #[schemars(range(min = 1))]
    pub(crate) attempts: Option<At<u32>>,
    /// How a host may be reset; `graceful-then-force` where left out.
    pub(crate) reset: Option<At<ResetDocument>>,
    /// How an image gets in; `auto` where left out.
    pub(crate) method: Option<At<MethodDocument>>,
    /// Refused here: belongs on a component's last hop.
    pub(crate) allow_downgrade: Option<At<bool>>,
    /// Only `at-least` here: `exact` belongs on a component's last hop.
    #[serde(rename = "match")]
    pub(crate) matching: Option<At<MatchDocument>>,
    /// `Targets` of update requests, instead of found ones.
    pub(crate) targets: Option<At<Vec<At<String>>>>,
    /// Redfish apply time, such as `"OnReset"`.
    pub(crate) apply_time: Option<At<String>>,
    /// What an update keeps; `all` where left out.
    pub(crate) preserve: Option<At<PreserveDocument>>,
}

/// One step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageDocument {
    /// Unique in this file.
    #[schemars(required)]
    pub(crate) name: Option<At<String>>,
    /// What it does.
    #[schemars(required)]
    pub(crate) kind: Option<At<KindDocument>>,
    /// Wanted now, not watched for drift.
    pub(crate) transient: Option<At<bool>>,
    /// Version stages: the version wanted. Settings stages: apply only at or past it.
    pub(crate) version: Option<At<String>>,
    /// Version stages: what to flash.
    pub(crate) image: Option<At<ImageDocument>>,
    /// Version stages: what the live version must satisfy, such as `">= 1.60"`.
    pub(crate) requires: Option<At<String>>,
    /// Version stages: `auto` computes the hops to `version` from the catalogue, instead of `image`.
    pub(crate) path: Option<At<PathDocument>>,
    /// Settings stages: attributes by name; short for one flow item.
    pub(crate) settings: Option<At<BTreeMap<At<String>, At<Any>>>>,
    /// Settings stages: groups of settings in order of priority.
    #[schemars(length(min = 1))]
    pub(crate) flow: Option<At<Vec<At<FlowDocument>>>>,
    /// Refused here: belongs in a flow item.
    pub(crate) actions: Option<At<Any>>,
    /// What a certificate that changes inside the stage's outage leads to; only `hold`: more is said in the inventory.
    pub(crate) tls_change: Option<At<TlsChangeDocument>>,
    /// Agrees that the stage may cut redpipe's own connection: it goes one BMC at a time and is verified by a new login.
    pub(crate) severs: Option<At<bool>>,
    /// Longest time for the whole stage, such as `"45m"`.
    pub(crate) timeout: Option<At<String>>,
    /// Whole tries of the stage; 1 where left out.
    #[schemars(range(min = 1))]
    pub(crate) attempts: Option<At<u32>>,
    /// How a host may be reset; `graceful-then-force` where left out.
    pub(crate) reset: Option<At<ResetDocument>>,
    /// How an image gets in; `auto` where left out.
    pub(crate) method: Option<At<MethodDocument>>,
    /// Whether the version may go down; only on a component's last hop.
    pub(crate) allow_downgrade: Option<At<bool>>,
    /// `exact`: a later version does not count; only on a component's last hop or with a settings stage's `version`.
    #[serde(rename = "match")]
    pub(crate) matching: Option<At<MatchDocument>>,
    /// `Targets` of the update request, instead of found ones.
    pub(crate) targets: Option<At<Vec<At<String>>>>,
    /// Redfish apply time, such as `"OnReset"`.
    pub(crate) apply_time: Option<At<String>>,
    /// What an update keeps; `all` where left out.
    pub(crate) preserve: Option<At<PreserveDocument>>,
}

/// The options that a stage and `[defaults]` share.
pub(crate) struct OptionsDocument<'a> {
    pub(crate) timeout: Option<&'a At<String>>,
    pub(crate) attempts: Option<&'a At<u32>>,
    pub(crate) reset: Option<&'a At<ResetDocument>>,
    pub(crate) method: Option<&'a At<MethodDocument>>,
    pub(crate) targets: Option<&'a At<Vec<At<String>>>>,
    pub(crate) apply_time: Option<&'a At<String>>,
    pub(crate) preserve: Option<&'a At<PreserveDocument>>,
}

impl StageDefaultsDocument {
    pub(crate) fn options(&self) -> OptionsDocument<'_> {
        OptionsDocument {
            timeout: self.timeout.as_ref(),
            attempts: self.attempts.as_ref(),
            reset: self.reset.as_ref(),
            method: self.method.as_ref(),
            targets: self.targets.as_ref(),
            apply_time: self.apply_time.as_ref(),
            preserve: self.preserve.as_ref(),
        }
    }
}

impl StageDocument {
    pub(crate) fn options(&self) -> OptionsDocument<'_> {
        OptionsDocument {
            timeout: self.timeout.as_ref(),
            attempts: self.attempts.as_ref(),
            reset: self.reset.as_ref(),
            method: self.method.as_ref(),
            targets: self.targets.as_ref(),
            apply_time: self.apply_time.as_ref(),
            preserve: self.preserve.as_ref(),
        }
    }
}

/// What a stage does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KindDocument {
    /// Settings of the BMC.
    BmcSettings,
    /// One firmware hop of the BMC.
    BmcVersion,
    /// Settings of each server's BIOS.
    BiosSettings,
    /// One firmware hop of each server's BIOS.
    BiosVersion,
}

/// How the hops to a version are found.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PathDocument {
    /// Computed per BMC, from what runs there and from the catalogue.
    Auto,
}

/// What to flash: exactly one of `uri` and `file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImageDocument {
    /// The BMC fetches it from here.
    pub(crate) uri: Option<At<String>>,
    /// We send this file; relative to this one.
    pub(crate) file: Option<At<String>>,
    /// Digest of the bytes, 64 hexadecimal digits.
    pub(crate) sha256: Option<At<String>>,
}

/// A group of settings that is applied and verified before the next.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowDocument {
    /// Unique in the stage.
    #[schemars(required)]
    pub(crate) name: Option<At<String>>,
    /// Lower first, ties in file order; 0 where left out.
    pub(crate) priority: Option<At<i64>>,
    /// Attributes by name.
    #[serde(default)]
    pub(crate) settings: BTreeMap<At<String>, At<Any>>,
    /// JSON that plain resources must contain, in this order.
    #[serde(default)]
    pub(crate) resources: Vec<At<ResourceDocument>>,
    /// Redfish actions, in this order, after the resources.
    #[serde(default)]
    pub(crate) actions: Vec<At<ActionDocument>>,
    /// Agrees that the item may cut redpipe's own connection.
    pub(crate) severs: Option<At<bool>>,
    /// What a certificate that changes with the item leads to; only `hold`: more is said in the inventory.
    pub(crate) tls_change: Option<At<TlsChangeDocument>>,
}

/// JSON that one resource must contain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceDocument {
    /// Starts with `{manager}`, `{system}`, `{chassis}` or `{root}`.
    #[schemars(required)]
    pub(crate) uri: Option<At<String>>,
    /// The properties wanted.
    #[schemars(required)]
    pub(crate) set: Option<At<BTreeMap<At<String>, At<Any>>>>,
    /// Agrees that the entry may cut redpipe's own connection.
    pub(crate) severs: Option<At<bool>>,
    /// What a certificate that changes with the entry leads to; only `hold`: more is said in the inventory.
    pub(crate) tls_change: Option<At<TlsChangeDocument>>,
}

/// A setting that is made by a request of its own: sent only where a probe says that it is not made yet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActionDocument {
    /// Starts with `{manager}`, `{chassis}` or `{root}`; ends with `Actions/NAME`, or at a collection that is posted to.
    #[schemars(required)]
    pub(crate) uri: Option<At<String>>,
    /// What is posted; `{}` where left out.
    #[serde(default)]
    pub(crate) body: BTreeMap<At<String>, At<Any>>,
    /// What is read before and after: the action is sent only where this does not hold.
    #[schemars(required)]
    pub(crate) satisfied_when: Option<At<ProbeDocument>>,
    /// Agrees that the action may cut redpipe's own connection.
    pub(crate) severs: Option<At<bool>>,
}

/// What one resource shows once an action has done its work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeDocument {
    /// Starts with `{manager}`, `{chassis}` or `{root}`.
    #[schemars(required)]
    pub(crate) uri: Option<At<String>>,
    /// The properties that it must show.
    #[schemars(required)]
    pub(crate) set: Option<At<BTreeMap<At<String>, At<Any>>>>,
}

/// How a host may be reset.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResetDocument {
    /// Ask the operating system first, then force.
    GracefulThenForce,
    /// Only ask.
    Graceful,
    /// Force at once.
    Force,
    /// Never: a person resets.
    None,
}

/// How an image gets in.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MethodDocument {
    /// The best that the BMC offers and the image allows.
    Auto,
    /// The BMC pulls.
    SimpleUpdate,
    /// We push, with parameters.
    MultipartPush,
    /// We push the bytes alone.
    HttpPush,
}

/// Which versions count as reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MatchDocument {
    /// This one or a later one.
    AtLeast,
    /// Only this one.
    Exact,
}

/// What a certificate that changes inside a declared outage leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TlsChangeDocument {
    /// The run is held.
    Hold,
    /// It is remembered instead of the old one.
    AcceptInOutage,
}
