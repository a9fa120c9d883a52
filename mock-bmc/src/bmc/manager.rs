//! This room is the manager itself: its version, its resets and its absences.
//!
//! It deliberately knows nothing of images; an update only says which version runs after the next return.

use serde_json::Value;

use super::agenda::Event;
use super::answer::Answer;
use super::core::Bmc;
use super::host::Phase;
use crate::docs::messages::Message;
use crate::docs::walk::{action, allowable};
use crate::ledger::Kind;
use crate::script::Outcome;

/// The manager itself.
#[derive(Clone, Debug, Default)]
pub(super) struct ManagerState {
    /// What runs.
    pub(super) version: Option<String>,
    /// What documents show.
    shown: Option<String>,
    /// Reads on which the old version still shows.
    late_reads: u32,
    gone: bool,
    dead: bool,
    /// Counts absences, planned ones too.
    absence: u64,
    pub(super) absences: u64,
    pub(super) certificate: u32,
    /// Counts returns, for images that are activated by one.
    pub(super) returns: u64,
}

impl ManagerState {
    /// Whether it is on the network.
    pub(super) fn is_present(&self) -> bool {
        !self.gone
    }
}

impl Bmc {
    pub(super) fn start_manager(&mut self) {
        let inventory = self
            .bindings
            .bmc_inventory
            .as_ref()
            .and_then(|uri| self.store.get(uri));
        let manager = self
            .bindings
            .bmc
            .as_ref()
            .and_then(|uri| self.store.get(uri));
        let recorded = manager.and_then(|manager| manager["FirmwareVersion"].as_str());
        let recorded = recorded.or_else(|| inventory.and_then(|member| member["Version"].as_str()));
        let said = self.habits.versions.bmc.clone();
        self.manager.version = said.or_else(|| recorded.map(str::to_owned));
        self.show_bmc_version();
    }

    /// Lets documents show the version that runs.
    pub(super) fn show_bmc_version(&mut self) {
        self.manager.late_reads = 0;
        self.manager.shown = self.manager.version.clone();
        self.write_bmc_version();
        self.write_bmc_inventory();
    }

    fn write_bmc_version(&mut self) {
        let Some(uri) = &self.bindings.bmc else {
            return;
        };
        let hidden = self.habits.versions.hide_bmc();
        let shown = self.manager.shown.clone().filter(|_| !hidden);
        // A recorded manager without a version stays without one.
        let has = self
            .store
            .get(uri)
            .is_some_and(|manager| manager.get("FirmwareVersion").is_some());
        if has {
            self.store.set(
                uri,
                "/FirmwareVersion",
                shown.map_or(Value::Null, Value::String),
            );
        }
    }

    fn write_bmc_inventory(&mut self) {
        let Some(uri) = &self.bindings.bmc_inventory else {
            return;
        };
        let hidden = self.habits.versions.hide_bmc();
        let version = self.manager.version.clone().filter(|_| !hidden);
        let version = version.map_or(Value::Null, Value::String);
        if self.habits.update.staging_slot_keeps_what_ran() {
            let folder = uri.rsplit_once('/').map_or("", |(folder, _)| folder);
            let slot = format!("{folder}/Staging_BMC");
            self.store.reset(&slot, "/Version", version.clone());
        }
        self.store.reset(uri, "/Version", version);
    }

    /// Counts a read of the manager's document while the old version still shows.
    pub(super) fn count_read_of_version(&mut self, uri: &str) {
        if self.manager.late_reads == 0 || self.bindings.bmc.as_deref() != Some(uri) {
            return;
        }
        self.manager.late_reads -= 1;
        if self.manager.late_reads == 0 {
            self.show_bmc_version();
        }
    }

