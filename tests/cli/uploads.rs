//! Big images, over real sockets, from the real binary: what they take of its memory.

use std::io::Write as _;
use std::path::Path;

use mock_bmc::image::{Component, build};
use mock_bmc::ledger::Kind;

use crate::lab::{Lab, Setup};
use crate::script::write_program;

const IMAGE_BYTES: u64 = 512 * 1024 * 1024;

/// What the process may have held at once, in KiB.
const RESIDENT_MAX: u64 = 64 * 1024;

/// A push with parameters, then a bare one.
const STAGES: &str = r#"
[maintenance]
after = ["./peak"]
[[stage]]
name = "bmc-160"
kind = "bmc-version"
version = "1.60"
image = { file = "bmc-1.60.img" }
[[stage]]
name = "bmc-180"
kind = "bmc-version"
version = "1.80"
image = { file = "bmc-1.80.img" }
method = "http-push"
"#;

#[test]
fn an_image_of_512_mib_is_pushed_in_less_than_64_mib_of_memory() {
    let lab = Lab::start(Setup {
        stages: STAGES,
        ..Setup::default()
    });
    for version in ["1.60", "1.80"] {
        let path = lab.path(&format!("pipelines/bmc-{version}.img"));
        let mut file = std::fs::File::create(path).unwrap();
        file.write_all(&build(Component::Bmc, version, None, 4096))
            .unwrap();
        file.set_len(IMAGE_BYTES).unwrap();
    }
    // A hook is a child of the process that it asks the kernel about, at the end of all work.
    let (hook, peak) = (lab.path("pipelines/peak"), lab.path("peak.txt"));
    let text = format!(
        "#!/bin/sh\ngrep VmHWM /proc/$PPID/status > '{}'\n",
        peak.display()
    );
    write_program(Path::new(&hook), &text);
    let pipeline = lab.path("pipelines/p.toml");
    let text = std::fs::read_to_string(&pipeline).unwrap();
    let text = text.replace("./peak", &hook.display().to_string());
    std::fs::write(&pipeline, text).unwrap();

    lab.redpipe(&["apply", "--yes"]).exits(0);
    let sizes: Vec<u64> = lab
        .bmc("mock-1", |bmc| bmc.ledger().to_vec())
        .into_iter()
        .filter(|line| line.kind == Kind::Request && line.method.as_deref() == Some("POST"))
        .filter_map(|line| line.body?["bytes"].as_u64())
        .collect();
    assert!(
        sizes.len() == 2 && sizes.iter().all(|bytes| *bytes >= IMAGE_BYTES),
        "{sizes:?}"
    );
    let peak = std::fs::read_to_string(peak).unwrap();
    let kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < RESIDENT_MAX, "{peak}");
}
