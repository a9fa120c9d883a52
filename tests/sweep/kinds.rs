//! Every kind of thing that a journal can say, by name: what a new kind is called has to be added here, or nothing
//! compiles, and from then on some story has to sweep it.

use std::collections::BTreeSet;

use redpipe::model::{Outcome, UpdateMethod, Verb};
use redpipe::run::record::{
    HoldStep, Intent, Milestone, Record, ResetPurpose, StageWord, TaskFate,
};

/// A function from a value to its variant's name, and the list of all names, from one list.
macro_rules! kinds {
    ($name:ident, $all:ident, $kind:ident { $($variant:ident),+ $(,)? }) => {
        fn $name(value: &$kind) -> String {
            let word = match value {
                $($kind::$variant { .. } => stringify!($variant),)+
            };
            format!("{}::{word}", stringify!($kind))
        }

        fn $all() -> Vec<String> {
            vec![$(format!("{}::{}", stringify!($kind), stringify!($variant))),+]
        }
    };
}

kinds!(
    record,
    records,
    Record {
        Started,
        Resumed,
        Ordered,
        Edited,
        Stopped,
        StageStarted,
        Waiting,
        Intent,
        Outcome,
        Task,
        Adopted,
        NotHappened,
        Happened,
        PowerBefore,
        Boot,
        Outage,
        CertificateAccepted,
        RootGood,
        GoodReads,
        ItemDone,
        WriteOnly,
        Done,
        Failing,
        Retrying,
        Reopened,
        Failed,
        RunWaiting,
        Hold,
        Notice,
        Ended,
    }
);

kinds!(
    intent,
    intents,
    Intent {
        Update,
        ResetSystem,
        ResetManager,
        Withdraw,
        Attributes,
        Resource,
        Call,
    }
);

kinds!(
    purpose,
    purposes,
    ResetPurpose {
        Down,
        ForceDown,
        Up,
        Restart,
        ForceRestart,
        Restore,
    }
);

kinds!(
    milestone,
    milestones,
    Milestone {
        Off,
        Booting,
        PostOver,
        Reached,
        Restored,
    }
);

kinds!(
    outcome,
    outcomes,
    Outcome {
        NotSent,
        Refused,
        Accepted,
        Lost,
    }
);

kinds!(
    stage,
    stages,
    StageWord {
        BmcSettings,
        BmcVersion,
        BiosSettings,
        BiosVersion,
    }
);

kinds!(
    method,
    methods,
    UpdateMethod {
        SimpleUpdate,
        MultipartPush,
        HttpPush,
    }
);

kinds!(
    fate,
    fates,
    TaskFate {
        Running,
        AwaitsReset,
        Good,
        Bad,
        Gone,
    }
);

kinds!(
    hold,
    holds,
    HoldStep {
        Asked,
        Approved,
        Lapsed,
        HookStarted,
        HookEnded,
        Granted,
        Releasing,
        Released,
    }
);

kinds!(
    verb,
    verbs,
    Verb {
        Approve,
        Retry,
        Cancel,
        Pause,
        Resume,
        Leave,
        Apply,
    }
);

/// What no run writes down: it is about runs that are to begin.
const NEVER: &str = "Verb::Apply";

/// Every kind that there is in a journal.
pub(crate) fn all() -> BTreeSet<String> {
    [
        records(),
        intents(),
        purposes(),
        milestones(),
        outcomes(),
        stages(),
        methods(),
        fates(),
        holds(),
        verbs(),
    ]
    .concat()
    .into_iter()
    .filter(|kind| kind != NEVER)
    .collect()
}

/// The kinds in a record.
pub(crate) fn of(told: &Record) -> Vec<String> {
    let mut found = vec![record(told)];
    if let Record::Started { stages, .. } = told {
        found.extend(stages.iter().map(|head| stage(&head.kind)));
    } else if let Record::Intent { intent: what, .. } = told {
        found.push(intent(what));
        if let Intent::ResetSystem { purpose: why, .. } = what {
            found.push(purpose(why));
        } else if let Intent::Update { method: how, .. } = what {
            found.push(method(how));
        }
    } else if let Record::Outcome { outcome: came, .. } = told {
        found.push(outcome(came));
    } else if let Record::Boot {
        milestone: which, ..
    } = told
    {
        found.push(milestone(which));
    } else if let Record::Task { seen, .. } = told {
        found.push(fate(&seen.fate));
    } else if let Record::Hold { step } = told {
        found.push(hold(step));
    } else if let Record::Ordered { order } = told {
        found.push(verb(&order.verb));
    }
    found
}
