//! Pieces to text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::{Piece, Template, Variable};
use crate::model::facts::FACT_PREFIX;

/// What a pipeline needs from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Environment variables.
    pub env: BTreeSet<String>,
    /// Files.
    pub files: BTreeSet<PathBuf>,
    /// Programs that are run around disruptive steps.
    pub hooks: BTreeSet<PathBuf>,
    /// Whether one of them is a fact of the hardware.
    pub facts: bool,
}

impl Needs {
    /// Adds all of another.
    pub fn merge(&mut self, other: Needs) {
        self.env.extend(other.env);
        self.facts |= other.facts;
        self.files.extend(other.files);
        self.hooks.extend(other.hooks);
    }
}

/// What a shell read for [`Needs`]; what could not be read is absent. `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Environment variables that are set.
    pub env: BTreeMap<String, String>,
    /// Contents of files that exist.
    pub files: BTreeMap<PathBuf, String>,
    /// Programs that can be run.
    pub hooks: BTreeSet<PathBuf>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<&String> = self.env.keys().collect();
        let files: Vec<&PathBuf> = self.files.keys().collect();
        f.debug_struct("Given")
            .field("env", &env)
            .field("files", &files)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

/// What variables stand for, on one target.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The BMC's name.
    pub bmc: &'a str,
    /// The server's name; `None` in `bmc-*` stages.
    pub server: Option<&'a str>,
    /// The BMC's labels in `bmc-*` stages, else the server's.
    pub labels: &'a BTreeMap<String, String>,
    /// What was read from outside.
    pub given: &'a Given,
}

/// A variable that stands for nothing here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("variable `{variable}` has no value: {reason}")]
pub struct Unresolved {
    /// As written.
    pub variable: String,
    /// Why.
    pub reason: String,
}

impl Template {
    /// The value, with every variable replaced. Numbers and booleans keep their type.
    pub fn resolve(&self, scope: &Scope<'_>) -> Result<Value, Unresolved> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Text(pieces) => resolve_pieces(pieces, scope).map(Value::String),
            Self::Array(items) => items
                .iter()
                .map(|item| item.resolve(scope))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            Self::Table(fields) => fields
                .iter()
                .map(|(key, field)| Ok((key.clone(), field.resolve(scope)?)))
                .collect::<Result<_, _>>()
                .map(Value::Object),
        }
    }

    /// The value as text: text as it stands, anything else as JSON.
    pub fn resolve_text(&self, scope: &Scope<'_>) -> Result<String, Unresolved> {
        match self.resolve(scope)? {
            Value::String(text) => Ok(text),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => Ok(other.to_string()),
        }
    }

    /// The text, where it is text without variables.
    pub fn literal(&self) -> Option<String> {
        let Self::Text(pieces) = self else {
            return None;
        };
        pieces
            .iter()
            .map(|piece| match piece {
                Piece::Plain(text) => Some(text.as_str()),
                Piece::Variable(_) => None,
            })
            .collect()
    }

    /// Adds the environment variables and files it needs.
    pub fn collect_needs(&self, needs: &mut Needs) {
        self.visit_variables(&mut |variable| match variable {
            Variable::Env(name) => {
                needs.env.insert(name.clone());
            }
            Variable::File(path) => {
                needs.files.insert(path.clone());
            }
            Variable::Label(label) => needs.facts |= label.starts_with(FACT_PREFIX),
            Variable::BmcName | Variable::ServerName => {}
        });
    }

    /// Calls `visit` for every variable in it.
    pub fn visit_variables(&self, visit: &mut dyn FnMut(&Variable)) {
        match self {
            Self::Literal(_) => {}
            Self::Text(pieces) => pieces.iter().for_each(|piece| match piece {
                Piece::Plain(_) => {}
                Piece::Variable(variable) => visit(variable),
            }),
            Self::Array(items) => items.iter().for_each(|item| item.visit_variables(visit)),
            Self::Table(fields) => fields
                .values()
                .for_each(|field| field.visit_variables(visit)),
        }
    }
}

