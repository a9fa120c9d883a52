//! This room turns the texts of pipeline and inventory files into checked [`Pipeline`]s and an
//! [`Inventory`](crate::model::inventory::Inventory), or into a list of everything that is wrong with them.
//!
//! It deliberately reads no file, no environment and no secret: texts go in, values and findings come out.

pub mod checked;
pub mod diagnostic;
pub mod selector;
pub mod template;

pub use checked::{
    DriftPolicy, FlowItem, Guard, Image, Method, Pipeline, Requirement, RequirementOp, ResetPolicy,
    ResourcePatch, Rollout, SettingsStage, Stage, StageKind, StageOptions, VersionStage,
};
pub use diagnostic::{Diagnostic, Diagnostics, Position, Severity, Source, SourceId};
pub use selector::{Expression, Operator, Selector};
pub use template::{Given, Needs, Scope, Template, Unresolved};
