//! Credentials as the conversation wants them: read when needed, kept for the process, read again when refused.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;

use crate::model::inventory::CredentialsRef;
use crate::redfish::{CredentialSource, Login, Reload};
use crate::secret::{credential_mark, resolve};

/// Looks a variable of the environment up; the shell that owns the process reads it.
pub type Env = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// Reads passwords, each at most once unless a BMC refuses it.
#[derive(Clone)]
pub struct Secrets {
    env: Env,
    known: Arc<Mutex<BTreeMap<String, Login>>>,
}

impl Secrets {
    /// Nothing is read before it is needed.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            known: Arc::default(),
        }
    }

    /// The source of one BMC's credentials.
    pub(super) fn source(&self, credentials: &CredentialsRef, salt: &str) -> CredentialSource {
        let (this, credentials, salt) = (self.clone(), credentials.clone(), salt.to_owned());
        Arc::new(move |reload| {
            let (this, credentials, salt) = (this.clone(), credentials.clone(), salt.clone());
            async move {
                if reload == Reload::Cached
                    && let Some(login) = this.lock().get(&credentials.name)
                {
                    return Ok(login.clone());
                }
                let read = resolve(&credentials.name, &credentials.password, this.env.as_ref());
                let secret = read.await.map_err(|error| error.fault())?;
                if let Some(warning) = &secret.warning {
                    tracing::warn!(credentials = credentials.name, "{warning}");
                }
                let password = secret.value;
                let mark = credential_mark(&salt, &credentials.username, &password);
                let login = Login {
                    username: credentials.username.clone(),
                    password,
                    mark,
                };
                this.lock().insert(credentials.name.clone(), login.clone());
                Ok(login)
            }
            .boxed()
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Login>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
