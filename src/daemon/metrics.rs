//! What the daemon's metrics are, gathered at each scrape.
//!
//! At 10,000 BMCs of one server each a healthy fleet has 60,000 series and one where everything is wrong with everything
//! 140,000, beside a few for each pipeline and stage: nothing is labelled with a run, a reason or an address.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use jiff::Timestamp;

use super::fleet::{BmcWatched, Fleet, PollResult};
use super::history::Happened;
use super::meter::{CLASSES, Meter};
use super::summary::Summary;
use crate::drift::DriftState;
use crate::model::{BmcName, Target};
use crate::observe::{Family, Kind, Metrics, Sample};
use crate::run::Record;
use crate::run::record::Place;

/// Stages that have begun and not ended, as far as the journal was followed.
#[derive(Debug, Default)]
pub(super) struct Begun {
    /// The last record seen; `None` = not yet begun to follow.
    pub(super) cursor: Option<i64>,
    open: BTreeMap<(String, Place), Timestamp>,
}

impl Begun {
    /// Takes up records, and counts what ended.
    pub(super) fn follow(&mut self, lines: &[Happened], summary: &Summary, metrics: &Metrics) {
        for line in lines {
            self.cursor = Some(line.cursor);
            let run = line.key.to_string();
            let (at, end) = match &line.record {
                Some(Record::StageStarted { at, .. }) => {
                    self.open.entry((run, at.clone())).or_insert(line.at);
                    continue;
                }
                Some(Record::Done { at, how, .. }) => (at, how.as_str()),
                Some(Record::Failed { at, .. }) => (at, "failed"),
                Some(Record::Stopped { at, .. }) => (at, "stopped"),
                Some(Record::Ended { .. }) => {
                    self.open.retain(|(of, _), _| *of != run);
                    continue;
                }
                Some(_) | None => continue,
            };
            if let Some(began) = self.open.remove(&(run, at.clone())) {
                let kind = kind_of(summary, line, at).unwrap_or("unknown");
                let seconds = line.at.duration_since(began).as_secs_f64();
                metrics.stage_ended(kind, end, seconds);
            }
        }
    }
}

fn kind_of(summary: &Summary, line: &Happened, at: &Place) -> Option<&'static str> {
    let mut runs = summary.runs.iter();
    let run = runs.find(|run| {
        run.pipeline == line.key.pipeline.as_str() && run.bmc == line.key.bmc.as_str()
    })?;
    let mut stages = run.stages.iter();
    let stage = stages.find(|stage| stage.name == at.stage.as_str())?;
    Some(stage.kind)
}

