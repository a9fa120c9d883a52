//! Exit codes, each with its meaning, and which one wins.

use std::collections::BTreeSet;
use std::process::ExitCode;

/// Why the process ends as it does. Several at once: the first of this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// 70: redpipe itself is wrong.
    Bug,
    /// 130: the operator interrupted it.
    Interrupted,
    /// 2: usage or an invalid file; also `apply` off a terminal without `--yes`.
    Usage,
    /// 4: nothing matched.
    NothingMatched,
    /// 1: a run failed.
    Failed,
    /// 5: held, an operator is needed.
    Held,
    /// 6: a BMC was unreachable and nothing else is wrong.
    Unreachable,
    /// 3: `plan` has changes, or `drift` found drift.
    Changes,
    /// 0: done, nothing left to do.
    Done,
}

impl Exit {
    /// The number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Changes => 3,
            Self::NothingMatched => 4,
            Self::Held => 5,
            Self::Unreachable => 6,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// The one that wins.
    pub(crate) fn worst(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter()
            .collect::<BTreeSet<_>>()
            .first()
            .copied()
            .unwrap_or(Self::Done)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_run_outweighs_a_held_one_and_that_an_unreachable_bmc() {
        assert_eq!(
            Exit::worst([Exit::Unreachable, Exit::Held, Exit::Failed]).number(),
            1
        );
        assert_eq!(Exit::worst([Exit::Changes, Exit::Unreachable]).number(), 6);
        assert_eq!(Exit::worst([]).number(), 0);
    }
}
