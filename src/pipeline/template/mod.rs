//! Values with variables in them: `${bmc.name}`, `${server.name}`, `${label.X}`, `${env.X}`, `${file.PATH}`.

mod parse;
mod resolve;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use parse::TemplateError;
pub use resolve::{Given, Needs, Scope, Unresolved};
use serde_json::Value;

/// A value as written, its variables found but not yet replaced.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    /// Number or boolean: nothing to replace.
    Literal(Value),
    /// Text, in pieces; no piece at all is the empty text.
    Text(Vec<Piece>),
    /// Array of values.
    Array(Vec<Template>),
    /// Table of values; keys hold no variables.
    Table(BTreeMap<String, Template>),
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Plain(String),
    /// To be replaced.
    Variable(Variable),
}

/// What a piece is replaced by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// Name of the BMC.
    BmcName,
    /// Name of the server; only in stages that act on servers.
    ServerName,
    /// A label: the BMC's in `bmc-*` stages, else the server's.
    Label(String),
    /// An environment variable.
    Env(String),
    /// Content of a file without its last line break; the path is joined onto the TOML file's folder.
    File(PathBuf),
}

impl Template {
    /// Text without variables, as it stands.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(vec![Piece::Plain(text.into())])
    }
}
