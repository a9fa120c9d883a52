//! This room says which of two versions is the later one, or that nobody can say.
//!
//! It deliberately never guesses: texts of two families, of two shapes, or that differ only in a hash are incomparable.
//! It decides nothing about updates, and it does not know what runs where.

mod absent;
mod compare;
mod comparison;
mod date;
mod firmware_version;
mod order;
mod plain;
mod plain_order;
mod platform;
mod reading;
mod rule;
mod table;
#[cfg(test)]
mod tests;

pub use absent::is_absent;
pub use compare::compare;
pub use comparison::{Compared, Comparison};
pub use firmware_version::FirmwareVersion;
pub use rule::{Band, Family, Field, Form, Missing, Radix, Reach, Rule, Unnamed};
pub use table::rules;
