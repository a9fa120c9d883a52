//! This room is a host's boot: what POST does to a staged image and to pending settings.
//!
//! It deliberately changes nothing visible before POST has ended.

use serde_json::Value;

use super::super::agenda::{Event, PowerStep};
use super::super::core::Bmc;
use super::{Phase, Power, Staged};
use crate::docs::store::set;
use crate::script::{Activation, Outcome};

impl Bmc {
    /// A host begins to boot.
    pub(in super::super) fn begin_boot(&mut self, index: usize) {
        let id = self.system_id(index);
        let flashing = self.activates(index);
        let durations = &self.habits.durations;
        let span = if flashing {
            durations.bios_flash_post()
        } else {
            durations.post()
        };
        let ends = self.after(span.0);
        let stuck = flashing && self.bios_outcome(index) == Outcome::NeverReturns;
        let Some(host) = self.hosts.get_mut(index) else {
            return;
        };
        host.power = Power::On;
        host.phase = Phase::Post { flashing };
        host.boot += 1;
        let boot = host.boot;
        let dead = host.bricked;
        let version = host.staged.as_ref().map(|staged| staged.version.clone());
        self.note(format!("post {id} begins"));
        if let Some(version) = version.filter(|_| flashing) {
            self.note(format!("bios {id} flash begins {version}"));
        }
        // Without a BIOS, or with one that hangs, POST has no end.
        if !dead && !stuck {
            self.agenda.add(
                ends,
                Event::PostEnds {
                    system: index,
                    boot,
                },
            );
        }
        self.start_jobs(index);
        self.show_power_later(index);
    }

    /// Whether this boot writes the staged image.
    fn activates(&self, index: usize) -> bool {
        let staged = self
            .hosts
            .get(index)
            .filter(|host| !host.bricked)
            .and_then(|host| host.staged.as_ref());
        staged.is_some_and(|staged| match self.habits.update.activation() {
            Activation::Boot | Activation::SelfReboot => true,
            Activation::OffOn => staged.saw_off,
            Activation::ManagerReset => self.manager.returns > staged.returns,
        })
    }

    pub(in super::super) fn bios_outcome(&self, index: usize) -> Outcome {
        let id = self.system_id(index);
        let single = self.habits.system(&id, |system| system.bios_outcome);
        single.unwrap_or_else(|| self.habits.update.bios_outcome())
    }

    /// A host's POST ends.
    pub(in super::super) fn end_post(&mut self, index: usize, boot: u64) {
        let Some(host) = self.hosts.get_mut(index).filter(|host| host.boot == boot) else {
            return;
        };
        let flashed = host.phase == Phase::Post { flashing: true };
        host.phase = Phase::Os;
        let staged = if flashed { host.staged.take() } else { None };
        if let Some(staged) = staged {
            self.activate(index, &staged);
        }
        self.apply_pending(index);
        self.end_jobs(index);
        let id = self.system_id(index);
        self.note(format!("post {id} ends"));
        self.blank_attributes(index);
        self.show_power_later(index);
    }

    fn activate(&mut self, index: usize, staged: &Staged) {
        let id = self.system_id(index);
        self.hide_staged(staged);
        let version = match self.bios_outcome(index) {
            Outcome::New | Outcome::NeverReturns => Some(staged.version.clone()),
            Outcome::Wrong => Some(self.habits.update.wrong_version()),
            Outcome::Unchanged | Outcome::Failed => None,
        };
        let host = self.hosts.get_mut(index);
        if let Some((version, host)) = version.zip(host) {
            let old = host.bios_version.replace(version.clone());
            let old = old.unwrap_or_else(|| "-".to_owned());
            self.note(format!("bios {id} version {old} -> {version}"));
        }
        if self.habits.update.resets_bios_settings() || staged.wipes_settings {
            self.set_defaults(index);
            self.show_attributes(index);
        }
        self.finish_staged_task(staged);
        let late = self.habits.update.bios_late_for().0;
        if late.is_zero() {
            self.show_bios_version(index);
        } else {
            self.agenda
                .add(self.after(late), Event::ShowBios { system: index });
        }
    }

    /// Lets documents show the BIOS version that runs.
    pub(in super::super) fn show_bios_version(&mut self, index: usize) {
        let (Some(host), Some(system)) = (self.hosts.get(index), self.bindings.systems.get(index))
        else {
            return;
        };
        let hidden = self.habits.versions.hide_bios();
        let version = host.bios_version.clone().filter(|_| !hidden);
        let recorded = self
            .store
            .get(&system.uri)
            .and_then(|document| document.get("BiosVersion"));
        let shown = version.clone().map_or(Value::Null, Value::String);
        let unchanged = recorded == Some(&shown);
        // A recorded system without the member stays without it; then the inventory is all there is.
        if recorded.is_some() {
            self.store.set(&system.uri, "/BiosVersion", shown.clone());
        }
        // The inventory may show less of the same text than the system does; that stays so until it changes.
        if let Some(member) = system.inventory.as_ref().filter(|_| !unchanged) {
            self.store.reset(member, "/Version", shown);
        }
    }

    /// Adds an inventory member for the image that waits.
    pub(in super::super) fn show_staged(&mut self, index: usize) {
        let system = self
            .bindings
            .systems
            .get(index)
            .cloned()
            .unwrap_or_default();
        let collection = self
            .bindings
            .update
            .as_ref()
            .and_then(|update| update.inventory.clone());
        let version = self
            .hosts
            .get(index)
            .and_then(|host| host.staged.as_ref())
            .map(|staged| staged.version.clone());
        let (Some(collection), Some(version)) = (collection, version) else {
            return;
        };
        let id = format!("BIOS_{}_Staged", system.id);
        let uri = format!("{collection}/{id}");
        if self.habits.update.shows_staged() {
            let mut document = serde_json::json!({
                "@odata.id": uri,
                "@odata.type": "#SoftwareInventory.v1_12_0.SoftwareInventory",
                "Id": id,
                "Name": format!("Staged BIOS of system {}", system.id),
                "Status": { "State": "StandbySpare" },
                "Updateable": false,
                "Active": false,
                "Staged": true,
                "RelatedItem": [{ "@odata.id": system.uri }],
                "RelatedItem@odata.count": 1,
            });
            set(&mut document, "/Version", version.into());
            self.store.put(&uri, document);
            self.store.add_member(&collection, &uri);
            if let Some(staged) = self
                .hosts
                .get_mut(index)
                .and_then(|host| host.staged.as_mut())
            {
                staged.member = Some(uri);
            }
        }
    }

    /// Takes the inventory member of a staged image away.
    pub(in super::super) fn hide_staged(&mut self, staged: &Staged) {
        let collection = self
            .bindings
            .update
            .as_ref()
            .and_then(|update| update.inventory.clone());
        if let Some((collection, member)) = collection.zip(staged.member.as_ref()) {
            self.store.remove_member(&collection, member);
        }
    }

    /// The BMC boots the host by itself, if it is on.
    pub(in super::super) fn reboot_by_itself(&mut self, index: usize) {
        let at = self.after(self.habits.durations.power_act().0);
        let Some(host) = self
            .hosts
            .get_mut(index)
            .filter(|host| host.power == Power::On)
        else {
            return;
        };
        host.act += 1;
        let act = host.act;
        self.agenda.add(
            at,
            Event::Power {
                system: index,
                act,
                step: PowerStep::Restart,
            },
        );
    }
}