fn resolve_pieces(pieces: &[Piece], scope: &Scope<'_>) -> Result<String, Unresolved> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Plain(plain) => text.push_str(plain),
            Piece::Variable(variable) => text.push_str(value_of(variable, scope)?),
        }
    }
    Ok(text)
}

fn value_of<'a>(variable: &Variable, scope: &Scope<'a>) -> Result<&'a str, Unresolved> {
    let (found, reason) = match variable {
        Variable::BmcName => (Some(scope.bmc), "there is no BMC"),
        Variable::ServerName => (scope.server, "the stage acts on the BMC"),
        Variable::Label(label) => (
            scope.labels.get(label).map(String::as_str),
            "there is no such label",
        ),
        Variable::Env(name) => (
            scope.given.env.get(name).map(String::as_str),
            "the environment variable is not set",
        ),
        Variable::File(path) => (
            scope.given.files.get(path).map(|text| chomp(text)),
            "the file cannot be read",
        ),
    };
    found.ok_or_else(|| Unresolved {
        variable: variable.to_string(),
        reason: reason.to_owned(),
    })
}

/// Without the last line break, which editors add.
fn chomp(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BmcName => f.write_str("${bmc.name}"),
            Self::ServerName => f.write_str("${server.name}"),
            Self::Label(label) => write!(f, "${{label.{label}}}"),
            Self::Env(name) => write!(f, "${{env.{name}}}"),
            Self::File(path) => write!(f, "${{file.{}}}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Template {
        Template::parse(text, Path::new("")).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    fn given() -> Given {
        Given {
            env: BTreeMap::from([
                ("X".to_owned(), "ex".to_owned()),
                ("EMPTY".to_owned(), String::new()),
            ]),
            files: BTreeMap::from([(PathBuf::from("a.txt"), "one\r\ntwo\r\n".to_owned())]),
            ..Given::default()
        }
    }

    #[test]
    fn what_stands_for_nothing_is_an_error_and_never_an_empty_text() {
        let (labels, given) = (BTreeMap::new(), given());
        let scope = Scope {
            bmc: "b",
            server: None,
            labels: &labels,
            given: &given,
        };
        let cases = [
            (
                "${server.name}",
                "variable `${server.name}` has no value: the stage acts on the BMC",
            ),
            (
                "${label.x}",
                "variable `${label.x}` has no value: there is no such label",
            ),
            (
                "${env.Y}",
                "variable `${env.Y}` has no value: the environment variable is not set",
            ),
            (
                "${file.b.txt}",
                "variable `${file.b.txt}` has no value: the file cannot be read",
            ),
        ];
        for (text, message) in cases {
            let error = parse(text)
                .resolve(&scope)
                .map_err(|error| error.to_string());
            assert_eq!(error, Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_keep_their_type_and_texts_are_replaced_at_any_depth() {
        let labels = BTreeMap::from([("rack".to_owned(), "r04".to_owned())]);
        let given = given();
        let scope = Scope {
            bmc: "b",
            server: Some("s"),
            labels: &labels,
            given: &given,
        };
        let template = Template::Table(BTreeMap::from([
            ("n".to_owned(), Template::Literal(json!(3))),
            (
                "t".to_owned(),
                Template::Array(vec![
                    parse("${server.name}.${bmc.name}"),
                    parse("${label.rack}$$"),
                ]),
            ),
            ("f".to_owned(), parse("${file.a.txt}|${env.X}|${env.EMPTY}")),
        ]));
        let expected = json!({ "n": 3, "t": ["s.b", "r04$"], "f": "one\r\ntwo|ex|" });
        assert_eq!(template.resolve(&scope), Ok(expected));
        assert_eq!(
            Template::Literal(json!(3)).resolve_text(&scope),
            Ok("3".to_owned())
        );
        let mut needs = Needs::default();
        template.collect_needs(&mut needs);
        assert_eq!(
            needs.env,
            BTreeSet::from(["EMPTY".to_owned(), "X".to_owned()])
        );
        assert_eq!(needs.files, BTreeSet::from([PathBuf::from("a.txt")]));
    }

    #[test]
    fn debug_shows_no_value_from_outside() {
        assert!(!format!("{:?}", given()).contains("ex\""));
    }
}
