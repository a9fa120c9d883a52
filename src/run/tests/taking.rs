//! What the box does with requests. One that would brick a real box ends the test.

use serde_json::{Value, json};

use super::habit::Ending;
use super::model::{FLASH, GONE, Model, POST, STAGE, Task};
use crate::model::action::UpdateAction;
use crate::model::look::Power;
use crate::model::{Action, Fault, FaultKind, Outcome, Retry, ServerName, Target, TaskHandle};
use crate::run::deadline::after;

impl Model {
    /// Takes a request, or loses it or its answer.
    pub(super) fn act(&mut self, action: &Action) -> Outcome {
        let lost = || Outcome::Lost {
            fault: Fault::new(FaultKind::Unreachable, Retry::Transient, "connection reset"),
        };
        if self.habits.lose_requests > 0 {
            self.habits.lose_requests -= 1;
            self.ledger.push("(a request was lost)".to_owned());
            return lost();
        }
        if self.habits.later > 0 {
            self.habits.later -= 1;
            self.ledger.push("(come later)".to_owned());
            return refused(true, "not ready");
        }
        let outcome = self.take(action);
        if self.habits.lose_answers > 0 {
            self.habits.lose_answers -= 1;
            return lost();
        }
        outcome
    }

    fn take(&mut self, action: &Action) -> Outcome {
        self.must_not_brick(action);
        match action {
            Action::Update(update) => self.update(update),
            Action::ResetSystem { server, reset_type } => self.reset_host(server, reset_type),
            Action::ResetManager { reset_type } => {
                self.ledger.push(format!("{reset_type} manager"));
                let waiting = self.tasks.iter().rev().find(|task| {
                    task.target == Target::Bmc && task.ended && task.version != self.bmc
                });
                match waiting.map(|task| task.version.clone()) {
                    Some(version) if self.habits.bmc_waits_for_reset => self.bmc_restarts(version),
                    Some(_) | None => self.gone_until = Some(after(self.now, GONE)),
                }
                accepted(None, false)
            }
            Action::Withdraw { uri } => {
                self.ledger.push(format!("delete {uri}"));
                accepted(None, false)
            }
            Action::PatchAttributes { target, parts, .. } => {
                let names: Vec<&str> = parts
                    .iter()
                    .flat_map(|part| part.attributes.keys().map(String::as_str))
                    .collect();
                self.ledger
                    .push(format!("patch {target} {}", names.join(",")));
                if let Some(server) = target.server()
                    && let Some(host) = self.hosts.get_mut(server)
                {
                    for part in parts {
                        host.pending.extend(part.attributes.clone());
                    }
                }
                accepted(None, false)
            }
            Action::Call { uri, body } => {
                self.ledger.push(format!("post {uri} {body}"));
                merge(&mut self.network, body);
                accepted(None, false)
            }
            Action::PatchResource { uri, body, .. } => {
                self.ledger.push(format!("patch {uri} {body}"));
                let mut network = self.network_soon.clone().unwrap_or(self.network.clone());
                merge(&mut network, body);
                if self.habits.network_needs_reset {
                    self.network_soon = Some(network);
                } else {
                    self.network = network;
                }
                accepted(None, self.habits.network_needs_reset)
            }
        }
    }

