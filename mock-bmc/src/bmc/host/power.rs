//! This room is power: what a reset asks for, whether it may be, and when it takes effect.
//!
//! It deliberately lets a forced act tear a flash in POST, since that is what happens.

use http::StatusCode;
use serde_json::Value;

use super::super::agenda::{Event, PowerStep};
use super::super::answer::Answer;
use super::super::core::Bmc;
use super::{Phase, Power};
use crate::docs::messages::Message;
use crate::docs::store::is_link_to;
use crate::docs::walk::{action, allowable};
use crate::ledger::Kind;
use crate::script::AlreadyThere;

/// What a `ResetType` means for a host that is in a certain state.
enum Act {
    /// The host is there already.
    Nothing,
    /// It is accepted, and the operating system does not care.
    Ignored,
    /// The host is in no state for it.
    Impossible,
    /// Something happens, after the operating system has shut down or soon.
    Step(PowerStep, bool),
}

impl Bmc {
    /// Answers `ComputerSystem.Reset`.
    pub(in super::super) fn reset_system(
        &mut self,
        index: usize,
        target: &str,
        kind: Option<&str>,
    ) -> Answer {
        let Some(system) = self.bindings.systems.get(index).cloned() else {
            return Answer::missing(target);
        };
        let uri = system.uri;
        let Some(kind) = kind else {
            self.ledger.cause(format!("reset refused {uri} -"));
            return Answer::bad(Message::base(
                "ActionParameterMissing",
                &["ComputerSystem.Reset", "ResetType"],
            ));
        };
        let document = self.store.get(&uri).unwrap_or(&Value::Null);
        let found = action(document, "#ComputerSystem.Reset");
        let allowed = found.and_then(|(_, action)| allowable(&self.store, action, "ResetType"));
        if !is_known(kind)
            || allowed.is_some_and(|allowed| !allowed.iter().any(|known| known == kind))
        {
            self.ledger.cause(format!("reset refused {uri} {kind}"));
            return Answer::bad(Message::base(
                "ActionParameterValueNotInList",
                &[kind, "ResetType", "ComputerSystem.Reset"],
            ));
        }
        if self.is_busy_after_off(index) {
            self.ledger.cause(format!("reset refused {uri} {kind}"));
            return Answer::refused(StatusCode::CONFLICT, &[Message::base("ResourceInUse", &[])]);
        }
        if self.ignores_reset(&uri, kind) {
            return Answer::done();
        }
        self.act(index, &uri, target, kind)
    }

    /// A reset that is answered as usual and does nothing.
    pub(in super::super) fn ignores_reset(&mut self, uri: &str, kind: &str) -> bool {
        let ignored = self.resets_to_ignore > 0;
        if ignored {
            self.resets_to_ignore -= 1;
            self.ledger.cause(format!("reset ignored {uri} {kind}"));
        }
        ignored
    }

    fn is_busy_after_off(&self, index: usize) -> bool {
        let busy = self.habits.power.busy_after_off().0;
        let off_at = self.hosts.get(index).and_then(|host| host.off_at);
        off_at.is_some_and(|off_at| self.now.since(off_at) < busy)
    }

    fn act(&mut self, index: usize, uri: &str, target: &str, kind: &str) -> Answer {
        match self.meaning(index, kind) {
            Act::Nothing => {
                self.ledger.cause(format!("reset ignored {uri} {kind}"));
                self.already_there()
            }
            Act::Ignored => {
                self.ledger.cause(format!("reset ignored {uri} {kind}"));
                Answer::done()
            }
            Act::Impossible => {
                self.ledger.cause(format!("reset refused {uri} {kind}"));
                Answer::refused(
                    StatusCode::CONFLICT,
                    &[Message::base("ResourceInStandby", &[])],
                )
            }
            Act::Step(step, graceful) => {
                self.ledger.cause(format!("reset {uri} {kind}"));
                self.ledger
                    .note(self.now, Kind::Reset, format!("{target} {kind}"));
                self.begin_act(index, step, graceful);
                Answer::done()
            }
        }
    }

