//! What stands between a run and the servers that it would disturb.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::shape::{HoldKind, HoldReport, RunReport};
use crate::model::ServerName;
use crate::pipeline::Policy;
use crate::plan::spec::RunSpec;

/// Who must agree, when the window opens, and which hooks run; nothing where nobody is disturbed.
pub fn holds(spec: &RunSpec, report: &RunReport, now: Timestamp) -> Vec<HoldReport> {
    let servers: BTreeSet<ServerName> = report.disturbs().collect();
    if servers.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = servers.iter().map(ServerName::as_str).collect();
    let maintenance = &spec.maintenance;
    let mut holds = Vec::new();
    let mut add = |kind, message, opens_at| {
        holds.push(HoldReport {
            kind,
            message,
            opens_at,
        });
    };
    if maintenance.policy == Policy::OwnerApproval {
        let message = format!(
            "the owner of {} agrees with `redpipe approve {}/{}` once the run waits for it",
            names.join(", "),
            spec.pipeline,
            spec.bmc
        );
        add(HoldKind::Approval, message, None);
    }
    if let Some(window) = &maintenance.window {
        let opening = window.opening(now);
        let when = match opening {
            Some(opening) if opening.opens_at <= now => {
                format!("open until {}", window.local(opening.closes_at))
            }
            Some(opening) => format!("opens {}", window.local(opening.opens_at)),
            None => "never opens".to_owned(),
        };
        let message = format!("`{window}`, {when}");
        add(
            HoldKind::Window,
            message,
            opening.map(|opening| opening.opens_at),
        );
    }
    for hook in &maintenance.before {
        let message = format!("`{}` runs before the first disruptive step", hook.name);
        add(HoldKind::Before, message, None);
    }
    for hook in &maintenance.after {
        let message = format!("`{}` runs once servers are given back", hook.name);
        add(HoldKind::After, message, None);
    }
    holds
}
