//! This file says how a store fails, and what a person can do about it.
//!
//! It holds no journal content: errors name runs, BMCs and paths only.

use std::path::PathBuf;

use jiff::Timestamp;

use super::lease::HeldBy;
use crate::model::fault::{Fault, FaultKind, Retry};
use crate::model::id::BmcName;

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// `--state` names something that is no store.
    #[error("state location `{given}` {why}")]
    Location {
        /// What was given, user info masked.
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// Neither variable that places the default database is set.
    #[error(
        "no place for the state database: neither `XDG_STATE_HOME` nor `HOME` is an absolute path"
    )]
    NoHome,
    /// A file or folder of the store could not be made, opened or locked.
    #[error("cannot {doing} `{}`", path.display())]
    File {
        /// What was tried, a verb phrase.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Another process holds the database for longer than a call waits.
    #[error("database `{}` is locked by another process while trying to {doing}", path.display())]
    Locked {
        /// What was tried.
        doing: &'static str,
        /// Which database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The disk is full.
    #[error("no space left for database `{}` while trying to {doing}", path.display())]
    Full {
        /// What was tried.
        doing: &'static str,
        /// Which database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file was deleted, moved or replaced after it was opened.
    #[error("database `{}` was deleted, moved or replaced while redpipe uses it", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// A file that is no database of redpipe's.
    #[error("`{}` is not a redpipe database", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// A newer redpipe wrote the database: it can be read for display, not written.
    #[error("database `{}` has schema {found}, this redpipe writes schema {supported}", path.display())]
    Newer {
        /// Which database.
        path: PathBuf,
        /// Its schema number.
        found: u32,
        /// Ours.
        supported: u32,
    },
    /// What is stored does not read as what it should be.
    #[error("{place} holds something unreadable: {what}")]
    Corrupt {
        /// Which database, or `memory`.
        place: String,
        /// What does not read, without its content.
        what: String,
    },
    /// Any other failure of SQLite.
    #[error("database `{}` failed to {doing}", path.display())]
    Database {
        /// What was tried.
        doing: &'static str,
        /// Which database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// No run has this id.
    #[error("no run `{run}`")]
    UnknownRun {
        /// The id.
        run: String,
    },
    /// The run is over; its journal is closed.
    #[error("run `{run}` has finished")]
    RunFinished {
        /// The id.
        run: String,
    },
    /// The BMC has a run that is not finished.
    #[error("bmc `{bmc}` already has the unfinished run `{run}`")]
    UnfinishedRun {
        /// Which BMC.
        bmc: BmcName,
        /// The run that is in the way, as `PIPELINE/BMC#n`.
        run: String,
    },
    /// Somebody else appended to the journal.
    #[error("journal of run `{run}` stands at {found}, not at {expected}")]
    Moved {
        /// Which run.
        run: String,
        /// The last sequence number the caller knew.
        expected: u64,
        /// The last one stored.
        found: u64,
    },
    /// The lease that the caller acts under is no longer the BMC's.
    #[error("lease {epoch} of bmc `{bmc}` is over")]
    LeaseLost {
        /// Which BMC.
        bmc: BmcName,
        /// The caller's epoch.
        epoch: u64,
    },
    /// The journal has records of a newer kind than the caller writes.
    #[error("run `{run}` has records of version {found}, this redpipe writes version {written}")]
    NewerRecords {
        /// Which run.
        run: String,
        /// Highest version stored.
        found: u32,
        /// Highest version offered.
        written: u32,
    },
}

impl StoreError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Location { .. } => "give a path or `sqlite:PATH` to `--state`".to_owned(),
            Self::NoHome => "name the database with `--state PATH`".to_owned(),
            Self::File { path, .. } => {
                format!(
                    "check that you own `{}` and the folder it is in, or choose another with `--state PATH`",
                    path.display()
                )
            }
            Self::Locked { .. } => {
                "another redpipe is busy with it, or a tool has it open; close that and try again"
                    .to_owned()
            }
            Self::Full { path, .. } => {
                format!(
                    "free some space on the disk of `{}`; nothing that was acknowledged is lost",
                    path.display()
                )
            }
            Self::Gone { path } => format!(
                "put it back to `{}`; without it nobody knows what was sent to the BMCs, so look at them before the next `redpipe apply`",
                path.display()
            ),
            Self::Foreign { path } => format!(
                "move `{}` away, or choose another file with `--state PATH`",
                path.display()
            ),
            Self::Newer { .. } | Self::NewerRecords { .. } => {
                "use the redpipe that wrote it, or a newer one; this one can only show it"
                    .to_owned()
            }
            Self::Corrupt { .. } => {
                "keep a copy of the file; restore a backup, or start anew with `--state PATH`"
                    .to_owned()
            }
            Self::UnfinishedRun { run, .. } => {
                format!("`redpipe apply` of that pipeline carries `{run}` on")
            }
            Self::LeaseLost { .. } | Self::Moved { .. } => {
                "another redpipe drives this BMC now; see `redpipe status`".to_owned()
            }
            Self::UnknownRun { .. } => "`redpipe status` lists the runs".to_owned(),
            Self::RunFinished { .. } | Self::Database { .. } => return None,
        };
        Some(hint)
    }

    /// The failure as journal and status show it.
    pub fn fault(&self) -> Fault {
        let (kind, retry) = match self {
            Self::LeaseLost { .. } | Self::Moved { .. } | Self::UnfinishedRun { .. } => {
                (FaultKind::LeaseHeld, Retry::Transient)
            }
            Self::Locked { .. } => (FaultKind::Blocked, Retry::Transient),
            Self::UnknownRun { .. } | Self::RunFinished { .. } => (FaultKind::Bug, Retry::Never),
            Self::Location { .. }
            | Self::NoHome
            | Self::File { .. }
            | Self::Full { .. }
            | Self::Gone { .. }
            | Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::Corrupt { .. }
            | Self::Database { .. }
            | Self::NewerRecords { .. } => (FaultKind::Blocked, Retry::Operator),
        };
        let mut fault = Fault::new(kind, retry, self.to_string());
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            fault = fault.with_cause(cause.to_string());
            source = cause.source();
        }
        fault.hint = self.hint();
        fault
    }
}

/// Why a lease was not given or not kept.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// A living process, or one whose lease has not run out, drives this BMC.
    #[error("bmc `{bmc}` is driven by another redpipe: {held}")]
    HeldBy {
        /// Which BMC.
        bmc: BmcName,
        /// By whom and until when.
        held: Box<HeldBy>,
    },
    /// The lease was released, or another owner has taken it since.
    #[error("lease {epoch} of bmc `{bmc}` is over")]
    Lost {
        /// Which BMC.
        bmc: BmcName,
        /// The epoch that is over.
        epoch: u64,
    },
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LeaseError {
    /// When to try again, where waiting helps.
    pub fn retry_at(&self) -> Option<Timestamp> {
        match self {
            Self::HeldBy { held, .. } => Some(held.expires_at),
            Self::Lost { .. } | Self::Store(_) => None,
        }
    }

    /// The failure as journal and status show it.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Store(error) => error.fault(),
            Self::HeldBy { .. } | Self::Lost { .. } => {
                Fault::new(FaultKind::LeaseHeld, Retry::Transient, self.to_string()).with_hint(
                    "wait for the other redpipe or stop it; `redpipe status` shows what it does",
                )
            }
        }
    }
}
