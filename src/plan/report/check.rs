//! What is worth telling of a BMC before anybody plans anything on it.

use super::problems::{at_work, differing_fact};
use crate::model::circumstances::Circumstances;
use crate::model::inventory::{AuthMode, Bmc, Scheme, Server, TlsMode};
use crate::model::look::Problem;
use crate::model::{Look, ServerName};

/// Seconds by which clocks may differ: certificates of image servers are judged by the BMC's own time, and most are
/// younger than this only for a moment.
const CLOCK_SKEW_MAX: i64 = 300;

/// Everything odd about one BMC, as one look and its circumstances show it.
pub fn check_problems(bmc: &Bmc, look: &Look, known: &Circumstances) -> Vec<Problem> {
    let mut found: Vec<Problem> = look.problems.clone();
    found.extend(
        known
            .problems
            .iter()
            .filter(|odd| !look.problems.contains(odd))
            .cloned(),
    );
    let mut tell = |kind: &str, message: String| {
        let kind = kind.to_owned();
        found.push(Problem { kind, message });
    };
    for server in &bmc.servers {
        if let Some(message) = wrong_box(look, server) {
            tell("wrong-box", format!("server `{}`: {message}", server.name));
        }
    }
    for (kind, message) in at_work(look) {
        tell(&kind, message);
    }
    for (server, names) in pending(look) {
        let list = names.join(", ");
        tell(
            "settings-pending",
            format!("settings wait on `{server}`: {list}"),
        );
    }
    for message in silent(look) {
        tell("version-not-shown", message);
    }
    if look.manager().is_none() {
        let message = "the BMC shows no manager: nothing of the BMC itself can be read or set";
        tell("no-manager", message.to_owned());
    }
    if look.capability.update_methods.is_empty() {
        let message = "the BMC offers no way to update firmware";
        tell("no-update-method", message.to_owned());
    }
    for (kind, message) in circumstances(known) {
        tell(kind, message);
    }
    if let Some((kind, message)) = wire(bmc) {
        tell(kind, message.to_owned());
    }
    found
}

fn wrong_box(look: &Look, server: &Server) -> Option<String> {
    differing_fact(&server.expect, look.systems.get(&server.name)?)
}

fn pending(look: &Look) -> impl Iterator<Item = (&ServerName, Vec<String>)> {
    let waiting = look
        .systems
        .iter()
        .filter(|(_, system)| !system.pending.is_empty());
    waiting.map(|(server, system)| {
        let names = system.pending.iter().map(|name| format!("`{name}`"));
        (server, names.collect())
    })
}

/// Components whose version neither the resource nor any related software tells.
fn silent(look: &Look) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(manager) = look.manager()
        && look.bmc_version().is_none()
    {
        found.push(format!(
            "no version of the BMC is shown by `{}`",
            manager.uri
        ));
    }
    for (server, system) in &look.systems {
        if system.bios_uri.is_some() && look.bios_version(server).is_none() {
            found.push(format!("no version of the BIOS of `{server}` is shown"));
        }
    }
    found
}

fn circumstances(known: &Circumstances) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if known.lockdown == Some(true) {
        let message =
            "the configuration is locked: updates and settings are refused until it is unlocked";
        found.push(("lockdown", message.to_owned()));
    }
    if let Some(clock) = &known.clock
        && clock.ahead_seconds.abs() > CLOCK_SKEW_MAX
    {
        let seconds = clock.ahead_seconds;
        let (amount, way) = (
            seconds.unsigned_abs(),
            if seconds < 0 { "behind" } else { "ahead" },
        );
        let message = format!(
            "the BMC's clock says `{}`, {amount} s {way}: it may refuse certificates of image servers",
            clock.says
        );
        found.push(("clock-skew", message));
    }
    if known.sessions.headroom() == Some(0) {
        let open = known.sessions.open.unwrap_or_default();
        let message =
            format!("all {open} sessions are taken, ours included: end some that nobody uses");
        found.push(("sessions-scarce", message));
    }
    found
}

/// What the wire gives away, as the inventory has it.
fn wire(bmc: &Bmc) -> Option<(&'static str, &'static str)> {
    if bmc.address.scheme == Scheme::Http {
        let message = "the address is http: everybody on the way reads the password";
        return (bmc.auth != AuthMode::None).then_some(("tls-off", message));
    }
    let message = "`tls = \"insecure\"`: anybody can pretend to be this BMC";
    (bmc.tls == TlsMode::Insecure).then_some(("tls-insecure", message))
}
