//! This room is tasks in documents and in answers.
//!
//! It deliberately asks each task what it shows.

use http::StatusCode;
use http::header::LOCATION;
use serde_json::{Value, json};

use super::super::answer::{Answer, Body};
use super::super::core::Bmc;
use super::Task;
use super::shown::is_end;
use crate::docs::messages::Message;

impl Bmc {
    /// Lets documents show tasks as they are by now.
    pub(in super::super) fn refresh_tasks(&mut self) {
        for index in 0..self.tasks.list.len() {
            self.refresh_task(index);
        }
    }

    fn refresh_task(&mut self, index: usize) {
        let collection = self.bindings.tasks.collection.clone();
        let now = self.now;
        let Some(task) = self.tasks.list.get_mut(index).filter(|task| !task.settled) else {
            return;
        };
        let (uri, lost) = (task.uri.clone(), task.is_lost(now));
        let was_hidden = std::mem::replace(&mut task.hidden, lost);
        task.settled = task.ended.is_some() && task.fault.is_none();
        if lost {
            if !was_hidden {
                self.store.remove_member(&collection, &uri);
            }
            return;
        }
        let document = self
            .tasks
            .list
            .get(index)
            .map(|task| self.task_document(task));
        let document = document.unwrap_or_default();
        if self.store.get(&uri).is_none() {
            self.store.put(&uri, document);
            self.store.add_member(&collection, &uri);
        } else {
            self.store.edit(&uri, |old| *old = document);
        }
    }

    fn task_document(&self, task: &Task) -> Value {
        let (state, status) = task.shown_state(self.now);
        let ended = task
            .ended
            .filter(|_| is_end(&state))
            .or_else(|| is_end(&state).then_some(self.now));
        let mut document = json!({
            "@odata.id": task.uri,
            "@odata.type": "#Task.v1_7_3.Task",
            "Id": task.id,
            "Name": task.name,
            "TaskState": state,
            "TaskStatus": status,
            "StartTime": self.date(task.started),
        });
        if !is_end(&state) {
            document["TaskMonitor"] = task.monitor.clone().into();
        }
        // An end that is only shown has no time of its own; a moving one would be no end.
        if let Some(ended) = ended.filter(|_| task.ended.is_some()) {
            document["EndTime"] = self.date(ended).into();
        }
        if let Some(percent) = task.shown_percent(self.now) {
            document["PercentComplete"] = percent.into();
        }
        if let Some(messages) = task.shown_messages() {
            document["Messages"] = Value::Array(messages);
        }
        if let Some(payload) = &task.payload {
            document["Payload"] = payload.clone();
        }
        document
    }

    /// The task with this document.
    pub(in super::super) fn task_at(&self, uri: &str) -> Option<String> {
        let task = self
            .tasks
            .list
            .iter()
            .find(|task| task.uri == uri && !task.hidden)?;
        Some(task.id.clone())
    }

    /// The task that is monitored at a URI.
    pub(in super::super) fn task_monitored_at(&self, uri: &str) -> Option<String> {
        let task = self
            .tasks
            .list
            .iter()
            .find(|task| task.monitor == uri && !task.hidden)?;
        Some(task.id.clone())
    }

    /// The URIs of a task and of its monitor.
    pub(in super::super) fn task_uris(&self, id: &str) -> Option<(String, String)> {
        let task = self.tasks.list.iter().find(|task| task.id == id)?;
        Some((task.uri.clone(), task.monitor.clone()))
    }

    /// Answers a read of a task's monitor.
    pub(in super::super) fn read_monitor(&mut self, id: &str) -> Answer {
        let Some(task) = self.tasks.list.iter().find(|task| task.id == id) else {
            return Answer::missing(id);
        };
        let (state, _) = task.shown_state(self.now);
        let fault = task.fault.clone().unwrap_or_default();
        let ended = is_end(&state) && !fault.monitor_202_forever;
        let body = self.view(&task.uri).unwrap_or_default();
        let monitor = task.monitor.clone();
        if ended && self.habits.tasks.read_monitor_takes_task() {
            self.purge_task(id);
        }
        if ended || fault.monitor_200 {
            return Answer::json(StatusCode::OK, body);
        }
        let mut answer = Answer::json(StatusCode::ACCEPTED, body).with(LOCATION, &monitor);
        if fault.monitor_empty {
            answer.body = Body::None;
        }
        answer
    }

    /// Answers the deletion of a task. What runs cannot be taken away; what waits for a boot can, with its image.
    pub(in super::super) fn delete_task(&mut self, id: &str) -> Answer {
        let task = self.tasks.list.iter().find(|task| task.id == id);
        let ended = task.is_some_and(|task| task.ended.is_some());
        if !ended && !self.unstage(id) {
            return Answer::refused(StatusCode::CONFLICT, &[Message::base("ResourceInUse", &[])]);
        }
        self.purge_task(id);
        self.ledger.cause(format!("task deleted {id}"));
        Answer::done()
    }
}
