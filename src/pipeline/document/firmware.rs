//! A catalogue of firmware images as written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::at::At;
use super::pipeline::ImageDocument;
use crate::model::component::Component;

/// A catalogue in a file of its own: images from which `path = "auto"` computes hops, for all pipelines read with it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "redpipe firmware catalogue")]
pub(crate) struct CatalogueDocument {
    /// The images, in any order.
    #[schemars(required, length(min = 1))]
    pub(crate) firmware: Option<At<Vec<At<FirmwareDocument>>>>,
}

/// One image that hops may be made of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirmwareDocument {
    /// What it updates.
    #[schemars(required)]
    pub(crate) component: Option<At<ComponentDocument>>,
    /// Platform that it is for, as `redpipe inventory check` names it; any where left out.
    pub(crate) platform: Option<At<String>>,
    /// The version it brings, as the BMC will state it.
    #[schemars(required)]
    pub(crate) version: Option<At<String>>,
    /// What to flash.
    #[schemars(required)]
    pub(crate) image: Option<At<ImageDocument>>,
    /// What the live version must satisfy, such as `">= 1.60"`.
    pub(crate) requires: Option<At<String>>,
}

/// What an image updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ComponentDocument {
    /// The BMC.
    Bmc,
    /// A server's BIOS.
    Bios,
}

impl ComponentDocument {
    /// The component it means.
    pub(crate) fn component(self) -> Component {
        match self {
            Self::Bmc => Component::Bmc,
            Self::Bios => Component::Bios,
        }
    }
}
