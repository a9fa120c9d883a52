//! Every kind of file exactly as written: the shapes that are parsed, and the JSON Schemas made from them.
//!
//! Every key is optional here, because a file with one wrong key is still checked for everything else; the schema says
//! which ones must be there.

mod at;
mod firmware;
mod inventory;
mod maintenance;
mod pipeline;
mod preserve;
mod schema;

pub(crate) use at::{Any, At};
pub(crate) use firmware::{CatalogueDocument, FirmwareDocument};
pub(crate) use inventory::{
    AuthDocument, BmcDocument, CredentialsDocument, DefaultsDocument, InventoryDocument,
    PaceDocument, SecretDocument, ServerDocument, TlsDocument, TlsWord,
};
pub(crate) use maintenance::{DayDocument, MaintenanceDocument, PolicyDocument, WindowDocument};
pub(crate) use pipeline::{
    ActionDocument, DriftDocument, ExpressionDocument, FlowDocument, ImageDocument, KindDocument,
    MatchDocument, MethodDocument, OperatorDocument, OptionsDocument, PipelineDocument,
    ProbeDocument, ResetDocument, ResourceDocument, RolloutDocument, SelectorDocument,
    StageDefaultsDocument, StageDocument, TlsChangeDocument,
};
pub(crate) use preserve::{PreserveDocument, PreserveWord};
pub use schema::{schema_catalogue, schema_inventory, schema_pipeline};