    fn already_there(&self) -> Answer {
        let message = Message::base("ResourceInUse", &[]);
        match self.habits.power.already_there() {
            AlreadyThere::Accepted => Answer::done(),
            AlreadyThere::Conflict => Answer::refused(StatusCode::CONFLICT, &[message]),
            AlreadyThere::BadRequest => Answer::bad(message),
        }
    }

    fn meaning(&self, index: usize, kind: &str) -> Act {
        let Some(host) = self.hosts.get(index) else {
            return Act::Impossible;
        };
        let on = host.power == Power::On || host.power == Power::PoweringOff;
        // Without an operating system nobody hears a graceful request.
        let deaf = host.ignored_graceful || host.phase != Phase::Os;
        match (kind, on) {
            ("On" | "ForceOn", true) if host.power == Power::PoweringOff => Act::Impossible,
            ("On" | "ForceOn", true) | ("ForceOff" | "GracefulShutdown", false) => Act::Nothing,
            ("On" | "ForceOn" | "PowerCycle" | "PushPowerButton", false) => {
                Act::Step(PowerStep::On, false)
            }
            ("GracefulRestart" | "ForceRestart" | "Nmi", false) => Act::Impossible,
            ("GracefulShutdown" | "PushPowerButton" | "GracefulRestart", true) if deaf => {
                Act::Ignored
            }
            ("GracefulShutdown" | "PushPowerButton", true) => Act::Step(PowerStep::Off, true),
            ("GracefulRestart", true) => Act::Step(PowerStep::Restart, true),
            ("ForceOff", true) => Act::Step(PowerStep::Off, false),
            ("ForceRestart", true) => Act::Step(PowerStep::Restart, false),
            ("PowerCycle", true) => Act::Step(PowerStep::Cycle, false),
            (_, _) => Act::Ignored,
        }
    }

    fn begin_act(&mut self, index: usize, step: PowerStep, graceful: bool) {
        let durations = &self.habits.durations;
        let span = if graceful {
            durations.graceful_shutdown()
        } else {
            durations.power_act()
        };
        let at = self.after(span.0);
        let Some(host) = self.hosts.get_mut(index) else {
            return;
        };
        if graceful && host.power == Power::PoweringOff && step == PowerStep::Off {
            // The shutdown that runs is the one that is wanted.
            return;
        }
        host.act += 1;
        let act = host.act;
        match (step, graceful) {
            (PowerStep::On, _) => host.power = Power::PoweringOn,
            (PowerStep::Off, true) => host.power = Power::PoweringOff,
            (PowerStep::Off | PowerStep::Cycle | PowerStep::Restart, _) => {}
        }
        self.agenda.add(
            at,
            Event::Power {
                system: index,
                act,
                step,
            },
        );
        self.show_power_later(index);
    }

    /// A power act takes its effect.
    pub(in super::super) fn power_step(&mut self, index: usize, act: u64, step: PowerStep) {
        if self.hosts.get(index).is_none_or(|host| host.act != act) {
            return;
        }
        // A graceful act waits for the operating system, and a host in POST has none; so what comes here is forced.
        let torn = self
            .hosts
            .get(index)
            .is_some_and(|host| host.phase == Phase::Post { flashing: true });
        if torn && step != PowerStep::On {
            self.brick(index);
        }
        match step {
            PowerStep::Off => self.power_off(index),
            PowerStep::Cycle => {
                self.power_off(index);
                let at = self.after(self.habits.durations.power_cycle().0);
                self.agenda.add(
                    at,
                    Event::Power {
                        system: index,
                        act,
                        step: PowerStep::On,
                    },
                );
            }
            PowerStep::On => self.power_on(index),
            PowerStep::Restart => self.begin_boot(index),
        }
    }

