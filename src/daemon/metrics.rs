//! What the daemon's metrics are, gathered at each scrape.
//!
//! At 10,000 BMCs of one server each a healthy fleet has 60,000 series and one where everything is wrong with everything
//! 140,000, beside a few for each pipeline and stage: nothing is labelled with a run, a reason or an address.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use jiff::Timestamp;

use super::fleet::{Fleet, PollResult};
use super::history::Happened;
use super::meter::{CLASSES, Meter};
use super::summary::Summary;
use crate::drift::DriftState;
use crate::model::{BmcName, Target};
use crate::observe::{Family, Kind, Metrics, Sample, Samples};
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
    let runs = runs.iter().map(|((pipeline, phase), count)| {
        sample(&[("pipeline", pipeline), ("phase", phase)], *count)
    });
    let stages = stages.iter().map(|((pipeline, stage, phase), count)| {
        let labels = [
            ("pipeline", *pipeline),
            ("stage", *stage),
            ("phase", *phase),
        ];
        sample(&labels, *count)
    });
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
            counted(vec![sample(&[("version", version)], 1)]),
        ),
        gauge(
            "redpipe_ready",
            "Whether the daemon does its work",
            counted(vec![sample(&[], u32::from(is_ready))]),
        ),
        gauge(
            "redpipe_files_refused",
            "Whether the newest state of the files is wrong and not in use",
            counted(vec![sample(&[], u32::from(refused))]),
        ),
        gauge(
            "redpipe_runs",
            "Latest runs of every pipeline and BMC, by phase",
            counted(runs.collect()),
        ),
        gauge(
            "redpipe_stages",
            "Stages of those runs, by phase",
            counted(stages.collect()),
        ),
        gauge(
            "redpipe_queue_depth",
            "Selected BMCs that wait for their run",
            counted(waiting.collect()),
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
        samples: counted(samples.collect()),
    }
}

/// One BMC, as far as metrics tell of it.
pub(super) struct BmcFigures {
    pub(super) bmc: BmcName,
    pub(super) state: Option<DriftState>,
    /// Declared drift: how many of it are versions, and how many are settings.
    pub(super) drift_items: [(&'static str, u32); 2],
    /// Observations in a row that failed.
    pub(super) failures: u32,
    /// What was seen to run.
    pub(super) observed: Box<[(Target, Arc<str>)]>,
    /// What is to run in the end.
    pub(super) desired: Box<[(Target, Arc<str>)]>,
}

/// Of every BMC as it was last seen.
pub(super) fn of_fleet(bmcs: Vec<BmcFigures>) -> Vec<Family> {
    let bmcs: Arc<[BmcFigures]> = bmcs.into();
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
    let states: Vec<Sample> = states.collect();
    let each = |of: fn(&BmcFigures) -> Vec<Sample>| of_each(&bmcs, of);
    vec![
        gauge(
            "redpipe_bmcs",
            "BMCs by how they stand to what is wanted",
            counted(states),
        ),
        gauge(
            "redpipe_drift_items",
            "Declared drift, by kind",
            each(drift_items),
        ),
        gauge(
            "redpipe_observed_version_info",
            "What was seen to run",
            each(|one| versions(one, &one.observed)),
        ),
        gauge(
            "redpipe_desired_version_info",
            "What is to run in the end, as the pipelines write it",
            each(|one| versions(one, &one.desired)),
        ),
        gauge(
            "redpipe_poll_failures_in_a_row",
            "Failed observations since the last good one",
            each(failing),
        ),
    ]
}

/// Figures of each of many, made when they are written.
fn of_each<T: Send + Sync + 'static>(all: &Arc<[T]>, of: fn(&T) -> Vec<Sample>) -> Samples {
    let all = Arc::clone(all);
    let figures = (0..all.len()).filter_map(move |index| all.get(index).map(of));
    Box::new(figures.flatten())
}

/// Figures that are few.
fn counted(samples: Vec<Sample>) -> Samples {
    Box::new(samples.into_iter())
}

/// Of every BMC as it answers.
pub(super) fn of_meters(meters: BTreeMap<BmcName, Arc<Meter>>) -> Vec<Family> {
    let meters: Arc<[(BmcName, Arc<Meter>)]> = meters.into_iter().collect();
    let counter = |name, help, of: fn(&(BmcName, Arc<Meter>)) -> Vec<Sample>| Family {
        name,
        help,
        kind: Kind::Counter,
        samples: of_each(&meters, of),
    };
    vec![
        counter(
            "redpipe_requests",
            "Requests to a BMC, answered or not",
            |(bmc, meter)| vec![of_bmc(bmc, float(meter.requests.load(Ordering::Relaxed)))],
        ),
        counter(
            "redpipe_request_seconds",
            "Time that a BMC took for them, all together",
            |(bmc, meter)| {
                let micros = float(meter.micros.load(Ordering::Relaxed));
                vec![of_bmc(bmc, micros / 1e6)]
            },
        ),
        counter(
            "redpipe_request_errors",
            "Requests that went wrong, by class",
            |(bmc, meter)| request_errors(bmc, meter),
        ),
    ]
}

fn of_bmc(bmc: &BmcName, value: f64) -> Sample {
    Sample {
        labels: owned(&[("bmc", bmc.as_str())]),
        value,
    }
}

fn request_errors(bmc: &BmcName, meter: &Meter) -> Vec<Sample> {
    let classes = CLASSES.iter().zip(&meter.errors);
    let counts = classes.map(|(class, count)| (class, count.load(Ordering::Relaxed)));
    counts
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| Sample {
            labels: owned(&[("bmc", bmc.as_str()), ("class", class)]),
            value: float(count),
        })
        .collect()
}

