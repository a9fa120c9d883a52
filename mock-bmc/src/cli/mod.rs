//! This room is the command line of mock-bmc.
//!
//! It deliberately holds no behaviour of a BMC and no network code: it reads arguments and files, calls the library, and
//! is the only room that prints.

mod args;
mod dispatch;
mod image;
mod printer;
mod report;
mod script;
mod serve;

pub(crate) use dispatch::main;
