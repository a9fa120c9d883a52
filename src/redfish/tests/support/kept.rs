//! Clock and memory of a test: both outlive the processes in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::redfish::{Clock, LoginRecord, Memory, PushClaim, SessionNote};

/// The wall clock of a test: starts at a fixed time and follows tokio's.
pub(in crate::redfish::tests) struct TestClock(Instant);

impl TestClock {
    /// All processes of a test share one.
    pub(in crate::redfish::tests) fn of(memory: &TestMemory) -> Arc<Self> {
        Arc::new(Self(
            memory.with(|disk| *disk.start.get_or_insert_with(Instant::now)),
        ))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        start + SignedDuration::try_from(self.0.elapsed()).unwrap()
    }
}

/// What all processes of a test remember.
#[derive(Default)]
pub(in crate::redfish::tests) struct Disk {
    pub(in crate::redfish::tests) pins: BTreeMap<String, String>,
    pub(in crate::redfish::tests) pins_read: usize,
    pub(in crate::redfish::tests) is_certificate_new: bool,
    pub(in crate::redfish::tests) root_uuid: Option<String>,
    pub(in crate::redfish::tests) left: Vec<SessionNote>,
    pub(in crate::redfish::tests) held: Option<SessionNote>,
    pub(in crate::redfish::tests) push_claim: Option<PushClaim>,
    pub(in crate::redfish::tests) etag_form: Option<String>,
    pub(in crate::redfish::tests) threshold: Option<u32>,
    pub(in crate::redfish::tests) logins: BTreeMap<String, LoginRecord>,
    start: Option<Instant>,
}

/// One process's view of it, for one BMC.
#[derive(Clone, Default)]
pub(in crate::redfish::tests) struct TestMemory(pub(in crate::redfish::tests) Arc<Mutex<Disk>>);

impl TestMemory {
    pub(in crate::redfish::tests) fn with<T>(&self, change: impl FnOnce(&mut Disk) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    /// The process is killed: what it held is left.
    pub(in crate::redfish::tests) fn kill(&self) {
        self.with(|disk| {
            let held = disk.held.take();
            disk.left.extend(held);
        });
    }
}

impl Memory for TestMemory {
    fn pin(&self, host_port: &str) -> Option<String> {
        self.with(|disk| {
            disk.pins_read += 1;
            disk.pins.get(host_port).cloned()
        })
    }
    fn remember_pin(&self, host_port: &str, fingerprint: &str) -> bool {
        self.with(|disk| {
            disk.pins
                .entry(host_port.to_owned())
                .or_insert_with(|| fingerprint.to_owned())
                == fingerprint
        })
    }
    fn is_certificate_new(&self, _host_port: &str) -> bool {
        self.with(|disk| disk.is_certificate_new)
    }
    fn settle_certificate(&self, _host_port: &str) {
        self.with(|disk| disk.is_certificate_new = false);
    }
    fn root_uuid(&self) -> Option<String> {
        self.with(|disk| disk.root_uuid.clone())
    }
    fn left_sessions(&self) -> Vec<SessionNote> {
        self.with(|disk| disk.left.clone())
    }
    fn forget_left_session(&self, note: &SessionNote) {
        self.with(|disk| disk.left.retain(|left| left != note));
    }
    fn remember_session(&self, note: Option<&SessionNote>) {
        self.with(|disk| disk.held = note.cloned());
    }
    fn push_claim(&self) -> Option<PushClaim> {
        self.with(|disk| disk.push_claim.clone())
    }

    fn remember_push_claim(&self, claim: Option<&PushClaim>) {
        self.with(|disk| disk.push_claim = claim.cloned());
    }

    fn etag_form(&self) -> Option<String> {
        self.with(|disk| disk.etag_form.clone())
    }
    fn remember_etag_form(&self, form: &str) {
        self.with(|disk| disk.etag_form = Some(form.to_owned()));
    }
    fn lockout_threshold(&self) -> Option<u32> {
        self.with(|disk| disk.threshold)
    }
    fn remember_lockout_threshold(&self, threshold: u32) {
        self.with(|disk| disk.threshold = Some(threshold));
    }
    fn with_logins(&self, mark: &str, change: &mut dyn FnMut(&mut LoginRecord)) {
        self.with(|disk| change(disk.logins.entry(mark.to_owned()).or_default()));
    }
}
