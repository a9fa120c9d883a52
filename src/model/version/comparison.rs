//! The answer to "which is later", and why.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// How the first of two versions stands to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The first is older.
    Less,
    /// Both are the same version, perhaps in different clothes.
    Equal,
    /// The first is later.
    Greater,
    /// Nobody can say, or one of them is absent. Must stop every "is it newer" decision.
    Incomparable,
}

impl Comparison {
    /// `<`, `=`, `>` or `#`.
    pub fn sign(self) -> char {
        match self {
            Self::Less => '<',
            Self::Equal => '=',
            Self::Greater => '>',
            Self::Incomparable => '#',
        }
    }

    /// The answer with both sides exchanged.
    pub fn reversed(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Equal => Self::Equal,
            Self::Greater => Self::Less,
            Self::Incomparable => Self::Incomparable,
        }
    }
}

impl From<Ordering> for Comparison {
    fn from(ordering: Ordering) -> Self {
        match ordering {
            Ordering::Less => Self::Less,
            Ordering::Equal => Self::Equal,
            Ordering::Greater => Self::Greater,
        }
    }
}

/// A comparison with the rule that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The answer.
    pub comparison: Comparison,
    /// Name of a row of [`rules`](super::rules), or `text`, `plain fields`, `absent`.
    pub rule: &'static str,
    /// What decided, for people: a lower-case fragment with values in backticks.
    pub explanation: String,
}

impl Compared {
    pub(super) fn new(
        comparison: Comparison,
        rule: &'static str,
        explanation: impl Into<String>,
    ) -> Self {
        Self {
            comparison,
            rule,
            explanation: explanation.into(),
        }
    }
}

/// One step's answer before it has a rule's name: an order, or why there is none.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) comparison: Comparison,
    pub(super) explanation: String,
}

impl Verdict {
    pub(super) fn incomparable(explanation: impl Into<String>) -> Self {
        Self {
            comparison: Comparison::Incomparable,
            explanation: explanation.into(),
        }
    }

    pub(super) fn equal(explanation: impl Into<String>) -> Self {
        Self {
            comparison: Comparison::Equal,
            explanation: explanation.into(),
        }
    }

    /// `a` stands to `b` as `ordering` says, because of `what`.
    pub(super) fn ordered(ordering: Ordering, what: &str, a: &str, b: &str) -> Self {
        let word = match ordering {
            Ordering::Less => "is below",
            Ordering::Equal => "is the same as",
            Ordering::Greater => "is above",
        };
        Self {
            comparison: ordering.into(),
            explanation: format!("{what} `{a}` {word} `{b}`"),
        }
    }

    pub(super) fn by(self, rule: &'static str) -> Compared {
        Compared::new(self.comparison, rule, self.explanation)
    }
}
