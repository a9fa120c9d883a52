//! A run on the box, with its journal: it can be driven from look to look, killed, taken up again and stopped.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::model::Model;
use super::watch::Watch;
use crate::model::{Action, IntentId, RunKey};
use crate::pipeline::{Given, Source, load};
use crate::plan::{CatalogImage, ImageCatalog, Remembered, RunSpec, resolve};
use crate::run::status::{RunStatus, status};
use crate::run::{Decision, Input, Permits, Record, RunMachine, RunPhase};

/// Everything is allowed.
pub(super) const PERMITS: Permits = Permits {
    acts: true,
    versions: true,
};

/// An operator asked to stop.
pub(super) const STOPPING: Permits = Permits {
    acts: false,
    versions: true,
};

/// Looks after which a test has lost its patience: twenty hours of the slowest wait.
const TURNS_MAX: usize = 8000;

/// What goes wrong in one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Harm {
    /// Nothing.
    None,
    /// The process dies after the turn.
    DiesAfterwards,
    /// The process dies between an intent and its request.
    DiesBeforeRequest,
    /// The process dies between an answer and its record.
    DiesBeforeRecord,
    /// The request is taken, and its answer is lost.
    LosesAnswer,
    /// The request is lost on its way.
    LosesRequest,
}

/// A run with its journal.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) model: Model,
    pub(super) permits: Permits,
    pub(super) machine: RunMachine,
    pub(super) journal: Vec<(Timestamp, Record)>,
    spec: RunSpec,
    watch: Watch,
}

impl Bench {
    /// One server, `s1`, and a pipeline.
    pub(super) fn one(pipeline: &str) -> Self {
        Self::of(&["s1"], pipeline)
    }

    /// Servers and a pipeline.
    pub(super) fn of(servers: &[&str], pipeline: &str) -> Self {
        let spec = spec(servers, pipeline);
        let mut model = Model::new(servers);
        model.images = IMAGES
            .iter()
            .map(|(image, version)| ((*image).to_owned(), (*version).to_owned()))
            .collect();
        let machine = RunMachine::new(key(), spec.clone(), Remembered::default());
        Self {
            model,
            permits: PERMITS,
            machine,
            journal: Vec::new(),
            spec,
            watch: Watch::default(),
        }
    }

    /// A run that begins anew on the same box.
    pub(super) fn begin_again(&mut self) {
        self.journal.clear();
        self.machine = RunMachine::new(key(), self.spec.clone(), Remembered::default());
        self.watch = Watch::default();
    }

    /// A new process takes the journal up.
    pub(super) fn restart(&mut self) {
        self.journal_is_whole();
        self.machine = self.restored();
        let decision = self
            .machine
            .decide(self.model.now, Input::Restored, self.permits);
        self.write(&decision);
    }

    /// The machine as the journal alone makes it.
    pub(super) fn restored(&self) -> RunMachine {
        let records = self.journal.iter().map(|(at, record)| (*at, record));
        RunMachine::restore(key(), self.spec.clone(), Remembered::default(), records)
    }

    fn write(&mut self, decision: &Decision) {
        for record in &decision.records {
            self.machine.apply(self.model.now, record);
            self.journal.push((self.model.now, record.clone()));
        }
    }

    /// One look and what follows.
    pub(super) fn turn(&mut self) {
        self.turn_with(Harm::None);
    }

    /// One look and what follows, and what goes wrong; true where a request was decided.
    pub(super) fn turn_with(&mut self, harm: Harm) -> bool {
        let request = self.machine.needs();
        let seen = self.model.look(&request);
        let input = Input::Looked {
            request: &request,
            seen: &seen,
        };
        let decision = self.machine.decide(self.model.now, input, self.permits);
        self.write(&decision);
        self.watch.decided(self.model.now, &self.machine, &decision);
        let acts = decision.act.is_some();
        if let Some((id, action)) = decision.act.filter(|_| harm != Harm::DiesBeforeRequest) {
            self.send(&id, &action, harm);
        }
        let rest = self.machine.interval(self.model.now);
        self.model.pass(rest.max(Duration::from_secs(1)));
        if matches!(
            harm,
            Harm::DiesAfterwards | Harm::DiesBeforeRequest | Harm::DiesBeforeRecord
        ) {
            self.restart();
        }
        acts
    }

    fn send(&mut self, id: &IntentId, action: &Action, harm: Harm) {
        self.watch.sent(id);
        match harm {
            Harm::LosesAnswer => self.model.habits.lose_answers += 1,
            Harm::LosesRequest => self.model.habits.lose_requests += 1,
            Harm::None
            | Harm::DiesAfterwards
            | Harm::DiesBeforeRequest
            | Harm::DiesBeforeRecord => {}
        }
        let outcome = self.model.act(action);
        if harm != Harm::DiesBeforeRecord {
            let input = Input::ActEnded {
                id,
                outcome: &outcome,
            };
            let decision = self.machine.decide(self.model.now, input, self.permits);
            self.write(&decision);
        }
    }

    /// What the journal says, and what is true.
    fn journal_is_whole(&self) {
        assert_eq!(
            self.restored().state(),
            self.machine.state(),
            "what the journal says is not what is true"
        );
    }

