//! Figures, and the text that tells them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family as Labelled;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// What a figure does over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, from the start of the process.
    Counter,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The figure.
    pub value: f64,
}

/// Figures that are made one by one while they are written: those of a large fleet are not worth the memory.
pub type Samples = Box<dyn Iterator<Item = Sample> + Send>;

/// All figures of one name.
pub struct Family {
    /// Without the `_total` that counters get.
    pub name: &'static str,
    /// What it means, without a full stop.
    pub help: &'static str,
    /// What it does over time.
    pub kind: Kind,
    /// The figures.
    pub samples: Samples,
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Family")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Upper ends of durations in seconds: a setting, a reset, a POST, a flash, a flash that nobody believes in any more.
const DURATIONS: [f64; 10] = [
    1.0, 5.0, 15.0, 60.0, 180.0, 300.0, 600.0, 1200.0, 2400.0, 7200.0,
];

type Labels = Vec<(&'static str, String)>;
type Durations = Labelled<Labels, Histogram, fn() -> Histogram>;

/// The registry of a process.
pub struct Metrics {
    registry: Registry,
    durations: Durations,
    latest: Arc<Latest>,
    /// One scrape at a time: each takes away what it tells.
    turn: Mutex<()>,
}

/// What is asked for at a scrape, and gone once it is told.
#[derive(Debug, Default)]
struct Latest(Mutex<Vec<Family>>);

impl Metrics {
    /// Nothing was counted yet.
    pub fn new() -> Self {
        let durations: Durations = Labelled::new_with_constructor(|| Histogram::new(DURATIONS));
        let latest = Arc::new(Latest::default());
        let mut registry = Registry::default();
        let help = "From the beginning of a stage on a target to its end, by kind of stage";
        registry.register("redpipe_stage_duration_seconds", help, durations.clone());
        registry.register_collector(Box::new(Arc::clone(&latest)));
        Self {
            registry,
            durations,
            latest,
            turn: Mutex::default(),
        }
    }

    /// A stage of a kind ended on a target after so long.
    pub fn stage_ended(&self, kind: &str, end: &str, seconds: f64) {
        let labels = vec![("kind", kind.to_owned()), ("end", end.to_owned())];
        self.durations.get_or_create(&labels).observe(seconds);
    }

    /// The text of a scrape, with the figures as they are now.
    pub fn exposition(&self, families: Vec<Family>) -> Result<String, fmt::Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        *self.latest.0.lock().unwrap_or_else(PoisonError::into_inner) = families;
        let mut text = String::new();
        text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector for Latest {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for family in std::mem::take(&mut *latest) {
            let kind = match family.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
            };
            let mut metric = encoder.encode_descriptor(family.name, family.help, None, kind)?;
            for sample in family.samples {
                let one = metric.encode_family(&sample.labels)?;
                match family.kind {
                    Kind::Gauge => ConstGauge::new(sample.value).encode(one)?,
                    Kind::Counter => ConstCounter::new(sample.value).encode(one)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn what_a_scrape_has_told_is_not_kept() {
        let metrics = Metrics::new();
        let family = Family {
            name: "n",
            help: "h",
            kind: Kind::Gauge,
            samples: Box::new(std::iter::once(Sample {
                labels: vec![("bmc", "b1".to_owned())],
                value: 2.0,
            })),
        };
        let text = metrics.exposition(vec![family]).unwrap();
        assert!(text.contains("n{bmc=\"b1\"} 2.0\n"), "{text}");
        assert!(!metrics.exposition(Vec::new()).unwrap().contains("n{"));
        assert!(metrics.latest.0.lock().unwrap().is_empty());
    }
}
