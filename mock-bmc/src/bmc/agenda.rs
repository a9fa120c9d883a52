//! This room is what a BMC has to do later, in the order of time.
//!
//! It deliberately never takes anything off by itself; an entry whose reason is gone is recognised by its number when it
//! is due.

use std::collections::BTreeMap;

use crate::time::Moment;

/// Something to do later. Numbers of acts and boots tell whether it is still meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A power act takes its effect.
    Power {
        system: usize,
        act: u64,
        step: PowerStep,
    },
    /// A host's POST ends.
    PostEnds { system: usize, boot: u64 },
    /// A document shows a host's power as it is.
    ShowPower { system: usize },
    /// A system shows its BIOS version as it is.
    ShowBios { system: usize },
    /// A BIOS shows its attributes again.
    ShowAttributes { system: usize },
    /// An image is checked.
    Verified { update: u64 },
    /// A BIOS image is staged.
    Staged { update: u64 },
    /// A BMC image is written.
    Flashed { update: u64 },
    /// The manager goes because it was reset.
    ManagerGoes { absence: u64 },
    /// The manager comes back.
    ManagerReturns { absence: u64 },
    /// The manager shows its version as it is.
    ShowBmc,
    /// A stranger's task appears.
    ForeignTask { index: usize },
    /// A stranger's task ends.
    ForeignTaskEnds { task: String },
    /// A stranger's job appears.
    ForeignJob { index: usize },
    /// A task can no longer be read.
    Purge { task: String },
}

/// What a power act does when its time has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum PowerStep {
    /// Power goes off.
    Off,
    /// Power goes off, and comes back later.
    Cycle,
    /// Power comes on.
    On,
    /// The host boots again without losing power.
    Restart,
}

/// What is to be done, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    events: BTreeMap<(Moment, u64), Event>,
    next: u64,
}

impl Agenda {
    /// Puts something on.
    pub(super) fn add(&mut self, at: Moment, event: Event) {
        self.next += 1;
        self.events.insert((at, self.next), event);
    }

    /// When something is due next.
    pub(super) fn due(&self) -> Option<Moment> {
        self.events.keys().next().map(|(moment, _)| *moment)
    }

    /// Takes the first thing off that is due by `now`, with its own moment.
    pub(super) fn take_due(&mut self, now: Moment) -> Option<(Moment, Event)> {
        let entry = self.events.first_entry()?;
        let (moment, _) = *entry.key();
        (moment <= now).then(|| (moment, entry.remove()))
    }
}
