//! What processes say, heard line by line: whoever waits is woken by a line, or by the end of a process.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// All that was heard so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The mock's ledger, one line each.
    pub(crate) ledger: Vec<String>,
    /// What each redpipe said, in the order in which they were started.
    pub(crate) lives: Vec<Said>,
}

/// What one process said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) is_over: bool,
}

/// Hears.
#[derive(Debug, Default)]
pub(crate) struct Ears {
    heard: Mutex<Heard>,
    more: Condvar,
}

/// Why a wait is over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    Wanted,
    /// The process has ended first.
    Over,
    Late,
}

impl Ears {
    pub(crate) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap()
    }

    /// Hears the mock from now on; its ledger begins where it is ready.
    pub(crate) fn hear_mock(self: &Arc<Self>, said: impl Read + Send + 'static) {
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        let is_ready = lines.any(|line| line.ends_with("ready"));
        assert!(is_ready, "the mock does not start");
        let ears = Arc::clone(self);
        std::thread::spawn(move || {
            // The mock's process has words of its own, such as how long it has been running.
            for line in lines.filter(|line| line.starts_with('{')) {
                ears.heard().ledger.push(line);
                ears.more.notify_all();
            }
        });
    }

    /// Hears another redpipe to its end. Its number.
    pub(crate) fn hear(self: &Arc<Self>, said: impl Read + Send + 'static) -> usize {
        let mut heard = self.heard();
        heard.lives.push(Said::default());
        let life = heard.lives.len() - 1;
        let ears = Arc::clone(self);
        std::thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                let text = line + "\n";
                ears.heard().lives[life].text.push_str(&text);
                ears.more.notify_all();
            }
            ears.heard().lives[life].is_over = true;
            ears.more.notify_all();
        });
        life
    }

    /// Waits until something was heard, for as long as that process lives.
    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline in real time, for processes that hang"
    )]
    pub(crate) fn wait(
        &self,
        life: usize,
        deadline: Instant,
        wanted: impl Fn(&Heard) -> bool,
    ) -> Woken {
        let mut heard = self.heard();
        loop {
            if wanted(&heard) {
                return Woken::Wanted;
            }
            if heard.lives[life].is_over {
                return Woken::Over;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Woken::Late;
            }
            heard = self.more.wait_timeout(heard, left).unwrap().0;
        }
    }
}
