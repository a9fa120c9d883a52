//! Credentials as the conversation wants them: read when needed, kept for the process, read again when refused.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    sources: Arc<Mutex<Sources>>,
}

/// By name of the credentials: the BMCs of a fleet have few of them.
type Sources = BTreeMap<String, (Arc<CredentialsRef>, CredentialSource)>;

impl Secrets {
    /// Nothing is read before it is needed.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            known: Arc::default(),
            sources: Arc::default(),
        }
    }

    /// The source of one BMC's credentials.
    pub(super) fn source(&self, credentials: &Arc<CredentialsRef>, salt: &str) -> CredentialSource {
        let mut sources = lock(&self.sources);
        if let Some((known, source)) = sources.get(&credentials.name)
            && Arc::ptr_eq(known, credentials)
        {
            return Arc::clone(source);
        }
        let source = self.new_source(credentials, salt);
        let kept = (Arc::clone(credentials), Arc::clone(&source));
        sources.insert(credentials.name.clone(), kept);
        source
    }

    fn new_source(&self, credentials: &Arc<CredentialsRef>, salt: &str) -> CredentialSource {
        let (env, logins) = (Arc::clone(&self.env), Arc::clone(&self.known));
        let (credentials, salt) = (Arc::clone(credentials), salt.to_owned());
        Arc::new(move |reload| {
            let (env, logins) = (Arc::clone(&env), Arc::clone(&logins));
            let (credentials, salt) = (Arc::clone(&credentials), salt.clone());
            async move {
                if reload == Reload::Cached
                    && let Some(login) = lock(&logins).get(&credentials.name)
                {
                    return Ok(login.clone());
                }
                let read = resolve(&credentials.name, &credentials.password, env.as_ref());
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
                lock(&logins).insert(credentials.name.clone(), login.clone());
                Ok(login)
            }
            .boxed()
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks is whole by itself.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
