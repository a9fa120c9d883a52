//! This room is what other people do to the BMC meanwhile: their tasks and their jobs.
//!
//! It deliberately gives them no effect but their presence.

use serde_json::json;

use super::agenda::Event;
use super::core::Bmc;
use super::task::NewTask;
use crate::ledger::masked_url;
use crate::script::{ForeignTask, Span};
use crate::time::Moment;

impl Bmc {
    pub(super) fn start_foreign(&mut self) {
        let tasks: Vec<(usize, Span, u32)> = self
            .habits
            .foreign_task
            .iter()
            .enumerate()
            .map(|(index, task)| (index, task.appears, task.appears_with_update))
            .collect();
        for (index, appears, with_update) in tasks {
            if with_update == 0 {
                self.at_or_now(appears, Event::ForeignTask { index });
            }
        }
        let jobs: Vec<(usize, Span)> = self
            .habits
            .foreign_job
            .iter()
            .enumerate()
            .map(|(index, job)| (index, job.appears))
            .collect();
        for (index, appears) in jobs {
            self.at_or_now(appears, Event::ForeignJob { index });
        }
        let now = self.now;
        self.advance(now);
    }

    fn at_or_now(&mut self, appears: Span, event: Event) {
        let at = (Moment(0) + appears.0).max(self.now);
        self.agenda.add(at, event);
    }

    /// A stranger's task that comes together with an update request.
    pub(super) fn strangers_with_update(&mut self, nth: u32) {
        for index in 0..self.habits.foreign_task.len() {
            let with = self
                .habits
                .foreign_task
                .get(index)
                .map(|task| task.appears_with_update);
            if with == Some(nth) {
                self.foreign_task_appears(index);
            }
        }
    }

    pub(super) fn foreign_task_appears(&mut self, index: usize) {
        if let Some(task) = self.habits.foreign_task.get(index).cloned() {
            self.add_strange_task(&task);
        }
    }

    pub(super) fn foreign_job_appears(&mut self, index: usize) {
        if let Some(job) = self.habits.foreign_job.get(index).cloned() {
            self.add_strange_job(&job);
        }
    }

    /// A task that somebody else started; its id.
    pub(super) fn add_strange_task(&mut self, task: &ForeignTask) -> String {
        let mut body = json!({});
        if let Some(uri) = &task.image_uri {
            body["ImageURI"] = masked_url(uri).into();
        }
        if !task.targets.is_empty() {
            body["Targets"] = json!(task.targets);
        }
        let service = self
            .bindings
            .update
            .as_ref()
            .map(|update| update.service.clone())
            .unwrap_or_default();
        let payload = json!({
            "HttpOperation": "POST",
            "TargetUri": format!("{service}/Actions/UpdateService.SimpleUpdate"),
            "JsonBody": body.to_string(),
        });
        let name = if task.name.is_empty() {
            "Task of somebody else"
        } else {
            &task.name
        };
        let has_payload = body.as_object().is_some_and(|body| !body.is_empty());
        let id = self.add_task(NewTask {
            name: name.to_owned(),
            payload: has_payload.then_some(payload),
            foreign: true,
        });
        let state = task.state.clone().unwrap_or_else(|| "Running".to_owned());
        let status = task.status.clone().unwrap_or_else(|| "OK".to_owned());
        self.note(format!("task {id} {state}"));
        if ["Completed", "Exception", "Killed", "Cancelled"].contains(&state.as_str()) {
            self.end_task(&id, &state, &status);
            return id;
        }
        self.set_task_state(&id, &state, task.percent.unwrap_or(0));
        if let Some(entry) = self.task_mut(&id) {
            entry.status = status;
        }
        if let Some(after) = task.ends_after {
            let at = self.after(after.0);
            self.agenda
                .add(at, Event::ForeignTaskEnds { task: id.clone() });
        }
        self.refresh_tasks();
        id
    }

    pub(super) fn foreign_task_ends(&mut self, id: &str) {
        self.end_task(id, "Completed", "OK");
        self.note(format!("task {id} Completed"));
    }
}
