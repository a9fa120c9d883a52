//! What discovery found: where things are on one BMC, for one firmware version of it.
//!
//! Remembered by the caller, so that a warm look asks for nothing but what it wants to know.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::redfish::wire::{key, last_segment, same};

/// Where things are on one BMC. Valid for one BMC firmware version: another version, another root or a 404 on one of its
/// links means that discovery starts over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Links {
    /// Layout of this record; another number is not read.
    pub format: u32,
    /// `FirmwareVersion` of the acting manager when this was found, byte for byte.
    pub bmc_version: Option<String>,
    /// What the service root said of itself.
    pub root: RootFacts,
    /// Members of `Managers`.
    pub managers: Vec<ManagerLinks>,
    /// Members of `Systems`.
    pub systems: Vec<SystemLinks>,
    /// `UpdateService.FirmwareInventory`.
    pub software: Option<String>,
    /// `TaskService.Tasks`.
    pub tasks: Option<String>,
    /// Job collections: of the job service, else of the managers' Oem links.
    pub jobs: Vec<String>,
    /// How images get in.
    pub update: UpdateLinks,
    /// Class of machine as detected.
    pub platform: String,
    /// What it was recognized by, for people.
    pub recognized_by: Vec<String>,
    /// Whether `$expand` was refused though it is offered.
    pub expand_refused: bool,
    /// Permanent MACs of the managers' interfaces.
    pub manager_macs: BTreeSet<String>,
    /// Resources with BMC attributes; `None` = never looked for.
    pub attribute_resources: Option<Vec<String>>,
    /// Whether the acting manager offers no reset.
    pub no_manager_reset: bool,
    /// Allowed `ResetType` values of the acting manager; empty = not stated.
    pub manager_reset_types: Vec<String>,
    /// Software that tells the version of a manager or Bios which shows none itself, by URI of the silent one.
    pub version_sources: BTreeMap<String, Vec<String>>,
    /// Allowed parameter values by ActionInfo URI, then by parameter name.
    pub action_infos: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// What resource templates led to, by base URI and template.
    pub templates: BTreeMap<String, String>,
}

/// The layout of [`Links`] that this program writes and reads.
pub(in crate::redfish) const LINKS_FORMAT: u32 = 4;

/// Facts of the service root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct RootFacts {
    /// `UUID`.
    pub uuid: Option<String>,
    /// `Vendor`, else the first key of `Oem`.
    pub vendor: Option<String>,
    /// `Product`.
    pub product: Option<String>,
    /// Keys of `Oem`.
    pub oem: Vec<String>,
    /// `Managers`.
    pub managers: Option<String>,
    /// `Systems`.
    pub systems: Option<String>,
    /// `Chassis`.
    pub chassis: Option<String>,
    /// `UpdateService`.
    pub update_service: Option<String>,
    /// `Tasks`.
    pub task_service: Option<String>,
    /// `JobService`.
    pub job_service: Option<String>,
    /// `Registries`.
    pub registries: Option<String>,
    /// Whether `ProtocolFeaturesSupported` offers one level of `$expand`.
    pub expand: bool,
}

/// One manager.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ManagerLinks {
    /// Its URI.
    pub uri: String,
    /// `ManagerType` is BMC, or absent.
    pub is_bmc: bool,
    /// Its chassis.
    pub chassis: Option<String>,
}

/// One system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemLinks {
    /// Its URI.
    pub uri: String,
    /// Its `Id`.
    pub id: String,
    /// Its Bios resource.
    pub bios: Option<String>,
    /// Its first chassis.
    pub chassis: Option<String>,
    /// Its managers.
    pub managed_by: Vec<String>,
}

/// How images get in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateLinks {
    /// Target of `#UpdateService.SimpleUpdate`.
    pub simple_update: Option<String>,
    /// Its allowed `TransferProtocol` values, in the BMC's spelling; empty = not stated.
    pub transfer_protocols: Vec<String>,
    /// `MultipartHttpPushUri`.
    pub multipart_push: Option<String>,
    /// `HttpPushUri`.
    pub http_push: Option<String>,
    /// Target of `#UpdateService.StartUpdate`.
    pub start_update: Option<String>,
    /// The service whose `HttpPushUriTargets` a client reserves before such a push; `None` = it has none.
    pub push_targets: Option<String>,
    /// `@Redfish.OperationApplyTimeSupport` values of SimpleUpdate; empty = not stated.
    pub simple_apply_times: Vec<String>,
    /// The same of the multipart push.
    pub push_apply_times: Vec<String>,
    /// `MaxImageSizeBytes`.
    pub max_image_bytes: Option<u64>,
}

impl Links {
    /// The system that an inventory line means: by URI, by last segment of the URI, or by `Id`.
    pub(super) fn system(&self, named: &str) -> Option<&SystemLinks> {
        self.systems.iter().find(|system| {
            same(&system.uri, named)
                || last_segment(&system.uri).eq_ignore_ascii_case(named)
                || system.id.eq_ignore_ascii_case(named)
        })
    }

    /// The manager that BMC stages act on: the BMC that manages one of these systems, else the first by URI.
    pub(in crate::redfish) fn manager(&self, of_systems: &[&SystemLinks]) -> Option<&ManagerLinks> {
        let managing = |manager: &&ManagerLinks| {
            manager.is_bmc
                && of_systems
                    .iter()
                    .any(|system| system.managed_by.iter().any(|uri| same(uri, &manager.uri)))
        };
        self.managers
            .iter()
            .find(managing)
            .or_else(|| self.managers.iter().min_by(|a, b| a.uri.cmp(&b.uri)))
    }

    /// The spelling under which this BMC lists a manager, a system or a Bios; any other link as it is.
    pub(super) fn spelled(&self, uri: &str) -> String {
        let wanted = key(uri);
        let managers = self.managers.iter().map(|manager| &manager.uri);
        let systems = self
            .systems
            .iter()
            .flat_map(|system| [Some(&system.uri), system.bios.as_ref()])
            .flatten();
        managers
            .chain(systems)
            .find(|known| key(known) == wanted)
            .map_or_else(|| uri.to_owned(), Clone::clone)
    }
}