    /// Cuts a flash off, if a request would.
    fn must_not_brick(&self, action: &Action) {
        let bmc_flashes = self.tasks.iter().any(|task| {
            task.target == Target::Bmc && (!task.ended || self.habits.ending == Ending::Stuck)
        });
        match action {
            Action::ResetSystem { server, reset_type } => {
                let flashes = self
                    .hosts
                    .get(server)
                    .is_some_and(|host| host.flashes.is_some());
                assert!(!flashes, "BRICKED: {reset_type} while {server} flashes");
                let staged = self
                    .hosts
                    .get(server)
                    .is_some_and(|host| host.staged.is_some());
                assert!(
                    !staged || !reset_type.contains("Restart"),
                    "{reset_type} of {server}, for which an image is staged"
                );
                let task_runs = self.habits.flashes_while_off
                    && self
                        .tasks
                        .iter()
                        .any(|task| task.target == Target::Server(server.clone()) && !task.ended);
                assert!(
                    !task_runs,
                    "BRICKED: {reset_type} while the task flashes {server}"
                );
                assert!(
                    !bmc_flashes,
                    "{reset_type} of {server} while the BMC flashes"
                );
            }
            Action::ResetManager { .. } => {
                assert!(!bmc_flashes, "BRICKED: the BMC is reset while it flashes");
                let host = self.hosts.iter().find(|(_, host)| host.flashes.is_some());
                assert!(host.is_none(), "the BMC is reset while a host flashes");
            }
            Action::Update(update) => {
                let host = self.hosts.iter().find(|(name, host)| {
                    host.flashes.is_some()
                        && (update.target == Target::Bmc
                            || update.target == Target::Server((*name).clone()))
                });
                assert!(
                    host.is_none(),
                    "an update of {} while a host flashes",
                    update.target
                );
                assert!(
                    !bmc_flashes,
                    "a second update of {} while the BMC flashes",
                    update.target
                );
            }
            Action::Withdraw { .. }
            | Action::PatchAttributes { .. }
            | Action::PatchResource { .. }
            | Action::Call { .. } => {}
        }
    }

    fn update(&mut self, update: &UpdateAction) -> Outcome {
        let now = self.now;
        if let Some(message) = self.habits.refuses_updates {
            self.ledger.push("(an update was refused)".to_owned());
            return refused(false, message);
        }
        let image = format!("{:?}", update.image);
        let sent = self
            .images
            .iter()
            .find(|(name, _)| image.contains(name.as_str()))
            .map(|(_, version)| version.clone())
            .unwrap_or_default();
        self.ledger
            .push(format!("update {} to {sent}", update.target));
        let takes = match update.target {
            Target::Bmc => FLASH,
            Target::Server(_) => STAGE,
        };
        self.tasks.push(Task {
            target: update.target.clone(),
            version: self.habits.writes_instead.clone().unwrap_or(sent),
            ends: after(now, takes),
            ended: false,
            purged: self.habits.hides_tasks,
            started: now,
            body: json!({ "ImageURI": image, "Targets": update.targets }).to_string(),
        });
        let uri = format!("/Tasks/{}", self.tasks.len() - 1);
        let handle = TaskHandle {
            task: Some(uri),
            ..TaskHandle::default()
        };
        accepted((!self.habits.hides_tasks).then_some(handle), false)
    }

    fn reset_host(&mut self, server: &ServerName, reset_type: &str) -> Outcome {
        let now = self.now;
        self.ledger.push(format!("{reset_type} {server}"));
        if self.habits.refuses.contains(reset_type) {
            return refused(false, "the host does not take that");
        }
        let Some(host) = self.hosts.get_mut(server) else {
            return accepted(None, false);
        };
        let boots = match reset_type {
            _ if self.habits.ignores.contains(reset_type) => false,
            "GracefulShutdown" if self.habits.shutdown_restarts => true,
            "GracefulShutdown" | "ForceOff" => {
                host.power = Power::Off;
                host.post_until = None;
                false
            }
            "On" => host.power == Power::Off,
            _ => true,
        };
        if boots {
            host.power = Power::On;
            host.post_until = Some(after(now, POST));
            host.flashes = host.staged.take();
            if host.flashes.is_some() {
                host.attributes.extend(self.habits.flash_resets.clone());
            }
        }
        accepted(None, false)
    }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

fn accepted(task: Option<TaskHandle>, reset_required: bool) -> Outcome {
    Outcome::Accepted {
        task,
        messages: Vec::new(),
        reset_required,
    }
}

fn refused(later: bool, message: &str) -> Outcome {
    Outcome::Refused {
        fault: Fault::new(FaultKind::ResetFailed, Retry::Operator, message),
        later,
        retry_after_secs: None,
    }
}
