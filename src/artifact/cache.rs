//! This file keeps downloaded images by their digest, and lets one process at a time download each.
//!
//! A file in the cache is believed only after it was hashed again.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a process looks whether another has finished the same download.
const LOCK_POLL: Duration = Duration::from_millis(200);
/// Images may be under licence, and URIs of private servers lead to them: for the owner only.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Where downloaded images are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageCache {
    folder: PathBuf,
}

impl ImageCache {
    /// A cache in a folder, which is made when something is put there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the image with this digest is, once it is there.
    pub(super) fn path(&self, sha256: &str) -> PathBuf {
        self.folder.join(sha256)
    }

    /// The right to put the image with this digest there. Waits for a process that is at it.
    ///
    /// The lock file stays: taking it away would let two processes lock different files of one name.
    pub(super) async fn slot(&self, sha256: &str) -> io::Result<Slot> {
        DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(&self.folder)?;
        let lock = private().open(self.folder.join(format!("{sha256}.lock")))?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                // Polled, so that a caller that goes away leaves no thread waiting.
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_POLL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(Slot {
            part: self.folder.join(format!("{sha256}.part")),
            path: self.path(sha256),
            _lock: lock,
        })
    }
}

/// One image's place in the cache, ours alone while this lives.
pub(super) struct Slot {
    part: PathBuf,
    path: PathBuf,
    _lock: File,
}

impl Slot {
    /// Starts the file anew; what a killed process left there is overwritten.
    pub(super) fn create(&self) -> io::Result<File> {
        private().truncate(true).open(&self.part)
    }

    /// Puts the finished file in its place, in one step.
    pub(super) fn keep(&self) -> io::Result<PathBuf> {
        fs::rename(&self.part, &self.path)?;
        Ok(self.path.clone())
    }

    /// Removes an unfinished or wrong file.
    pub(super) fn discard(&self) {
        match fs::remove_file(&self.part) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(path = %self.part.display(), %error, "an unfinished download stays");
            }
        }
    }
}

/// `$XDG_CACHE_HOME/redpipe/images`, else below `$HOME/.cache`; `None` where neither is an absolute path.
pub fn default_folder(xdg_cache_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    xdg_cache_home
        .and_then(absolute)
        .or_else(|| home.and_then(absolute).map(|home| home.join(".cache")))
        .map(|cache| cache.join("redpipe/images"))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_absolute_home_there_is_no_default() {
        assert_eq!(
            default_folder(Some(OsStr::new("rel")), Some(OsStr::new(""))),
            None
        );
    }

    #[test]
    fn xdg_comes_before_home() {
        let (xdg, home) = (OsStr::new("/c"), OsStr::new("/h"));
        assert_eq!(
            default_folder(Some(xdg), Some(home)),
            Some("/c/redpipe/images".into())
        );
        assert_eq!(
            default_folder(None, Some(home)),
            Some("/h/.cache/redpipe/images".into())
        );
    }
}
