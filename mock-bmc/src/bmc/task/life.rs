//! This room is the life of tasks: made, paced, told, ended, purged.
//!
//! It deliberately changes the truth only.

use super::super::agenda::Event;
use super::super::core::Bmc;
use super::{NewTask, Progress, Task};
use crate::docs::messages::Message;
use crate::image::Component;
use crate::script::{Span, TaskFault};

/// Most tasks that are kept; the oldest ended one goes first.
const KEPT_MAX: usize = 100;

impl Bmc {
    /// Makes a task that runs.
    pub(in super::super) fn add_task(&mut self, new: NewTask) -> String {
        self.tasks.made += 1;
        let collection = self.bindings.tasks.collection.clone();
        let service = self.bindings.tasks.service.clone();
        let named = self.habits.tasks.id();
        let numbered = |made: u64| named.replace("{n}", &made.to_string());
        let mut id = numbered(self.tasks.made);
        // A recorded service may have tasks of its own.
        while self.store.get(&format!("{collection}/{id}")).is_some() {
            self.tasks.made += 1;
            id = numbered(self.tasks.made);
        }
        let uri = format!("{collection}/{id}");
        let monitor = self.habits.tasks.monitor();
        let monitor = monitor
            .replace("{service}", &service)
            .replace("{task}", &uri)
            .replace("{id}", &id);
        let task = Task {
            uri,
            monitor,
            id: id.clone(),
            name: new.name,
            foreign: new.foreign,
            state: "Running".into(),
            status: "OK".into(),
            messages: Vec::new(),
            payload: new.payload,
            started: self.now,
            ended: None,
            percent: Some(0),
            progress: None,
            fault: None,
            hidden: false,
            settled: false,
        };
        self.tasks.list.push(task);
        self.drop_oldest_task();
        self.refresh_tasks();
        id
    }

    fn drop_oldest_task(&mut self) {
        if self.tasks.list.len() > KEPT_MAX {
            let oldest = self
                .tasks
                .list
                .iter()
                .find(|task| task.ended.is_some())
                .map(|task| task.id.clone());
            if let Some(oldest) = oldest {
                self.purge_task(&oldest);
            }
        }
    }

    pub(in super::super) fn task_mut(&mut self, id: &str) -> Option<&mut Task> {
        self.tasks.list.iter_mut().find(|task| task.id == id)
    }

    /// Finds out how an update's task lies: the last table that fits counts.
    pub(in super::super) fn give_task_fault(
        &mut self,
        id: &str,
        component: Option<Component>,
        nth: u32,
    ) {
        let fits = |fault: &&TaskFault| {
            (fault.nth == 0 || fault.nth == nth)
                && (fault.component.is_none() || fault.component == component)
        };
        let fault = self.habits.task_fault.iter().rfind(fits).cloned();
        if let Some(task) = self.task_mut(id) {
            task.fault = fault;
        }
    }

    /// Lets a task's percentage grow over a span.
    pub(in super::super) fn pace_task(&mut self, id: &str, span: Span, (low, high): (u32, u32)) {
        let (from, until) = (self.now, self.after(span.0));
        if let Some(task) = self.task_mut(id) {
            task.progress = Some(Progress {
                from,
                until,
                low,
                high,
            });
        }
    }

    /// Adds a message to a task.
    pub(in super::super) fn tell_task(&mut self, id: &str, message: Message) {
        if let Some(task) = self.task_mut(id) {
            task.messages.push(message);
        }
    }

    /// Changes the state of a task that goes on.
    pub(in super::super) fn set_task_state(&mut self, id: &str, state: &str, percent: u32) {
        if let Some(task) = self.task_mut(id) {
            state.clone_into(&mut task.state);
            task.percent = Some(percent);
            task.progress = None;
        }
    }

    /// Ends a task.
    pub(in super::super) fn end_task(&mut self, id: &str, state: &str, status: &str) {
        let now = self.now;
        let Some(task) = self.task_mut(id).filter(|task| task.ended.is_none()) else {
            return;
        };
        task.percent = if state == "Completed" {
            Some(100)
        } else {
            task.percent_at(now)
        };
        state.clone_into(&mut task.state);
        status.clone_into(&mut task.status);
        task.ended = Some(now);
        if let Some(kept) = self.habits.durations.task_kept {
            self.agenda.add(
                self.after(kept.0),
                Event::Purge {
                    task: id.to_owned(),
                },
            );
        }
        self.refresh_tasks();
    }

    /// A task can no longer be read.
    pub(in super::super) fn purge_task(&mut self, id: &str) {
        let Some(index) = self.tasks.list.iter().position(|task| task.id == id) else {
            return;
        };
        let task = self.tasks.list.remove(index);
        let collection = self.bindings.tasks.collection.clone();
        self.store.remove_member(&collection, &task.uri);
    }

    /// Tasks that do not survive an absence of the manager.
    pub(in super::super) fn forget_tasks(&mut self) {
        let ids: Vec<String> = self.tasks.list.iter().map(|task| task.id.clone()).collect();
        for id in &ids {
            self.purge_task(id);
        }
    }
}
