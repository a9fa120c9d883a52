//! This room compares wanted attributes with current and pending ones, typed by the attribute registry.
//!
//! It says what differs and what is impossible; whether and when anything is sent is not its business.

mod assess;
mod attribute;
mod dependency;
mod nearest;
mod patch;
#[cfg(test)]
mod tests;
mod value;

pub use assess::{AttributeItem, Finding, FindingKind, SettingsAssessment, assess_settings};
pub(super) use dependency::{is_locked, locks};
pub use nearest::nearest;
pub use patch::group_patches;
pub(super) use value::{same as same_value_of, written_form};
