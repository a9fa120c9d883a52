//! redpipe against a server that nobody here wrote: every recorded tree of `../shared/mockups`, served read-only by the
//! third-party server of `../shared/gear`, with `inventory check`, a plan and one observation of each compared with what
//! a script that knows neither program reads from the files.
//!
//! Where the recordings or the server are not at hand, it says so and has shown nothing.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(
    clippy::print_stderr,
    reason = "who reads the log must see that nothing was compared"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder beside this repository; `None` where this checkout stands alone.
fn shared(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared")
        .join(name);
    folder.canonicalize().ok().filter(|folder| folder.is_dir())
}

/// Where the third-party server is installed; it is set up once, which needs a package index.
fn gear(scripts: &Path) -> Option<PathBuf> {
    let gear = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()?
        .join("gear");
    let server = gear.join("venv/bin/sushy-static");
    if !server.is_file() {
        eprintln!("setting up the server in {}", gear.display());
        let setup = Command::new(scripts.join("setup.sh"))
            .env("GEAR", &gear)
            .env("GEAR_ANSIBLE", "0")
            .env("GEAR_LIBVIRT", "0")
            .output()
            .ok()?;
        eprintln!("{}", String::from_utf8_lossy(&setup.stderr));
    }
    server.is_file().then_some(gear)
}

#[test]
fn every_recorded_tree_behind_a_foreign_server_is_told_planned_and_observed_as_its_files_say() {
    let (Some(scripts), Some(trees)) = (shared("gear"), shared("mockups")) else {
        eprintln!("skipped: no test gear or no recorded trees in ../shared");
        return;
    };
    let Some(gear) = gear(&scripts) else {
        eprintln!("skipped: the third-party server could not be set up");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compared = Command::new("python3")
        .arg(root.join("tests/interop/trees.py"))
        .arg(scripts.join("start-static-mockup.sh"))
        .args([trees, root.join("tests/fixtures/trees.toml")])
        .arg(env!("CARGO_BIN_EXE_redpipe"))
        .env("GEAR", gear)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&compared.stdout);
    let errors = String::from_utf8_lossy(&compared.stderr);
    assert!(compared.status.success(), "{told}{errors}");
    eprintln!("{told}");
}
