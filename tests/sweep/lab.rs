//! One story's lab, and the processes that live in it one after the other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mock_bmc::bmc::Source;
use redpipe::model::{About, BmcName, Outcome, Verb};
use redpipe::redfish::{Clock, WireRequest};
use redpipe::run::Record;
use redpipe::run::record::{HoldStep, Wait};
use redpipe::store::{LeaseEpoch, Store};

use crate::ends::{End, end_of};
use crate::stories::{Story, When, Word, pipeline};
use crate::support::lives::Lives;
use crate::support::process::{Death, Process, Watcher, changes};
use crate::support::world::World;
use crate::{kinds, once};

/// How long nobody is there: every flash is over by then, and so is every deadline of what redpipe does itself.
const LATER: Duration = Duration::from_hours(1);

/// Polls less often than the default, since nothing here depends on it.
const PACE: &str = "[defaults.pace]\ntask_poll = \"40s\"\nprobe_for = \"80s\"\nsettle_for = \"80s\"\nlost_update = \"12m\"\n";

/// Everything a BMC does takes a third of its usual time: there is less to look at meanwhile.
const FAST: &str = "[durations]\nbmc_flash = \"3m\"\nbmc_gone = \"1m\"\nbios_stage = \"1m\"\nbios_flash_post = \"2m\"\npost = \"80s\"\n";

/// Where the journals are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored {
    /// In memory, which every process shares.
    InMemory,
    /// In a file, which every process opens anew.
    OnFile,
}

/// The lab of one telling of a story.
pub(crate) struct Lab {
    pub(crate) world: World,
    text: String,
    edited: String,
    lives: Lives,
    bystander: Arc<Bystander>,
}

/// What one process left.
pub(crate) struct Lived {
    /// Whether it died.
    pub(crate) died: bool,
    /// Whether it asked a BMC for anything: what needs no look at one ends no session on it either.
    pub(crate) spoke: bool,
    /// Every way in which one like it can die.
    pub(crate) deaths: Vec<Death>,
}

impl Lab {
    pub(crate) fn new(story: &Story, stored: Stored) -> Self {
        let source = || Source::Platform(story.platform.to_owned());
        let sources = story.systems.iter().map(|count| (source(), *count));
        let script = format!("{FAST}{}", story.script);
        let mut world = World::from_sources(sources.collect(), &script);
        world.defaults = world.defaults.replace("tls = \"insecure\"", story.tls);
        world.defaults.push_str(PACE);
        let lives = match stored {
            Stored::InMemory => Lives::new(),
            Stored::OnFile => Lives::in_file(&world),
        };
        let bystander = Arc::new(Bystander {
            seen: Mutex::default(),
            clock: world.clock(),
            store: Arc::clone(&lives.store),
            orders: story.orders.to_vec(),
        });
        let edited = match story.edited {
            [] => story.stages,
            edited => edited,
        };
        Self {
            text: pipeline(&world, story, story.stages),
            edited: pipeline(&world, story, edited),
            world,
            lives,
            bystander,
        }
    }

    /// Lets the time pass that a person takes to come back, or to start a process again.
    pub(crate) async fn later(&self) {
        tokio::time::sleep(LATER).await;
    }

    /// Lives through the process of this number.
    pub(crate) async fn live(&self, number: u32, death: Death) -> Lived {
        *self.bystander.seen.lock().unwrap() = Seen::default();
        let watcher = Arc::clone(&self.bystander);
        let life = self.lives.start(&self.world, number, death, watcher);
        let text = if number == 1 {
            &self.text
        } else {
            &self.edited
        };
        let died = life.apply(&self.world, &[text]).await.is_none();
        let appends = life.process.appends();
        let seen = self.bystander.seen.lock().unwrap();
        // A death right before an append loses something only where a request has left since the one before it.
        let lossy: BTreeSet<u32> = seen.sends.iter().map(|after| after + 1).collect();
        let lossy = lossy.into_iter().filter(|n| *n <= appends);
        let deaths = (1..=appends)
            .map(Death::AfterAppend)
            .chain((1..=life.process.sends()).map(Death::AfterSend))
            .chain(lossy.map(Death::BeforeAppend));
        Lived {
            died,
            spoke: seen.spoke,
            deaths: deaths.collect(),
        }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.lives.store.as_ref()
    }

