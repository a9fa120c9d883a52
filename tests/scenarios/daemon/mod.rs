//! The daemon: its real loop against live mocks.

mod files;
mod orders;
mod panics;
mod recovery;
mod reset;
mod watching;
