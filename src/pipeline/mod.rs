//! This room turns the texts of pipeline and inventory files into checked [`Pipeline`]s and an
//! [`Inventory`](crate::model::inventory::Inventory), or into a list of everything that is wrong with them.
//!
//! It deliberately reads no file, no environment and no secret: texts go in, values and findings come out.

mod check;
pub mod checked;
pub mod diagnostic;
mod document;
mod inventory;
mod load;
pub mod maintenance;
mod options;
pub mod selector;
mod shape;
pub mod template;
mod value;
pub mod window;

pub use checked::{
    ActionCall, DriftPolicy, FirmwareImage, FlowItem, Guard, Image, ImageFile, Pipeline,
    Requirement, RequirementOp, ResourcePatch, Rollout, Route, SettingsStage, Stage, StageKind,
    VersionStage,
};
pub use diagnostic::{Diagnostic, Diagnostics, Position, Severity, Source, SourceId};
pub use document::{schema_catalogue, schema_inventory, schema_pipeline};
pub use load::{Loaded, UnusableImage, load};
pub use maintenance::{Hook, Maintenance, Policy};
pub use options::{Method, Preserve, ResetPolicy, StageOptions};
pub use selector::{Expression, Operator, Selector};
pub use template::{Given, Needs, Scope, Template, Unresolved};
pub use window::{Opening, Window};

#[cfg(test)]
mod tests;
