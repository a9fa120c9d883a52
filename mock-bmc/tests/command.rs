//! The command as a person or a script meets it: flags, files, what is printed, how it ends.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use mock_bmc::image;

const RECORDED_ROOT: &str = r#"{"@odata.id":"/redfish/v1","RedfishVersion":"1.6.0",
  "Systems":{"@odata.id":"/redfish/v1/Systems"},"Links":{"Sessions":{"@odata.id":"/redfish/v1/Sessions"}}}"#;

fn mock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mock-bmc"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    mock(arguments).output().unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    stderr
}

/// A served fleet in a process of its own, with the lines that it printed before `ready`.
struct Served {
    child: Child,
    lines: Vec<Vec<String>>,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut command = mock(&["serve"]);
        let mut child = command
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let lines = stdout
            .lines()
            .map(Result::unwrap)
            .take_while(|line| line != "ready");
        let lines = lines
            .map(|line| line.split(' ').map(str::to_owned).collect())
            .collect();
        Self { child, lines }
    }

    fn stop(mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &id])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap().code()
    }
}

/// A failed test leaves no server behind.
impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

fn write_tree(dir: &Path) {
    let collection =
        r#"{"Members":[{"@odata.id":"/redfish/v1/Systems/437XR1138R2"}],"Members@odata.count":1}"#;
    for (uri, text) in [
        ("redfish/v1", RECORDED_ROOT),
        ("redfish/v1/Systems", collection),
        (
            "redfish/v1/Systems/437XR1138R2",
            r#"{"Id":"437XR1138R2","PowerState":"On"}"#,
        ),
    ] {
        fs::create_dir_all(dir.join(uri)).unwrap();
        fs::write(dir.join(uri).join("index.json"), text).unwrap();
    }
}

#[test]
fn wrong_flags_and_files_are_refused_with_what_was_expected() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().to_str().unwrap();
    let script = dir.path().join("s.toml");
    fs::write(&script, "no_such_key = 1\n").unwrap();
    for (arguments, part) in [
        (
            vec!["serve", "--platform", "nope"],
            "found platform `nope`, expected one of `generic`",
        ),
        (vec!["serve", "--tree", empty], "holds no Redfish tree"),
        (
            vec!["serve", "--tree", "/nowhere"],
            "cannot read `/nowhere`",
        ),
        (
            vec!["serve", "--script", script.to_str().unwrap()],
            "s.toml:1:1: unknown field `no_such_key`",
        ),
        (vec!["serve", "--listen", "127.0.0.1"], "expected `IP:PORT`"),
        (
            vec!["serve", "--bmcs", "3", "--listen", "127.0.0.1:65535"],
            "has room for 1",
        ),
        (
            vec!["record", "https://127.0.0.1", "d", "--user", "u"],
            "not supported yet",
        ),
    ] {
        let stderr = refused(&arguments);
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
    }
}

#[test]
fn an_address_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["serve", "--listen", &address]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.starts_with(&format!("error: cannot listen on `{address}`\n  cause: ")),
        "{stderr}"
    );
}

#[test]
fn every_bmc_has_a_line_and_a_signal_ends_the_server_cleanly() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("a recorded box");
    write_tree(&tree);
    let served = Served::start(&[
        "--bmcs",
        "2",
        "--systems",
        "3",
        "--tree",
        tree.to_str().unwrap(),
        "--platform",
        "generic",
    ]);
    let shown: Vec<_> = served
        .lines
        .iter()
        .map(|line| (line[0].as_str(), line[2].as_str(), line[3].as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("mock-1", "a-recorded-box", "1"),
            ("mock-2", "a-recorded-box", "1"),
            ("mock-3", "generic", "3"),
            ("mock-4", "generic", "3")
        ]
    );
    let url = served.lines[3][1].clone();
    let address = url.strip_prefix("http://").unwrap();
    // A connection that is open must not hold the end up.
    let _open = TcpStream::connect(address).unwrap();
    assert_eq!(served.stop("TERM"), Some(0));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn an_interrupt_ends_the_server_cleanly_too() {
    assert_eq!(Served::start(&[]).stop("INT"), Some(0));
}

#[test]
fn the_inventory_lists_every_server_when_ready_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mock.toml");
    let tree = dir.path().join("box");
    write_tree(&tree);
    let served = Served::start(&[
        "--platform",
        "generic",
        "--systems",
        "2",
        "--tree",
        tree.to_str().unwrap(),
        "--tls",
        "--time-scale",
        "600",
        "--user",
        "admin",
        "--password",
        "pass \"word\"",
        "--inventory-out",
        file.to_str().unwrap(),
    ]);
    let inventory: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
    let bmcs = inventory["bmc"].as_array().unwrap();
    for (bmc, line) in bmcs.iter().zip(&served.lines) {
        assert_eq!(bmc["name"].as_str().unwrap(), line[0]);
        assert_eq!(bmc["address"].as_str().unwrap(), line[1]);
        assert_eq!(bmc["labels"]["platform"].as_str().unwrap(), line[2]);
    }
    let servers = |bmc: &toml::Value| -> Vec<String> {
        let text = |server: &toml::Value| {
            format!(
                "{} {}",
                server["name"].as_str().unwrap(),
                server["system"].as_str().unwrap()
            )
        };
        bmc["server"].as_array().unwrap().iter().map(text).collect()
    };
    assert_eq!(servers(&bmcs[0]), ["mock-1-1 1", "mock-1-2 2"]);
    assert_eq!(servers(&bmcs[1]), ["mock-2-437XR1138R2 437XR1138R2"]);
    let account = &inventory["credentials"]["mock"];
    assert_eq!(account["username"].as_str(), Some("admin"));
    let secret = account["password"]["file"].as_str().unwrap();
    assert_eq!(fs::read_to_string(secret).unwrap(), "pass \"word\"");
    assert_eq!(
        fs::metadata(secret).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        inventory["defaults"]["pace"]["settle_for"].as_str(),
        Some("100ms")
    );
    assert_eq!(served.stop("TERM"), Some(0));
}

#[test]
fn an_image_file_is_what_the_flags_say() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bios.bin");
    let path = file.to_str().unwrap();
    let output = run(&[
        "image",
        "--component",
        "bios",
        "--version",
        "2.20",
        "--requires",
        "2.10",
        "--size",
        "5000",
        path,
    ]);
    assert!(output.status.success());
    let bytes = fs::read(&file).unwrap();
    assert_eq!(
        bytes,
        image::build(image::Component::Bios, "2.20", Some("2.10"), 5000)
    );
}

#[test]
fn the_platforms_and_the_script_are_explained() {
    let platforms = run(&["platforms"]);
    assert!(
        String::from_utf8(platforms.stdout)
            .unwrap()
            .starts_with("generic ")
    );
    let script = run(&["script", "--explain"]);
    assert!(script.status.success() && !script.stdout.is_empty());
}
