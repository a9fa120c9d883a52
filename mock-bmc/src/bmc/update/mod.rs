//! This room is updates: requests for them, the image's way into the BMC, and what comes of it.
//!
//! It deliberately does one at a time, as an update service does; only what is staged for a host waits elsewhere.

mod accept;
mod flow;
mod judge;
pub(super) mod multipart;
mod order;
mod start;
mod strict;
mod wanted;

use crate::image::{Component, ImageHeader};

/// The update that is going on, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct Updates {
    current: Option<Update>,
    /// What is verified and waits for `StartUpdate`.
    verified: Option<Update>,
    /// Counts accepted updates.
    made: u32,
    /// Counts update requests, refused ones too.
    asked: u32,
}

/// One update.
#[derive(Clone, Debug)]
struct Update {
    number: u64,
    task: String,
    /// What the request called the image; for messages.
    name: String,
    /// Where it is to be pulled from; none where it was pushed.
    url: Option<String>,
    targets: Vec<String>,
    /// The request wants it to wait for a reset.
    on_reset: bool,
    /// The request wants it to wait for `StartUpdate`.
    on_start: bool,
    /// What of the configuration is not kept, in the words of the request.
    wiped: Vec<String>,
    /// The job that its task turned into.
    job: Option<String>,
    stage: Stage,
    header: Option<ImageHeader>,
    goal: Option<Goal>,
}

/// How far an update is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// The image is on its way.
    Transfer,
    /// The image is being checked.
    Check,
    /// Memory is being written.
    Write,
    /// The new image is about to run.
    Written,
}

/// What an image goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Goal {
    Bmc,
    /// These systems, by index.
    Bios(Vec<usize>),
}

impl Updates {
    fn is_about(&self, component: Component) -> bool {
        let header = self
            .current
            .as_ref()
            .and_then(|update| update.header.as_ref());
        header.is_some_and(|header| header.component == component)
    }

    /// From an image of the BMC in hand until the manager goes.
    pub(super) fn is_flashing_bmc(&self) -> bool {
        self.is_about(Component::Bmc)
    }

    /// From a BIOS image in hand until it is staged.
    pub(super) fn is_staging_bios(&self) -> bool {
        self.is_about(Component::Bios)
    }
}
