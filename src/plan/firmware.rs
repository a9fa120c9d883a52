//! Where a target's running version stands to one hop.

use super::method::choose_method;
use super::reset::{activation_obstacle, reset_obstacle};
use super::running::{Relation, live_version, relation, requirement_unmet};
use super::spec::{StageSpec, VersionSpec};
use super::targets::update_targets;
use crate::model::action::UpdateMethod;
use crate::model::{Fault, FaultKind, Look, Retry, ServerName, Target};

/// What a look says about one hop on one target.
#[derive(Debug, Clone, PartialEq)]
pub enum VersionAssessment {
    /// The hop is done: nothing is sent.
    AtTarget {
        /// What runs, byte for byte.
        live: String,
        /// Whether it is past the component's last hop.
        ahead: bool,
        /// For people, with both versions.
        reason: String,
    },
    /// The hop is due, and nothing stands in its way.
    Below {
        /// What runs, byte for byte.
        live: String,
        /// Where the hop goes.
        to: String,
        /// For people, with both versions.
        reason: String,
    },
    /// The operator asked for exactly this version, and allowed that the running one is given up for it.
    Above {
        /// What runs, byte for byte.
        live: String,
        /// Where the hop goes.
        to: String,
        /// For people, with both versions.
        reason: String,
    },
    /// Nothing says what runs.
    NoVersion {
        /// For people.
        reason: String,
    },
    /// What runs and what is wanted cannot be ordered.
    Incomparable {
        /// What runs, byte for byte.
        live: String,
        /// Where the hop goes.
        wanted: String,
        /// For people, with both versions.
        reason: String,
    },
    /// What runs does not meet the hop's `requires`.
    RequirementUnmet {
        /// What runs, byte for byte.
        live: String,
        /// For people, with both versions.
        reason: String,
    },
    /// The system has no BIOS to manage: nothing is wanted of it.
    NoBios,
    /// The BMC does not show the server's system now: it is unreachable.
    SystemMissing {
        /// Which server.
        server: ServerName,
    },
    /// Several managers are of type BMC, and the stage names none.
    TwoManagers {
        /// Their URIs.
        managers: Vec<String>,
    },
    /// The request would not name exactly the one system that is meant.
    NeedsTargets {
        /// What runs, byte for byte.
        live: String,
        /// For people.
        reason: String,
    },
    /// The image cannot get in, or could not be activated.
    Unsupported {
        /// What runs, byte for byte.
        live: String,
        /// Why.
        fault: Box<Fault>,
    },
}

impl VersionAssessment {
    /// Whether an update is to be sent.
    pub fn is_due(&self) -> bool {
        matches!(self, Self::Below { .. } | Self::Above { .. })
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::AtTarget { .. } | Self::NoBios)
    }

    /// What a person must change before the hop can go on; `None` where it is due or done.
    pub fn blocked(&self) -> Option<String> {
        match self {
            Self::AtTarget { .. } | Self::Below { .. } | Self::Above { .. } | Self::NoBios => None,
            Self::NoVersion { reason }
            | Self::Incomparable { reason, .. }
            | Self::RequirementUnmet { reason, .. }
            | Self::NeedsTargets { reason, .. } => Some(reason.clone()),
            Self::SystemMissing { server } => Some(format!(
                "the BMC does not show the system of `{server}` now"
            )),
            Self::TwoManagers { managers } => Some(format!(
                "the BMC has several managers of type BMC ({}), and the stage has no `targets`",
                managers.join(", ")
            )),
            Self::Unsupported { fault, .. } => Some(match &fault.hint {
                Some(hint) => format!("{fault} ({hint})"),
                None => fault.to_string(),
            }),
        }
    }

    /// For people: why it stands so.
    pub fn reason(&self) -> String {
        match self {
            Self::AtTarget { reason, .. }
            | Self::Below { reason, .. }
            | Self::Above { reason, .. } => reason.clone(),
            Self::NoBios => "no bios".to_owned(),
            Self::NoVersion { .. }
            | Self::Incomparable { .. }
            | Self::RequirementUnmet { .. }
            | Self::SystemMissing { .. }
            | Self::TwoManagers { .. }
            | Self::NeedsTargets { .. }
            | Self::Unsupported { .. } => self.blocked().unwrap_or_default(),
        }
    }

    /// What runs, byte for byte, where it is shown.
    pub fn live(&self) -> Option<&str> {
        match self {
            Self::AtTarget { live, .. }
            | Self::Below { live, .. }
            | Self::Above { live, .. }
            | Self::Incomparable { live, .. }
            | Self::RequirementUnmet { live, .. }
            | Self::NeedsTargets { live, .. }
            | Self::Unsupported { live, .. } => Some(live),
            Self::NoVersion { .. }
            | Self::NoBios
            | Self::SystemMissing { .. }
            | Self::TwoManagers { .. } => None,
        }
    }
}

