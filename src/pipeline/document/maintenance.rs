//! `[maintenance]` as written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::at::At;

/// Who agrees, when disruptive steps may run, and what runs around them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaintenanceDocument {
    /// Who agrees; `enforced` where left out.
    pub(crate) policy: Option<At<PolicyDocument>>,
    /// When disruptive steps may run; always where left out.
    pub(crate) window: Option<At<WindowDocument>>,
    /// Programs run before the first disruptive step, in this order; relative to this file. JSON comes on stdin.
    pub(crate) before: Option<At<Vec<At<String>>>>,
    /// Programs run at completion, failure or cancellation, in this order; relative to this file. JSON comes on stdin.
    pub(crate) after: Option<At<Vec<At<String>>>>,
    /// Longest time for one hook, such as `"10m"`, the default.
    pub(crate) hook_timeout: Option<At<String>>,
    /// How long an approval lives until it is used, such as `"7d"`, the default.
    pub(crate) approval_ttl: Option<At<String>>,
    /// How long a run that has written something may be held before it ends as failed, such as `"72h"`, the default.
    pub(crate) held_for: Option<At<String>>,
}

/// Who agrees to a run.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PolicyDocument {
    /// Nobody is asked.
    Enforced,
    /// A person approves each run with `redpipe approve`.
    OwnerApproval,
}

/// When disruptive steps may run, week by week.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WindowDocument {
    /// Days on which the window opens; every day where left out.
    #[schemars(length(min = 1))]
    pub(crate) days: Option<At<Vec<At<DayDocument>>>>,
    /// Time of day at which it opens, such as `"22:00"`.
    #[schemars(required)]
    pub(crate) start: Option<At<String>>,
    /// Time of day at which it closes, such as `"06:00"`: on the next day where it is not after `start`. `"24:00"` is
    /// midnight.
    #[schemars(required)]
    pub(crate) end: Option<At<String>>,
    /// Time zone, such as `"Europe/Berlin"` or `"UTC"`.
    #[schemars(required)]
    pub(crate) zone: Option<At<String>>,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(crate) enum DayDocument {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}
