//! Mock BMCs, files, state and engines, all of one test. Time is tokio's and paused: hours pass in milliseconds.
//!
//! It deliberately asserts nothing; tests do, on ledgers, statuses and reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use mock_bmc::bmc::{Bmc, BmcConfig, Source};
use mock_bmc::image::Component;
use mock_bmc::ledger::{Kind, LedgerLine};
use mock_bmc::script::Script;
use mock_bmc::time::Moment;
use redpipe::daemon::board::Row;
use redpipe::daemon::orders::{self, Reached};
use redpipe::daemon::{
    ApplyOptions, ApplyReport, Assignment, Awaited, Board, Connect, Engine, EngineParts, Env,
    KnownFacts, Planned, RunEnd, Secrets, Selected, Stop, apply, hear, plan, prepare_images,
    read_given, select,
};
use redpipe::model::inventory::{Bmc as ListedBmc, TlsMode};
use redpipe::model::{About, BmcName, Fault, Order, PipelineName, RunKey, Verb};
use redpipe::pipeline::{self, Selector};
use redpipe::redfish::{Clock, Memory, Transport};
use redpipe::run::status::RunStatus;
use redpipe::store::{Owner, SqliteStore, Store, this_host};
use tokio::time::Instant;

use super::images::LabImages;
use super::memory::{Images, MemoryTransport, catch_up};

/// Wall time when the lab is switched on.
pub(crate) const EPOCH: &str = "2026-03-01T10:00:00Z";

/// Bytes of every image.
const IMAGE_BYTES: usize = 4096;

/// What watchers of an apply see, by pipeline and BMC.
pub(crate) type Rows = BTreeMap<(PipelineName, BmcName), Row>;

/// A lab.
pub(crate) struct World {
    pub(crate) bmcs: BTreeMap<String, Arc<Mutex<Bmc>>>,
    systems: BTreeMap<String, usize>,
    pub(crate) folder: tempfile::TempDir,
    started: Instant,
    /// Images that BMCs can fetch, by URL.
    pub(crate) images: Images,
    /// More lines of a `[[bmc]]` in the inventory, by name, such as `labels = { rack = "r1" }`.
    pub(crate) extra: BTreeMap<String, String>,
    /// More lines of a `[[bmc.server]]`, by server name (`mock-1-s1`).
    pub(crate) server_extra: BTreeMap<String, String>,
    /// Servers that the inventory leaves out.
    pub(crate) unlisted: BTreeSet<String>,
    /// Where the password of every BMC is read from, as the inventory says it.
    pub(crate) password: String,
    /// `[defaults]` of the inventory.
    pub(crate) defaults: String,
    pub(crate) stop: Stop,
    pub(crate) options: ApplyOptions,
    /// `--limit`.
    pub(crate) limit: Option<String>,
}

/// The clock that the lab's engines read: tokio's, counted from [`EPOCH`].
struct LabClock(Instant);

impl Clock for LabClock {
    fn now(&self) -> Timestamp {
        let since = jiff::SignedDuration::try_from(self.0.elapsed()).unwrap();
        EPOCH.parse::<Timestamp>().unwrap() + since
    }
}

/// The wires of the lab.
struct Lab {
    bmcs: BTreeMap<String, Arc<Mutex<Bmc>>>,
    images: Images,
    started: Instant,
}

impl Connect for Lab {
    fn transport(
        &self,
        bmc: &ListedBmc,
        memory: Arc<dyn Memory>,
    ) -> Result<Arc<dyn Transport>, Fault> {
        let mock = Arc::clone(&self.bmcs[bmc.name.as_str()]);
        let host = format!("https://{}.lab", bmc.name);
        let images = Arc::clone(&self.images);
        let remembered = (bmc.tls == TlsMode::FirstUse).then(|| (memory, bmc.address.host_port()));
        let wire = MemoryTransport::new(mock, images, &host, self.started, remembered);
        Ok(Arc::new(wire))
    }
}

impl World {
    /// One BMC, `mock-1`, with so many systems, deviating as the script says (TOML of `mock-bmc serve --script`).
    pub(crate) fn one(systems: usize, script: &str) -> Self {
        Self::of(&[systems], script)
    }

    /// BMCs `mock-1`, `mock-2`, … with so many systems each; one script for all.
    pub(crate) fn of(systems: &[usize], script: &str) -> Self {
        let platform = || Source::Platform("generic".to_owned());
        Self::from_sources(systems.iter().map(|n| (platform(), *n)).collect(), script)
    }

