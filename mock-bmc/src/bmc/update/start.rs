//! This room is updates in two steps: an image that is only verified, and the action that writes it.
//!
//! It deliberately keeps one image at most, as the service that does so.

use super::super::answer::Answer;
use super::super::asked::Asked;
use super::super::core::Bmc;
use super::super::task::NewTask;
use super::{Goal, Update};
use crate::docs::messages::Message;

impl Bmc {
    /// An image is verified, and waits for its start.
    pub(super) fn wait_for_start(&mut self, mut update: Update, goal: Goal) {
        self.end_task(&update.task, "Completed", "OK");
        self.note(format!("update verified task {}", update.task));
        update.goal = Some(goal);
        self.updates.current = None;
        self.updates.verified = Some(update);
    }

    /// Answers `StartUpdate`: what was verified is written, in a task of its own.
    pub(in super::super) fn start_update(&mut self, asked: &Asked<'_>) -> Answer {
        let Some(mut update) = self.updates.verified.take() else {
            return Answer::bad(Message::base("OperationNotAllowed", &[]));
        };
        let (Some(header), Some(goal)) = (update.header.clone(), update.goal.clone()) else {
            return Answer::bad(Message::base("OperationNotAllowed", &[]));
        };
        update.task = self.add_task(NewTask {
            name: "Firmware update".to_owned(),
            payload: None,
            foreign: false,
        });
        let task = update.task.clone();
        self.ledger.cause(format!(
            "update started {} {} task {task}",
            header.component, header.version
        ));
        self.updates.current = Some(update.clone());
        let total = self.whole_span(Some(header.component));
        self.pace_task(&task, total, (1, 99));
        self.begin_writing(&update, &header, goal);
        self.refresh_tasks();
        self.accepted(asked, &task)
    }

    /// A restart of the manager forgets what was verified.
    pub(in super::super) fn forget_verified(&mut self) {
        if let Some(update) = self.updates.verified.take() {
            self.note(format!("update forgotten task {}", update.task));
        }
    }
}

/// What a push meets while another image waits for its start.
pub(super) fn already_in_update_mode() -> Message {
    let id = "SMC.1.0.OemFirmwareAlreadyInUpdateMode";
    Message::worded(id, "The firmware is already in update mode.", &[])
}
