//! `path = "auto"`: hops that are computed from what runs and from a catalogue of images.

use std::fmt::Write as _;
use std::sync::Arc;

use redpipe::plan::PlanAction;
use redpipe::run::{Record, RunPhase};

use super::common::{
    PIPELINE, bmc_hop, completed, first, named, pipeline, settings, stage, stages, words,
};
use super::support::lives::Lives;
use super::support::process::{Death, Nobody};
use super::support::world::{Rows, World};

const BMC: &str = "mock-1";

/// What a test reads of a story.
const STEPS: &[&str] = &["update accepted", "bmc version"];

/// A stage whose hops are computed.
fn computed(component: &str, version: &str) -> String {
    format!(
        "\n[[stage]]\nname = \"fw\"\nkind = \"{component}-version\"\nversion = \"{version}\"\npath = \"auto\"\n"
    )
}

/// A catalogue: versions, each with what it requires.
fn catalogue(world: &World, component: &str, images: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (version, requires) in images {
        let image = world.image(component, version);
        write!(
            text,
            "\n[[firmware]]\ncomponent = \"{component}\"\nversion = \"{version}\"\nimage = {image}\n"
        )
        .unwrap();
        if !requires.is_empty() {
            writeln!(text, "requires = \"{requires}\"").unwrap();
        }
    }
    text
}

/// 1.80 is reached over 1.60 and 1.70; 1.65 is on no shortest way, and 1.90 is not wanted.
const LADDER: &[(&str, &str)] = &[
    ("1.90", ""),
    ("1.80", ">= 1.70"),
    ("1.70", ">= 1.60"),
    ("1.65", ">= 1.60"),
    ("1.60", ""),
];

fn ladder(world: &World) -> String {
    pipeline(&[computed("bmc", "1.80"), catalogue(world, "bmc", LADDER)])
}

fn running(version: &str) -> World {
    World::one(1, &format!("[versions]\nbmc = \"{version}\""))
}

/// Three hops that nobody wrote down, in the right order, shown like hand-written ones.
#[tokio::test(start_paused = true)]
async fn hops_are_computed_from_what_runs_and_made_in_order() {
    let world = World::one(1, "");
    let mut shown = Vec::new();
    let report = world
        .apply_watched(&[&ladder(&world)], |_, rows: &Rows| {
            let run = super::common::row(rows, BMC);
            shown.extend(run.filter(|_| shown.is_empty()).map(|run| stages(&run)));
            true
        })
        .await
        .unwrap();
    let run = completed(&world, &report);
    let done = ["fw/1.60", "fw/1.70", "fw/1.80"].map(|name| format!("{name} Completed applied"));
    assert_eq!(stages(run), done);
    assert_eq!(shown[0].len(), 3, "all hops are there from the beginning");
    assert_eq!(
        words(&world, BMC, STEPS),
        [
            "update accepted bmc 1.60",
            "bmc version 1.50 -> 1.60",
            "update accepted bmc 1.70",
            "bmc version 1.60 -> 1.70",
            "update accepted bmc 1.80",
            "bmc version 1.70 -> 1.80",
        ]
    );
}

/// Scenario 86, with computed hops: they begin above what runs.
#[tokio::test(start_paused = true)]
async fn a_bmc_between_two_hops_begins_at_the_first_one_above() {
    for (live, hops) in [
        ("1.60", &["1.70", "1.80"][..]),
        ("1.66", &["1.70", "1.80"]),
        ("1.75", &["1.80"]),
        ("1.80", &[]),
        ("1.85", &[]),
    ] {
        let world = running(live);
        let report = world.apply(&[&ladder(&world)]).await;
        let run = completed(&world, &report);
        let accepted = hops.iter().map(|hop| format!("update accepted bmc {hop}"));
        assert_eq!(
            words(&world, BMC, &["update accepted"]),
            accepted.collect::<Vec<_>>(),
            "from {live}"
        );
        let last = stage(run, "fw/1.80");
        let how = if hops.is_empty() {
            "already-there"
        } else {
            "applied"
        };
        assert_eq!(last.how, Some(how), "from {live}");
    }
}

