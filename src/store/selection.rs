//! What a pipeline last set out to do, so that a status without its files is not more cheerful than the truth.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::id::BmcName;

/// One pipeline over its BMCs, as the last apply began it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Every BMC that owns at least one selected server.
    pub bmcs: BTreeSet<BmcName>,
    /// Failed runs after which no other begins; 0 = no limit.
    pub max_failures: u32,
    /// Generation of the file, as runs keep it.
    #[serde(default)]
    pub generation: String,
}