    /// BMCs of any source.
    pub(crate) fn from_sources(sources: Vec<(Source, usize)>, script: &str) -> Self {
        let script: Script = toml::from_str(script).unwrap_or_else(|error| panic!("{error}"));
        let mut bmcs = BTreeMap::new();
        let mut systems = BTreeMap::new();
        for (index, (source, count)) in sources.into_iter().enumerate() {
            let name = format!("mock-{}", index + 1);
            let config = BmcConfig {
                name: name.clone(),
                source,
                systems: count,
                user: "root".to_owned(),
                password: "secret".to_owned(),
                script: script.clone(),
                uuid_seed: 7,
                epoch: EPOCH.parse().unwrap(),
            };
            let bmc = Bmc::new(config, Moment(0));
            bmcs.insert(name.clone(), Arc::new(Mutex::new(bmc)));
            systems.insert(name, count);
        }
        Self {
            bmcs,
            systems,
            folder: tempfile::tempdir().unwrap(),
            started: Instant::now(),
            images: Images::default(),
            extra: BTreeMap::new(),
            server_extra: BTreeMap::new(),
            unlisted: BTreeSet::new(),
            password: "{ plain = \"secret\" }".to_owned(),
            defaults: "credentials = \"mock\"\ntls = \"insecure\"\n".to_owned(),
            stop: Stop::new(),
            options: ApplyOptions::default(),
            limit: None,
        }
    }

    /// A file image of the mock's kind (`bmc` or `bios`); returns what a pipeline says as `image`.
    pub(crate) fn image(&self, component: &str, version: &str) -> String {
        self.image_named(component, version, ".img")
    }

    /// The same, with an ending of its name.
    pub(crate) fn image_named(&self, component: &str, version: &str, ending: &str) -> String {
        let name = format!("{component}-{}{ending}", version.replace(['/', ' '], "_"));
        let path = self.folder.path().join(name);
        std::fs::write(&path, image_bytes(component, version)).unwrap();
        format!("{{ file = \"{}\" }}", path.display())
    }

    /// An image that BMCs fetch from a server of the lab; returns what a pipeline says as `image`.
    pub(crate) fn uri_image(&self, component: &str, version: &str) -> String {
        let uri = format!("http://firmware.lab/{component}/{version}.img");
        let bytes = Bytes::from(image_bytes(component, version));
        self.images.lock().unwrap().insert(uri.clone(), bytes);
        format!("{{ uri = \"{uri}\" }}")
    }

    /// The inventory as text.
    pub(crate) fn inventory(&self) -> String {
        let mut text = format!(
            "[defaults]\n{}\n[credentials.mock]\nusername = \"root\"\npassword = {}\n",
            self.defaults, self.password
        );
        for (name, count) in &self.systems {
            let extra = self.extra.get(name).map_or("", String::as_str);
            let address = format!("https://{name}.lab");
            writeln!(
                text,
                "\n[[bmc]]\nname = \"{name}\"\naddress = \"{address}\"\n{extra}"
            )
            .unwrap();
            let ids = self.bmcs[name].lock().unwrap().state().systems;
            for system in 1..=*count {
                let id = ids.get(system - 1).map(|system| system.id.clone());
                let id = id.unwrap_or_else(|| system.to_string());
                let server = format!("{name}-s{system}");
                if self.unlisted.contains(&server) {
                    continue;
                }
                let extra = self.server_extra.get(&server).map_or("", String::as_str);
                writeln!(
                    text,
                    "\n[[bmc.server]]\nname = \"{server}\"\nsystem = \"{id}\"\n{extra}"
                )
                .unwrap();
            }
        }
        text
    }

    /// An engine as a new process would have it; all engines of a lab share its state.
    pub(crate) fn engine(&self) -> Engine {
        self.engine_of(self.clock(), self.connect())
    }

    /// Somebody who holds leases in this lab and is no process.
    pub(crate) fn owner(&self) -> Owner {
        Owner {
            host: "lab".to_owned(),
            pid: 0,
            lock_file: self.folder.path().join("nobody.lock"),
        }
    }