/// A catalogue in a file of its own is the same.
#[tokio::test(start_paused = true)]
async fn a_catalogue_beside_the_pipeline_is_as_good() {
    let world = running("1.65");
    let images = catalogue(&world, "bmc", LADDER);
    let report = world
        .apply(&[&images, &pipeline(&[computed("bmc", "1.80")])])
        .await;
    completed(&world, &report);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bmc 1.70", "update accepted bmc 1.80"]
    );
}

/// No path: the plan says which image is missing, nothing is sent, and the run goes on once it is there.
#[tokio::test(start_paused = true)]
async fn without_a_path_the_missing_image_is_named_and_nothing_is_flashed() {
    let world = World::one(1, "");
    let with = |images: &[(&str, &str)]| {
        let images = catalogue(&world, "bmc", images);
        pipeline(&[computed("bmc", "1.80"), images])
    };
    let gap = with(&[("1.80", ">= 1.70"), ("1.70", ">= 1.60")]);
    let named = "no path from `1.50` to `1.80`: `1.70` requires `>= 1.60`, and an image of such a version is missing";
    let planned = world.plan(&[&gap]).await;
    let (report, _) = planned[0].report.as_ref().unwrap();
    assert_eq!(report.stages.len(), 1);
    let target = &report.stages[0].targets[0];
    assert_eq!(target.action, PlanAction::Blocked);
    assert!(
        target.reason.as_ref().unwrap().starts_with(named),
        "{target:?}"
    );
    let report = world.apply(&[&gap]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(
        run.reason.contains("blocked: ") && run.reason.contains(named),
        "{}",
        run.reason
    );
    assert_eq!(world.writes(BMC), [""; 0]);

    let report = world.apply(&[&ladder(&world)]).await;
    let run = completed(&world, &report);
    assert_eq!(run.stages.len(), 3);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 3);
}

/// An image of another platform is no image.
#[tokio::test(start_paused = true)]
async fn images_of_another_platform_are_not_flashed() {
    let world = World::one(1, "");
    let images = catalogue(&world, "bmc", &[("1.80", "")]);
    let other = images.replace("version", "platform = \"hpe-ilo6\"\nversion");
    let report = world
        .apply(&[&pipeline(&[computed("bmc", "1.80"), other])])
        .await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    let named = "the catalogue has no image of `1.80` for the bmc of platform `generic`";
    assert!(run.reason.contains(named), "{}", run.reason);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// The hops of a run are fixed when it begins: whoever takes it up walks the same ones, whatever the file has gained.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_taken_up_anew_walks_the_hops_with_which_it_began() {
    for requests in 1..=6 {
        let world = World::one(1, "");
        let lives = Lives::new();
        let text = ladder(&world);
        let one = lives.start(&world, 1, Death::AfterSend(requests), Arc::new(Nobody));
        if one.apply(&world, &[&text]).await.is_some() {
            assert!(requests > 3, "three updates are three requests at least");
            break;
        }
        drop(one);
        // By what the file says now, a BMC at 1.50 would go over 1.75.
        let gained = format!("{text}{}", catalogue(&world, "bmc", &[("1.75", "")]));
        let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
        let report = other.apply(&world, &[&gained]).await.unwrap();
        let run = completed(&world, &report);
        let names: Vec<&str> = run.stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["fw/1.60", "fw/1.70", "fw/1.80"]);
        assert_eq!(
            words(&world, BMC, &["update accepted"]),
            ["1.60", "1.70", "1.80"].map(|hop| format!("update accepted bmc {hop}")),
            "a process died after request {requests}"
        );
        let records = lives.records(BMC);
        let Some(Record::Started { paths, .. }) = records.first() else {
            panic!("a run begins with what it found: {records:?}")
        };
        let path = &paths[&"fw".into()][&redpipe::model::Target::Bmc];
        assert_eq!(path.from.as_deref(), Some("1.50"));
        assert_eq!(path.hops, ["1.60", "1.70", "1.80"]);
    }
}

