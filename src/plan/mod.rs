//! This room turns one checked pipeline, one BMC and one look at it into what there is to do and why.
//!
//! It sends nothing, reads no clock and no file, and remembers nothing: every function is a pure function of the
//! resolved [`RunSpec`] and of what was read.

mod conflict;
pub mod digest;
pub mod expand;
pub mod firmware;
pub mod golden;
pub mod item;
pub mod method;
pub mod outage;
mod path;
pub mod report;
pub mod reset;
pub mod resolve;
pub mod resources;
pub mod running;
pub mod secrecy;
pub mod settings;
pub mod spec;
pub mod superseded;
pub mod targets;
#[cfg(test)]
mod testing;

pub use conflict::{Claim, Conflict, conflicts};
pub use digest::{approval_digest, place_digest};
pub use expand::{Footing, HopPath, HopPaths};
pub use firmware::{VersionAssessment, assess_version};
pub use item::{ItemAssessment, ItemContext, assess_item};
pub use method::{choose_method, image_source};
pub use outage::{Outage, disturbed};
pub use report::{
    HoldKind, HoldReport, PlanAction, PlanProblem, PlanReport, RunReport, StageReport,
    TargetReport, ask_settings, check_problems, holds, look_request, problems, report, wrong_boxes,
};
pub use reset::{activation_obstacle, offered_type, reset_obstacle};
pub use resolve::{CatalogImage, ImageCatalog, Unresolvable, WantedImage, resolve, wanted_images};
pub use resources::{ResourceAssessment, assess_resource};
pub use running::{guard_unmet, is_version_of, live_version, staged};
pub use secrecy::{Remembered, Written, fingerprint, kept_generation};
pub use settings::{
    AttributeItem, Finding, FindingKind, SettingsAssessment, assess_settings, group_patches,
};
pub use spec::{
    ActionSpec, FlowItemSpec, ImageOrigin, ImageSpec, ResourceSpec, RunSpec, ServerSpec,
    SettingsSpec, StageKindSpec, StageSpec, VersionSpec,
};
pub use superseded::{StageTarget, Standing, Superseded, standings, superseded};
pub use targets::update_targets;
