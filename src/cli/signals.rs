//! Ctrl-C and SIGTERM, turned into stop requests that say what they mean.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::daemon::Stop;

/// What a person is told at the first signal, and at the second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    pub(crate) first: &'static str,
    pub(crate) second: &'static str,
}

/// While BMCs may be changed.
pub(crate) const WRITING: Means = Means {
    first: "stopping at the next safe point: an open transfer ends first, no further step is begun; a second Ctrl-C aborts",
    second: "aborting: an open transfer is cut, and what the BMC makes of half an image is unknown; the next `apply` looks before it acts",
};

/// While they are only read.
pub(crate) const READING: Means = Means {
    first: "stopping: sessions are ended first; a second Ctrl-C leaves them to the next start",
    second: "aborting: the next start ends the sessions that are left",
};

/// Both signals, from here on; nothing else reacts to them any more.
pub(crate) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl Signals {
    /// Listens at once: a signal that comes before the first [`Signals::next`] is not lost.
    pub(crate) fn listen() -> Self {
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// The next of either.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => {}
            () = received(self.terminate.as_mut()) => {}
        }
    }

    /// Never ends: every signal asks for a stop.
    pub(crate) async fn ask(mut self, stop: &Stop, means: Means, say: impl Fn(&str)) {
        loop {
            self.next().await;
            let text = if stop.ask() {
                means.second
            } else {
                means.first
            };
            say(text);
        }
    }
}

async fn received(signal: Option<&mut Signal>) {
    let came = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if came.is_none() {
        std::future::pending::<()>().await;
    }
}
