//! The machine alone, against a model of a box, with a restart wherever one likes.

#![expect(clippy::unwrap_used, reason = "tests")]

mod model;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use model::Model;

use super::{Decision, Input, Permits, Record, RunMachine, RunPhase};
use crate::model::look::Power;
use crate::model::{RunKey, Seen, ServerName};
use crate::pipeline::{Given, Source, load};
use crate::plan::{CatalogImage, ImageCatalog, Remembered, RunSpec, resolve};

const PERMITS: Permits = Permits {
    acts: true,
    versions: true,
};

const INVENTORY: &str = r#"
[[bmc]]
name = "b"
address = "10.0.0.1"
auth = "none"
  [[bmc.server]]
  name = "s1"
  system = "1"
"#;

const SECOND: &str = r#"
  [[bmc.server]]
  name = "s2"
  system = "2"
"#;

const HOPS: &str = r#"
name = "p"
[selector]
match_labels = {}
[defaults]
targets = ["{system}/Bios"]
[[stage]]
name = "bmc"
kind = "bmc-version"
version = "1.60"
targets = ["{manager}"]
image = { file = "bmc160.img" }
[[stage]]
name = "bios"
kind = "bios-version"
version = "2.20"
image = { file = "bios220.img" }
[[stage]]
name = "quiet"
kind = "bios-settings"
settings = { QuietBoot = false }
"#;

