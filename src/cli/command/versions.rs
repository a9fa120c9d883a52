//! `versions`: how two version texts compare.

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::model::component::Component;
use crate::model::version::compare;

/// Prints the sign first, then the rule.
pub(crate) fn run(
    shell: &Shell,
    a: &str,
    b: &str,
    platform: Option<&str>,
    component: Option<Component>,
) -> Exit {
    let compared = compare(a, b, platform, component);
    let sign = compared.comparison.sign();
    shell.printer.text(&format!(
        "{sign} {}: {}",
        compared.rule, compared.explanation
    ));
    shell.document(&json!({ "a": a, "b": b, "sign": sign.to_string(), "rule": compared.rule }));
    Exit::Done
}
