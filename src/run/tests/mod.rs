//! The machine alone, against a model of a box, with a restart wherever one likes.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bench;
mod bricks;
mod endings;
mod finals;
mod habit;
mod hosts;
mod losses;
mod model;
mod settings;
mod showing;
mod spine;
mod stops;
mod strangers;
mod sweep;
mod taking;
mod texts;
mod tries;
mod watch;
