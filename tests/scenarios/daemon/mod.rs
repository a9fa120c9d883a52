//! The daemon: its real loop against live mocks.

mod files;
mod recovery;
mod watching;
