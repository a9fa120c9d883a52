//! This file says what a store does with what happens to the fleet outside runs: it is added, placed in the one stream
//! with all records of all runs, and forgotten when it is very old.

use jiff::Timestamp;

use super::error::StoreError;
use crate::model::id::BmcName;

/// Happenings that are kept: the journals of the runs are what must never be lost.
pub(super) const HAPPENINGS_KEPT: u32 = 100_000;

/// Something that happened outside any run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HappeningRow {
    /// Its place among all records of all runs.
    pub cursor: i64,
    /// When.
    pub at: Timestamp,
    /// To which BMC; `None` = to the daemon itself.
    pub bmc: Option<BmcName>,
    /// A stable word.
    pub kind: String,
    /// For people.
    pub message: String,
}

/// What happens outside runs. All writes are on disk when the call returns.
pub trait Happenings: Send + Sync {
    /// Adds a happening; the store chooses its cursor, behind everything that is in the stream.
    fn add_happening(
        &self,
        at: Timestamp,
        bmc: Option<&BmcName>,
        kind: &str,
        message: &str,
    ) -> Result<i64, StoreError>;

    /// At most `limit` happenings after a cursor (0 = from the start), in the order they were written.
    fn happenings_after(&self, cursor: i64, limit: usize) -> Result<Vec<HappeningRow>, StoreError>;
}
