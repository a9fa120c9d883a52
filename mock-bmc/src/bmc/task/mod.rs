//! This room is tasks: what they really are, and what they show.
//!
//! It deliberately keeps both apart, since what tasks show is no proof of what happens.

mod documents;
mod life;
mod shown;

use serde_json::Value;

use crate::docs::messages::Message;
use crate::script::TaskFault;
use crate::time::Moment;

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
    /// Its document says all that there will ever be to say.
    settled: bool,
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
