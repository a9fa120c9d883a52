//! How an operator stops the process: once at the next safe point, twice at once.

use tokio_util::sync::CancellationToken;

/// Two tokens, pulled one after the other.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    soon: CancellationToken,
    now: CancellationToken,
}

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that can be asked alone, and is asked whenever this one is.
    pub fn child(&self) -> Self {
        Self {
            soon: self.soon.child_token(),
            now: self.now.child_token(),
        }
    }

    /// The first request stops at the next safe point: open transfers end first. A second one aborts them.
    ///
    /// Returns whether this was the second.
    pub fn ask(&self) -> bool {
        if self.soon.is_cancelled() {
            self.now.cancel();
            return true;
        }
        self.soon.cancel();
        false
    }

    /// Whether to stop at the next safe point.
    pub fn is_asked(&self) -> bool {
        self.soon.is_cancelled()
    }

    /// Whether to abort.
    pub fn is_abort(&self) -> bool {
        self.now.is_cancelled()
    }

    /// Resolves at the first request.
    pub async fn asked(&self) {
        self.soon.cancelled().await;
    }

    /// Resolves at the second request.
    pub async fn aborted(&self) {
        self.now.cancelled().await;
    }
}
