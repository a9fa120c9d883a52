//! User name and password of one BMC, read when they are needed.
//!
//! Where they come from is the secret room's business; this file only says in what form they arrive.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use secrecy::SecretString;

use crate::model::Fault;

/// What a BMC is told at login.
#[derive(Clone)]
pub struct Login {
    /// User name.
    pub username: String,
    /// Password; never printed.
    pub password: SecretString,
    /// Salted hash over both: names this credential value in memory without telling it.
    pub mark: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("username", &self.username)
            .field("mark", &self.mark)
            .finish_non_exhaustive()
    }
}

/// Whether the source may answer from what it read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// What was read before will do.
    Cached,
    /// Read the source again: the BMC refused what was read before.
    Fresh,
}

/// Reads the credentials of one BMC: from a file, the environment or a command.
pub type CredentialSource =
    Arc<dyn Fn(Reload) -> BoxFuture<'static, Result<Login, Fault>> + Send + Sync>;
