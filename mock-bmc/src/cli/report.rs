//! This room is how a command fails: what failed, why, and what to do about it.
//!
//! It deliberately prints nothing; the printer does.

use std::error::Error;
use std::fmt;

/// A file or an argument is wrong.
pub(crate) const EXIT_USAGE: u8 = 2;
/// Something failed while it ran.
pub(crate) const EXIT_FAILED: u8 = 1;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    what: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl Failure {
    /// A wrong file or argument.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self {
            code: EXIT_USAGE,
            what: what.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// A failure while running, with the chain of its causes.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        Self::usage(error.to_string())
            .code(EXIT_FAILED)
            .causes_of(error)
    }

    pub(crate) fn code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// Adds what lies under `error`, outermost first.
    pub(crate) fn causes_of(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut cause = error.source();
        while let Some(error) = cause {
            self.causes.push(error.to_string());
            cause = error.source();
        }
        self
    }

    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        for cause in &self.causes {
            write!(f, "\n  cause: {cause}")?;
        }
        if !self.hints.is_empty() {
            writeln!(f)?;
        }
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
