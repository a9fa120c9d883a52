//! This room is an image's way: fetched, checked, written or staged, and what runs in the end.
//!
//! It deliberately lets a task say what usual ones say; how tasks lie is another room's.

use bytes::Bytes;

use super::super::agenda::Event;
use super::super::core::Bmc;
use super::super::host::{Phase, Power, Staged};
use super::{Goal, Stage, Update};
use crate::docs::messages::Message;
use crate::image::{self, Component, ImageHeader};
use crate::ledger::masked_url;
use crate::script::{Activation, Outcome, StagedTask};

impl Bmc {
    /// The result of a pull.
    pub(in super::super) fn image_fetched(&mut self, id: u64, result: Result<Bytes, String>) {
        let waits = |update: &&Update| update.number == id && update.stage == Stage::Transfer;
        let Some(update) = self.updates.current.as_ref().filter(waits) else {
            return;
        };
        let (url, task) = (
            masked_url(update.url.as_deref().unwrap_or_default()),
            update.task.clone(),
        );
        match result {
            Ok(bytes) => {
                let what = image::parse(&bytes)
                    .map(|header| format!("{} {}", header.component, header.version));
                let what = what.unwrap_or_else(|| "unknown -".to_owned());
                let detail = format!("{} bytes", bytes.len());
                self.ledger.fetch(
                    self.now,
                    &url,
                    format!("update image {what} task {task}"),
                    detail,
                );
                self.image_in_hand(&bytes);
            }
            Err(why) => {
                self.ledger
                    .fetch(self.now, &url, format!("update failed task {task}"), why);
                let target = self.target_word();
                self.fail_update(Message::update("TransferFailed", &[&url, &target]));
            }
        }
    }

    /// The whole image is there: its check begins.
    pub(super) fn image_in_hand(&mut self, bytes: &Bytes) {
        let header = image::parse(bytes);
        let Some(update) = &mut self.updates.current else {
            return;
        };
        update.stage = Stage::Check;
        update.header.clone_from(&header);
        let (number, task) = (update.number, update.task.clone());
        let name = update.name.clone();
        let component = header.as_ref().map(|header| header.component);
        self.give_task_fault(&task, component, self.updates.made);
        let total = self.whole_span(component);
        let verify = self.habits.durations.verify().min(total);
        self.pace_task(&task, total, (1, 99));
        let target = self.target_word();
        self.tell_task(
            &task,
            Message::update("VerifyingAtComponent", &[&name, &target]),
        );
        self.agenda
            .add(self.after(verify.0), Event::Verified { update: number });
    }

    pub(super) fn whole_span(&self, component: Option<Component>) -> crate::script::Span {
        match component {
            Some(Component::Bmc) => self.habits.durations.bmc_flash(),
            Some(Component::Bios) => self.habits.durations.bios_stage(),
            None => self.habits.durations.verify(),
        }
    }

    /// What an update is about, for messages.
    fn target_word(&self) -> String {
        let targets = self
            .updates
            .current
            .as_ref()
            .map(|update| update.targets.join(", "))
            .unwrap_or_default();
        if targets.is_empty() {
            "UpdateService".to_owned()
        } else {
            targets
        }
    }

    /// The check of an image ends.
    pub(in super::super) fn image_verified(&mut self, number: u64) {
        let Some(update) = self
            .updates
            .current
            .clone()
            .filter(|update| update.number == number)
        else {
            return;
        };
        let target = self.target_word();
        let Some(header) = update.header.clone() else {
            self.fail_update(Message::update(
                "VerificationFailed",
                &[&update.name, &target],
            ));
            return;
        };
        let goal = match self.goal_of(&header, &update.targets) {
            Ok(goal) => goal,
            Err(message) => return self.fail_update(message),
        };
        if let Some(message) = self.refused_hop(&header, &goal) {
            return self.fail_update(message);
        }
        if self.is_doomed(&goal) {
            return self.fail_update(Message::update("ApplyFailed", &[&update.name, &target]));
        }
        self.tell_task(
            &update.task,
            Message::update("TargetDetermined", &[&target, &update.name]),
        );
        if self.habits.update.waits_for_start() && update.on_start {
            return self.wait_for_start(update, goal);
        }
        self.tell_task(
            &update.task,
            Message::update("InstallingOnComponent", &[&update.name, &target]),
        );
        self.begin_writing(&update, &header, goal);
        if self.habits.tasks.turns_into_job() {
            self.turn_into_job(&update.task);
        }
    }

