//! This room owns stdout and stderr.
//!
//! It deliberately keeps no buffer: whoever waits for a line on stdout gets it at once.

use std::fmt;
use std::io::{self, Write};

/// Prints data, one line.
pub(crate) fn line(text: impl fmt::Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

/// Prints a message to people, one or more lines.
pub(crate) fn message(text: impl fmt::Display) {
    // Nobody is left to be told that stderr is closed.
    drop(writeln!(io::stderr().lock(), "{text}"));
}
