//! The hold of a run: one for all of its disruptive steps.
//!
//! Servers are asked for before the first step that disturbs any, for everything that the run will disturb as far as
//! can be told; an approval, the window and the `before` hooks stand between asking and granting. They are given back
//! once, when the run ends or its window closes: by the `after` hooks. Steps that disturb nobody need none of it.

mod call;
mod gate;
mod give_back;
mod rest;

pub use call::{HookCall, HookDocument, HookStage};
pub(super) use gate::{may_disturb, needs};
pub(super) use give_back::{ended, gave_back, releasing, settle};
pub(super) use rest::is_mid_step;
