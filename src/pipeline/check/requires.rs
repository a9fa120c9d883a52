//! `requires`: what must run before a hop.

use super::context::Check;
use crate::model::component::Component;
use crate::model::version::{Comparison, compare, is_absent};
use crate::pipeline::checked::{Requirement, RequirementOp};
use crate::pipeline::document::At;

pub(super) fn parse_requires(requires: &At<String>, check: &mut Check<'_>) -> Option<Requirement> {
    let text = requires.get().trim();
    let found = RequirementOp::ALL.into_iter().find_map(|op| {
        text.strip_prefix(op.as_str())
            .map(|version| (op, version.trim()))
    });
    match found {
        Some((op, version))
            if !is_absent(version)
                && !version.starts_with(['<', '>', '=', '!'])
                && !version.contains("${") =>
        {
            Some(Requirement {
                op,
                version: version.to_owned(),
            })
        }
        Some(_) | None => {
            let label = "not a comparison with a version";
            check
                .error(
                    requires.span(),
                    format!("`requires` cannot be `{text}`"),
                    label,
                )
                .hint("write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too");
            None
        }
    }
}

/// A hop as written, for [`check_reach`].
pub(super) struct Written<'a> {
    /// What it is, for messages.
    pub(super) title: &'a str,
    /// Of what.
    pub(super) component: Component,
    /// For which platform, where it is said.
    pub(super) platform: Option<&'a str>,
    /// Where it goes.
    pub(super) version: &'a At<String>,
    /// From where.
    pub(super) requires: &'a At<String>,
    /// Whether it may go down.
    pub(super) goes_down: bool,
}

/// A hop is made from below its version only, but for one that may go down.
pub(super) fn check_reach(requires: &Requirement, hop: &Written<'_>, check: &mut Check<'_>) {
    let (written, version) = (hop.requires, hop.version);
    let lower = matches!(
        requires.op,
        RequirementOp::AtLeast | RequirementOp::Above | RequirementOp::Equal
    );
    if !lower || hop.goes_down || version.get().contains("${") {
        return;
    }
    let sign = compare(
        &requires.version,
        version.get(),
        hop.platform,
        Some(hop.component),
    )
    .comparison;
    if matches!(sign, Comparison::Greater | Comparison::Equal) {
        let source = check.file.id;
        let message = format!("{} requires what is not below its hop", hop.title);
        check
            .error(written.span(), message, "never met before the hop")
            .hint("require a version that is older than the hop, such as the hop before it")
            .related(source, version.span(), "the hop");
    }
}
