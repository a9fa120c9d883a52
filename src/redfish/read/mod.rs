//! This room reads what a BMC shows: where things are on it, and what they say, each as a view of the model.
//!
//! It sends nothing but reads, and keeps nothing between looks.

mod boxes;
mod capability;
mod discover;
mod identity;
mod jobs;
mod licences;
mod links;
mod managers;
mod reader;
mod recognize;
mod registry;
mod resource;
mod settings;
mod software;
mod systems;
mod tasks;

pub use boxes::ServerRef;
pub(super) use boxes::{Assigned, Boxes, Members, assign, read_boxes, system_named, systems_meant};
pub(super) use capability::capability;
pub(super) use discover::{allowed_values, beside_managers, expand_of, root_facts, services};
pub(super) use identity::{identity, is_thin};
pub(super) use jobs::{config_jobs, read_jobs};
pub(super) use licences::read_licences;
pub(super) use links::LINKS_FORMAT;
pub use links::{Links, ManagerLinks, RootFacts, SystemLinks, UpdateLinks};
pub(super) use reader::{Expand, Reader, ends_look};
pub(super) use recognize::recognize;
pub(super) use registry::{Describes, find_registry, registry_document};
pub(super) use resource::{base_of, lacking, resolve};
pub(super) use settings::{attributes_of, bios_attributes, manager_attributes, same_value};
pub(super) use software::{
    read_software, read_some, relate_active, relate_namesake, version_sources,
};
pub(super) use systems::system_view;
pub(super) use tasks::{follow, is_task, read_tasks, task_view};
