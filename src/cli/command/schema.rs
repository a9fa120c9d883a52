//! `schema`: JSON Schema of a file kind, generated from the types that read it.

use crate::cli::args::SchemaKind;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::pipeline::{schema_catalogue, schema_inventory, schema_pipeline};

/// Prints the schema; it is JSON in either mode.
pub(crate) fn run(shell: &Shell, kind: SchemaKind) -> Exit {
    let schema = match kind {
        SchemaKind::Inventory => schema_inventory(),
        SchemaKind::Pipeline => schema_pipeline(),
        SchemaKind::Catalogue => schema_catalogue(),
    };
    shell.told.end();
    shell
        .printer
        .data(&serde_json::to_string_pretty(&schema).unwrap_or_default());
    Exit::Done
}
