//! Who agrees, when, and what runs around it, as a seed draws it.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::dice::Dice;
use crate::support::script::write_program;
use crate::support::world::World;

/// Under which terms servers of a fleet may be disturbed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Maintenance {
    /// A person approves each run.
    pub(crate) approval: bool,
    /// From and to, in full hours UTC, on every day; may go over midnight.
    pub(crate) window: Option<(i8, i8)>,
    /// A hook runs before and one after.
    pub(crate) hooks: bool,
    /// Hooks fail for a while.
    pub(crate) hooks_fail: bool,
}

impl Maintenance {
    /// Mostly none.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let (from, hours) = (dice.between(0, 23), dice.between(2, 20));
        let window = (from, (from + hours) % 24);
        let window = (
            i8::try_from(window.0).unwrap(),
            i8::try_from(window.1).unwrap(),
        );
        Self {
            approval: dice.percent(15),
            window: dice.percent(12).then_some(window),
            // Hooks are processes of their own, and cost most of all.
            hooks: dice.percent(6),
            hooks_fail: dice.percent(40),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        !self.approval && self.window.is_none() && !self.hooks
    }

    /// Whether servers may be disturbed at a time.
    pub(crate) fn is_open(&self, at: Timestamp) -> bool {
        let hour = at.to_zoned_datetime(TimeZone::UTC).hour();
        match self.window {
            None => true,
            Some((from, to)) if from < to => (from..to).contains(&hour),
            Some((from, to)) => hour >= from || hour < to,
        }
    }

    /// `[maintenance]`.
    pub(crate) fn write(&self, world: &World, text: &mut String) {
        if self.is_plain() {
            return;
        }
        writeln!(text, "[maintenance]").unwrap();
        if self.approval {
            writeln!(text, "policy = \"owner-approval\"").unwrap();
        }
        if let Some((from, to)) = self.window {
            writeln!(
                text,
                "window = {{ days = [\"Mon\", \"Tue\", \"Wed\", \"Thu\", \"Fri\", \"Sat\", \"Sun\"], \
                 start = \"{from:02}:00\", end = \"{to:02}:00\", zone = \"UTC\" }}"
            )
            .unwrap();
        }
        if self.hooks {
            let hook = world.folder.path().join("hook");
            let hook = hook.display();
            writeln!(text, "before = [\"{hook}\"]\nafter = [\"{hook}\"]").unwrap();
        }
    }

    /// The program that both hooks are, and how it ends from now on.
    pub(crate) fn set_hook(&self, world: &World, is_good: bool) {
        if !self.hooks {
            return;
        }
        let path = world.folder.path().join("hook");
        let text = format!("#!/bin/sh\nexit {}\n", u8::from(!is_good));
        write_program(&path, &text);
    }
}
