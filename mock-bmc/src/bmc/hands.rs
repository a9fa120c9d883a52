//! This room is hands: what a person beside the box, or a test, does to it without a request.
//!
//! It deliberately leaves no request in the ledger, only what changed.

use serde_json::Value;

use super::core::Bmc;
use super::host::Staged;
use crate::script::{Fault, ForeignJob, ForeignTask, Script};

impl Bmc {
    /// Another manager firmware runs, as if somebody had flashed it.
    pub fn set_bmc_version(&mut self, version: &str) {
        let old = self
            .manager
            .version
            .clone()
            .unwrap_or_else(|| "-".to_owned());
        self.manager.version = Some(version.to_owned());
        self.note(format!("bmc version {old} -> {version}"));
        self.show_bmc_version();
    }

    /// Another BIOS runs on a system, counted from 0.
    pub fn set_bios_version(&mut self, system: usize, version: &str) {
        let id = self.system_id(system);
        let Some(host) = self.hosts.get_mut(system) else {
            return;
        };
        let old = host.bios_version.replace(version.to_owned());
        host.bricked = false;
        self.note(format!(
            "bios {id} version {} -> {version}",
            old.as_deref().unwrap_or("-")
        ));
        self.show_bios_version(system);
    }

    /// A BIOS attribute has another value at once.
    pub fn set_attribute(&mut self, system: usize, name: &str, value: Value) {
        if let Some(host) = self.hosts.get_mut(system) {
            host.current.insert(name.to_owned(), value);
        }
        self.show_attributes(system);
    }

    /// A BIOS attribute waits for the next boot.
    pub fn set_pending(&mut self, system: usize, name: &str, value: Value) {
        if let Some(host) = self.hosts.get_mut(system) {
            host.pending.insert(name.to_owned(), value);
        }
        self.show_attributes(system);
    }

    /// An attribute of the manager has another value at once; enumerations by name.
    pub fn set_bmc_attribute(&mut self, name: &str, value: &Value) {
        for index in 0..self.sets.len() {
            if let Some(known) = self
                .sets
                .get_mut(index)
                .and_then(|set| set.current.get_mut(name))
            {
                *known = value.clone();
            }
            self.show_set(index);
        }
    }

    /// A BIOS image of somebody else's waits for the next boot.
    pub fn set_staged(&mut self, system: usize, version: &str) {
        let returns = self.manager.returns;
        if let Some(host) = self.hosts.get_mut(system) {
            host.staged = Some(Staged {
                version: version.to_owned(),
                task: None,
                saw_off: false,
                returns,
                wipes_settings: false,
                member: None,
            });
        }
        self.show_staged(system);
    }

    /// One member of a document has another value; `pointer` names it as RFC 6901 does. What the BMC itself keeps up to
    /// date, such as a version, is overwritten when it changes next.
    pub fn set_member(&mut self, uri: &str, pointer: &str, value: Value) {
        self.store.set(uri, pointer, value);
    }

    /// What a member of a document is now, by JSON pointer.
    pub fn member(&self, uri: &str, pointer: &str) -> Option<Value> {
        self.store.get(uri)?.pointer(pointer).cloned()
    }

    /// Somebody else starts a task; its id.
    pub fn add_foreign_task(&mut self, task: &ForeignTask) -> String {
        self.add_strange_task(task)
    }

    /// Somebody else schedules a job.
    pub fn add_foreign_job(&mut self, job: &ForeignJob) {
        self.add_strange_job(job);
    }

    /// Somebody else's session is opened; sessions in all.
    pub fn add_foreign_session(&mut self) -> usize {
        self.open_strange_session();
        self.sessions.len()
    }

    /// Somebody changes the password of the account that the BMC was configured with.
    pub fn set_password(&mut self, password: &str) {
        if let Some(account) = self.accounts.first_mut() {
            password.clone_into(&mut account.password);
            account.must_change_password = false;
        }
    }

    /// Another fault from now on, after those that are there.
    pub fn add_fault(&mut self, fault: Fault) {
        self.habits.fault.push(fault);
        self.fault_hits.push(0);
    }

    /// Takes all faults away.
    pub fn clear_faults(&mut self) {
        self.habits.fault.clear();
        self.fault_hits.clear();
    }

    /// Other habits from now on. What a script says of the moment of switching on has no effect any more.
    pub fn set_script(&mut self, script: &Script) {
        let style = self.habits.bios_settings.pending_style;
        self.habits = crate::script::Habits::of(script, self.usual, self.name());
        if self.habits.bios_settings.pending_style.is_none() {
            self.habits.bios_settings.pending_style = style;
        }
        self.fault_hits = vec![0; self.habits.fault.len()];
        self.stale_left = self.habits.etag.stale();
        self.resets_to_ignore = self.habits.power.ignored_resets();
        let graceful = self.habits.power.ignored_graceful();
        self.hosts
            .iter_mut()
            .for_each(|host| host.ignored_graceful = graceful);
    }

    /// Replaces the TLS certificate.
    pub fn replace_tls_certificate(&mut self) {
        self.replace_certificate();
    }
}