    /// The clock of the lab.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(LabClock(self.started))
    }

    /// The wires of the lab.
    pub(crate) fn connect(&self) -> Arc<dyn Connect> {
        Arc::new(Lab {
            bmcs: self.bmcs.clone(),
            images: Arc::clone(&self.images),
            started: self.started,
        })
    }

    /// An engine with a clock and wires of its own.
    pub(crate) fn engine_of(&self, clock: Arc<dyn Clock>, connect: Arc<dyn Connect>) -> Engine {
        let store = SqliteStore::open(&self.folder.path().join("state.db")).unwrap();
        let lock = store.lock_process(&this_host()).unwrap();
        let owner = lock.owner().clone();
        Engine::new(EngineParts {
            lock: Some(lock),
            clock,
            connect,
            ..self.parts(Arc::new(store), owner)
        })
    }

    /// What an engine of this lab is made of, with any store.
    pub(crate) fn parts(&self, store: Arc<dyn Store>, owner: Owner) -> EngineParts {
        EngineParts {
            owner: Arc::new(owner),
            lock: None,
            store,
            clock: self.clock(),
            connect: self.connect(),
            secrets: Arc::new(Secrets::new(Arc::new(|_| None))),
            board: Board::new(),
            images: Arc::new(LabImages {
                images: Arc::clone(&self.images),
                bmcs: self.bmcs.clone(),
            }),
        }
    }

    /// What pipelines (as text) have to do on which BMC.
    pub(crate) async fn assignments(&self, pipelines: &[&str]) -> Vec<Assignment> {
        let inventory = [pipeline::Source::new("inventory.toml", self.inventory())];
        let sources: Vec<_> = pipelines
            .iter()
            .enumerate()
            .map(|(index, text)| pipeline::Source::new(format!("pipeline-{index}.toml"), *text))
            .collect();
        let loaded =
            pipeline::load(&inventory, &sources).unwrap_or_else(|findings| panic!("{findings}"));
        let env: Env = Arc::new(|_| None);
        let given = Arc::new(read_given(&loaded.needs(), &env));
        let pipelines: Vec<_> = loaded.pipelines.into_iter().map(Arc::new).collect();
        let limit = self
            .limit
            .as_deref()
            .map(|text| Selector::parse(text).unwrap());
        let choose = |facts: KnownFacts<'_>| {
            select(&loaded.inventory, &pipelines, limit.as_ref(), &given, facts)
        };
        let Selected {
            mut assignments,
            undecided,
        } = choose(&|_| None);
        if !undecided.is_empty() {
            let (engine, awaited) = (self.engine(), Awaited::default());
            let heard = hear(&engine, &undecided, &self.stop, &awaited).await;
            let heard = heard.expect("nobody stops it");
            assignments = choose(&|bmc| heard.get(bmc)?.as_ref().ok().cloned()).assignments;
        }
        prepare_images(&mut assignments, &env)
            .await
            .unwrap_or_else(|faults| panic!("{faults:?}"));
        assignments
    }

    /// Applies pipelines by a new engine, to the end.
    pub(crate) async fn apply(&self, pipelines: &[&str]) -> ApplyReport {
        self.apply_watched(pipelines, |_, _| true).await.unwrap()
    }

    /// Applies pipelines and kills the process (drops everything in flight) after so much time.
    pub(crate) async fn apply_for(
        &self,
        pipelines: &[&str],
        time: Duration,
    ) -> Option<ApplyReport> {
        tokio::time::timeout(time, self.apply(pipelines)).await.ok()
    }

    /// Applies pipelines by a new engine; `go_on` sees the lab and what watchers see, each second. The process is killed
    /// where it says no.
    pub(crate) async fn apply_watched(
        &self,
        pipelines: &[&str],
        mut go_on: impl FnMut(&Self, &Rows) -> bool,
    ) -> Option<ApplyReport> {
        let assignments = self.assignments(pipelines).await;
        let engine = self.engine();
        let mut work = Box::pin(apply(&engine, assignments, self.options, &self.stop));
        loop {
            tokio::select! {
                biased;
                report = &mut work => return Some(report),
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
            if !go_on(self, &engine.board().rows()) {
                drop(work);
                // The runtime drops what was aborted at its next turn; a killed process is gone at once.
                tokio::task::yield_now().await;
                return None;
            }
        }
    }

    /// What a person orders by another process, now.
    pub(crate) fn order(&self, about: &About, verb: &Verb) -> Order {
        let store = self.engine().store();
        store.place_order(self.wall(), "ann", about, verb).unwrap()
    }

    /// What `redpipe cancel` and its like do: an order, carried out as far as no BMC is needed, and else in the
    /// foreground; `None` where a process drives the run.
    pub(crate) async fn command(
        &self,
        pipelines: &[&str],
        about: &About,
        verb: &Verb,
    ) -> Option<RunStatus> {
        let engine = self.engine();
        let About::Run(key) = about else {
            panic!("{about} is no run")
        };
        orders::place(&engine, "ann", about, verb).unwrap();
        match orders::carry_out(&engine, key).unwrap() {
            Reached::Driven(_) => None,
            Reached::Over(status) => Some(*status),
            Reached::Waits(_) => {
                let options = ApplyOptions {
                    only_resume: true,
                    ..self.options
                };
                let mut assignments = self.assignments(pipelines).await;
                assignments.retain(|each| each.bmc.name == key.bmc);
                let report = Box::pin(apply(&engine, assignments, options, &self.stop)).await;
                Some(status(&report, key.pipeline.as_str(), key.bmc.as_str()).clone())
            }
        }
    }

    /// The first run of a pipeline on a BMC, as orders name it.
    pub(crate) fn run_of(pipeline: &str, bmc: &str) -> About {
        About::Run(RunKey {
            pipeline: pipeline.into(),
            bmc: bmc.into(),
            number: 1,
        })
    }

    /// Plans pipelines by a new engine.
    pub(crate) async fn plan(&self, pipelines: &[&str]) -> Vec<Planned> {
        let assignments = self.assignments(pipelines).await;
        let awaited = Awaited::default();
        let planned = Box::pin(plan(&self.engine(), &assignments, &self.stop, &awaited)).await;
        planned.expect("nobody stops it")
    }

    /// Looks at a BMC, or lays hands on it, now.
    pub(crate) fn bmc<T>(&self, name: &str, look: impl FnOnce(&mut Bmc) -> T) -> T {
        let mut bmc = self.bmcs[name].lock().unwrap();
        let now = Moment(u64::try_from(self.started.elapsed().as_millis()).unwrap());
        catch_up(&mut bmc, &self.images, now);
        look(&mut bmc)
    }

    /// Everything that happened on a BMC.
    pub(crate) fn ledger(&self, name: &str) -> Vec<LedgerLine> {
        self.bmc(name, |bmc| bmc.ledger().to_vec())
    }

    /// What requests caused, in order, as far as it begins with `what`.
    pub(crate) fn caused(&self, name: &str, what: &str) -> Vec<String> {
        self.ledger(name)
            .into_iter()
            .flat_map(|line| line.caused)
            .filter(|caused| caused.starts_with(what))
            .collect()
    }

    /// Every request that changes something, but for sessions: `METHOD path status`.
    pub(crate) fn writes(&self, name: &str) -> Vec<String> {
        self.write_lines(name)
            .into_iter()
            .map(|line| {
                format!(
                    "{} {} {}",
                    line.method.unwrap_or_default(),
                    line.path.unwrap_or_default(),
                    line.status.unwrap_or_default()
                )
            })
            .collect()
    }

    /// The ledger lines of every request that changes something, but for sessions.
    pub(crate) fn write_lines(&self, name: &str) -> Vec<LedgerLine> {
        let mut lines = self.ledger(name);
        lines.retain(|line| {
            line.kind == Kind::Request
                && !matches!(line.method.as_deref(), Some("GET" | "HEAD") | None)
                && !line
                    .path
                    .as_deref()
                    .unwrap_or_default()
                    .contains("/Sessions")
        });
        lines
    }

    /// Wall time now.
    pub(crate) fn wall(&self) -> Timestamp {
        LabClock(self.started).now()
    }

    /// Time since the lab was switched on.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

fn image_bytes(component: &str, version: &str) -> Vec<u8> {
    let component = match component {
        "bmc" => Component::Bmc,
        "bios" => Component::Bios,
        other => panic!("no component `{other}`"),
    };
    mock_bmc::image::build(component, version, None, IMAGE_BYTES)
}

/// The end of one pipeline on one BMC.
pub(crate) fn end<'a>(report: &'a ApplyReport, pipeline: &str, bmc: &str) -> &'a RunEnd {
    let key = (PipelineName::from(pipeline), BmcName::from(bmc));
    report
        .ends
        .get(&key)
        .unwrap_or_else(|| panic!("no end of {pipeline} on {bmc} in {report:?}"))
}

/// The status with which a run ended, held or not.
pub(crate) fn status<'a>(report: &'a ApplyReport, pipeline: &str, bmc: &str) -> &'a RunStatus {
    match end(report, pipeline, bmc) {
        RunEnd::Over(status) | RunEnd::Held(status) | RunEnd::Interrupted(Some(status)) => status,
        other @ (RunEnd::NotStarted(_) | RunEnd::Interrupted(None)) => panic!("{other:?}"),
    }
}
