//! This file reads one secret.
//!
//! The secret is the first line of what the source gives, without its line end: files end in one, and password managers
//! print notes below it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use secrecy::SecretString;
use secrecy::zeroize::Zeroize;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::command;
use super::error::{SecretCause, SecretError};
use crate::model::inventory::SecretSource;

/// Most that is read of a source. Redfish passwords are some dozens of bytes; what is longer is another file.
pub(super) const SOURCE_BYTES_MAX: usize = 64 * 1024;

/// A secret that was read.
#[derive(Debug)]
pub struct Secret {
    /// The secret.
    pub value: SecretString,
    /// What a person should change about its source.
    pub warning: Option<String>,
}

/// Reads a secret. `credential` is the inventory's name of it, for messages; `env` looks up environment variables.
pub async fn resolve(
    credential: &str,
    source: &SecretSource,
    env: &(dyn Fn(&str) -> Option<OsString> + Sync),
) -> Result<Secret, SecretError> {
    let mut warning = None;
    let read = match source {
        SecretSource::Plain(secret) => Ok(secret.clone()),
        SecretSource::Env(name) => env(name).ok_or(SecretCause::Unset).and_then(from_env),
        SecretSource::File(path) => from_file(credential, path, &mut warning).await,
        SecretSource::Command(words) => command::output(words).await.and_then(first_line),
    };
    match read {
        Ok(value) => Ok(Secret { value, warning }),
        Err(cause) => Err(SecretError {
            credential: credential.to_owned(),
            origin: origin(source),
            cause,
        }),
    }
}

/// The program alone, not its arguments: they may hold a token.
fn origin(source: &SecretSource) -> String {
    match source {
        SecretSource::Plain(_) => "the inventory".to_owned(),
        SecretSource::Env(name) => format!("environment variable `{name}`"),
        SecretSource::File(path) => format!("file `{}`", path.display()),
        SecretSource::Command(words) => {
            format!("command `{}`", words.first().map_or("", String::as_str))
        }
    }
}

fn from_env(value: OsString) -> Result<SecretString, SecretCause> {
    first_line(value.into_encoded_bytes())
}

async fn from_file(
    credential: &str,
    path: &Path,
    warning: &mut Option<String>,
) -> Result<SecretString, SecretCause> {
    const OTHERS: u32 = 0o077;
    let failed = |source| SecretCause::File {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).await.map_err(failed)?;
    let metadata = file.metadata().await.map_err(failed)?;
    if metadata.is_file() && metadata.permissions().mode() & OTHERS != 0 {
        let path = path.display();
        *warning = Some(format!(
            "others may read the password of credentials `{credential}`; `chmod 600 {path}` keeps it to you"
        ));
    }
    let bytes = bounded(file).await.map_err(failed)?;
    first_line(bytes)
}

/// One byte more than the bound, so that "too long" can be told.
pub(super) async fn bounded(source: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
    // Room for all of it at once: a vector that grows leaves copies behind.
    let mut bytes = Vec::with_capacity(SOURCE_BYTES_MAX + 1);
    let max = u64::try_from(SOURCE_BYTES_MAX + 1).unwrap_or(u64::MAX);
    source.take(max).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn first_line(mut bytes: Vec<u8>) -> Result<SecretString, SecretCause> {
    let result = parse(&bytes);
    bytes.zeroize();
    result
}

fn parse(bytes: &[u8]) -> Result<SecretString, SecretCause> {
    if bytes.len() > SOURCE_BYTES_MAX {
        return Err(SecretCause::TooLong {
            max: SOURCE_BYTES_MAX,
        });
    }
    let line = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(SecretCause::Empty);
    }
    let text = std::str::from_utf8(line).map_err(|_| SecretCause::NotText)?;
    Ok(SecretString::from(text))
}
