//! This room says in one document what a run would do to every target and why.
//!
//! It plans past what is still to come by assuming that every earlier stage succeeds; the run itself assumes nothing
//! and looks again.

mod check;
mod holds;
mod problems;
mod request;
mod shape;
mod sum;
#[cfg(test)]
mod tests;
mod walk;

pub use check::check_problems;
pub use holds::holds;
pub use problems::{problems, wrong_boxes};
pub use request::{ask_settings, look_request};
pub use shape::{
    HoldKind, HoldReport, PlanAction, PlanProblem, PlanReport, RunReport, StageReport, TargetReport,
};
pub use walk::report;