    /// Where it ended.
    pub(crate) fn end(&self) -> End {
        end_of(&self.world, self.store())
    }

    /// All kinds of things that were written down.
    pub(crate) fn kinds(&self) -> BTreeSet<String> {
        let names = self.world.bmcs.keys();
        names
            .flat_map(|bmc| once::journal(self.store(), bmc))
            .flat_map(|record| kinds::of(&record))
            .collect()
    }

    /// Sessions that nobody ends any more.
    pub(crate) fn sessions_left(&self) -> Vec<String> {
        let names = self.world.bmcs.keys();
        names
            .flat_map(|name| {
                let state = self.world.bmc(name, |bmc| bmc.state());
                let left = state.listening.then_some(state.sessions);
                left.unwrap_or_default()
                    .into_iter()
                    .map(move |id| format!("{name} session {id} is left"))
            })
            .collect()
    }
}

/// What one process does.
#[derive(Default)]
struct Seen {
    /// Behind which appends a request that changes something has left.
    sends: Vec<u32>,
    spoke: bool,
}

/// What a person does, who sees all that processes do.
struct Bystander {
    seen: Mutex<Seen>,
    clock: Arc<dyn Clock>,
    store: Arc<dyn Store>,
    orders: Vec<(When, Word)>,
}

impl Watcher for Bystander {
    fn arrived(&self, process: &Process, bmc: &BmcName, request: &WireRequest) {
        let mut seen = self.seen.lock().unwrap();
        seen.spoke = true;
        if changes(request) {
            seen.sends.push(process.appends());
            self.order_if(bmc, |when| matches!(when, When::Arrived));
        }
    }

    fn appended(&self, _: &Process, bmc: &BmcName, _: LeaseEpoch, records: &[Record]) {
        self.order_if(bmc, |when| {
            records.iter().any(|record| is_time(when, record))
        });
    }
}

impl Bystander {
    /// Gives the next order where it is time.
    fn order_if(&self, bmc: &BmcName, is_time: impl FnOnce(When) -> bool) {
        let given = usize::try_from(self.store.last_order().unwrap()).unwrap();
        let next = self.orders.get(given).filter(|(when, _)| is_time(*when));
        if let Some((_, word)) = next {
            self.order(bmc, *word);
        }
    }

    fn order(&self, bmc: &BmcName, word: Word) {
        let run = World::run_of("p", bmc.as_str());
        let all = About::Pipeline("p".into());
        let (about, verb) = match word {
            Word::Approve => (run, self.approval(bmc)),
            Word::Retry => (run, Verb::Retry),
            Word::Cancel => (run, Verb::Cancel),
            Word::Pause => (all, Verb::Pause),
            Word::Resume => (all, Verb::Resume),
            Word::Leave => (run, Verb::Leave),
        };
        let at = self.clock.now();
        self.store.place_order(at, "ann", &about, &verb).unwrap();
    }

    /// Of what was asked for last.
    fn approval(&self, bmc: &BmcName) -> Verb {
        let journal = once::journal(self.store.as_ref(), bmc.as_str());
        let digest = journal.into_iter().rev().find_map(|record| {
            let Record::Hold {
                step: HoldStep::Asked { digest, .. },
            } = record
            else {
                return None;
            };
            Some(digest)
        });
        Verb::Approve {
            digest: digest.unwrap(),
        }
    }
}

fn is_time(when: When, record: &Record) -> bool {
    match when {
        When::Arrived => false,
        When::Accepted => matches!(
            record,
            Record::Outcome {
                outcome: Outcome::Accepted { .. },
                ..
            } | Record::Adopted { .. }
                | Record::Happened { .. }
        ),
        When::Resumed => matches!(record, Record::Resumed { .. }),
        When::Asked => matches!(
            record,
            Record::Hold {
                step: HoldStep::Asked { .. }
            }
        ),
        When::Held(word) => {
            let (Record::Waiting { wait, .. } | Record::RunWaiting { wait }) = record else {
                return false;
            };
            let Wait { reason, held, .. } = wait;
            *held && reason.contains(word)
        }
    }
}
