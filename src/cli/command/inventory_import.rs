//! `inventory import`: an inventory file from what a person already has, a table or an Ansible inventory.
//!
//! Passwords are not taken over: an inventory says where a secret is, and does not hold it.

mod ansible;
mod csv;
mod host;
mod text;

use std::path::Path;

use host::{Imported, Misread};
use serde_json::json;

use crate::cli::args::ImportArgs;
use crate::cli::exit::Exit;
use crate::cli::files;
use crate::cli::shell::Shell;
use crate::pipeline::{Source, load};

/// Reads the file, and prints an inventory that loads.
pub(crate) fn run(shell: &Shell, args: &ImportArgs) -> Exit {
    let content = match files::read_text(&args.file) {
        Ok(content) => content,
        Err(message) => return shell.refuse(Exit::Usage, "unreadable-file", &message, None),
    };
    let imported = match read(&args.file, &content) {
        Ok(imported) => imported,
        Err(misread) => return refuse(shell, &args.file, &misread),
    };
    for note in &imported.notes {
        shell.printer.note(&format!("note: {note}"));
    }
    let text = text::inventory_text(&args.file, &imported);
    if let Err(findings) = load(&[Source::new("imported.toml", text.as_str())], &[]) {
        return shell.invalid(&findings);
    }
    shell.printer.text(text.trim_end());
    shell.document(&json!({ "bmcs": imported.bmcs(), "inventory": text }));
    Exit::Done
}

/// By its content: JSON is what `ansible-inventory --list` prints, a section or a bare host is Ansible's own form.
fn read(path: &Path, content: &str) -> Result<Imported, Misread> {
    let content = content.trim_start_matches('\u{feff}');
    let is_yaml = path
        .extension()
        .is_some_and(|end| end == "yml" || end == "yaml");
    if content.trim_start().starts_with('{') {
        ansible::from_json(content)
    } else if is_yaml {
        let hint = "run `ansible-inventory -i FILE --list > hosts.json`, and import that";
        Err(Misread::new(
            None,
            "an Ansible inventory in YAML is read by Ansible alone",
            hint,
        ))
    } else if csv::is_one(content) {
        csv::from_csv(content)
    } else {
        ansible::from_ini(content)
    }
}

fn refuse(shell: &Shell, path: &Path, misread: &Misread) -> Exit {
    let place = misread
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    let message = format!("{}{place}: {}", path.display(), misread.message);
    shell.refuse(Exit::Usage, "invalid-file", &message, Some(&misread.hint))
}
