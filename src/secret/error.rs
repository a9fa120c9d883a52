//! This file says why a secret could not be read, without a letter of it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::fault::{Fault, FaultKind, Retry};

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
#[error("password of credentials `{credential}` cannot be read from {origin}")]
pub struct SecretError {
    /// Name of the credentials in the inventory.
    pub credential: String,
    /// Where it was looked for: the variable, the file, the program.
    pub origin: String,
    /// What went wrong there.
    #[source]
    pub cause: SecretCause,
}

/// What went wrong with one source.
#[derive(Debug, thiserror::Error)]
pub enum SecretCause {
    /// The environment variable is not set.
    #[error("the variable is not set")]
    Unset,
    /// The first line is empty.
    #[error("its first line is empty")]
    Empty,
    /// Not text.
    #[error("it is not valid UTF-8")]
    NotText,
    /// Far too long for a password.
    #[error("it is longer than {max} bytes")]
    TooLong {
        /// The bound.
        max: usize,
    },
    /// The file does not open or read.
    #[error("the file cannot be read")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The program is not there, or not executable.
    #[error("the program cannot be started")]
    Start(#[source] io::Error),
    /// The program's output cannot be read.
    #[error("the program's output cannot be read")]
    Output(#[source] io::Error),
    /// The program failed.
    #[error("the program ended with {status}{}", said(stderr))]
    Failed {
        /// Exit status, for people.
        status: String,
        /// The end of what it wrote to stderr. Its stdout is never kept.
        stderr: String,
    },
    /// The program did not end.
    #[error("the program did not end and close its output within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The inventory names no program.
    #[error("the command is empty")]
    NoProgram,
}

impl SecretError {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match &self.cause {
            SecretCause::Unset => format!("set {} and try again", self.origin),
            SecretCause::File { path, .. } => format!(
                "check that `{}` exists and that you may read it",
                path.display()
            ),
            SecretCause::Empty | SecretCause::NotText | SecretCause::TooLong { .. } => {
                "the password is the first line there; put it there, alone".to_owned()
            }
            SecretCause::Start(_) | SecretCause::NoProgram => {
                "check the `command` of these credentials in the inventory; it runs without a shell"
                    .to_owned()
            }
            SecretCause::Output(_) | SecretCause::Failed { .. } | SecretCause::TimedOut(_) => {
                "run the command by hand, without a terminal on its input".to_owned()
            }
        }
    }

    /// The failure as status and reports show it.
    pub fn fault(&self) -> Fault {
        let mut fault = Fault::new(
            FaultKind::SecretUnavailable,
            Retry::Operator,
            self.to_string(),
        );
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            fault = fault.with_cause(cause.to_string());
            source = cause.source();
        }
        fault.with_hint(self.hint())
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!(" and said `{stderr}`")
    }
}