/// Scenario 79, with computed hops: the hop under way is ended, then the path to the new version is walked.
#[tokio::test(start_paused = true)]
async fn another_version_wanted_in_the_middle_is_reached_from_there() {
    let world = World::one(1, "");
    let text = ladder(&world);
    let report = world
        .apply_watched(&[&text], |world, _| {
            words(world, BMC, &["update accepted bmc 1.70"]).is_empty()
        })
        .await;
    assert!(report.is_none(), "killed while 1.70 is flashed");
    let images = catalogue(
        &world,
        "bmc",
        &[("1.90", ">= 1.70"), ("1.70", ""), ("1.60", "")],
    );
    let report = world
        .apply(&[&pipeline(&[computed("bmc", "1.90"), images])])
        .await;
    completed(&world, &report);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["1.60", "1.70", "1.90"].map(|hop| format!("update accepted bmc {hop}"))
    );
}

/// Servers behind one BMC each go their own way to the BIOS that all get.
#[tokio::test(start_paused = true)]
async fn every_server_has_a_path_of_its_own() {
    let world = World::one(
        3,
        "[[system]]\nid = \"2\"\nbios = \"2.30\"\n[[system]]\nid = \"3\"\nbios = \"2.50\"\n",
    );
    let images = catalogue(&world, "bios", &[("2.50", ">= 2.30"), ("2.30", "")]);
    let text = pipeline(&[
        settings("quiet", "bios", "QuietBoot = false").replace("kind", "transient = true\nkind"),
        computed("bios", "2.50"),
        images,
    ]);
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    let on = |name: &str| -> Vec<(&str, Option<&'static str>)> {
        let servers = stage(run, name).servers.iter();
        servers
            .map(|each| (each.server.as_str(), each.how))
            .collect()
    };
    assert_eq!(on("fw/2.30"), [("mock-1-s1", Some("applied"))]);
    assert_eq!(
        on("fw/2.50"),
        [
            ("mock-1-s1", Some("applied")),
            ("mock-1-s2", Some("applied")),
            ("mock-1-s3", Some("already-there")),
        ]
    );
    // What is wanted before the first hop of a server is set there, though that hop is not the first one of all.
    let set = stage(run, "quiet").servers.iter();
    let set: Vec<_> = set.map(|each| each.how).collect();
    assert_eq!(
        set,
        [Some("applied"), Some("applied"), Some("already-there")]
    );
    for system in world.bmc(BMC, |bmc| bmc.state()).systems {
        assert_eq!(system.bios_version.as_deref(), Some("2.50"));
    }
}

/// A hop by hand before it is counted upon: the path begins where that hop leads.
#[tokio::test(start_paused = true)]
async fn a_path_begins_where_the_hop_before_it_leads() {
    let world = World::one(1, "");
    let images = catalogue(&world, "bmc", LADDER);
    let text = pipeline(&[bmc_hop(&world, "1.70"), computed("bmc", "1.80"), images]);
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(
        stages(run),
        ["bmc-1.70 Completed applied", "fw/1.80 Completed applied"]
    );
}

/// An approval is for the hops that were computed, and for no others.
#[tokio::test(start_paused = true)]
async fn an_approval_is_for_the_computed_hops() {
    let digest = |world: World| async move {
        let text = named(
            PIPELINE,
            "[maintenance]\npolicy = \"owner-approval\"",
            &[computed("bmc", "1.80"), catalogue(&world, "bmc", LADDER)],
        );
        let planned = world.plan(&[&text]).await;
        planned[0].spec.clone().unwrap().digest
    };
    let (low, middle) = (digest(running("1.50")).await, digest(running("1.65")).await);
    assert_ne!(low, middle);
    assert_eq!(low, digest(running("1.55")).await);
}

/// Images of hops that nobody needs are not looked for.
#[tokio::test(start_paused = true)]
async fn only_images_that_a_path_may_need_are_made_ready() {
    let world = World::one(1, "");
    let text = ladder(&world);
    let assignments = world.assignments(&[&text]).await;
    let mut names: Vec<String> = assignments[0]
        .images
        .files
        .keys()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "bmc-1.60.img",
            "bmc-1.65.img",
            "bmc-1.70.img",
            "bmc-1.80.img"
        ]
    );
}
