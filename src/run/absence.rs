//! A BMC that does not answer, or not us: waited for as long as it was declared to be away, then a person's business.

use jiff::Timestamp;

use super::deadline::{UNREACHABLE_TIMEOUT, after};
use super::machine::{Decision, RunMachine};
use super::record::{Place, Record, Wait};
use super::stage;
use super::state::WorkStatus;
use crate::model::inventory::TlsChange;
use crate::model::{Fault, FaultKind, Retry};

impl RunMachine {
    /// The BMC did not answer, or not us.
    pub(super) fn not_seen(&self, now: Timestamp, fault: &Fault) -> Decision {
        if self.state.start.is_none() {
            return Decision::default();
        }
        let places = self.state.active();
        let declared = places.iter().filter_map(|place| self.outage(place)).max();
        let is_absent = is_absence(fault.kind)
            // A BMC on its way down or up knows nobody: that is no word about the credentials.
            || (fault.kind == FaultKind::LoginRefused && declared.is_some_and(|until| now < until));
        if let Some(records) = self.accepted(fault, declared) {
            return Decision::only(records);
        }
        let mut records = Vec::new();
        if is_absent && self.state.gone_since.is_none() {
            records.push(Record::Outage {
                gone: true,
                expected: declared.is_some(),
                reason: fault.to_string(),
            });
        } else if is_absent && self.state.root_good.is_some() {
            records.push(Record::RootGood { count: 0 });
        }
        let wait = if is_absent {
            self.absence(now, fault, declared)
        } else {
            Wait {
                reason: in_the_way(fault),
                until: None,
                held: true,
            }
        };
        let is_news = |old: Option<&(Wait, Timestamp)>| {
            !old.is_some_and(|(old, _)| old.held == wait.held && old.reason == wait.reason)
        };
        if places.is_empty() && is_news(self.state.wait.as_ref()) {
            records.push(Record::RunWaiting { wait: wait.clone() });
        }
        for place in places {
            let work = self.state.works.get(&place);
            if is_news(work.and_then(|work| work.wait.as_ref())) {
                records.push(Record::Waiting {
                    at: place,
                    wait: wait.clone(),
                });
            }
        }
        Decision::only(records)
    }

    /// What follows from another certificate where the inventory says to take it: it counts from now on, and whoever shows
    /// it has restarted. An outage ends by good reads and not by the clock, which goes on while nobody looks; and a process
    /// may have died between writing the certificate down and remembering it.
    fn accepted(&self, fault: &Fault, declared: Option<Timestamp>) -> Option<Vec<Record>> {
        let certificate = fault.certificate.as_ref()?;
        let is_declared = declared.is_some();
        let is_known = self.state.certificate.as_ref() == Some(certificate);
        if fault.kind != FaultKind::CertificateChanged
            || self.spec.tls_change != TlsChange::AcceptInOutage
            || !(is_declared || is_known)
        {
            return None;
        }
        let mut records = vec![Record::CertificateAccepted {
            certificate: certificate.clone(),
            reason: fault.to_string(),
        }];
        if self.state.gone_since.is_none() {
            records.push(Record::Outage {
                gone: true,
                expected: true,
                reason: fault.message.clone(),
            });
        }
        Some(records)
    }

    fn absence(&self, now: Timestamp, fault: &Fault, declared_until: Option<Timestamp>) -> Wait {
        let since = self.state.gone_since.unwrap_or(now);
        let until = declared_until.unwrap_or_else(|| after(since, UNREACHABLE_TIMEOUT));
        let message = &fault.message;
        if now < until {
            let reason = if declared_until.is_some() {
                format!("the BMC is away, as expected: {message}")
            } else {
                format!("the BMC does not answer: {message}")
            };
            return Wait {
                reason,
                until: Some(until),
                held: false,
            };
        }
        let at = since.strftime("%Y-%m-%d %H:%M:%S UTC");
        let advice = if self.is_severed() {
            "what was set may have moved it: see that the inventory has its address and login, then apply again"
        } else if declared_until.is_some() {
            "it may still be flashing, so nothing is reset; when it answers again, apply again"
        } else {
            "see to its power and network, then apply again"
        };
        Wait {
            reason: format!("the BMC has not answered since {at}: {message}; {advice}"),
            until: None,
            held: true,
        }
    }

    /// Whether settings that are not read back yet may have cut our own connection.
    fn is_severed(&self) -> bool {
        self.state.active().iter().any(|place| {
            let work = self.state.works.get(place);
            let stage = self.spec.stage(&place.stage);
            work.zip(stage).is_some_and(|(work, stage)| {
                stage::severed_at(work, stage, &place.target).is_some()
            })
        })
    }

    /// The end of the outage that a place has declared, if it has.
    fn outage(&self, place: &Place) -> Option<Timestamp> {
        let work = self
            .state
            .works
            .get(place)
            .filter(|work| work.status == WorkStatus::Active)?;
        let stage = self.spec.stage(&place.stage)?;
        stage::outage_until(work, stage, &place.target, &self.spec.pace)
    }

    /// The unauthenticated root answers again; nobody logs in before it has done so for a while.
    pub(super) fn root_seen(&self, now: Timestamp) -> Decision {
        let needed = self.spec.pace.settle_reads.max(1);
        let count = match self.state.root_good {
            None => 1,
            Some(good) if now >= good.next_at(&self.spec.pace) => good.count + 1,
            Some(_) => return Decision::default(),
        };
        let mut records = vec![Record::RootGood { count }];
        if count >= needed {
            let reason = format!("{count} good reads of the service root");
            records.push(Record::Outage {
                gone: false,
                expected: true,
                reason,
            });
        }
        Decision::only(records)
    }
}

/// What a person must change, where one must.
fn in_the_way(fault: &Fault) -> String {
    if fault.retry != Retry::Operator {
        return fault.to_string();
    }
    let hint = fault.hint.iter().map(|hint| format!("; {hint}"));
    format!("blocked: {fault}{}", hint.collect::<String>())
}

/// Whether a fault says that nobody is there, or nobody who can talk yet.
fn is_absence(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::Unreachable
            | FaultKind::BadAnswer
            | FaultKind::NotReady
            | FaultKind::SessionsExhausted
    )
}
