//! This room is tasks: what they really are, and what they show.
//!
//! It deliberately keeps both apart, since what tasks show is no proof of what happens.

use http::StatusCode;
use http::header::LOCATION;
use serde_json::{Value, json};

use super::agenda::Event;
use super::answer::{Answer, Body};
use super::core::Bmc;
use crate::docs::messages::Message;
use crate::image::Component;
use crate::script::{Messages, Span, TaskFault, Vanish};
use crate::time::Moment;

/// Most tasks that are kept; the oldest ended one goes first.
const KEPT_MAX: usize = 100;

/// All tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    pub(super) list: Vec<Task>,
    made: u64,
}

/// One task.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) id: String,
    uri: String,
    monitor: String,
    name: String,
    /// Somebody else started it.
    pub(super) foreign: bool,
    /// The real state.
    pub(super) state: String,
    pub(super) status: String,
    messages: Vec<Message>,
    payload: Option<Value>,
    started: Moment,
    pub(super) ended: Option<Moment>,
    percent: Option<u32>,
    progress: Option<Progress>,
    /// How it lies.
    pub(super) fault: Option<TaskFault>,
    hidden: bool,
}

/// Work that goes on at a known pace.
#[derive(Copy, Clone, Debug)]
struct Progress {
    from: Moment,
    until: Moment,
    low: u32,
    high: u32,
}

/// What a new task is.
#[derive(Clone, Debug, Default)]
pub(super) struct NewTask {
    pub(super) name: String,
    pub(super) payload: Option<Value>,
    pub(super) foreign: bool,
}

impl Task {
    /// How far it is at a moment.
    fn percent_at(&self, now: Moment) -> Option<u32> {
        let Some(progress) = self.progress.filter(|_| self.ended.is_none()) else {
            return self.percent;
        };
        let whole = progress.until.since(progress.from).as_millis().max(1);
        let done = now.since(progress.from).as_millis().min(whole);
        let span = u128::from(progress.high.saturating_sub(progress.low));
        let gained = u32::try_from(span * done / whole).unwrap_or(0);
        Some(progress.low + gained)
    }

    /// Whether it shows an end that is none.
    fn ends_early(&self, now: Moment) -> bool {
        let after = self.fault.as_ref().and_then(|fault| fault.ends_after);
        after.is_some_and(|after| now >= self.started + after.0)
    }

    fn is_lost(&self, now: Moment) -> bool {
        let Some(fault) = &self.fault else {
            return false;
        };
        let later = fault.vanish_after.unwrap_or_default().0;
        match fault.vanish {
            Some(Vanish::Running) => now >= self.started + later,
            Some(Vanish::Ended) => {
                let early = fault
                    .ends_after
                    .filter(|_| self.ends_early(now))
                    .map(|after| self.started + after.0);
                let ended = [self.ended, early].into_iter().flatten().min();
                ended.is_some_and(|ended| now >= ended + later)
            }
            None => false,
        }
    }

    /// State and status as they are shown.
    fn shown_state(&self, now: Moment) -> (String, String) {
        let Some(fault) = &self.fault else {
            return (self.state.clone(), self.status.clone());
        };
        let early = self.ended.is_none() && self.ends_early(now);
        if (self.ended.is_some() || early) && !fault.never_ends {
            let state = if early {
                "Completed"
            } else {
                self.state.as_str()
            };
            let state = fault.end_state.as_deref().unwrap_or(state);
            let status = fault.end_status.as_deref().unwrap_or(&self.status);
            return (state.to_owned(), status.to_owned());
        }
        let running = fault.running_state.as_deref();
        let running = running.or((self.ended.is_some()).then_some("Running"));
        (
            running.unwrap_or(&self.state).to_owned(),
            self.status.clone(),
        )
    }

    fn shown_percent(&self, now: Moment) -> Option<u32> {
        let percent = self.percent_at(now)?;
        let Some(fault) = &self.fault else {
            return Some(percent);
        };
        let percent = if fault.percent_back && percent > 50 && self.ended.is_none() {
            percent - 40
        } else {
            percent
        };
        let percent = fault.stuck_at.map_or(percent, |stuck| percent.min(stuck));
        (!fault.no_percent).then_some(percent)
    }

    fn shown_messages(&self) -> Option<Vec<Value>> {
        let form = self
            .fault
            .as_ref()
            .map(|fault| fault.messages)
            .unwrap_or_default();
        let ids = |message: &Message| json!({ "MessageId": message.id });
        match form {
            Messages::Usual => Some(self.messages.iter().map(Message::to_json).collect()),
            Messages::Ids => Some(self.messages.iter().map(ids).collect()),
            Messages::None => None,
        }
    }
}

/// States after which nothing more comes (DSP0268, Task).
fn is_end(state: &str) -> bool {
    ["Completed", "Killed", "Exception", "Cancelled"].contains(&state)
}

