//! Leave to send one login, waited for within the rule of refused logins.
//!
//! What is refused how often is the login record's to say; this file only asks, waits and tells the end.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep};

use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::line::{Line, scaled};
use crate::redfish::memory::{LoginEnd, LoginLeave, LoginRule, Memory};

/// Least time between a refused login and the next one, at the default pace: lockout windows are one minute or more.
const REFUSED_APART: Duration = Duration::from_mins(1);

/// A login takes less than this whatever happens; beyond it its process is gone.
const ABANDONED_AFTER: Duration = Duration::from_mins(10);

/// Longest wait for leave: three refusals of others, and a queue of logins with the same credentials.
const WAIT_MAX: Duration = Duration::from_mins(10);

/// Time between two questions while others log in.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Leave to send one login. Dropped without an end, the login counts as one whose outcome nobody knows.
pub(super) struct Leave {
    memory: Arc<dyn Memory>,
    bmc: String,
    mark: String,
    rule: LoginRule,
    open: bool,
}

impl Leave {
    /// Waits for leave. In an outage no refusal is waited out: whoever declared it decides.
    pub(super) async fn wait_for(
        line: &Line,
        memory: &Arc<dyn Memory>,
        mark: &str,
    ) -> Result<Self, Fault> {
        let rule = rule(line, memory.as_ref());
        let deadline = Instant::now() + scaled(&line.pace, WAIT_MAX).max(rule.apart * 4);
        loop {
            let now = line.now();
            let mut answer = LoginLeave::Busy;
            memory.with_logins(mark, &mut |record| {
                answer = record.ask(line.bmc.as_str(), now, rule);
            });
            let wait = match answer {
                LoginLeave::Go => {
                    let (memory, bmc) = (Arc::clone(memory), line.bmc.to_string());
                    return Ok(Self {
                        memory,
                        bmc,
                        mark: mark.to_owned(),
                        rule,
                        open: true,
                    });
                }
                LoginLeave::LooksReset => return Err(looks_reset(line, &[], None)),
                LoginLeave::BadHere => return Err(bad_here(line)),
                LoginLeave::BadEverywhere => return Err(bad_everywhere(line)),
                LoginLeave::Wait(_) if line.in_outage() => return Err(too_early(line)),
                LoginLeave::Wait(until) => until_then(now, until, rule.apart),
                LoginLeave::Busy => scaled(&line.pace, ASK_AGAIN).max(Duration::from_millis(5)),
            };
            if Instant::now() + wait > deadline {
                return Err(too_early(line));
            }
            sleep(wait).await;
        }
    }

    /// Tells how the login ended; true where the credentials are bad from now on.
    pub(super) fn end(mut self, now: Timestamp, end: LoginEnd) -> bool {
        self.open = false;
        let mut bad = false;
        self.memory.with_logins(&self.mark, &mut |record| {
            bad = record.end(&self.bmc, now, self.rule, end);
        });
        bad
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        if self.open {
            self.memory
                .with_logins(&self.mark, &mut |record| record.abandon(&self.bmc));
        }
    }
}

/// Writes down an end that came without asking: basic credentials that used to be taken.
pub(super) fn note_end(line: &Line, memory: &dyn Memory, mark: &str, end: LoginEnd) {
    let (rule, now) = (rule(line, memory), line.now());
    memory.with_logins(mark, &mut |record| {
        record.end(line.bmc.as_str(), now, rule, end);
    });
}

fn rule(line: &Line, memory: &dyn Memory) -> LoginRule {
    let apart = scaled(&line.pace, REFUSED_APART);
    LoginRule::new(
        memory.lockout_threshold(),
        apart,
        scaled(&line.pace, ABANDONED_AFTER),
    )
}

/// A clock that jumps must not make one wait longer than the rule.
fn until_then(now: Timestamp, until: Timestamp, most: Duration) -> Duration {
    let wait = Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO);
    wait.min(most).max(Duration::from_millis(1))
}

fn bad_here(line: &Line) -> Fault {
    let bmc = &line.bmc;
    let text =
        format!("the credentials of bmc `{bmc}` were refused before and are not tried again");
    Fault::new(FaultKind::CredentialsBad, Retry::Operator, text).with_hint(format!(
        "change them, or run `redpipe trust --credentials {bmc}` once they are right"
    ))
}

fn bad_everywhere(line: &Line) -> Fault {
    let bmc = &line.bmc;
    let text = format!(
        "the credentials of bmc `{bmc}` were refused by several BMCs and are not tried again anywhere"
    );
    Fault::new(FaultKind::CredentialsBad, Retry::Operator, text).with_hint(format!(
        "change them, or run `redpipe trust --credentials {bmc}` once they are right"
    ))
}

/// Why no login is tried on a BMC that is not as it was; `refusal` is what it said to the last one.
pub(super) fn looks_reset(line: &Line, signs: &[&str], refusal: Option<&Fault>) -> Fault {
    let bmc = &line.bmc;
    let seen: Vec<&str> = std::iter::once("refused the login")
        .chain(signs.iter().copied())
        .collect();
    let seen = seen.join(" and ");
    let text = format!(
        "bmc `{bmc}` looks factory-reset: it {seen}; no other is tried, which could lock the account"
    );
    let hint = format!(
        "look at the machine; once its account is as the inventory says, `redpipe trust --credentials --identity {bmc}`"
    );
    let mut fault = Fault::new(FaultKind::LooksReset, Retry::Operator, text).with_hint(hint);
    if let Some(refusal) = refusal {
        fault.messages.clone_from(&refusal.messages);
        fault.status = refusal.status;
    }
    fault
}

fn too_early(line: &Line) -> Fault {
    let text = format!(
        "no login to bmc `{}` yet: one was refused a moment ago, or others are under way",
        line.bmc
    );
    Fault::new(FaultKind::LoginRefused, Retry::Transient, text)
}