fn spec(inventory: &str, pipeline: &str) -> RunSpec {
    let loaded = load(
        &[Source::new("i", inventory)],
        &[Source::new("p", pipeline)],
    )
    .unwrap_or_else(|findings| panic!("{findings}"));
    let image = |name: &str| {
        let image = CatalogImage {
            sha256: name.to_owned(),
            bytes: 1,
            path: name.into(),
        };
        (name.into(), image)
    };
    let images = ImageCatalog {
        files: BTreeMap::from(["bmc160.img", "bios220.img"].map(image)),
        ..ImageCatalog::default()
    };
    let bmc = &loaded.inventory.bmcs[0];
    resolve(
        &loaded.pipelines[0],
        bmc,
        &bmc.servers,
        &Given::default(),
        &images,
    )
    .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A run with its journal, which can be restarted.
struct Bench {
    model: Model,
    spec: RunSpec,
    journal: Vec<(Timestamp, Record)>,
    machine: RunMachine,
}

impl Bench {
    fn new(servers: &[&str], spec: RunSpec) -> Self {
        let mut model = Model::new(servers);
        model.images = BTreeMap::from([
            ("bmc160".to_owned(), "1.60".to_owned()),
            ("bios220".to_owned(), "2.20".to_owned()),
        ]);
        let machine = RunMachine::new(key(), spec.clone(), Remembered::default());
        Self {
            model,
            spec,
            journal: Vec::new(),
            machine,
        }
    }

    /// A new process takes the journal up.
    fn restart(&mut self) {
        let records = self.journal.iter().map(|(at, record)| (*at, record));
        self.machine =
            RunMachine::restore(key(), self.spec.clone(), Remembered::default(), records);
        let decision = self
            .machine
            .decide(self.model.now, Input::Restored, PERMITS);
        self.write(&decision);
    }

    fn write(&mut self, decision: &Decision) {
        for record in &decision.records {
            self.machine.apply(self.model.now, record);
            self.journal.push((self.model.now, record.clone()));
        }
    }

    /// One look and what follows; `false` leaves out the request that was decided, as a crash would.
    fn turn(&mut self, send: bool) {
        let mut request = self.machine.needs();
        if request.is_empty() {
            request.state = true;
        }
        let seen = self.model.look(&request);
        let input = Input::Looked {
            request: &request,
            seen: &seen,
        };
        let decision = self.machine.decide(self.model.now, input, PERMITS);
        self.write(&decision);
        if let Some((id, action)) = decision.act.filter(|_| send) {
            let outcome = self.model.act(&action);
            let input = Input::ActEnded {
                id: &id,
                outcome: &outcome,
            };
            let decision = self.machine.decide(self.model.now, input, PERMITS);
            self.write(&decision);
        }
        let rest = self.machine.interval(self.model.now);
        self.model.pass(rest.max(Duration::from_secs(1)));
    }

    fn run(&mut self) -> RunPhase {
        for _ in 0..5000 {
            let phase = self.machine.state().phase();
            if phase.is_terminal() || phase == RunPhase::Held {
                return phase;
            }
            self.turn(true);
        }
        panic!("the run does not end: {:#?}", self.story());
    }

    fn story(&self) -> Vec<String> {
        self.journal
            .iter()
            .map(|(at, record)| format!("{at} {record:?}"))
            .collect()
    }
}

fn key() -> RunKey {
    RunKey {
        pipeline: "p".into(),
        bmc: "b".into(),
        number: 1,
    }
}

fn plain() -> Bench {
    Bench::new(&["s1"], spec(INVENTORY, HOPS))
}

const PLAIN_LEDGER: [&str; 6] = [
    "update bmc to 1.60",
    "update server:s1 to 2.20",
    "GracefulShutdown s1",
    "On s1",
    "patch server:s1",
    "GracefulRestart s1",
];

#[test]
fn a_run_goes_through_its_stages_and_sends_each_thing_once() {
    let mut bench = plain();
    assert_eq!(bench.run(), RunPhase::Completed, "{:#?}", bench.story());
    assert_eq!(bench.model.ledger, PLAIN_LEDGER);
    assert_eq!(bench.model.bmc, "1.60");
}

#[test]
fn a_finished_pipeline_sends_nothing_again() {
    let mut bench = plain();
    bench.run();
    let done = bench.model.ledger.len();
    bench.journal.clear();
    bench.machine = RunMachine::new(key(), bench.spec.clone(), Remembered::default());
    assert_eq!(bench.run(), RunPhase::Completed);
    assert_eq!(bench.model.ledger.len(), done, "{:#?}", bench.story());
}

#[test]
fn a_process_that_dies_after_any_turn_is_carried_on_to_the_same_end() {
    for at in 0..200 {
        let mut bench = plain();
        for _ in 0..at {
            if bench.machine.state().phase().is_terminal() {
                assert!(at > 50, "the run has many turns to die after");
                return;
            }
            bench.turn(true);
        }
        bench.restart();
        assert_eq!(
            bench.run(),
            RunPhase::Completed,
            "killed after turn {at}: {:#?}",
            bench.story()
        );
        assert_eq!(bench.model.ledger, PLAIN_LEDGER, "killed after turn {at}");
    }
}

#[test]
fn a_process_that_dies_between_intent_and_request_sends_it_once_after_all() {
    for at in 0..200 {
        let mut bench = plain();
        for turn in 0..=at {
            if bench.machine.state().phase().is_terminal() {
                assert!(at > 50, "the run has many turns to die in");
                return;
            }
            bench.turn(turn < at);
        }
        bench.restart();
        assert_eq!(
            bench.run(),
            RunPhase::Completed,
            "killed in turn {at}: {:#?}",
            bench.story()
        );
        assert_eq!(bench.model.ledger, PLAIN_LEDGER, "killed in turn {at}");
    }
}

#[test]
fn a_lost_answer_leads_to_no_second_request() {
    for nth in 0..6 {
        let mut bench = plain();
        while bench.model.ledger.len() < nth {
            bench.turn(true);
        }
        bench.model.lose_answers = 1;
        assert_eq!(
            bench.run(),
            RunPhase::Completed,
            "answer {nth}: {:#?}",
            bench.story()
        );
        assert_eq!(bench.model.ledger, PLAIN_LEDGER, "answer {nth}");
    }
}

#[test]
fn a_host_that_was_off_is_off_afterwards() {
    let mut bench = plain();
    bench
        .model
        .hosts
        .get_mut(&ServerName::from("s1"))
        .unwrap()
        .power = Power::Off;
    assert_eq!(bench.run(), RunPhase::Completed, "{:#?}", bench.story());
    assert_eq!(bench.model.hosts[&ServerName::from("s1")].power, Power::Off);
}

#[test]
fn siblings_take_the_update_service_in_turn_and_overlap_their_waits() {
    let inventory = format!("{INVENTORY}{SECOND}");
    let mut bench = Bench::new(&["s1", "s2"], spec(&inventory, HOPS));
    assert_eq!(bench.run(), RunPhase::Completed, "{:#?}", bench.story());
    let updates = bench
        .model
        .ledger
        .iter()
        .filter(|line| line.contains("to 2.20"))
        .count();
    assert_eq!(updates, 2, "{:?}", bench.model.ledger);
}

#[test]
fn a_blocked_stage_sends_nothing() {
    let mut bench = plain();
    bench.model.bmc = "no version at all".to_owned();
    assert_eq!(bench.run(), RunPhase::Held, "{:#?}", bench.story());
    assert!(bench.model.ledger.is_empty());
}

#[test]
fn an_unreachable_bmc_is_no_failure() {
    let mut bench = plain();
    bench.turn(true);
    let seen = Seen::Failed(crate::model::Fault::new(
        crate::model::FaultKind::Unreachable,
        crate::model::Retry::Transient,
        "connection refused",
    ));
    let request = bench.machine.needs();
    let input = Input::Looked {
        request: &request,
        seen: &seen,
    };
    let decision = bench.machine.decide(bench.model.now, input, PERMITS);
    bench.write(&decision);
    assert_eq!(bench.run(), RunPhase::Completed, "{:#?}", bench.story());
}
