//! The command as a person meets it where no BMC answers: files, usage, exit codes, and what is never contacted.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const INVENTORY: &str = r#"
[defaults]
auth = "none"
[[bmc]]
name = "b1"
address = "http://127.0.0.1:PORT"
labels = { rack = "r1" }
  [[bmc.server]]
  name = "s1"
  system = "1"
"#;

const PIPELINE: &str = r#"
name = "p"
[selector]
match_labels = { rack = "r1" }
[[stage]]
name = "hop"
kind = "bmc-version"
version = "1.60"
image = { file = "image.bin" }
"#;

/// A folder with an inventory and a pipeline whose BMC is a port that we hold and never answer.
struct Folder {
    folder: tempfile::TempDir,
    listener: TcpListener,
}

impl Folder {
    fn new(pipeline: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        for (name, text) in [
            ("inventory", INVENTORY.replace("PORT", &port)),
            ("pipelines", pipeline.to_owned()),
        ] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("all.toml"), text).unwrap();
        }
        std::fs::write(folder.path().join("pipelines/image.bin"), "an image").unwrap();
        Self { folder, listener }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        redpipe(self.folder.path(), arguments)
    }

    fn was_contacted(&self) -> bool {
        self.listener.accept().is_ok()
    }
}

fn redpipe(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_redpipe"))
        .args(["--state", "state/redpipe.db"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn valid_files_are_told_and_nothing_is_contacted() {
    let folder = Folder::new(PIPELINE);
    let output = folder.run(&["validate"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "valid: 1 BMCs with 1 listed servers, 1 pipelines\n"
    );
    assert!(!folder.was_contacted());
}

#[test]
fn every_finding_of_every_file_is_told_at_once_with_file_line_column_and_hint() {
    let folder = Folder::new(
        &PIPELINE
            .replace("version =", "verzion =")
            .replace("bmc-version", "bmc-versions"),
    );
    let output = folder.run(&["validate"]);
    assert_eq!(code(&output), 2);
    let told = stderr(&output);
    assert!(
        told.contains("verzion") && told.contains("bmc-versions"),
        "{told}"
    );
    assert!(
        told.contains("pipelines/all.toml:8:1") || told.contains("pipelines/all.toml:8:"),
        "{told}"
    );
    assert!(told.contains("hint:"), "{told}");
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_hook_that_nobody_can_run_is_told_at_its_place() {
    let table = "[maintenance]\nbefore = [\"drain\"]\nafter = [\"undrain\"]\n[[stage]]";
    let folder = Folder::new(&PIPELINE.replacen("[[stage]]", table, 1));
    let hook = |name: &str, mode: u32| {
        let path = folder.folder.path().join("pipelines").join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    hook("drain", 0o644);
    let output = folder.run(&["validate"]);
    let told = stderr(&output);
    assert_eq!(code(&output), 2, "{told}");
    for name in ["drain", "undrain"] {
        let message = format!("hook `{name}` cannot be run");
        assert!(told.contains(&message), "{told}");
    }
    assert!(told.contains("pipelines/all.toml:"), "{told}");
    hook("drain", 0o755);
    hook("undrain", 0o755);
    let output = folder.run(&["validate"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!folder.was_contacted());
}

#[test]
fn apply_off_a_terminal_without_yes_is_refused_and_says_what_to_give() {
    let folder = Folder::new(PIPELINE);
    let output = folder.run(&["apply"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--yes"), "{}", stderr(&output));
    assert!(!folder.was_contacted());
}

#[test]
fn a_wrong_sha256_is_refused_before_any_bmc_is_contacted() {
    let wrong = "0".repeat(64);
    let folder = Folder::new(&PIPELINE.replace(
        "\"image.bin\"",
        &format!("\"image.bin\", sha256 = \"{wrong}\""),
    ));
    for command in [&["validate"][..], &["plan"], &["apply", "--yes"]] {
        let output = folder.run(command);
        let told = stderr(&output);
        assert_eq!(code(&output), 2, "{told}");
        assert!(
            told.contains("image.bin` is not the one promised"),
            "{told}"
        );
        assert!(told.contains("pipelines/all.toml:9:18"), "{told}");
        assert!(told.contains(&wrong), "{told}");
    }
    assert!(!folder.was_contacted());
}

#[test]
fn every_image_file_that_is_unusable_is_told_at_its_place() {
    let second = PIPELINE.split_once("[[stage]]").unwrap().1;
    let second = second
        .replace("hop", "next")
        .replace("1.60", "1.80")
        .replace("image.bin", "empty.bin");
    let missing = PIPELINE.replace("image.bin", "missing.bin");
    let folder = Folder::new(&format!("{missing}[[stage]]{second}"));
    std::fs::write(folder.folder.path().join("pipelines/empty.bin"), "").unwrap();
    for command in [&["validate"][..], &["plan"], &["apply", "--yes"]] {
        let output = folder.run(command);
        let told = stderr(&output);
        assert_eq!(code(&output), 2, "{told}");
        for words in [
            "missing.bin` cannot be read",
            "pipelines/all.toml:9:18",
            "empty.bin` is empty",
            "pipelines/all.toml:14:18",
            "hint:",
            "2 errors",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
    }
    assert!(!folder.was_contacted());
}

#[test]
fn a_selector_that_matches_nothing_exits_4() {
    let folder = Folder::new(&PIPELINE.replace("r1", "r9"));
    assert_eq!(code(&folder.run(&["plan"])), 4);
    assert_eq!(
        code(&Folder::new(PIPELINE).run(&["plan", "--limit", "rack=r9"])),
        4
    );
}

#[test]
fn an_unreachable_bmc_is_one_clear_error_and_exits_6() {
    let folder = Folder::new(PIPELINE);
    let port = folder.listener.local_addr().unwrap().port();
    let Folder { folder, listener } = folder;
    drop(listener);
    for command in [&["plan"][..], &["apply", "--yes"], &["inventory", "check"]] {
        let output = redpipe(folder.path(), command);
        let told = stderr(&output);
        assert_eq!(code(&output), 6, "{command:?}: {told}");
        assert!(
            told.contains("bmc `b1`") && told.contains(&port.to_string()),
            "{told}"
        );
        let errors = told.lines().filter(|line| line.starts_with("error:"));
        assert_eq!(errors.count(), 1, "{told}");
        assert!(told.contains("hint:"), "{told}");
    }
}

#[test]
fn a_secret_that_is_not_there_is_named_by_its_source_and_nothing_is_sent() {
    let folder = Folder::new(PIPELINE);
    let path = folder.folder.path().join("inventory/all.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("auth = \"none\"", "credentials = \"lab\"\n[credentials.lab]\nusername = \"root\"\npassword = { env = \"REDPIPE_TEST_NO_SUCH_VARIABLE\" }");
    std::fs::write(&path, text).unwrap();
    drop(folder.listener);
    let output = redpipe(folder.folder.path(), &["plan"]);
    assert!([5, 6].contains(&code(&output)), "{}", stderr(&output));
}

#[test]
fn status_and_events_of_an_empty_state_are_empty_documents() {
    let folder = Folder::new(PIPELINE);
    let status: Value =
        serde_json::from_slice(&folder.run(&["--output", "json", "status"]).stdout).unwrap();
    assert_eq!(status["runs"], serde_json::json!([]));
    let events: Value =
        serde_json::from_slice(&folder.run(&["--output", "json", "events"]).stdout).unwrap();
    assert_eq!(events["events"], serde_json::json!([]));
    assert_eq!(code(&folder.run(&["status", "p/nowhere"])), 4);
}

#[test]
fn versions_print_the_sign_first_and_then_the_rule() {
    let folder = tempfile::tempdir().unwrap();
    for (a, b, sign) in [
        ("7.10.30.05", "7.20.60.50", '<'),
        ("iLO 6 v1.68", "iLO 6 v1.60", '>'),
        ("U54 v2.50", "U54 v2.50 (04/22/2025)", '='),
        ("U54 v2.50", "A56 v1.10", '#'),
        ("N/A", "1.0", '#'),
    ] {
        let output = redpipe(folder.path(), &["versions", a, b]);
        assert_eq!(code(&output), 0);
        assert_eq!(
            stdout(&output).chars().next(),
            Some(sign),
            "{}",
            stdout(&output)
        );
        let json: Value = serde_json::from_slice(
            &redpipe(folder.path(), &["--output", "json", "versions", a, b]).stdout,
        )
        .unwrap();
        assert_eq!(json["sign"], sign.to_string());
        assert!(json["rule"].is_string() && json["a"] == a && json["b"] == b);
    }
}

#[test]
fn a_file_that_is_not_there_or_not_utf_8_says_where_and_what_to_do() {
    let folder = Folder::new(PIPELINE);
    let missing = folder.run(&["validate", "pipelines/nope.toml"]);
    assert_eq!(code(&missing), 2);
    let said = stderr(&missing);
    assert!(
        said.contains("`pipelines/nope.toml`") && said.contains("hint:"),
        "{said}"
    );
    let path = folder.folder.path().join("pipelines/latin.toml");
    std::fs::write(path, b"# one\n# two\nname = \"b\xfcro\"\n").unwrap();
    let latin = folder.run(&["validate", "pipelines/latin.toml"]);
    assert_eq!(code(&latin), 2);
    let said = stderr(&latin);
    assert!(
        said.contains("line 3 is not UTF-8") && said.contains("hint:"),
        "{said}"
    );
}

#[test]
fn a_result_that_a_full_disk_swallowed_is_told_and_a_closed_pipe_is_not() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    for (stdout, told) in [(Stdio::from(full), true), (Stdio::from(closed), false)] {
        let output = Command::new(env!("CARGO_BIN_EXE_redpipe"))
            .args(["versions", "1", "2"])
            .stdout(stdout)
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(said.contains("cannot be printed"), told, "{said}");
    }
}

#[test]
fn schemas_are_json_and_name_the_keys_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, key) in [("inventory", "bmc"), ("pipeline", "stage")] {
        let output = redpipe(folder.path(), &["schema", kind]);
        let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(schema["properties"][key].is_object(), "{kind}");
    }
}

#[test]
fn wrong_usage_exits_2_and_help_0() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(code(&redpipe(folder.path(), &["no-such-command"])), 2);
    assert_eq!(code(&redpipe(folder.path(), &["plan"])), 2, "no files");
    let help = redpipe(folder.path(), &["--help"]);
    assert_eq!(code(&help), 0);
    for command in [
        "validate",
        "plan",
        "apply",
        "status",
        "events",
        "schema",
        "inventory",
        "trust",
        "versions",
        "demo",
    ] {
        assert!(stdout(&help).contains(command), "{command}");
    }
}

#[test]
fn a_state_that_cannot_be_opened_says_which_and_why() {
    let folder = Folder::new(PIPELINE);
    std::fs::write(
        folder.folder.path().join("state"),
        "a file where a folder should be",
    )
    .unwrap();
    let output = folder.run(&["status"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("state"), "{}", stderr(&output));
}