/// Of the process, the files, the runs and the pipelines.
pub(super) fn of_work(summary: &Summary, is_ready: bool, fleet: &Fleet) -> Vec<Family> {
    let mut runs: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let mut stages: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    for run in summary.runs.iter().filter(|run| !run.id.contains('#')) {
        *runs.entry((&run.pipeline, run.phase.as_str())).or_default() += 1;
        for stage in &run.stages {
            let key = (
                run.pipeline.as_str(),
                stage.name.as_str(),
                stage.phase.as_str(),
            );
            *stages.entry(key).or_default() += 1;
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let refused = fleet.files().refused.is_some();
    let waiting = summary.pipelines.iter().map(|of| {
        let waiting = u32::try_from(of.waiting).unwrap_or(u32::MAX);
        sample(&[("pipeline", &of.pipeline)], waiting)
    });
    vec![
        gauge(
            "redpipe_build_info",
            "The version that runs",
            vec![sample(&[("version", version)], 1)],
        ),
        gauge(
            "redpipe_ready",
            "Whether the daemon does its work",
            vec![sample(&[], u32::from(is_ready))],
        ),
        gauge(
            "redpipe_files_refused",
            "Whether the newest state of the files is wrong and not in use",
            vec![sample(&[], u32::from(refused))],
        ),
        gauge(
            "redpipe_runs",
            "Latest runs of every pipeline and BMC, by phase",
            runs.iter()
                .map(|((pipeline, phase), count)| {
                    sample(&[("pipeline", pipeline), ("phase", phase)], *count)
                })
                .collect(),
        ),
        gauge(
            "redpipe_stages",
            "Stages of those runs, by phase",
            stages
                .iter()
                .map(|((pipeline, stage, phase), count)| {
                    sample(
                        &[("pipeline", pipeline), ("stage", stage), ("phase", phase)],
                        *count,
                    )
                })
                .collect(),
        ),
        gauge(
            "redpipe_queue_depth",
            "Selected BMCs that wait for their run",
            waiting.collect(),
        ),
    ]
}

/// Observations of the whole fleet: what they came to says more of a fleet than who was asked how often.
pub(super) fn of_polls(polls: &BTreeMap<PollResult, u64>) -> Family {
    let samples = PollResult::ALL.iter().map(|result| Sample {
        labels: owned(&[("result", result.as_str())]),
        value: float(polls.get(result).copied().unwrap_or_default()),
    });
    Family {
        name: "redpipe_polls",
        help: "Observations, by how they ended",
        kind: Kind::Counter,
        samples: samples.collect(),
    }
}

/// Of every BMC as it was last seen.
pub(super) fn of_fleet(bmcs: &[BmcWatched]) -> Vec<Family> {
    let states = [
        (Some(DriftState::InSync), "in_sync"),
        (Some(DriftState::Ahead), "ahead"),
        (Some(DriftState::Drifted), "drifted"),
        (Some(DriftState::Unreachable), "unreachable"),
        (None, "unknown"),
    ];
    let states = states.iter().map(|(state, word)| {
        let count = bmcs.iter().filter(|one| one.state == *state).count();
        sample(&[("state", word)], u32::try_from(count).unwrap_or(u32::MAX))
    });
    let failing = bmcs.iter().filter(|one| one.failures > 0);
    let failing = failing.map(|one| sample(&[("bmc", one.bmc.as_str())], one.failures));
    vec![
        gauge(
            "redpipe_bmcs",
            "BMCs by how they stand to what is wanted",
            states.collect(),
        ),
        gauge(
            "redpipe_drift_items",
            "Declared drift, by kind",
            bmcs.iter().flat_map(drift_items).collect(),
        ),
        gauge(
            "redpipe_observed_version_info",
            "What was seen to run",
            bmcs.iter().flat_map(observed).collect(),
        ),
        gauge(
            "redpipe_desired_version_info",
            "What is to run in the end, as the pipelines write it",
            bmcs.iter().flat_map(desired).collect(),
        ),
        gauge(
            "redpipe_poll_failures_in_a_row",
            "Failed observations since the last good one",
            failing.collect(),
        ),
    ]
}

/// Of every BMC as it answers.
pub(super) fn of_meters(meters: &BTreeMap<BmcName, std::sync::Arc<Meter>>) -> Vec<Family> {
    let counter = |name, help, samples| Family {
        name,
        help,
        kind: Kind::Counter,
        samples,
    };
    let (mut requests, mut seconds, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (bmc, meter) in meters {
        let figure = |labels: &[(&'static str, &str)], value: f64| Sample {
            labels: owned(labels),
            value,
        };
        let bmc = ("bmc", bmc.as_str());
        requests.push(figure(
            &[bmc],
            float(meter.requests.load(Ordering::Relaxed)),
        ));
        let micros = float(meter.micros.load(Ordering::Relaxed));
        seconds.push(figure(&[bmc], micros / 1e6));
        for (class, count) in CLASSES.iter().zip(&meter.errors) {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                errors.push(figure(&[bmc, ("class", class)], float(count)));
            }
        }
    }
    vec![
        counter(
            "redpipe_requests",
            "Requests to a BMC, answered or not",
            requests,
        ),
        counter(
            "redpipe_request_seconds",
            "Time that a BMC took for them, all together",
            seconds,
        ),
        counter(
            "redpipe_request_errors",
            "Requests that went wrong, by class",
            errors,
        ),
    ]
}

/// Leases by who holds them.
pub(super) fn of_leases(here: u32, elsewhere: u32) -> Family {
    let samples = vec![
        sample(&[("holder", "this process")], here),
        sample(&[("holder", "another")], elsewhere),
    ];
    gauge("redpipe_leases", "BMCs that a process drives", samples)
}

fn drift_items(one: &BmcWatched) -> Vec<Sample> {
    let kinds = [("version", true), ("setting", false)];
    let counted = kinds.into_iter().map(|(kind, is_version)| {
        let items = one.items.iter();
        let count = items
            .filter(|item| (item.name == "version") == is_version)
            .count();
        (kind, u32::try_from(count).unwrap_or(u32::MAX))
    });
    counted
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| sample(&[("bmc", one.bmc.as_str()), ("kind", kind)], count))
        .collect()
}

fn observed(one: &BmcWatched) -> Vec<Sample> {
    let of_bmc = one.bmc_version.as_deref();
    let of_bmc = of_bmc.map(|version| version_info(one, &Target::Bmc, version));
    let servers = one.servers.iter().filter_map(|of| {
        let target = Target::Server(of.server.clone());
        Some(version_info(one, &target, of.bios_version.as_deref()?))
    });
    of_bmc.into_iter().chain(servers).collect()
}

fn desired(one: &BmcWatched) -> Vec<Sample> {
    let versions = one.desired_versions.iter();
    versions
        .map(|(target, version)| version_info(one, target, version))
        .collect()
}

/// What runs, or is to run, on a target: the version is a label.
fn version_info(one: &BmcWatched, target: &Target, version: &str) -> Sample {
    let (server, component) = match target {
        Target::Bmc => ("", "bmc"),
        Target::Server(server) => (server.as_str(), "bios"),
    };
    let labels = [
        ("bmc", one.bmc.as_str()),
        ("server", server),
        ("component", component),
        ("version", version),
    ];
    sample(&labels, 1)
}

fn gauge(name: &'static str, help: &'static str, samples: Vec<Sample>) -> Family {
    Family {
        name,
        help,
        kind: Kind::Gauge,
        samples,
    }
}

fn sample(labels: &[(&'static str, &str)], value: u32) -> Sample {
    Sample {
        labels: owned(labels),
        value: f64::from(value),
    }
}

fn owned(labels: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let labels = labels.iter();
    labels
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "Prometheus knows no other numbers"
)]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::daemon::DriftLine;
    use crate::daemon::fleet::ServerWatched;
    use crate::model::look::Power;

    const BMCS: usize = 10_000;

    /// One BMC with one server; `bad` = with all that can be wrong with it.
    fn watched(number: usize, bad: bool) -> BmcWatched {
        let name = format!("b{number}");
        let target = |is_bmc: bool| {
            if is_bmc {
                Target::Bmc
            } else {
                Target::Server(name.as_str().into())
            }
        };
        let line = |is_bmc, what: &str| DriftLine {
            pipeline: "p".into(),
            target: target(is_bmc),
            stage: "s".into(),
            name: what.to_owned(),
            expected: json!("2"),
            actual: json!("1"),
            since: None,
        };
        let items = vec![
            line(true, "version"),
            line(false, "version"),
            line(false, "A"),
        ];
        BmcWatched {
            bmc: name.as_str().into(),
            address: String::new(),
            labels: BTreeMap::new(),
            state: Some(DriftState::InSync),
            items: if bad { items } else { Vec::new() },
            problems: Vec::new(),
            bmc_version: Some("1".to_owned()),
            desired_versions: [true, false].map(|b| (target(b), "2".to_owned())).into(),
            servers: vec![ServerWatched {
                server: name.as_str().into(),
                system: String::new(),
                bios_version: Some("1".to_owned()),
                power_state: Power::On,
            }],
            driven: false,
            polls: 1,
            failures: u32::from(bad),
            polled_at: None,
            next_poll_at: None,
        }
    }

    fn series(bad: bool) -> usize {
        let bmcs: Vec<BmcWatched> = (0..BMCS).map(|number| watched(number, bad)).collect();
        let meters = bmcs.iter().map(|one| {
            let meter = Meter::default();
            for errors in &meter.errors {
                errors.store(u64::from(bad), Ordering::Relaxed);
            }
            (one.bmc.clone(), Arc::new(meter))
        });
        let families = of_fleet(&bmcs)
            .into_iter()
            .chain([of_polls(&BTreeMap::new())])
            .chain(of_meters(&meters.collect()));
        let text = Metrics::new()
            .exposition(families.collect())
            .expect("it is text");
        text.lines().filter(|line| !line.starts_with('#')).count()
    }

    #[test]
    fn ten_thousand_bmcs_have_as_many_series_as_is_said_above() {
        // Beside the five states and the four results of polls.
        assert_eq!(series(false), 60_000 + 9);
        assert_eq!(series(true), 140_000 + 9);
    }
}