impl Bmc {
    /// Makes a task that runs.
    pub(super) fn add_task(&mut self, new: NewTask) -> String {
        self.tasks.made += 1;
        let collection = self.bindings.tasks.collection.clone();
        let service = self.bindings.tasks.service.clone();
        let mut id = self.tasks.made.to_string();
        // A recorded service may have tasks of its own.
        while self.store.get(&format!("{collection}/{id}")).is_some() {
            self.tasks.made += 1;
            id = self.tasks.made.to_string();
        }
        let task = Task {
            uri: format!("{collection}/{id}"),
            monitor: format!("{service}/TaskMonitors/{id}"),
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

    pub(super) fn task_mut(&mut self, id: &str) -> Option<&mut Task> {
        self.tasks.list.iter_mut().find(|task| task.id == id)
    }

    /// Finds out how an update's task lies: the last table that fits counts.
    pub(super) fn give_task_fault(&mut self, id: &str, component: Option<Component>, nth: u32) {
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
    pub(super) fn pace_task(&mut self, id: &str, span: Span, (low, high): (u32, u32)) {
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
    pub(super) fn tell_task(&mut self, id: &str, message: Message) {
        if let Some(task) = self.task_mut(id) {
            task.messages.push(message);
        }
    }

    /// Changes the state of a task that goes on.
    pub(super) fn set_task_state(&mut self, id: &str, state: &str, percent: u32) {
        if let Some(task) = self.task_mut(id) {
            state.clone_into(&mut task.state);
            task.percent = Some(percent);
            task.progress = None;
        }
    }

    /// Ends a task.
    pub(super) fn end_task(&mut self, id: &str, state: &str, status: &str) {
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
    pub(super) fn purge_task(&mut self, id: &str) {
        let Some(index) = self.tasks.list.iter().position(|task| task.id == id) else {
            return;
        };
        let task = self.tasks.list.remove(index);
        let collection = self.bindings.tasks.collection.clone();
        self.store.remove_member(&collection, &task.uri);
    }

    /// Tasks that do not survive an absence of the manager.
    pub(super) fn forget_tasks(&mut self) {
        let ids: Vec<String> = self.tasks.list.iter().map(|task| task.id.clone()).collect();
        for id in &ids {
            self.purge_task(id);
        }
    }

    /// Lets documents show tasks as they are by now.
    pub(super) fn refresh_tasks(&mut self) {
        let collection = self.bindings.tasks.collection.clone();
        for index in 0..self.tasks.list.len() {
            let Some(task) = self.tasks.list.get(index) else {
                continue;
            };
            let (uri, lost) = (task.uri.clone(), task.is_lost(self.now));
            let hidden = std::mem::replace(&mut self.tasks.list[index].hidden, lost);
            if lost {
                if !hidden {
                    self.store.remove_member(&collection, &uri);
                }
                continue;
            }
            let document = self
                .tasks
                .list
                .get(index)
                .map(|task| self.task_document(task))
                .unwrap_or_default();
            if self.store.get(&uri).is_none() {
                self.store.put(&uri, document);
                self.store.add_member(&collection, &uri);
            } else {
                self.store.edit(&uri, |old| *old = document);
            }
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
    pub(super) fn task_at(&self, uri: &str) -> Option<String> {
        let task = self
            .tasks
            .list
            .iter()
            .find(|task| task.uri == uri && !task.hidden)?;
        Some(task.id.clone())
    }

    /// The task that is monitored at a URI.
    pub(super) fn task_monitored_at(&self, uri: &str) -> Option<String> {
        let task = self
            .tasks
            .list
            .iter()
            .find(|task| task.monitor == uri && !task.hidden)?;
        Some(task.id.clone())
    }

    /// The URIs of a task and of its monitor.
    pub(super) fn task_uris(&self, id: &str) -> Option<(String, String)> {
        let task = self.tasks.list.iter().find(|task| task.id == id)?;
        Some((task.uri.clone(), task.monitor.clone()))
    }

    /// Answers a read of a task's monitor.
    pub(super) fn read_monitor(&self, id: &str) -> Answer {
        let Some(task) = self.tasks.list.iter().find(|task| task.id == id) else {
            return Answer::missing(id);
        };
        let (state, _) = task.shown_state(self.now);
        let fault = task.fault.clone().unwrap_or_default();
        let ended = is_end(&state) && !fault.monitor_202_forever;
        let body = self.view(&task.uri).unwrap_or_default();
        if ended || fault.monitor_200 {
            return Answer::json(StatusCode::OK, body);
        }
        let mut answer = Answer::json(StatusCode::ACCEPTED, body).with(LOCATION, &task.monitor);
        if fault.monitor_empty {
            answer.body = Body::None;
        }
        answer
    }

    /// Answers the deletion of a task; what runs cannot be taken away.
    pub(super) fn delete_task(&mut self, id: &str) -> Answer {
        let ended = self
            .tasks
            .list
            .iter()
            .find(|task| task.id == id)
            .is_some_and(|task| task.ended.is_some());
        if !ended {
            return Answer::refused(StatusCode::CONFLICT, &[Message::base("ResourceInUse", &[])]);
        }
        self.purge_task(id);
        self.ledger.cause(format!("task deleted {id}"));
        Answer::done()
    }
}