    pub(super) fn phase(&self) -> RunPhase {
        self.machine.state().phase()
    }

    /// Whether a process that drives it would rest.
    pub(super) fn is_at_rest(&self) -> bool {
        let phase = self.phase();
        phase.is_terminal() || phase == RunPhase::Held
    }

    /// Drives it to where a process would rest: over, or held.
    pub(super) fn run(&mut self) -> RunPhase {
        self.until("over or held", Self::is_at_rest);
        self.journal_is_whole();
        self.phase()
    }

    /// Drives it for so long, held or not.
    pub(super) fn go_on_for(&mut self, time: Duration) {
        let end = crate::run::deadline::after(self.model.now, time);
        while self.model.now < end && !self.phase().is_terminal() {
            self.turn();
        }
    }

    /// Drives it until something is so.
    pub(super) fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..TURNS_MAX {
            if is_so(self) {
                return;
            }
            assert!(
                !self.phase().is_terminal(),
                "it ended before it was {what}: {}",
                self.story()
            );
            self.turn();
        }
        panic!("never {what}: {}", self.story());
    }

    /// Drives it until a request like this was taken.
    pub(super) fn until_sent(&mut self, line: &str) {
        self.until(line, |bench| {
            bench
                .model
                .ledger
                .iter()
                .any(|known| known.starts_with(line))
        });
    }

    /// Drives it until it waits with these words, held or not.
    pub(super) fn until_told(&mut self, words: &str) {
        self.until(words, |bench| bench.told(words));
    }

    /// Whether something is waited for with these words now.
    pub(super) fn told(&self, words: &str) -> bool {
        let state = self.machine.state();
        let works = state.works.values().filter_map(|work| work.wait.as_ref());
        works
            .chain(&state.wait)
            .any(|(wait, _)| wait.reason.contains(words))
    }

    /// Whether the journal has a record like this.
    pub(super) fn has(&self, is_it: impl Fn(&Record) -> bool) -> bool {
        self.journal.iter().any(|(_, record)| is_it(record))
    }

    pub(super) fn status(&self) -> RunStatus {
        status(self.machine.key(), self.machine.state(), true)
    }

    /// Completed, having sent exactly this.
    pub(super) fn completes(&mut self, ledger: &[&str]) {
        assert_eq!(self.run(), RunPhase::Completed, "{}", self.story());
        assert_eq!(self.model.ledger, ledger, "{}", self.story());
    }

    /// Held with these words.
    pub(super) fn holds(&mut self, words: &str) {
        assert_eq!(self.run(), RunPhase::Held, "{}", self.story());
        let reason = self.status().reason;
        assert!(reason.contains(words), "`{reason}` does not say `{words}`");
    }

    /// Failed with these words.
    pub(super) fn fails(&mut self, words: &str) {
        assert_eq!(self.run(), RunPhase::Failed, "{}", self.story());
        let reason = self.status().reason;
        assert!(reason.contains(words), "`{reason}` does not say `{words}`");
    }

    /// How often a request like this was taken.
    pub(super) fn sent(&self, line: &str) -> usize {
        let taken = self.model.ledger.iter();
        taken.filter(|known| known.starts_with(line)).count()
    }

    pub(super) fn story(&self) -> String {
        let lines = self
            .journal
            .iter()
            .map(|(at, record)| format!("{at} {record:?}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Images by file name, and the versions that are in them.
const IMAGES: [(&str, &str); 4] = [
    ("bmc160", "1.60"),
    ("bmc170", "1.70"),
    ("bios220", "2.20"),
    ("bios230", "2.30"),
];

fn key() -> RunKey {
    RunKey {
        pipeline: "p".into(),
        bmc: "b".into(),
        number: 1,
    }
}

fn spec(servers: &[&str], pipeline: &str) -> RunSpec {
    let mut inventory =
        "[[bmc]]\nname = \"b\"\naddress = \"10.0.0.1\"\nauth = \"none\"\n".to_owned();
    for (index, server) in servers.iter().enumerate() {
        let system = index + 1;
        let table = format!("[[bmc.server]]\nname = \"{server}\"\nsystem = \"{system}\"\n");
        inventory.push_str(&table);
    }
    let pipeline = format!("name = \"p\"\n[selector]\nmatch_labels = {{}}\n{pipeline}");
    let loaded = load(
        &[Source::new("i", inventory)],
        &[Source::new("p", pipeline)],
    )
    .unwrap_or_else(|findings| panic!("{findings}"));
    let image = |(name, _): &(&str, &str)| {
        let name = format!("{name}.img");
        let image = CatalogImage {
            sha256: name.clone(),
            bytes: 1,
            path: name.clone().into(),
        };
        (name.into(), image)
    };
    let images = ImageCatalog {
        files: IMAGES.iter().map(image).collect::<BTreeMap<_, _>>(),
        ..ImageCatalog::default()
    };
    let bmc = &loaded.inventory.bmcs[0];
    resolve(
        &loaded.pipelines[0],
        bmc,
        &bmc.servers,
        &Given::default(),
        &images,
        crate::plan::Footing::End,
    )
    .unwrap_or_else(|errors| panic!("{errors:?}"))
}
