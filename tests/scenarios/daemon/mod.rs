//! The daemon: its real loop against live mocks.

mod files;
mod lab;
mod recovery;
mod watching;
