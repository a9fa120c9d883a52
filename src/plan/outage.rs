//! What a step takes away, for how long to expect it, and from whom.

use std::time::Duration;

use super::spec::RunSpec;
use crate::model::{Look, ServerName, Target};

/// What goes away, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// For people.
    pub words: &'static str,
    /// The longest that is usual: a step begins only where so much is left of a window.
    pub expected: Duration,
}

impl Outage {
    /// A hop on a target: the BMC flashes itself and starts again, or a host's POST flashes an image.
    pub fn of_hop(target: &Target) -> Self {
        match target {
            Target::Bmc => Self {
                words: "bmc away for 5 to 15 min",
                expected: Duration::from_mins(15),
            },
            Target::Server(_) => Self {
                words: "host restart of 10 to 30 min",
                expected: Duration::from_mins(30),
            },
        }
    }

    /// Settings on a target that come into effect by a reset.
    pub fn of_settings(target: &Target) -> Self {
        match target {
            Target::Bmc => Self {
                words: "bmc away for 2 to 5 min",
                expected: Duration::from_mins(5),
            },
            Target::Server(_) => Self {
                words: "host restart of 5 to 15 min",
                expected: Duration::from_mins(15),
            },
        }
    }
}

/// Whom an outage of a target disturbs. While a BMC is away, nobody can help any host behind it, selected or not.
pub fn disturbed(spec: &RunSpec, look: &Look, target: &Target) -> Vec<ServerName> {
    match target {
        Target::Server(server) => vec![server.clone()],
        Target::Bmc => {
            let mut servers: Vec<ServerName> = spec
                .servers
                .iter()
                .map(|server| server.name.clone())
                .collect();
            let unlisted = |id: &String| ServerName::from(format!("{}/{id}", spec.bmc));
            let others = look.other_systems.iter().map(|system| unlisted(&system.id));
            for server in look.systems.keys().cloned().chain(others) {
                if !servers.contains(&server) {
                    servers.push(server);
                }
            }
            servers
        }
    }
}
