//! `cancel`, `retry`, `pause` and `resume` as a person meets them, with one process at work and another that gives word.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use mock_bmc::fleet::Fleet;
use mock_bmc::image::{Component, build};
use mock_bmc::server::{Running, ServeOptions, serve, write_inventory};
use serde_json::Value;

use super::TIME_SCALE;
use super::script::write_program;

const PIPELINE: &str = r#"
name = "p"
[selector]
match_labels = {}
[[stage]]
name = "bmc-160"
kind = "bmc-version"
version = "1.60"
image = { file = "1.60.img" }
[[stage]]
name = "bmc-180"
kind = "bmc-version"
version = "1.80"
image = { file = "1.80.img" }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_cancels_retries_pauses_and_resumes_beside_a_process_at_work() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path()).await;
    let apply = redpipe(folder.path(), &["apply", "--yes", "p.toml"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until_flashing(&running).await;
    let second = run(folder.path(), &["apply", "--yes", "p.toml"]).await;
    assert_eq!(code(&second), 5, "{}", told(&second));
    let holder = format!("driven by another redpipe: process {} on host", apply.id());
    assert!(told(&second).contains(&holder), "{}", told(&second));
    let status = run(folder.path(), &["status", "p/mock-1"]).await;
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    let driver = format!("process {} on host", apply.id());
    assert!(
        status.contains(&driver) && status.contains("drives `p/mock-1`"),
        "{status}"
    );
    assert!(
        status.contains("stage `bmc-160` on bmc waits since "),
        "{status}"
    );
    let cancel = run(folder.path(), &["cancel", "p/mock-1", "p.toml"]).await;
    assert_eq!(code(&cancel), 0, "{}", told(&cancel));
    assert!(
        told(&cancel).contains("drives run `p/mock-1#1`"),
        "{}",
        told(&cancel)
    );
    assert_eq!(
        ended(apply).await,
        Some(1),
        "what was to be applied was not"
    );
    assert_eq!(phase(folder.path()).await, "Cancelled");
    assert_eq!(accepted(&running), 1, "no further step");
    let again = run(folder.path(), &["cancel", "p/mock-1", "p.toml"]).await;
    assert_eq!(code(&again), 2, "{}", told(&again));

    let retry = run(folder.path(), &["retry", "p/mock-1", "p.toml"]).await;
    assert_eq!(code(&retry), 0, "{}", told(&retry));
    assert_eq!(phase(folder.path()).await, "Completed");
    assert_eq!(accepted(&running), 2);

    let pause = run(folder.path(), &["pause", "p"]).await;
    assert_eq!(code(&pause), 0, "{}", told(&pause));
    let paused = run(folder.path(), &["apply", "--yes", "p.toml"]).await;
    assert_eq!(code(&paused), 5, "{}", told(&paused));
    assert!(
        told(&paused).contains("redpipe resume p"),
        "{}",
        told(&paused)
    );
    assert_eq!(code(&run(folder.path(), &["resume", "p"]).await), 0);
    assert_eq!(
        code(&run(folder.path(), &["apply", "--yes", "p.toml"]).await),
        0
    );

    for unknown in [
        &["cancel", "p/nobody"][..],
        &["retry", "q/mock-1"],
        &["pause", "q"],
    ] {
        let output = run(folder.path(), unknown).await;
        assert_eq!(code(&output), 4, "{unknown:?}: {}", told(&output));
    }
    let events = run(folder.path(), &["events", "p/mock-1#1"]).await;
    let story = String::from_utf8_lossy(&events.stdout).into_owned();
    assert!(story.contains("ordered: cancel by "), "{story}");
    running.shutdown().await;
}

async fn start(folder: &Path) -> Running {
    std::fs::write(folder.join("p.toml"), PIPELINE).unwrap();
    for version in ["1.60", "1.80"] {
        let image = build(Component::Bmc, version, None, 20_000);
        std::fs::write(folder.join(format!("{version}.img")), image).unwrap();
    }
    let fleet = Fleet::builder().account("root", "secret");
    let options = ServeOptions {
        tls: true,
        time_scale: TIME_SCALE,
        ..ServeOptions::default()
    };
    let running = serve(fleet.platform("generic", 1, 1).build(), options)
        .await
        .unwrap();
    let inventory = folder.join("inventory.toml");
    write_inventory(
        &inventory,
        running.endpoints(),
        "root",
        "secret",
        TIME_SCALE,
    )
    .unwrap();
    running
}

fn accepted(running: &Running) -> usize {
    let lines = running.bmc("mock-1").unwrap().ledger();
    super::caused(&lines, "update accepted ").len()
}

async fn until_flashing(running: &Running) {
    while accepted(running) == 0 {
        tokio::task::yield_now().await;
    }
}

fn redpipe(folder: &Path, command: &[&str]) -> Command {
    let mut redpipe = Command::new(env!("CARGO_BIN_EXE_redpipe"));
    redpipe
        .current_dir(folder)
        .args(["-i", "inventory.toml", "--state", "state.db"])
        .args(command);
    redpipe
}

async fn run(folder: &Path, command: &[&str]) -> Output {
    let mut redpipe = redpipe(folder, command);
    tokio::task::spawn_blocking(move || redpipe.output().unwrap())
        .await
        .unwrap()
}

async fn ended(mut child: Child) -> Option<i32> {
    tokio::task::spawn_blocking(move || child.wait().unwrap().code())
        .await
        .unwrap()
}

/// The phase of the latest run, as another process says.
async fn phase(folder: &Path) -> String {
    let output = run(folder, &["--output", "json", "status", "p/mock-1"]).await;
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["runs"][0]["phase"].as_str().unwrap().to_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A pipeline whose owner agrees, with hooks beside it.
const OWNED: &str = r#"
[maintenance]
policy = "owner-approval"
before = ["drain"]
after = ["undrain"]
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_approves_once_and_apply_carries_on_between_its_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path()).await;
    let text = PIPELINE.replacen("\n[[stage]]", &format!("\n{OWNED}\n[[stage]]"), 1);
    std::fs::write(folder.path().join("p.toml"), text).unwrap();
    let missing = run(folder.path(), &["apply", "--yes", "p.toml"]).await;
    assert_eq!(code(&missing), 2, "{}", told(&missing));
    assert!(
        told(&missing).contains("hook `drain` cannot be run"),
        "{}",
        told(&missing)
    );
    for hook in ["drain", "undrain"] {
        let path = folder.path().join(hook);
        write_program(&path, &format!("#!/bin/sh\ncat > {hook}.json\n"));
    }

    let plan = run(folder.path(), &["plan", "p.toml"]).await;
    assert_eq!(code(&plan), 3, "{}", told(&plan));
    let shown = String::from_utf8_lossy(&plan.stdout).into_owned();
    assert!(shown.contains("approval: the owner of"), "{shown}");
    assert!(shown.contains("before: `drain` runs before"), "{shown}");

    let early = run(folder.path(), &["approve", "p/mock-1"]).await;
    assert_eq!(code(&early), 4, "{}", told(&early));
    let held = run(folder.path(), &["apply", "--yes", "p.toml"]).await;
    assert_eq!(code(&held), 5, "{}", told(&held));
    assert!(
        told(&held).contains("`redpipe approve p/mock-1`"),
        "{}",
        told(&held)
    );
    assert_eq!(accepted(&running), 0);

    let approve = run(folder.path(), &["approve", "p/mock-1"]).await;
    assert_eq!(code(&approve), 0, "{}", told(&approve));
    assert!(
        told(&approve).contains("`redpipe apply` carries"),
        "{}",
        told(&approve)
    );
    let twice = run(folder.path(), &["apply", "--yes", "p.toml"]).await;
    assert_eq!(code(&twice), 0, "{}", told(&twice));
    assert_eq!(accepted(&running), 2);
    let read = |hook: &str| {
        let text = std::fs::read_to_string(folder.path().join(format!("{hook}.json"))).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(read("drain")["hook"], "before");
    assert_eq!(read("undrain")["end"], "Completed");
    let over = run(folder.path(), &["approve", "p/mock-1"]).await;
    assert_eq!(code(&over), 2, "{}", told(&over));
}
