//! BMCs that only pull, and images that lie on this host.

use std::sync::Arc;
use std::time::Duration;

use redpipe::artifact::{ImageHost, Offer, Offering, Served, Wanted};
use redpipe::daemon::{EngineParts, RunEnd, Stop};
use redpipe::run::RunPhase;
use tokio::time::Instant;

use crate::common::{PIPELINE, bios_hop, bmc_hop, completed, first, hop, pipeline, stages, words};
use crate::support::lives::{Life, Lives};
use crate::support::process::{Death, Nobody};
use crate::support::world::{World, end};

const BMC: &str = "mock-1";

/// A BMC that takes no image from whoever asks it to update.
const PULL_ONLY: &str = "[update]\nmultipart = false\nhttp_push = false\n";

/// What the BMC was asked to fetch, in order.
fn uris(world: &World) -> Vec<String> {
    let bodies = world.ledger(BMC).into_iter().filter(|line| {
        let path = line.path.as_deref().unwrap_or_default();
        line.method.as_deref() == Some("POST") && path.contains("SimpleUpdate")
    });
    bodies
        .map(|line| {
            let body = line.body.unwrap();
            body["ImageURI"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_only_pulls_fetches_files_from_redpipe_under_a_path_that_nobody_guesses() {
    let world = World::one(1, PULL_ONLY);
    let text = pipeline(&[bmc_hop(&world, "1.60"), bios_hop(&world, "2.20")]);
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(
        stages(run),
        ["bmc-1.60 Completed applied", "bios-2.20 Completed applied"]
    );
    let uris = uris(&world);
    assert_eq!(uris.len(), 2, "{uris:?}");
    for uri in &uris {
        let (secret, name) = uri
            .strip_prefix("http://redpipe.lab/")
            .and_then(|path| path.split_once('/'))
            .unwrap();
        assert_eq!(secret.len(), 32, "{uri}");
        assert!(secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uri}");
        assert!(!name.is_empty(), "{uri}");
    }
    assert_ne!(uris[0].get(..52), uris[1].get(..52), "one secret for two");
    assert!(world.images.lock().unwrap().is_empty(), "still served");
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_pulls_by_nothing_that_redpipe_serves_is_blocked_with_the_reason() {
    let world = World::one(1, &format!("{PULL_ONLY}protocols = [\"TFTP\"]"));
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("pulls by TFTP"), "{}", run.reason);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// The answer is lost and no task names anything: that the BMC fetched the image is the evidence.
#[tokio::test(start_paused = true)]
async fn a_lost_request_whose_image_was_fetched_has_happened() {
    let lost = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nnth = 1\ncount = 1\nanswer = \"drop-after\"\n[[task_fault]]\ncomponent = \"bmc\"\nvanish = \"running\"\nvanish_after = \"0s\"";
    let world = World::one(1, &format!("{PULL_ONLY}{lost}"));
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
    let journal = world.journal(BMC).join("\n");
    assert!(
        journal.contains("has fetched the image from us"),
        "{journal}"
    );
}

/// A process that dies with the request out leaves a BMC that comes for its image: the next one has it ready.
#[tokio::test(start_paused = true)]
async fn a_process_that_takes_a_run_up_serves_its_image_again_under_the_same_path() {
    let world = World::one(1, PULL_ONLY);
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let lives = Lives::new();
    let one = lives.start(&world, 1, Death::AfterSend(1), Arc::new(Nobody));
    assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
    drop(one);
    let seen = Arc::new(Noted::default());
    let other = with_images(&lives, &world, 2, Arc::clone(&seen) as Arc<dyn ImageHost>);
    let report = other.apply(&world, &[&text]).await.unwrap();
    completed(&world, &report);
    let paths = seen.0.lock().unwrap().clone();
    let [path] = paths.as_slice() else {
        panic!("{paths:?}");
    };
    assert_eq!(uris(&world), [format!("http://redpipe.lab/{path}")]);
}

/// Scenario 145: a pull from our image server.
#[tokio::test(start_paused = true)]
async fn a_stop_in_the_middle_of_a_pull_waits_for_its_end_and_the_next_process_carries_on() {
    let world = World::one(1, PULL_ONLY);
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.80")]);
    let lives = Lives::new();
    let slow = Arc::new(Slow(
        world.parts(Arc::clone(&lives.store), world.owner()).images,
    ));
    let life = with_images(&lives, &world, 1, slow);
    let asked_at = async {
        while world.caused(BMC, "update accepted").is_empty() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        world.stop.ask();
        Instant::now()
    };
    let texts = [text.as_str()];
    let (report, asked_at) = tokio::join!(life.apply(&world, &texts), asked_at);
    let report = report.unwrap();
    assert!(
        matches!(end(&report, PIPELINE, BMC), RunEnd::Interrupted(Some(_))),
        "{report:?}"
    );
    let waited = asked_at.elapsed();
    assert!(waited >= Duration::from_secs(80), "{waited:?}");
    assert!(waited < PULL + Duration::from_mins(1), "{waited:?}");

    drop(life);
    let mut world = world;
    world.stop = Stop::new();
    let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
    let report = other.apply(&world, &texts).await.unwrap();
    completed(&world, &report);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 2);
}

/// The stage's own word: the file is pulled though it could be pushed.
#[tokio::test(start_paused = true)]
async fn a_stage_that_asks_for_a_pull_of_a_file_has_it_served() {
    let world = World::one(1, "");
    let image = world.image("bmc", "1.60");
    let text = pipeline(&[hop("bmc", "1.60", &image, "method = \"simple-update\"")]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(uris(&world).len(), 1);
}

fn with_images(lives: &Lives, world: &World, number: u32, images: Arc<dyn ImageHost>) -> Life {
    let nobody = || Arc::new(Nobody);
    lives.start_with(world, number, Death::Never, nobody(), nobody(), |parts| {
        EngineParts { images, ..parts }
    })
}

/// How long a slow BMC takes for its image.
const PULL: Duration = Duration::from_secs(90);

/// Serves to a BMC that takes its time.
struct Slow(Arc<dyn ImageHost>);

struct SlowOffer {
    inner: Box<dyn Offer>,
    since: Instant,
}

impl ImageHost for Slow {
    fn offer<'a>(&'a self, wanted: &'a Wanted) -> Offering<'a> {
        Box::pin(async move {
            let offer = SlowOffer {
                inner: self.0.offer(wanted).await?,
                since: Instant::now(),
            };
            Ok(Box::new(offer) as Box<dyn Offer>)
        })
    }
}

impl Offer for SlowOffer {
    fn uri(&self) -> &str {
        self.inner.uri()
    }

    fn served(&self) -> Served {
        let is_over = self.since.elapsed() >= PULL;
        Served {
            fetched: true,
            whole: is_over,
            open: u32::from(!is_over),
        }
    }
}

/// Notes what is to be served, and serves nothing.
#[derive(Default)]
struct Noted(std::sync::Mutex<Vec<String>>);

struct Nothing;

impl ImageHost for Noted {
    fn offer<'a>(&'a self, wanted: &'a Wanted) -> Offering<'a> {
        self.0.lock().unwrap().push(wanted.path.clone());
        Box::pin(async { Ok(Box::new(Nothing) as Box<dyn Offer>) })
    }
}

impl Offer for Nothing {
    fn uri(&self) -> &'static str {
        "http://nowhere.lab/"
    }

    fn served(&self) -> Served {
        Served {
            whole: true,
            ..Served::default()
        }
    }
}
