//! This file decides where the database is, and makes its folders and files private.
//!
//! It reads no environment: values are passed in.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// Only the owner may enter: journals name machines, and pins decide who is trusted.
const FOLDER_MODE: u32 = 0o700;
/// Only the owner may read.
const FILE_MODE: u32 = 0o600;

/// Where state is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateLocation {
    /// A SQLite file.
    Sqlite(PathBuf),
}

impl StateLocation {
    /// Reads the value of `--state`: a path, or `sqlite:PATH`.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let refuse = |why: &str| {
            Err(StoreError::Location {
                given: without_user_info(text),
                why: why.to_owned(),
            })
        };
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                refuse("names no file")
            } else {
                Ok(Self::Sqlite(path.into()))
            };
        }
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => {
                refuse("is not supported yet: it would share state between hosts")
            }
            Some(_) => refuse("has a scheme that redpipe does not know"),
            None if text.is_empty() => refuse("names no file"),
            None => Ok(Self::Sqlite(text.into())),
        }
    }
}

/// The default database: `$XDG_STATE_HOME/redpipe/state.db`, else below `$HOME/.local/state`.
///
/// Values that are not absolute paths count as unset, as the XDG Base Directory Specification says.
pub fn default_path(
    xdg_state_home: Option<&OsStr>,
    home: Option<&OsStr>,
) -> Result<PathBuf, StoreError> {
    let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    xdg_state_home
        .and_then(absolute)
        .or_else(|| {
            home.and_then(absolute)
                .map(|home| home.join(".local/state"))
        })
        .map(|state| state.join("redpipe/state.db"))
        .ok_or(StoreError::NoHome)
}

/// Makes a folder, and those above it that are missing, for the owner only. Folders that exist stay as they are.
pub(super) fn private_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
        .map_err(|source| StoreError::File {
            doing: "make folder",
            path: path.to_owned(),
            source,
        })
}

/// Opens a file for writing, making it for the owner only where it is missing.
pub(super) fn private_file(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
        .map_err(|source| StoreError::File {
            doing: "open",
            path: path.to_owned(),
            source,
        })
}

fn without_user_info(text: &str) -> String {
    match text.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://***@{host}"),
            None => text.to_owned(),
        },
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_is_refused_without_showing_its_password() {
        let error = StateLocation::parse("postgres://bob:hunter2@db/x")
            .expect_err("refused")
            .to_string();
        assert!(
            error.contains("not supported yet") && error.contains("postgres://***@db/x"),
            "{error}"
        );
    }

    #[test]
    fn places_that_are_no_file_are_refused() {
        for text in ["", "sqlite:", "sqlite://", "mysql://db"] {
            assert!(StateLocation::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_taken_with_and_without_scheme() {
        for (text, path) in [
            ("a/b.db", "a/b.db"),
            ("sqlite:a.db", "a.db"),
            ("sqlite:///x/a.db", "/x/a.db"),
        ] {
            assert_eq!(
                StateLocation::parse(text).ok(),
                Some(StateLocation::Sqlite(path.into())),
                "{text}"
            );
        }
    }

    #[test]
    fn without_an_absolute_home_there_is_no_default() {
        let error = default_path(Some(OsStr::new("rel")), None).expect_err("no home");
        assert!(error.hint().is_some_and(|hint| hint.contains("--state")));
    }

    #[test]
    fn xdg_comes_before_home() {
        let (xdg, home) = (OsStr::new("/s"), OsStr::new("/h"));
        assert_eq!(
            default_path(Some(xdg), Some(home)).ok(),
            Some("/s/redpipe/state.db".into())
        );
        assert_eq!(
            default_path(None, Some(home)).ok(),
            Some("/h/.local/state/redpipe/state.db".into())
        );
    }
}