/// Leases by who holds them.
pub(super) fn of_leases(here: u32, elsewhere: u32) -> Family {
    let samples = vec![
        sample(&[("holder", "this process")], here),
        sample(&[("holder", "another")], elsewhere),
    ];
    gauge(
        "redpipe_leases",
        "BMCs that a process drives",
        counted(samples),
    )
}

fn drift_items(one: &BmcFigures) -> Vec<Sample> {
    let kinds = one.drift_items.iter().filter(|(_, count)| *count > 0);
    kinds
        .map(|(kind, count)| sample(&[("bmc", one.bmc.as_str()), ("kind", kind)], *count))
        .collect()
}

fn failing(one: &BmcFigures) -> Vec<Sample> {
    if one.failures == 0 {
        return Vec::new();
    }
    vec![sample(&[("bmc", one.bmc.as_str())], one.failures)]
}

fn versions(one: &BmcFigures, versions: &[(Target, Arc<str>)]) -> Vec<Sample> {
    let versions = versions.iter();
    versions
        .map(|(target, version)| version_info(one, target, version))
        .collect()
}

/// What runs, or is to run, on a target: the version is a label.
fn version_info(one: &BmcFigures, target: &Target, version: &str) -> Sample {
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

fn gauge(name: &'static str, help: &'static str, samples: Samples) -> Family {
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
    use super::*;

    const BMCS: usize = 10_000;

    /// One BMC with one server; `bad` = with all that can be wrong with it.
    fn figures(number: usize, bad: bool) -> BmcFigures {
        let name = format!("b{number}");
        let versions = |version: &str| {
            let of_server = Target::Server(name.as_str().into());
            [Target::Bmc, of_server]
                .map(|target| (target, version.into()))
                .into()
        };
        BmcFigures {
            bmc: name.as_str().into(),
            state: Some(DriftState::InSync),
            drift_items: [("version", 2 * u32::from(bad)), ("setting", u32::from(bad))],
            failures: u32::from(bad),
            observed: versions("1"),
            desired: versions("2"),
        }
    }

    fn series(bad: bool) -> usize {
        let bmcs: Vec<BmcFigures> = (0..BMCS).map(|number| figures(number, bad)).collect();
        let meters = bmcs.iter().map(|one| {
            let meter = Meter::default();
            for errors in &meter.errors {
                errors.store(u64::from(bad), Ordering::Relaxed);
            }
            (one.bmc.clone(), Arc::new(meter))
        });
        let meters = meters.collect();
        let families = of_fleet(bmcs)
            .into_iter()
            .chain([of_polls(&BTreeMap::new())])
            .chain(of_meters(meters));
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
