//! Settings: typed diff, one write per difference, a reset where one is needed, and a read-back per attribute.

mod begin;
mod difference;
mod flow;
mod read_back;
mod write;

pub(in crate::run) use difference::{Difference, difference};
pub(in crate::run) use flow::{needs, read_all, severed_at, step};
