//! This room holds everything that one BMC is, and passes time on to its parts.
//!
//! It deliberately decides nothing itself: requests are routed elsewhere, and each part knows what to do when its time
//! has come.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use super::account::Account;
use super::agenda::{Agenda, Event};
use super::config::{BmcConfig, Fetch, Source};
use super::host::Host;
use super::job::JobRun;
use super::login::{Lockout, Session};
use super::manager::ManagerState;
use super::settings::AttributeSet;
use super::task::Tasks;
use super::update::Updates;
use crate::docs::adopt;
use crate::docs::bindings::Bindings;
use crate::docs::identity::Identity;
use crate::docs::store::Store;
use crate::ledger::{Ledger, LedgerLine};
use crate::script::{Habits, Script};
use crate::time::Moment;

/// One BMC.
#[derive(Debug)]
pub struct Bmc {
    name: String,
    pub(super) now: Moment,
    pub(super) epoch: Timestamp,
    pub(super) habits: Habits,
    /// The habits of its platform, where a script is silent.
    pub(super) usual: Option<&'static Script>,
    pub(super) identity: Identity,
    pub(super) store: Store,
    pub(super) bindings: Bindings,
    pub(super) ledger: Ledger,
    pub(super) agenda: Agenda,
    pub(super) accounts: Vec<Account>,
    pub(super) lockout: Lockout,
    pub(super) sessions: Vec<Session>,
    pub(super) logins: u64,
    pub(super) tasks: Tasks,
    pub(super) jobs: Vec<JobRun>,
    pub(super) jobs_made: u64,
    pub(super) updates: Updates,
    pub(super) hosts: Vec<Host>,
    pub(super) manager: ManagerState,
    pub(super) sets: Vec<AttributeSet>,
    /// Changes of plain resources that wait for a reset of the manager.
    pub(super) waiting_changes: Vec<(String, serde_json::Map<String, serde_json::Value>)>,
    pub(super) fetches: Vec<Fetch>,
    /// How often each fault of the script has fitted a request.
    pub(super) fault_hits: Vec<u32>,
    /// Reads, for tags that differ on every one.
    pub(super) reads: u64,
    /// Conditional writes that are still to be refused.
    pub(super) stale_left: u32,
    pub(super) resets_to_ignore: u32,
    /// Whether a recorded service answers to any letter case, as some do.
    pub(super) any_case: bool,
}

impl Bmc {
    /// Switches a BMC on.
    pub fn new(config: BmcConfig, now: Moment) -> Self {
        let platform = match &config.source {
            Source::Platform(name) => Some(name.clone()),
            Source::Tree(_) => None,
        };
        let usual = platform.as_deref().and_then(crate::platform::habits);
        let habits = Habits::of(&config.script, usual, &config.name);
        let identity = Identity::new(&config.name, config.uuid_seed, &habits);
        let any_case = matches!(config.source, Source::Tree(_));
        let store = match config.source {
            Source::Platform(platform) => {
                adopt::platform(&platform, &identity, config.systems, &config.user, &habits)
            }
            Source::Tree(tree) => adopt::tree(tree, &identity, &config.user, &habits),
        };
        let bindings = Bindings::walk(&store);
        let believed = habits
            .identity
            .clock
            .as_ref()
            .and_then(|clock| clock.parse().ok());
        let mut bmc = Self {
            now,
            epoch: believed.unwrap_or(config.epoch),
            accounts: Account::first(&store, &bindings, &config.user, &config.password, &habits),
            ledger: Ledger::new(&config.name),
            fault_hits: vec![0; habits.fault.len()],
            stale_left: habits.etag.stale(),
            resets_to_ignore: habits.power.ignored_resets(),
            name: config.name,
            agenda: Agenda::default(),
            lockout: Lockout::default(),
            sessions: Vec::new(),
            logins: 0,
            tasks: Tasks::default(),
            jobs: Vec::new(),
            jobs_made: 0,
            updates: Updates::default(),
            hosts: Vec::new(),
            manager: ManagerState::default(),
            sets: Vec::new(),
            waiting_changes: Vec::new(),
            fetches: Vec::new(),
            reads: 0,
            habits,
            usual,
            identity,
            store,
            bindings,
            any_case,
        };
        bmc.start();
        bmc
    }

    /// Brings every part into the state that documents and script say.
    fn start(&mut self) {
        self.start_manager();
        self.start_hosts();
        self.start_attributes();
        self.start_sessions();
        self.start_foreign();
    }

    /// Does what is due by now.
    pub fn advance(&mut self, now: Moment) {
        while let Some((at, event)) = self.agenda.take_due(now) {
            // An entry that was overslept happens when it was due, so that what follows from it is on time.
            self.now = self.now.max(at);
            self.happen(event);
        }
        self.now = self.now.max(now);
        self.expire_sessions();
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Power { system, act, step } => self.power_step(system, act, step),
            Event::PostEnds { system, boot } => self.end_post(system, boot),
            Event::ShowPower { system } => self.show_power(system),
            Event::ShowBios { system } => self.show_bios_version(system),
            Event::ShowAttributes { system } => self.show_attributes(system),
            Event::Verified { update } => self.image_verified(update),
            Event::Staged { update } => self.image_staged(update),
            Event::Flashed { update } => self.image_flashed(update),
            Event::ManagerGoes { absence } => self.manager_goes(absence),
            Event::ManagerReturns { absence } => self.manager_returns(absence),
            Event::ShowBmc => self.show_bmc_version(),
            Event::ForeignTask { index } => self.foreign_task_appears(index),
            Event::ForeignTaskEnds { task } => self.foreign_task_ends(&task),
            Event::ForeignJob { index } => self.foreign_job_appears(index),
            Event::Purge { task } => self.purge_task(&task),
        }
    }

    /// When something is due next.
    pub fn due(&self) -> Option<Moment> {
        self.agenda.due()
    }

    /// Takes the images that the BMC wants to pull.
    pub fn take_fetches(&mut self) -> Vec<Fetch> {
        std::mem::take(&mut self.fetches)
    }

    /// The result of a pull: the image, or why there is none.
    pub fn fetched(&mut self, now: Moment, id: u64, result: Result<Bytes, String>) {
        self.advance(now);
        self.image_fetched(id, result);
    }

    /// Whether anybody listens at its address.
    pub fn is_listening(&self, _now: Moment) -> bool {
        self.manager.is_present()
    }

    /// Counts replacements of its TLS certificate.
    pub fn certificate_generation(&self) -> u32 {
        self.manager.certificate
    }

    /// All ledger lines that were not taken.
    pub fn ledger(&self) -> &[LedgerLine] {
        self.ledger.lines()
    }

    /// Takes all ledger lines.
    pub fn take_ledger(&mut self) -> Vec<LedgerLine> {
        self.ledger.take()
    }

    /// Its name in the fleet.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The moment `span` from now.
    pub(super) fn after(&self, span: Duration) -> Moment {
        self.now + span
    }

    /// A moment as the BMC's clock shows it.
    pub(super) fn wall(&self, moment: Moment) -> Timestamp {
        let span = SignedDuration::from_millis(i64::try_from(moment.0).unwrap_or(i64::MAX));
        self.epoch.checked_add(span).unwrap_or(Timestamp::MAX)
    }

    /// A moment as documents write it.
    pub(super) fn date(&self, moment: Moment) -> String {
        self.wall(moment).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Notes that something changed.
    pub(super) fn note(&mut self, detail: impl Into<String>) {
        self.ledger.state(self.now, detail);
    }
}
