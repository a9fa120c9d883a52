//! What a person may say to a run or a pipeline: whether it fits, the order, and how far it came at once.
//!
//! One place for the command line and for the API, so that both answer and refuse alike.

use super::engine::Engine;
use super::history;
use super::orders::{self, Reached, find};
use crate::model::{About, Fault, Order, PipelineName, RunKey, ServerName, Verb};
use crate::run::RunPhase;
use crate::run::state::Hold;
use crate::run::status::RunStatus;

/// What is said to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunWord {
    /// Agree to what it asks for.
    Approve,
    /// Begin it anew, or look at it again.
    Retry,
    /// Begin no further step.
    Cancel,
    /// Give it up, whatever of it is left.
    Release,
}

/// What is said to a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineWord {
    /// Begin no run of it.
    Pause,
    /// End that.
    Resume,
}

/// A word that was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Which run.
    pub key: RunKey,
    /// How it stood before.
    pub before: RunStatus,
    /// Servers that an approval lets it disturb.
    pub servers: Vec<ServerName>,
    /// The order.
    pub order: Order,
    /// How far it came.
    pub reached: Reached,
}

/// Why a word was not taken.
#[derive(Debug, Clone)]
pub enum Refused {
    /// There is nothing of that name.
    Unknown {
        /// For people.
        message: String,
        /// What to do.
        hint: String,
    },
    /// It does not fit how the run stands.
    Unfit {
        /// For people.
        message: String,
        /// What to do.
        hint: String,
    },
    /// It could not be written down or carried out.
    Failed(Fault),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

/// Says a word to a run: writes the order down, and has it carried out as far as no BMC is needed.
pub fn say(engine: &Engine, user: &str, name: &str, word: RunWord) -> Result<Taken, Refused> {
    let Some((key, before)) = find(engine.store().as_ref(), name)? else {
        return Err(Refused::Unknown {
            message: format!("there is no run `{name}`"),
            hint: "`redpipe status` lists all".to_owned(),
        });
    };
    let (verb, servers) = match word {
        RunWord::Approve => {
            let hold = approvable(engine, &key, &before)?;
            let servers = hold.servers.into_iter().collect();
            (
                Verb::Approve {
                    digest: hold.digest,
                },
                servers,
            )
        }
        RunWord::Retry if before.phase == RunPhase::Completed => {
            let hint = "`redpipe apply` looks whether it still is as it was";
            return Err(unfit(&before, "is completed", hint));
        }
        RunWord::Retry => (Verb::Retry, Vec::new()),
        RunWord::Cancel if before.phase.is_terminal() => {
            return Err(unfit(&before, "is over", "there is nothing to cancel"));
        }
        RunWord::Cancel => (Verb::Cancel, Vec::new()),
        RunWord::Release if before.phase != RunPhase::Held => {
            let hint = format!("`redpipe cancel {key}` ends a run that is at work");
            return Err(unfit(&before, "is not held", &hint));
        }
        RunWord::Release => (Verb::Leave, Vec::new()),
    };
    let order = orders::place(engine, user, &About::Run(key.clone()), &verb)?;
    let reached = orders::carry_out(engine, &key)?;
    Ok(Taken {
        key,
        before,
        servers,
        order,
        reached,
    })
}

/// Says a word to a pipeline.
pub fn say_to_pipeline(
    engine: &Engine,
    user: &str,
    name: &str,
    word: PipelineWord,
) -> Result<Order, Refused> {
    let pipeline = PipelineName::from(name);
    if !orders::knows(engine, &pipeline)? {
        return Err(Refused::Unknown {
            message: format!("nothing is known of a pipeline `{name}`"),
            hint: "give the name in its file, not the file's; `redpipe status` lists those that were applied"
                .to_owned(),
        });
    }
    let verb = match word {
        PipelineWord::Pause => Verb::Pause,
        PipelineWord::Resume => Verb::Resume,
    };
    Ok(orders::place(
        engine,
        user,
        &About::Pipeline(pipeline),
        &verb,
    )?)
}

/// What an approval would be for.
fn approvable(engine: &Engine, key: &RunKey, before: &RunStatus) -> Result<Hold, Refused> {
    let state = history::state_of(engine.store().as_ref(), key)?;
    let is_over = state.end.is_some();
    let hold = state.hold.filter(Hold::waits_for_approval);
    hold.filter(|_| !is_over).ok_or_else(|| {
        let hint = "`redpipe plan` tells which runs need an approval; a run asks for it once `redpipe apply` has begun it";
        unfit(before, "does not wait for an approval", hint)
    })
}

fn unfit(status: &RunStatus, why: &str, hint: &str) -> Refused {
    Refused::Unfit {
        message: format!("run `{}` {why} ({})", status.id, status.phase.as_str()),
        hint: hint.to_owned(),
    }
}
