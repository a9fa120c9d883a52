//! This room reads a recorded Redfish tree from a folder: documents by URI.
//!
//! It deliberately gives the documents no meaning: which of them is a manager or a BIOS is found later, by following
//! links from the service root.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Deepest folder that is read. Recorded services stay below twenty; a loop of links would never end.
const DEPTH_MAX: usize = 40;

/// A recorded tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The folder's own name, shown as the platform.
    pub name: String,
    /// Every document by its absolute path without a trailing slash: `/redfish/v1`, `/redfish/v1/Systems/1`,
    /// `/registries/Base.1.10.3.json`.
    pub documents: BTreeMap<String, Value>,
    /// What is not JSON, by the same kind of path: `/redfish/v1/$metadata` as XML.
    pub texts: BTreeMap<String, String>,
}

/// Why a folder is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The folder, or something in it, cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// The system's own reason.
        source: std::io::Error,
    },
    /// A document is not JSON.
    #[error("`{}` is not JSON: line {line}, column {column}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where the reader stopped, counted from 1.
        line: usize,
        /// Where the reader stopped, counted from 1.
        column: usize,
        /// The reader's own reason.
        source: serde_json::Error,
    },
    /// There is no service root where one must be.
    #[error("`{}` holds no Redfish tree: found neither `redfish/v1/index.json` nor a service root in `index.json`", dir.display())]
    NoServiceRoot {
        /// The folder.
        dir: PathBuf,
    },
    /// Folders are nested deeper than any service's URIs.
    #[error("`{}` is nested more than {DEPTH_MAX} folders deep", path.display())]
    TooDeep {
        /// The folder that was not entered.
        path: PathBuf,
    },
}

impl Tree {
    /// Reads a folder in DSP2043's mockup layout, where the document of `/redfish/v1/X` is `redfish/v1/X/index.json`.
    ///
    /// Folders beside `redfish` are documents too (some services keep registries there). A folder whose own
    /// `index.json` is the service root is read as if it were `redfish/v1`, which is that layout's short form.
    pub fn load(dir: &Path) -> Result<Self, TreeError> {
        let mut tree = Self {
            name: folder_name(dir),
            ..Self::default()
        };
        let base = if dir.join("redfish/v1/index.json").is_file() {
            ""
        } else if dir.join("index.json").is_file() {
            "/redfish/v1"
        } else {
            // A folder that does not exist says so itself, which is clearer than a missing root.
            fs::read_dir(dir).map_err(|source| TreeError::Read {
                path: dir.to_owned(),
                source,
            })?;
            return Err(TreeError::NoServiceRoot {
                dir: dir.to_owned(),
            });
        };
        tree.read_folder(dir, base, 0)?;
        let is_root = |root: &Value| root.get("Links").or(root.get("RedfishVersion")).is_some();
        if !tree.documents.get("/redfish/v1").is_some_and(is_root) {
            return Err(TreeError::NoServiceRoot {
                dir: dir.to_owned(),
            });
        }
        Ok(tree)
    }

    fn read_folder(&mut self, dir: &Path, uri: &str, depth: usize) -> Result<(), TreeError> {
        if depth > DEPTH_MAX {
            return Err(TreeError::TooDeep {
                path: dir.to_owned(),
            });
        }
        let failed = |source| TreeError::Read {
            path: dir.to_owned(),
            source,
        };
        for entry in fs::read_dir(dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // A name that is not UTF-8 cannot be a URI that a client asks for.
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            if path.is_dir() {
                self.read_folder(&path, &format!("{uri}/{name}"), depth + 1)?;
            } else if name == "index.json" && !uri.is_empty() {
                self.documents.insert(uri.to_owned(), read_json(&path)?);
            } else if name == "index.xml" && !uri.is_empty() {
                self.texts.insert(uri.to_owned(), read_text(&path)?);
            }
        }
        Ok(())
    }
}

fn folder_name(dir: &Path) -> String {
    let full = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let name = full
        .file_name()
        .map_or_else(|| "tree".into(), |name| name.to_string_lossy());
    name.replace(char::is_whitespace, "-")
}

fn read_text(path: &Path) -> Result<String, TreeError> {
    fs::read_to_string(path).map_err(|source| TreeError::Read {
        path: path.to_owned(),
        source,
    })
}

fn read_json(path: &Path) -> Result<Value, TreeError> {
    let text = read_text(path)?;
    // Some recorders write a byte order mark, which JSON does not allow.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    serde_json::from_str(text).map_err(|source| TreeError::Json {
        path: path.to_owned(),
        line: source.line(),
        column: source.column(),
        source,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn write(dir: &Path, file: &str, text: &str) {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    const ROOT: &str = r#"{"RedfishVersion":"1.15.0","Links":{}}"#;

    #[test]
    fn a_missing_folder_is_named() {
        let error = Tree::load(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `/nowhere/at/all`");
    }

    #[test]
    fn a_folder_without_a_service_root_is_no_tree() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "index.json", r#"{"hello":1}"#);
        assert!(matches!(
            Tree::load(dir.path()).unwrap_err(),
            TreeError::NoServiceRoot { .. }
        ));
    }

    #[test]
    fn a_broken_document_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "redfish/v1/index.json", ROOT);
        write(
            dir.path(),
            "redfish/v1/Systems/index.json",
            "{\n  \"Members\": [}\n",
        );
        let error = Tree::load(dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("Systems/index.json` is not JSON: line 2"),
            "{error}"
        );
    }

    #[test]
    fn documents_outside_the_service_root_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "redfish/v1/index.json", ROOT);
        write(dir.path(), "redfish/v1/$metadata/index.xml", "<x/>");
        write(dir.path(), "registries/Base.1.0.0.json/index.json", "{}");
        write(dir.path(), "tree.json", "not read");
        let tree = Tree::load(dir.path()).unwrap();
        let uris: Vec<&str> = tree.documents.keys().map(String::as_str).collect();
        assert_eq!(uris, ["/redfish/v1", "/registries/Base.1.0.0.json"]);
        assert!(tree.texts.contains_key("/redfish/v1/$metadata"));
    }

    #[test]
    fn the_short_form_is_the_service_root_itself() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "index.json", ROOT);
        write(dir.path(), "Systems/index.json", "{}");
        let tree = Tree::load(dir.path()).unwrap();
        let uris: Vec<&str> = tree.documents.keys().map(String::as_str).collect();
        assert_eq!(uris, ["/redfish/v1", "/redfish/v1/Systems"]);
    }
}
