//! Finding and reading the files that people wrote.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::pipeline::{Diagnostics, Loaded, Source, load};

/// Why files could not be taken up.
pub(crate) enum FilesError {
    /// One cannot be read, or there is none.
    Unreadable(String),
    /// They are wrong.
    Invalid(Diagnostics),
}

/// Reads and checks inventory and pipeline files; each path is a file or a folder of `*.toml`.
pub(crate) fn read(inventory: &[PathBuf], pipelines: &[PathBuf]) -> Result<Loaded, FilesError> {
    let inventory = sources(inventory, "inventory")?;
    let pipelines = sources(pipelines, "pipelines")?;
    load(&inventory, &pipelines).map_err(FilesError::Invalid)
}

/// Reads and checks inventory files alone.
pub(crate) fn read_inventory(inventory: &[PathBuf]) -> Result<Loaded, FilesError> {
    load(&sources(inventory, "inventory")?, &[]).map_err(FilesError::Invalid)
}

/// All files that would be read, as far as their folders can be.
pub(crate) fn paths(paths: &[PathBuf], default: &str) -> Vec<PathBuf> {
    let files = given(paths, default).into_iter().map(|path| {
        let listed = path.is_dir().then(|| toml_files(&path).unwrap_or_default());
        listed.unwrap_or_else(|| vec![path])
    });
    files.flatten().collect()
}

fn given(paths: &[PathBuf], default: &str) -> Vec<PathBuf> {
    if paths.is_empty() {
        vec![PathBuf::from(default)]
    } else {
        paths.to_vec()
    }
}

fn sources(paths: &[PathBuf], default: &str) -> Result<Vec<Source>, FilesError> {
    let given = given(paths, default);
    let mut files = Vec::new();
    for path in &given {
        if path.is_dir() {
            files.extend(toml_files(path)?);
        } else {
            files.push(path.clone());
        }
    }
    files.iter().map(|path| source(path)).collect()
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, FilesError> {
    let failed = |error| {
        FilesError::Unreadable(format!(
            "folder `{}` cannot be read: {error}",
            folder.display()
        ))
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file()
            && path
                .extension()
                .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(FilesError::Unreadable(format!(
            "folder `{}` holds no `*.toml` file",
            folder.display()
        )));
    }
    Ok(files)
}

fn source(path: &Path) -> Result<Source, FilesError> {
    let text = read_text(path).map_err(FilesError::Unreadable)?;
    Ok(Source::new(path.display().to_string(), text))
}

/// The text of a file; for people, why it cannot be read.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let name = path.display();
    let unreadable = |why: &str| format!("file `{name}` cannot be read: {why}");
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = if error.kind() == ErrorKind::NotFound {
            "\n\nhint: name files or folders: `-i INVENTORY` before the command, pipelines behind it"
        } else {
            ""
        };
        unreadable(&format!("{error}{hint}"))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..good).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        unreadable(&format!(
            "line {line} is not UTF-8\n\nhint: save it as UTF-8, in which TOML is written"
        ))
    })
}