    /// Answers `Manager.Reset`.
    pub(super) fn reset_manager(&mut self, uri: &str, target: &str, kind: Option<&str>) -> Answer {
        let manager = self.store.get(uri).unwrap_or(&Value::Null);
        let found = action(manager, "#Manager.Reset");
        let allowed = found.and_then(|(_, action)| allowable(&self.store, action, "ResetType"));
        let kind = kind.unwrap_or("GracefulRestart");
        if allowed.is_some_and(|allowed| !allowed.iter().any(|known| known == kind)) {
            self.ledger.cause(format!("reset refused {uri} {kind}"));
            let args = [kind, "ResetType", "Manager.Reset"];
            return Answer::bad(Message::base("ActionParameterValueNotInList", &args));
        }
        if self.ignores_reset(uri, kind) {
            return Answer::done();
        }
        self.ledger.cause(format!("reset {uri} {kind}"));
        self.ledger
            .note(self.now, Kind::Reset, format!("{target} {kind}"));
        self.leave_soon();
        Answer::done()
    }

    /// The manager is away for a while: it was reset, or its network changes.
    pub(super) fn leave_soon(&mut self) {
        self.manager.absences += 1;
        let absence = self.manager.absences;
        let at = self.after(self.habits.durations.bmc_reset_delay().0);
        self.agenda.add(at, Event::ManagerGoes { absence });
    }

    /// The manager goes because it was reset.
    pub(super) fn manager_goes(&mut self, absence: u64) {
        if self.manager.gone {
            return;
        }
        self.vanish(absence);
        if self.tear_bmc_flash() {
            return;
        }
        let back = self.after(self.habits.durations.bmc_reset().0);
        self.agenda.add(back, Event::ManagerReturns { absence });
    }

    /// The manager goes because a new image was written; `outcome` says what comes of it.
    pub(super) fn manager_goes_to_new_image(&mut self, outcome: Outcome) {
        self.manager.absences += 1;
        let absence = self.manager.absences;
        self.vanish(absence);
        if outcome == Outcome::NeverReturns {
            self.die("manager dead");
            return;
        }
        let back = self.after(self.habits.durations.bmc_gone().0);
        self.agenda.add(back, Event::ManagerReturns { absence });
    }

    fn vanish(&mut self, absence: u64) {
        self.manager.gone = true;
        self.manager.absence = absence;
        self.note("manager gone");
        self.end_all_sessions();
        // Who writes flash memory on behalf of a host that is in POST must not be cut off.
        for index in 0..self.hosts.len() {
            if self
                .hosts
                .get(index)
                .is_some_and(|host| host.phase == Phase::Post { flashing: true })
            {
                self.brick(index);
            }
        }
        self.lose_staging();
    }

    /// Gone for good.
    pub(super) fn die(&mut self, word: &str) {
        self.manager.dead = true;
        self.note(word);
    }

    pub(super) fn manager_returns(&mut self, absence: u64) {
        if self.manager.dead || !self.manager.gone || self.manager.absence != absence {
            return;
        }
        self.manager.gone = false;
        self.manager.returns += 1;
        self.finish_bmc_update();
        self.apply_waiting();
        self.note("manager back");
    }

    /// Another version runs from now on; what shows it follows as the script says.
    pub(super) fn run_bmc_version(&mut self, version: &str) {
        let old = self
            .manager
            .version
            .clone()
            .unwrap_or_else(|| "-".to_owned());
        if old == version {
            return;
        }
        self.manager.version = Some(version.to_owned());
        self.note(format!("bmc version {old} -> {version}"));
        let late_for = self.habits.update.bmc_late_for();
        self.manager.late_reads = self.habits.update.bmc_late_reads();
        if self.habits.update.inventory_first() {
            self.write_bmc_inventory();
        }
        if !late_for.0.is_zero() {
            self.agenda.add(self.after(late_for.0), Event::ShowBmc);
        } else if self.manager.late_reads == 0 {
            self.show_bmc_version();
        }
    }

    /// The certificate is another one from now on.
    pub(super) fn replace_certificate(&mut self) {
        self.manager.certificate += 1;
        self.note("certificate replaced");
    }
}
