//! The only place that writes to stdout and stderr: data there, everything else here.

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use serde::Serialize;

use super::args::Output;

/// Owns both streams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    output: Output,
    verbose: u8,
    quiet: bool,
}

impl Printer {
    /// As the arguments say.
    pub(crate) fn new(output: Output, verbose: u8, quiet: bool) -> Self {
        Self {
            output,
            verbose,
            quiet,
        }
    }

    /// Whether results are JSON.
    pub(crate) fn is_json(self) -> bool {
        self.output == Output::Json
    }

    /// Whether a person watches stderr.
    pub(crate) fn is_live(self) -> bool {
        std::io::stderr().is_terminal() && !self.quiet && self.verbose == 0
    }

    /// Whether a person can be asked.
    #[expect(clippy::unused_self, reason = "who prints holds the printer")]
    pub(crate) fn can_ask(self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// A result for people; nothing in JSON mode.
    pub(crate) fn text(self, text: &str) {
        if !self.is_json() {
            self.data(text);
        }
    }

    /// A result as one JSON document; nothing in text mode.
    pub(crate) fn json(self, value: &impl Serialize) {
        if self.is_json() {
            self.data(&serde_json::to_string_pretty(value).unwrap_or_default());
        }
    }

    /// One line of data, whatever the mode.
    pub(crate) fn data(self, line: &str) {
        let mut stdout = std::io::stdout().lock();
        let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
        // A reader that closed the pipe wants no more; there is nobody to tell.
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
        {
            self.error(&format!("error: a result cannot be printed: {error}"));
        }
    }

    /// Something a person may want to know.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            self.error(text);
        }
    }

    /// Something a person must know.
    #[expect(clippy::unused_self, reason = "who prints holds the printer")]
    pub(crate) fn error(self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        writeln!(stderr, "{}", text.trim_end()).ok();
    }

    /// Asks a yes-or-no question; anything but yes is no.
    #[expect(clippy::unused_self, reason = "who prints holds the printer")]
    pub(crate) fn ask(self, question: &str) -> bool {
        let mut stderr = std::io::stderr().lock();
        write!(stderr, "{question} [y/N] ")
            .and_then(|()| stderr.flush())
            .ok();
        drop(stderr);
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).is_ok()
            && matches!(answer.trim(), "y" | "Y" | "yes")
    }
}