    /// A task hands over to a job.
    fn turn_into_job(&mut self, task: &str) {
        let Some(job) = self.add_job("Firmware update", "Running", &serde_json::json!({})) else {
            return;
        };
        self.tell_task(task, Message::update("OperationTransitionedToJob", &[&job]));
        self.end_task(task, "Completed", "OK");
        if let Some(update) = &mut self.updates.current {
            update.job = Some(job);
        }
    }

    pub(super) fn begin_writing(&mut self, update: &Update, header: &ImageHeader, goal: Goal) {
        let total = self.whole_span(Some(header.component));
        let left = total
            .0
            .saturating_sub(self.habits.durations.verify().min(total).0);
        let at = self.after(left);
        let number = update.number;
        let event = match goal {
            Goal::Bmc => {
                self.note(format!("bmc flash begins {}", header.version));
                Event::Flashed { update: number }
            }
            Goal::Bios(_) => Event::Staged { update: number },
        };
        self.agenda.add(at, event);
        if let Some(update) = &mut self.updates.current {
            update.stage = Stage::Write;
            update.goal = Some(goal);
        }
    }

    /// An update ends in `Exception`.
    fn fail_update(&mut self, message: Message) {
        let Some(update) = self.updates.current.take() else {
            return;
        };
        let reason = message.id.rsplit('.').next().unwrap_or_default().to_owned();
        self.tell_task(&update.task, message);
        self.end_task(&update.task, "Exception", "Critical");
        self.end_job(update.job.as_deref(), "Exception");
        self.note(format!("update failed task {} {reason}", update.task));
    }

    /// A BMC image is written: the manager goes to run it.
    pub(in super::super) fn image_flashed(&mut self, number: u64) {
        let Some(update) = self
            .updates
            .current
            .as_mut()
            .filter(|update| update.number == number)
        else {
            return;
        };
        update.stage = Stage::Written;
        let outcome = self.habits.update.bmc_outcome();
        self.manager_goes_to_new_image(outcome);
    }

    /// The manager is back; if it went to run a new image, that runs now.
    pub(in super::super) fn finish_bmc_update(&mut self) {
        self.forget_verified();
        let written = |update: &Update| update.stage == Stage::Written;
        if self.updates.current.as_ref().is_some_and(written)
            && let Some(update) = self.updates.current.take()
        {
            self.run_image(&update);
        }
        if !self.habits.update.tasks_survive() {
            self.forget_tasks();
        }
    }

    fn run_image(&mut self, update: &Update) {
        let version = update
            .header
            .as_ref()
            .map(|header| header.version.clone())
            .unwrap_or_default();
        match self.habits.update.bmc_outcome() {
            Outcome::New => self.run_bmc_version(&version),
            Outcome::Wrong => {
                let wrong = self.habits.update.wrong_version();
                self.run_bmc_version(&wrong);
            }
            Outcome::Unchanged | Outcome::Failed | Outcome::NeverReturns => {}
        }
        if !update.wiped.is_empty() {
            self.note(format!(
                "configuration bmc wiped {}",
                update.wiped.join(",")
            ));
        }
        let is_wiped = update.wiped.iter().any(|name| name == "PreserveSsl");
        if self.habits.update.new_certificate() || is_wiped {
            self.replace_certificate();
        }
        let target = self.bindings.bmc.clone().unwrap_or_default();
        self.tell_task(
            &update.task,
            Message::update("UpdateSuccessful", &[&target, &update.name]),
        );
        self.end_task(&update.task, "Completed", "OK");
        self.end_job(update.job.as_deref(), "Completed");
        self.note(format!("update done task {}", update.task));
    }

    /// The manager was reset while its own memory was being written: it is dead. Says whether it is.
    pub(in super::super) fn tear_bmc_flash(&mut self) -> bool {
        let Some(update) = &self.updates.current else {
            return false;
        };
        if update.goal == Some(Goal::Bmc) {
            self.updates.current = None;
            self.manager.version = None;
            self.die("bricked bmc");
            return true;
        }
        let name = update.name.clone();
        let target = self.target_word();
        self.fail_update(Message::update("TransferFailed", &[&name, &target]));
        false
    }

    /// What was being staged when the manager went is lost.
    pub(in super::super) fn lose_staging(&mut self) {
        let staging = self
            .updates
            .current
            .as_ref()
            .filter(|update| matches!(update.goal, Some(Goal::Bios(_))));
        if let Some(update) = staging {
            let name = update.name.clone();
            let target = self.target_word();
            self.fail_update(Message::update("ApplyFailed", &[&name, &target]));
        }
    }

