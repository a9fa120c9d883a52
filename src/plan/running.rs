//! What runs on a target, and how it compares.

use super::spec::VersionSpec;
use crate::model::component::Component;
use crate::model::look::SoftwareView;
use crate::model::version::{Comparison, compare, is_absent};
use crate::model::{Look, Target};
use crate::pipeline::{Guard, Requirement, RequirementOp};

/// The running version of a target's component, byte for byte; what the firmware inventory says of it where its own
/// resource shows none.
pub fn live_version<'a>(look: &'a Look, target: &Target) -> Option<&'a str> {
    let present = |version: &&str| !is_absent(version);
    look.version(target).filter(present).or_else(|| {
        let uri = component_uri(look, target)?;
        look.software
            .iter()
            .filter(|software| !software.staged && relates(software, uri))
            .find_map(|software| software.version.as_deref().filter(present))
    })
}

/// What is staged for a target and waits for its activation, whoever staged it.
pub fn staged<'a>(look: &'a Look, target: &Target) -> Vec<&'a SoftwareView> {
    let Some(uri) = component_uri(look, target) else {
        return Vec::new();
    };
    look.software
        .iter()
        .filter(|software| software.staged && relates(software, uri))
        .collect()
}

/// Whether a version text means the hop's version, in whatever clothes.
pub fn is_version_of(version: &VersionSpec, text: &str, target: &Target, look: &Look) -> bool {
    compared(text, &version.version, target, look) == Comparison::Equal
}

/// Why a settings stage's guard does not let it through on a target where `live` runs; `None` = it does.
pub fn guard_unmet(
    guard: Option<&Guard>,
    live: Option<&str>,
    target: &Target,
    look: &Look,
) -> Option<String> {
    let guard = guard?;
    let wanted = &guard.version;
    let Some(live) = live else {
        return Some(format!(
            "no version shown, and the stage waits for `{wanted}`"
        ));
    };
    match compared(live, wanted, target, look) {
        Comparison::Equal => None,
        Comparison::Greater if !guard.exact => None,
        Comparison::Greater => Some(format!(
            "runs `{live}`, and the stage is for `{wanted}` only"
        )),
        Comparison::Less => Some(format!("runs `{live}`, and the stage waits for `{wanted}`")),
        Comparison::Incomparable => Some(format!(
            "runs `{live}`, which cannot be compared with `{wanted}`, for which the stage waits"
        )),
    }
}

/// How the versions alone stand to each other.
pub(super) enum Relation {
    /// Nothing to do.
    Done {
        /// Past the last hop.
        ahead: bool,
        /// For people.
        reason: String,
    },
    /// The hop leads up.
    Up(String),
    /// The hop leads down, or nobody can say, and the operator allowed it.
    Down(String),
    /// Nobody can say.
    Unordered(String),
}

/// Compares what runs with where a hop goes.
pub(super) fn relation(
    version: &VersionSpec,
    live: &str,
    target: &Target,
    look: &Look,
) -> Relation {
    let wanted = &version.version;
    let may_replace = version.is_last && version.exact && version.allow_downgrade;
    match compared(live, wanted, target, look) {
        Comparison::Equal => Relation::Done {
            ahead: false,
            reason: format!("runs `{live}`, at `{wanted}`"),
        },
        Comparison::Less => Relation::Up(format!("runs `{live}`, below `{wanted}`")),
        Comparison::Greater if may_replace => Relation::Down(format!(
            "runs `{live}`, above `{wanted}`, and `allow_downgrade` is set"
        )),
        Comparison::Greater if version.is_last => Relation::Done {
            ahead: true,
            reason: format!("runs `{live}`, ahead of the last hop `{wanted}`"),
        },
        Comparison::Greater => Relation::Done {
            ahead: false,
            reason: format!("runs `{live}`, past `{wanted}`"),
        },
        Comparison::Incomparable if may_replace => Relation::Down(format!(
            "runs `{live}`, which cannot be compared with `{wanted}`, and `allow_downgrade` is set"
        )),
        Comparison::Incomparable => Relation::Unordered(format!(
            "incomparable: runs `{live}`, and the hop goes to `{wanted}`"
        )),
    }
}

/// Why a hop's `requires` is not met where `live` runs; `None` = it is.
pub(super) fn requirement_unmet(
    requirement: Option<&Requirement>,
    live: &str,
    target: &Target,
    look: &Look,
) -> Option<String> {
    let requirement = requirement?;
    let found = compared(live, &requirement.version, target, look);
    let is_met = meets(requirement.op, found);
    let wanted = format!("{} {}", requirement.op.as_str(), requirement.version);
    match found {
        _ if is_met => None,
        Comparison::Incomparable => Some(format!(
            "runs `{live}`, which cannot be compared with the required `{wanted}`"
        )),
        Comparison::Less | Comparison::Equal | Comparison::Greater => {
            Some(format!("runs `{live}`, and the hop requires `{wanted}`"))
        }
    }
}

/// Whether a version that stands so to a required one meets the requirement.
pub(super) fn meets(op: RequirementOp, found: Comparison) -> bool {
    match op {
        RequirementOp::AtLeast => matches!(found, Comparison::Greater | Comparison::Equal),
        RequirementOp::Above => found == Comparison::Greater,
        RequirementOp::Equal => found == Comparison::Equal,
        RequirementOp::NotEqual => matches!(found, Comparison::Greater | Comparison::Less),
        RequirementOp::AtMost => matches!(found, Comparison::Less | Comparison::Equal),
        RequirementOp::Below => found == Comparison::Less,
    }
}

fn compared(live: &str, wanted: &str, target: &Target, look: &Look) -> Comparison {
    let component = match target {
        Target::Bmc => Component::Bmc,
        Target::Server(_) => Component::Bios,
    };
    // "Generic" says that nothing is known of the machine, which must not keep a rule from being found by shape.
    let platform =
        Some(look.capability.platform.as_str()).filter(|name| !matches!(*name, "" | "generic"));
    compare(live, wanted, platform, Some(component)).comparison
}

fn component_uri<'a>(look: &'a Look, target: &Target) -> Option<&'a str> {
    match target {
        Target::Bmc => look.manager().map(|manager| manager.uri.as_str()),
        Target::Server(server) => look.systems.get(server)?.bios_uri.as_deref(),
    }
}

fn relates(software: &SoftwareView, uri: &str) -> bool {
    software
        .related
        .iter()
        .any(|related| related.eq_ignore_ascii_case(uri))
}