/// Where what runs on a target stands to a hop, and what stands in the hop's way.
pub fn assess_version(
    stage: &StageSpec,
    version: &VersionSpec,
    target: &Target,
    look: &Look,
) -> VersionAssessment {
    assess_version_from(stage, version, target, look, live_version(look, target))
}

/// [`assess_version`] as if `live` ran, which is how a plan looks past hops that are still to come.
pub(super) fn assess_version_from(
    stage: &StageSpec,
    version: &VersionSpec,
    target: &Target,
    look: &Look,
    live: Option<&str>,
) -> VersionAssessment {
    if let Some(server) = target.server() {
        match look.systems.get(server) {
            None => {
                return VersionAssessment::SystemMissing {
                    server: server.clone(),
                };
            }
            Some(system) if system.bios_uri.is_none() && live.is_none() => {
                return VersionAssessment::NoBios;
            }
            Some(_) => {}
        }
    } else if stage.options.targets.is_none() {
        let managers: Vec<String> = look
            .managers
            .iter()
            .filter(|m| m.is_bmc)
            .map(|m| m.uri.clone())
            .collect();
        if managers.len() > 1 {
            return VersionAssessment::TwoManagers { managers };
        }
    }
    let Some(live) = live else {
        let reason = format!("no version shown: the hop goes to `{}`", version.version);
        return VersionAssessment::NoVersion { reason };
    };
    match relation(version, live, target, look) {
        Relation::Done { ahead, reason } => VersionAssessment::AtTarget {
            live: live.to_owned(),
            ahead,
            reason,
        },
        Relation::Unordered(reason) => VersionAssessment::Incomparable {
            live: live.to_owned(),
            wanted: version.version.clone(),
            reason,
        },
        Relation::Up(reason) => obstacle(stage, version, target, look, live).unwrap_or_else(|| {
            VersionAssessment::Below {
                live: live.to_owned(),
                to: version.version.clone(),
                reason,
            }
        }),
        Relation::Down(reason) => {
            obstacle(stage, version, target, look, live).unwrap_or_else(|| {
                VersionAssessment::Above {
                    live: live.to_owned(),
                    to: version.version.clone(),
                    reason,
                }
            })
        }
    }
}

/// What keeps a hop that is due from being sent.
fn obstacle(
    stage: &StageSpec,
    version: &VersionSpec,
    target: &Target,
    look: &Look,
    live: &str,
) -> Option<VersionAssessment> {
    let live = live.to_owned();
    if let Some(missing) = &version.missing {
        let reason = missing.clone();
        return Some(VersionAssessment::RequirementUnmet { live, reason });
    }
    if let Some(reason) = requirement_unmet(version.requires.as_ref(), &live, target, look) {
        return Some(VersionAssessment::RequirementUnmet { live, reason });
    }
    let method = match choose_method(stage, version, &look.capability) {
        Ok(method) => method,
        Err(fault) => return Some(VersionAssessment::Unsupported { live, fault }),
    };
    match update_targets(stage, target, look, method) {
        Ok(targets)
            if method == UpdateMethod::HttpPush
                && !targets.is_empty()
                && !look.capability.push_targets =>
        {
            let reason = format!(
                "`{}` is the only way in for this image, and cannot name `{}` to the BMC",
                method.as_str(),
                targets.join("`, `")
            );
            Some(VersionAssessment::NeedsTargets { live, reason })
        }
        Ok(_) => not_activated(stage, target, look)
            .map(|fault| VersionAssessment::Unsupported { live, fault }),
        Err(reason) => Some(VersionAssessment::NeedsTargets { live, reason }),
    }
}

/// Why an image would wait for ever. A BMC restarts itself, but where the stage asks it to wait for a reset.
fn not_activated(stage: &StageSpec, target: &Target, look: &Look) -> Option<Box<Fault>> {
    let policy = stage.options.reset;
    let waits = stage.options.apply_time.as_deref() == Some("OnReset");
    let message = match target {
        Target::Server(_) => activation_obstacle(target, policy, look)?,
        Target::Bmc if waits => reset_obstacle(target, policy, look)?,
        Target::Bmc => return None,
    };
    let fault = Fault::new(FaultKind::Unsupported, Retry::Operator, message);
    Some(Box::new(fault))
}

#[cfg(test)]
mod tests;
