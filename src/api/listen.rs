//! Where clients come in.

use std::ffi::OsString;
use std::fs::{Metadata, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;

use super::error::Unserved;
use super::tls;
use super::token::Token;

/// Only its owner may speak to a daemon over its socket.
const SOCKET_MODE: u32 = 0o600;

/// A TCP address to serve.
pub struct TcpOptions {
    /// Where; port 0 takes a free one.
    pub address: SocketAddr,
    /// What clients must show.
    pub token: Option<Token>,
    /// PEM files: certificate with its chain, and key.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// The socket of the daemon on a state: beside it, under its name.
pub fn socket_beside(state: &Path) -> PathBuf {
    let mut name = OsString::from(state);
    name.push(".sock");
    PathBuf::from(name)
}

/// A Unix socket that is gone when this is, unless another daemon's stands in its place.
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
    file: (u64, u64),
}

/// A TCP address.
pub(super) struct Tcp {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
    pub(super) token: Option<Token>,
    pub(super) tls: Option<TlsAcceptor>,
}

impl Socket {
    /// Takes the socket over from a daemon that is dead, and leaves it to one that lives.
    pub(super) async fn bind(path: &Path) -> Result<Self, Unserved> {
        let failed = |source: io::Error| Unserved::Bind {
            place: path.display().to_string(),
            source,
        };
        if let Ok(found) = std::fs::symlink_metadata(path) {
            if !found.file_type().is_socket() {
                return Err(Unserved::NoSocket(path.to_owned()));
            }
            if UnixStream::connect(path).await.is_ok() {
                return Err(Unserved::Live(path.to_owned()));
            }
        }
        // It gets its name only once nobody else may open it; a client never meets one that is neither.
        let mut first = OsString::from(path);
        first.push(format!(".{}", std::process::id()));
        let first = PathBuf::from(first);
        if std::fs::symlink_metadata(&first).is_ok() {
            std::fs::remove_file(&first).map_err(failed)?;
        }
        let listener = UnixListener::bind(&first).map_err(failed)?;
        let placed = std::fs::set_permissions(&first, Permissions::from_mode(SOCKET_MODE))
            .and_then(|()| std::fs::rename(&first, path))
            .and_then(|()| std::fs::symlink_metadata(path));
        let placed = placed.map_err(|error| {
            std::fs::remove_file(&first).ok();
            failed(error)
        })?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            file: identity(&placed),
        })
    }
}

impl Socket {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let found = std::fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| identity(&found) == self.file) {
            std::fs::remove_file(&self.path).ok();
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

impl Tcp {
    pub(super) async fn bind(options: TcpOptions) -> Result<Self, Unserved> {
        let guarded = options.token.is_some() && options.tls.is_some();
        if !options.address.ip().is_loopback() && !guarded {
            return Err(Unserved::Unguarded(options.address));
        }
        let tls = options
            .tls
            .map(|(certificate, key)| tls::acceptor(&certificate, &key))
            .transpose()?;
        let failed = |source| Unserved::Bind {
            place: options.address.to_string(),
            source,
        };
        let listener = TcpListener::bind(options.address).await.map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            token: options.token,
            tls,
        })
    }
}
