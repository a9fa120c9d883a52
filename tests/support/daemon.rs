//! A daemon in a lab: the real loop, mocks in memory, virtual time.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redpipe::daemon::fleet::{BmcWatched, Fleet};
use redpipe::daemon::service::{Command, Later, Service, Source, Taken};
use redpipe::daemon::{Assignment, Engine, Env, Stop, orders, read_given};
use redpipe::model::{Fault, Verb};
use redpipe::pipeline;
use redpipe::plan::{CatalogImage, ImageCatalog, ImageOrigin};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::world::World;

/// Files as a test writes them.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) inventory: String,
    pub(crate) pipelines: Vec<String>,
    /// A BMC whose images take a minute to come.
    slow: Option<String>,
    version: u64,
}

/// The files of a daemon, changed under its feet.
#[derive(Clone, Default)]
pub(crate) struct Files(Arc<Mutex<Texts>>);

impl Files {
    pub(crate) fn new(world: &World, pipelines: &[&str]) -> Self {
        let files = Self::default();
        files.write(&world.inventory(), pipelines);
        files
    }

    pub(crate) fn write(&self, inventory: &str, pipelines: &[&str]) {
        let mut texts = self.0.lock().unwrap();
        inventory.clone_into(&mut texts.inventory);
        texts.pipelines = pipelines.iter().map(|text| (*text).to_owned()).collect();
        texts.version += 1;
    }
}

impl Files {
    /// From now on the images for this BMC take a minute to come.
    pub(crate) fn slow_images(&self, bmc: &str) {
        self.texts().slow = Some(bmc.to_owned());
    }

    /// The word by which its first pipeline is applied.
    pub(crate) fn to_apply(&self, world: &World) -> Verb {
        let taken = self.load().unwrap();
        orders::to_apply(&world.engine(), &taken.pipelines[0], None).unwrap()
    }

    fn texts(&self) -> std::sync::MutexGuard<'_, Texts> {
        self.0.lock().unwrap()
    }
}

impl Source for Files {
    fn signature(&self) -> String {
        self.0.lock().unwrap().version.to_string()
    }

    fn load(&self) -> Result<Taken, String> {
        let texts = self.texts();
        let inventory = [pipeline::Source::new(
            "inventory.toml",
            texts.inventory.clone(),
        )];
        let sources: Vec<_> = (0..)
            .zip(&texts.pipelines)
            .map(|(index, text)| pipeline::Source::new(format!("p{index}.toml"), text.clone()))
            .collect();
        let loaded =
            pipeline::load(&inventory, &sources).map_err(|findings| findings.to_string())?;
        let env: Env = Arc::new(|_| None);
        let given = Arc::new(read_given(&loaded.needs(), &env));
        Ok(Taken {
            inventory: loaded.inventory,
            pipelines: loaded.pipelines.into_iter().map(Arc::new).collect(),
            given,
        })
    }

    /// At once, but for whom they are slow: virtual time does not wait for a disk.
    fn with_images(&self, assignment: Assignment) -> Later<'_, Result<Assignment, Fault>> {
        let wanted = assignment.wanted_images().unwrap_or_default();
        let mut images = ImageCatalog::default();
        for image in wanted {
            if let ImageOrigin::File(path) = image.origin {
                images.files.insert(path.clone(), read(&path));
            }
        }
        let assignment = Assignment {
            images: Arc::new(images),
            ..assignment
        };
        let is_slow = self.texts().slow.as_deref() == Some(assignment.bmc.name.as_str());
        let wait = Duration::from_mins(u64::from(is_slow));
        Box::pin(async move {
            tokio::time::sleep(wait).await;
            Ok(assignment)
        })
    }
}

fn read(path: &Path) -> CatalogImage {
    let bytes = std::fs::read(path).unwrap();
    CatalogImage {
        sha256: hex::encode(Sha256::digest(&bytes)),
        bytes: u64::try_from(bytes.len()).unwrap(),
        path: path.to_owned(),
    }
}

/// A daemon that runs for as long as a test lets it.
pub(crate) struct Running {
    pub(crate) fleet: Fleet,
    pub(crate) engine: Engine,
    pub(crate) stop: Stop,
    pub(crate) commands: UnboundedSender<Command>,
    work: Pin<Box<dyn Future<Output = Result<(), String>>>>,
}

impl Running {
    pub(crate) fn start(world: &World, files: &Files) -> Self {
        Self::with(world.engine(), files)
    }

    pub(crate) fn with(engine: Engine, files: &Files) -> Self {
        let (fleet, stop) = (Fleet::new(), Stop::new());
        let (commands, inbox) = unbounded_channel();
        let service = Service {
            engine: engine.clone(),
            fleet: fleet.clone(),
            source: Arc::new(files.clone()),
            files: files.read().unwrap(),
            stop: stop.clone(),
            max_concurrent: None,
            seed: 7,
            heartbeat: Arc::new(|| {}),
        };
        Self {
            fleet,
            engine,
            stop,
            commands,
            work: Box::pin(service.run(inbox)),
        }
    }

    /// Lets time pass.
    pub(crate) async fn pass(&mut self, time: Duration) {
        tokio::select! {
            biased;
            end = &mut self.work => panic!("the daemon ended: {end:?}"),
            () = tokio::time::sleep(time) => {}
        }
    }

    /// Lets time pass until something holds, and no longer than so long.
    pub(crate) async fn until(&mut self, most: Duration, mut holds: impl FnMut(&Self) -> bool) {
        let start = tokio::time::Instant::now();
        loop {
            self.pass(Duration::from_secs(1)).await;
            if holds(self) {
                return;
            }
            assert!(
                start.elapsed() < most,
                "not after {most:?}: {:#?}\n{:#?}",
                self.fleet.bmcs(),
                self.fleet.happened()
            );
        }
    }

    /// Stops it in order.
    pub(crate) async fn end(self) {
        self.stop.ask();
        self.work.await.unwrap();
    }

    pub(crate) fn bmc(&self, name: &str) -> BmcWatched {
        self.fleet.bmc(&name.into()).unwrap()
    }

    /// Words of what happened outside runs, of one kind.
    pub(crate) fn happened(&self, kind: &str) -> Vec<String> {
        let all = self.fleet.happened().into_iter();
        all.filter(|event| event.kind == kind)
            .map(|event| event.message)
            .collect()
    }
}