    /// A BIOS image is staged.
    pub(in super::super) fn image_staged(&mut self, number: u64) {
        let ours = self
            .updates
            .current
            .as_ref()
            .is_some_and(|update| update.number == number);
        let Some(update) = self.updates.current.take().filter(|_| ours) else {
            return;
        };
        let (Some(header), Some(Goal::Bios(systems))) = (&update.header, &update.goal) else {
            return;
        };
        for index in systems {
            self.stage_for(*index, &header.version, &update.task);
            let wiped = update.wiped.iter().any(|name| name == "PreserveNVRAM");
            if let Some(staged) = self
                .hosts
                .get_mut(*index)
                .and_then(|host| host.staged.as_mut())
            {
                staged.wipes_settings = wiped;
            }
        }
        let targets: Vec<String> = systems
            .iter()
            .filter_map(|index| self.bindings.systems.get(*index))
            .map(|system| system.uri.clone())
            .collect();
        self.tell_task(
            &update.task,
            Message::update("AwaitToActivate", &[&update.name, &targets.join(", ")]),
        );
        self.end_job(update.job.as_deref(), "Completed");
        match self.habits.update.staged_task() {
            StagedTask::Completed => {
                self.end_task(&update.task, "Completed", "OK");
                self.note(format!("update done task {}", update.task));
            }
            StagedTask::Pending => self.set_task_state(&update.task, "Pending", 99),
            StagedTask::Stopping => self.set_task_state(&update.task, "Stopping", 99),
        }
        let habits = &self.habits.update;
        let at_once = habits.immediate_restarts_host() && !update.on_reset;
        if habits.activation() == Activation::SelfReboot || at_once {
            for index in systems {
                self.reboot_by_itself(*index);
            }
        }
        self.refresh_tasks();
    }

    fn stage_for(&mut self, index: usize, version: &str, task: &str) {
        let id = self.system_id(index);
        let returns = self.manager.returns;
        let Some(host) = self.hosts.get_mut(index) else {
            return;
        };
        let saw_off = host.power == Power::Off;
        let staged = Staged {
            version: version.to_owned(),
            task: Some(task.to_owned()),
            saw_off,
            returns,
            wipes_settings: false,
            member: None,
        };
        let before = host.staged.replace(staged);
        if let Some(before) = before {
            self.hide_staged(&before);
            self.note(format!("bios {id} unstaged {}", before.version));
            self.fail_staged_task(&before, "ActivateFailed");
        }
        self.note(format!("bios {id} staged {version}"));
        self.show_staged(index);
    }

    /// Takes back what a task staged, unless a host is writing it. Says whether anything was taken back.
    pub(in super::super) fn unstage(&mut self, task: &str) -> bool {
        let writes = Phase::Post { flashing: true };
        let mut any = false;
        for index in 0..self.hosts.len() {
            let id = self.system_id(index);
            let host = self
                .hosts
                .get_mut(index)
                .filter(|host| host.phase != writes);
            let ours = |staged: &mut Staged| staged.task.as_deref() == Some(task);
            if let Some(staged) = host.and_then(|host| host.staged.take_if(ours)) {
                any = true;
                self.hide_staged(&staged);
                self.note(format!("bios {id} unstaged {}", staged.version));
            }
        }
        any
    }

    /// A staged image runs; a task that waited with it ends, unless it waits for another host too.
    pub(in super::super) fn finish_staged_task(&mut self, staged: &Staged) {
        let Some(task) = staged.task.clone() else {
            return;
        };
        let others = self.hosts.iter().filter_map(|host| host.staged.as_ref());
        let waits = others
            .clone()
            .any(|other| other.task.as_ref() == Some(&task));
        let open = self
            .task_mut(&task)
            .is_some_and(|task| task.ended.is_none());
        if open && !waits {
            self.tell_task(
                &task,
                Message::update("UpdateSuccessful", &["BIOS", &staged.version]),
            );
            self.end_task(&task, "Completed", "OK");
            self.note(format!("update done task {task}"));
        }
    }

    /// A staged image will not run; a task that waited with it fails.
    pub(in super::super) fn fail_staged_task(&mut self, staged: &Staged, key: &str) {
        let Some(task) = staged.task.clone() else {
            return;
        };
        if self
            .task_mut(&task)
            .is_some_and(|task| task.ended.is_none())
        {
            self.tell_task(&task, Message::update(key, &[&staged.version, "BIOS"]));
            self.end_task(&task, "Exception", "Critical");
            self.note(format!("update failed task {task} {key}"));
        }
    }
}
