//! What a command tells a machine: one JSON document, with the errors that kept it from its work.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::args::{Command, InventoryCommand};
use crate::model::Fault;
use crate::pipeline::{Diagnostics, Severity};

/// One error in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorRow {
    /// A stable kebab-case word.
    pub(crate) kind: String,
    /// For people.
    pub(crate) message: String,
    /// What a person can do.
    pub(crate) hint: Option<String>,
    /// The file that is wrong, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// From 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
}

impl ErrorRow {
    /// An error that no file is to blame for.
    pub(crate) fn new(kind: &str, message: &str, hint: Option<&str>) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
            file: None,
            line: None,
            column: None,
        }
    }

    /// The same of a fault.
    pub(crate) fn of_fault(fault: &Fault) -> Self {
        Self::new(
            fault.kind.as_str(),
            &fault.to_string(),
            fault.hint.as_deref(),
        )
    }

    /// One for each error in files.
    pub(crate) fn of_files(diagnostics: &Diagnostics) -> Vec<Self> {
        let errors = diagnostics.findings.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        let row = |finding| {
            let place = diagnostics.position(finding);
            Self {
                file: Some(diagnostics.source(finding.source).name().to_owned()),
                line: Some(place.line),
                column: Some(place.column),
                ..Self::new("invalid-file", &finding.message, finding.hint.as_deref())
            }
        };
        errors.map(row).collect()
    }
}

/// What one invocation has told so far.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    errors: Vec<ErrorRow>,
    is_over: bool,
}

impl Told {
    /// Notes an error for the document.
    pub(crate) fn error(&self, row: ErrorRow) {
        self.lock().errors.push(row);
    }

    /// The document: what the command found, with the errors so far where there are any.
    pub(crate) fn document(&self, found: &impl Serialize) -> Value {
        let mut state = self.lock();
        state.is_over = true;
        let mut document = serde_json::to_value(found).unwrap_or_default();
        if let (false, Some(members)) = (state.errors.is_empty(), document.as_object_mut()) {
            members.insert("errors".to_owned(), json!(state.errors));
        }
        document
    }

    /// What was told is all: lines, one by one.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
    }

    /// The document of a command that ended without one: its own shape, empty, and the errors.
    pub(crate) fn rest(&self, shape: &Value) -> Option<Value> {
        let is_over = self.lock().is_over;
        (!is_over).then(|| self.document(shape))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The document of a command that found nothing.
pub(crate) fn empty(command: &Command) -> Value {
    match command {
        Command::Validate(_) => json!({ "valid": false }),
        Command::Plan(_) => json!({ "runs": [], "problems": [] }),
        Command::Apply(_)
        | Command::Demo
        | Command::Status { .. }
        | Command::Approve { .. }
        | Command::Retry(_)
        | Command::Cancel(_)
        | Command::Release { .. } => {
            json!({ "runs": [], "pipelines": [], "problems": [] })
        }
        Command::Snapshot(args) => {
            json!({ "bmc": null, "server": args.server, "pipeline": null })
        }
        Command::Inventory {
            command: InventoryCommand::Import(_),
        } => json!({ "bmcs": [], "inventory": null }),
        Command::Pause { .. } | Command::Resume { .. } => json!({ "order": null }),
        Command::Events { follow: false, .. } => json!({ "events": [] }),
        Command::Inventory {
            command: InventoryCommand::Check,
        }
        | Command::Trust(_)
        | Command::Drift(_) => json!({ "bmcs": [] }),
        Command::Events { follow: true, .. }
        | Command::Daemon(_)
        | Command::Schema { .. }
        | Command::Versions { .. } => Value::Object(Map::new()),
    }
}
