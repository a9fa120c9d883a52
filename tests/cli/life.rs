//! One run of the command, from its start to its end.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::lab::Lab;

/// Longest time for what takes some seconds at most.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running redpipe; killed where a test forgets it.
pub(crate) struct Life<'a> {
    child: Child,
    stdout: Heard,
    stderr: Heard,
    lab: &'a Lab,
}

/// A stream as far as it was read.
struct Heard {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Heard {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            let mut lines = BufReader::new(stream);
            let mut line = String::new();
            while lines.read_line(&mut line).unwrap() > 0 {
                heard.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    fn contains(&self, text: &str) -> bool {
        self.text.lock().unwrap().contains(text)
    }

    fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.text.lock().unwrap().clone()
    }
}

impl<'a> Life<'a> {
    pub(crate) fn start(mut command: Command, lab: &'a Lab) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        Self {
            stdout: Heard::of(child.stdout.take().unwrap()),
            stderr: Heard::of(child.stderr.take().unwrap()),
            child,
            lab,
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the lab is as wanted; the command must not end before.
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&Lab) -> bool) {
        self.wait(what, |life| wanted(life.lab));
    }

    /// Waits until stderr says so.
    pub(crate) fn until_says(&mut self, text: &str) {
        self.wait(text, |life| life.stderr.contains(text));
    }

    /// Waits until stdout says so.
    pub(crate) fn until_prints(&mut self, text: &str) {
        self.wait(text, |life| life.stdout.contains(text));
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline in real time, for processes that hang"
    )]
    fn wait(&mut self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !wanted(self) {
            let over = self.child.try_wait().unwrap();
            if (over.is_some() && !wanted(self)) || Instant::now() > deadline {
                let ended = self.kill();
                panic!("never `{what}` (ended: {over:?}): {ended:?}");
            }
            std::thread::yield_now();
        }
    }

    /// Sends a signal: `INT`, `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end; one that never comes is a failure.
    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline in real time, for processes that hang"
    )]
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                let ended = self.kill();
                panic!("it does not end: {ended:?}");
            }
            std::thread::yield_now();
        }
        self.kill()
    }

    /// What it said; where it still lives, that ends here.
    fn kill(&mut self) -> Ended {
        // It may have ended by itself.
        self.child.kill().ok();
        let status = self.child.wait().unwrap();
        Ended {
            code: status.code(),
            stdout: self.stdout.whole(),
            stderr: self.stderr.whole(),
        }
    }
}

impl Drop for Life<'_> {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// How a command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let said = &self.stderr;
        assert!(said.contains(text), "no `{text}` in:\n{said}");
        self
    }

    /// Lines of stderr that begin an error.
    pub(crate) fn errors(&self) -> Vec<&str> {
        let lines = self.stderr.lines();
        lines.filter(|line| line.starts_with("error:")).collect()
    }

    /// The one JSON document that stdout is.
    #[track_caller]
    pub(crate) fn document(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
