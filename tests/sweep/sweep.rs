//! Each story once without a crash, then once for every moment at which a process of it may die.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ends::{End, difference, first_runs, phase_line};
use crate::lab::{Lab, Stored};
use crate::stories::{ALL, Story};
use crate::support::process::Death;
use crate::{allowed, kinds, once};

/// A moment: in which process, and where in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// The process, from 1.
    pub(crate) life: u32,
    /// How it dies.
    pub(crate) death: Death,
    /// Whether it takes an hour until somebody starts the next one; else whoever saw it die does so at once.
    pub(crate) later: bool,
}

/// What a story does when nobody dies.
pub(crate) struct Usual {
    end: End,
    asked: BTreeMap<String, BTreeMap<String, usize>>,
    /// Every moment at which the next life differs.
    moments: Vec<Moment>,
    kinds: BTreeSet<String>,
}

fn paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// Prime to every step, so that stories begin at moments far from each other's.
const SCATTER: usize = 101;

/// Processes that follow each other at once; a person who starts a further one takes time.
const AT_ONCE: u32 = 2;

async fn without_a_crash(story: &Story, stored: Stored) -> Usual {
    let lab = Lab::new(story, stored);
    let mut moments = Vec::new();
    for life in 1..=story.lives {
        if life > AT_ONCE {
            lab.later().await;
        }
        let deaths = lab.live(life, Death::Never).await.deaths;
        moments.extend(
            deaths
                .into_iter()
                .flat_map(|death| [false, true].map(|later| Moment { life, death, later })),
        );
    }
    let asked = lab
        .world
        .bmcs
        .keys()
        .map(|bmc| (bmc.clone(), once::asked(&lab.world, bmc)));
    Usual {
        end: lab.end(),
        asked: asked.collect(),
        moments,
        kinds: lab.kinds(),
    }
}

/// One process dies, the next ones go on; what is wrong with that, and what was written down.
async fn with_a_crash(
    story: &Story,
    stored: Stored,
    usual: &Usual,
    moment: Moment,
    is_traced: bool,
) -> (Vec<String>, BTreeSet<String>) {
    let lab = Lab::new(story, stored);
    let mut wrong = Vec::new();
    // One more than usual for the one that dies, and one for a person who comes back when what nobody could tell shows.
    for life in 1..=story.lives + 2 {
        if life > moment.life && is_at_the_end(story, usual, &lab) {
            break;
        }
        let is_next = life == moment.life + 1;
        if (is_next && moment.later) || (!is_next && life > AT_ONCE) {
            lab.later().await;
        }
        let is_last = life == moment.life;
        let death = if is_last { moment.death } else { Death::Never };
        let lived = lab.live(life, death).await;
        if lived.died != is_last {
            wrong.push(format!("process {life} died: {}", lived.died));
        }
        if life > moment.life && lived.spoke {
            wrong.extend(lab.sessions_left());
        }
    }
    let mut journals = BTreeMap::new();
    for (bmc, asked) in &usual.asked {
        let journal = once::journal(lab.store(), bmc);
        let repeated = once::repeated(asked, &once::asked(&lab.world, bmc), &journal);
        wrong.extend(repeated.into_iter().map(|what| format!("{bmc}: {what}")));
        journals.insert(bmc.clone(), journal);
    }
    let differs = difference(&usual.end, &lab.end());
    let runs = first_runs(lab.store());
    if !differs.is_empty() && !allowed::is_allowed(&runs, &journals, &differs) {
        wrong.extend(differs);
        wrong.extend(runs.values().map(|run| format!("because {}", run.reason)));
    }
    if is_traced && !wrong.is_empty() {
        let names = lab.world.bmcs.keys();
        wrong.extend(names.map(|name| lab.world.trace_of(lab.store(), name)));
    }
    (wrong, lab.kinds())
}

/// Whether every run is over, or held where it is held without a crash.
fn is_at_the_end(story: &Story, usual: &Usual, lab: &Lab) -> bool {
    let begun = first_runs(lab.store());
    begun.len() == story.systems.len()
        && begun
            .iter()
            .all(|(bmc, run)| run.phase.is_terminal() || usual.end.contains(&phase_line(bmc, run)))
}

/// What sweeping came to.
#[derive(Default)]
pub(crate) struct Swept {
    /// Moments that changed something.
    pub(crate) wrong: Vec<String>,
    /// Moments in all.
    pub(crate) moments: usize,
    /// Stories in all.
    pub(crate) stories: usize,
    /// Every kind of thing that was written down on the way.
    kinds: BTreeSet<String>,
}

impl Swept {
    /// Kinds of things that no story writes down.
    pub(crate) fn never(&self) -> Vec<String> {
        kinds::all().difference(&self.kinds).cloned().collect()
    }

    fn add(&mut self, other: Self) {
        self.wrong.extend(other.wrong);
        self.moments += other.moments;
        self.stories += other.stories;
        self.kinds.extend(other.kinds);
    }
}

/// Sweeps every story: a process dies at every moment, or at every n-th, at others in each story.
/// Only stories whose names contain `only`; a trace tells all that happened where a moment changed something.
pub(crate) fn sweep(step: usize, only: &str, is_traced: bool) -> Swept {
    let stories = ALL.iter().copied().flatten();
    let stories = stories.filter(|story| story.name.contains(only));
    let told: Vec<(&Story, Stored)> = stories
        .flat_map(|story| {
            let again = story.on_file.then_some((story, Stored::OnFile));
            std::iter::once((story, Stored::InMemory)).chain(again)
        })
        .collect();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Swept::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((story, stored)) = told.get(index) else {
                        break;
                    };
                    let step = step * if step > 1 { story.stride } else { 1 };
                    let choice = Choice {
                        from: index * SCATTER % step,
                        step,
                        is_traced,
                    };
                    let swept = sweep_one(story, *stored, choice);
                    all.lock().unwrap().add(swept);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

/// Which moments of a story.
#[derive(Clone, Copy)]
struct Choice {
    /// The first of them.
    from: usize,
    /// How far the next one is.
    step: usize,
    /// Whether a trace is told where one changed something.
    is_traced: bool,
}

/// Sweeps one story.
fn sweep_one(story: &Story, stored: Stored, choice: Choice) -> Swept {
    let usual = paused(without_a_crash(story, stored));
    let mut swept = Swept {
        stories: 1,
        kinds: usual.kinds.clone(),
        ..Swept::default()
    };
    let chosen = usual.moments.iter().skip(choice.from).step_by(choice.step);
    for moment in chosen {
        let crash = with_a_crash(story, stored, &usual, *moment, choice.is_traced);
        let (found, kinds) = paused(crash);
        swept.moments += 1;
        swept.kinds.extend(kinds);
        if !found.is_empty() {
            let what = found.join("\n    ");
            swept
                .wrong
                .push(format!("`{}` at {moment:?}:\n    {what}", story.name));
        }
    }
    swept
}