    fn power_off(&mut self, index: usize) {
        let id = self.system_id(index);
        let now = self.now;
        if let Some(host) = self.hosts.get_mut(index) {
            host.power = Power::Off;
            host.phase = Phase::Off;
            host.off_at = Some(now);
            // Whatever boot was under way is over.
            host.boot += 1;
            if let Some(staged) = &mut host.staged {
                staged.saw_off = true;
            }
        }
        self.note(format!("power {id} Off"));
        self.show_power_later(index);
    }

    fn power_on(&mut self, index: usize) {
        let id = self.system_id(index);
        if let Some(host) = self.hosts.get_mut(index) {
            host.power = Power::On;
        }
        self.note(format!("power {id} On"));
        self.begin_boot(index);
    }

    /// Torn flash memory: nothing runs there any more.
    pub(in super::super) fn brick(&mut self, index: usize) {
        let id = self.system_id(index);
        let Some(host) = self.hosts.get_mut(index) else {
            return;
        };
        host.bricked = true;
        host.bios_version = None;
        let staged = host.staged.take();
        self.note(format!("bricked {id}"));
        if let Some(staged) = staged {
            self.hide_staged(&staged);
            self.fail_staged_task(&staged, "ActivateFailed");
        }
        self.show_bios_version(index);
    }

    pub(in super::super) fn show_power_later(&mut self, index: usize) {
        let lag = self.habits.power.state_lag().0;
        if lag.is_zero() {
            self.show_power(index);
        } else {
            self.agenda
                .add(self.after(lag), Event::ShowPower { system: index });
        }
    }

    /// Lets the system's document show power and boot as they are.
    pub(in super::super) fn show_power(&mut self, index: usize) {
        let (Some(host), Some(system)) = (self.hosts.get(index), self.bindings.systems.get(index))
        else {
            return;
        };
        let uri = system.uri.clone();
        self.store
            .reset(&uri, "/PowerState", host.power.word().into());
        let last = match host.phase {
            Phase::Off => "None",
            Phase::Post { flashing: false } => "MemoryInitializationStarted",
            Phase::Post { flashing: true } => "PrimaryProcessorInitializationStarted",
            Phase::Os => "OSRunning",
        };
        let date = self.date(self.now);
        self.store.edit(&uri, |document| {
            if document["Oem"]["Hpe"]["PostState"].is_string() {
                document["Oem"]["Hpe"]["PostState"] = hpe_post_state(last).into();
            }
            let progress = &mut document["BootProgress"];
            if progress.is_object() && progress["LastState"] != last {
                progress["LastState"] = last.into();
                progress["LastStateTime"] = date.into();
                progress
                    .as_object_mut()
                    .and_then(|members| members.remove("OemLastState"));
            }
            if document.get("BootProgress").is_some_and(Value::is_null) {
                document
                    .as_object_mut()
                    .and_then(|members| members.remove("BootProgress"));
            }
        });
    }

    /// Answers `Chassis.Reset`: every system in it loses power or gets it.
    pub(in super::super) fn reset_chassis(
        &mut self,
        chassis: &str,
        target: &str,
        kind: Option<&str>,
    ) -> Answer {
        let link = serde_json::json!({ "@odata.id": chassis });
        let inside: Vec<usize> = self
            .bindings
            .systems
            .iter()
            .enumerate()
            .filter(|(_, system)| system.chassis.iter().any(|uri| is_link_to(&link, uri)))
            .map(|(index, _)| index)
            .collect();
        let answers: Vec<Answer> = inside
            .into_iter()
            .map(|index| self.reset_system(index, target, kind))
            .collect();
        answers.into_iter().next().unwrap_or_else(Answer::done)
    }
}

fn is_known(kind: &str) -> bool {
    let known = [
        "On",
        "ForceOn",
        "ForceOff",
        "GracefulShutdown",
        "GracefulRestart",
        "ForceRestart",
        "PowerCycle",
        "PushPowerButton",
        "Nmi",
    ];
    known.contains(&kind)
}

/// The word of HPE's own part for a state of a boot.
fn hpe_post_state(last: &str) -> &'static str {
    match last {
        "None" => "PowerOff",
        "OSRunning" | "OSBootStarted" => "FinishedPost",
        _ => "InPost",
    }
}
