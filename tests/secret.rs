//! Secrets from every source: what goes wrong first, and that no error shows one.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use redpipe::model::FaultKind;
use redpipe::model::inventory::SecretSource;
use redpipe::secret::{Secret, SecretError, resolve};
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

async fn read(source: SecretSource) -> Result<Secret, SecretError> {
    let env = |name: &str| match name {
        "SET" => Some(OsString::from("hunter2")),
        "EMPTY" => Some(OsString::new()),
        "BYTES" => Some(OsString::from_vec(b"hunter2\xff".to_vec())),
        _ => None,
    };
    resolve("lab", &source, &env).await
}

/// All that a person or a log could see of the error.
async fn refused(source: SecretSource) -> String {
    let error = read(source).await.expect_err("refused");
    let fault = error.fault();
    assert_eq!(fault.kind, FaultKind::SecretUnavailable);
    assert!(
        error.source().is_some() && error.to_string().contains("`lab`"),
        "{error}"
    );
    let all = format!("{error:?} {fault:?} {fault}");
    assert!(!all.contains("hunter2"), "{all}");
    let hint = fault.hint.clone().unwrap();
    format!("{fault}; {hint}")
}

fn shell(script: &str) -> SecretSource {
    SecretSource::Command(
        ["sh", "-c", script, "token-hunter2"]
            .map(String::from)
            .to_vec(),
    )
}

fn file(folder: &TempDir, content: &[u8], mode: u32) -> PathBuf {
    let path = folder.path().join("password");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

#[tokio::test]
async fn a_variable_that_is_unset_empty_or_no_text_is_named() {
    for (name, why) in [
        ("UNSET", "not set"),
        ("EMPTY", "empty"),
        ("BYTES", "not valid UTF-8"),
    ] {
        let text = refused(SecretSource::Env(name.to_owned())).await;
        assert!(
            text.contains(&format!("environment variable `{name}`")) && text.contains(why),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_file_that_is_missing_empty_too_long_or_no_text_is_named() {
    let folder = TempDir::new().unwrap();
    let missing = refused(SecretSource::File(folder.path().join("nope"))).await;
    assert!(
        missing.contains("nope") && missing.contains("No such file"),
        "{missing}"
    );
    let long = b"hunter2".repeat(10_000);
    let contents: [(&[u8], &str); 4] = [
        (b"", "empty"),
        (b"\nhunter2\n", "empty"),
        (b"hunter2\xff\n", "UTF-8"),
        (&long, "longer than"),
    ];
    for (content, why) in contents {
        let text = refused(SecretSource::File(file(&folder, content, 0o600))).await;
        assert!(text.contains(why) && text.contains("password"), "{text}");
    }
}

#[tokio::test]
async fn a_program_that_is_missing_or_empty_is_named() {
    let text = refused(SecretSource::Command(vec![
        "/nonexistent/pass".to_owned(),
        "hunter2".to_owned(),
    ]))
    .await;
    assert!(
        text.contains("`/nonexistent/pass`") && text.contains("cannot be started"),
        "{text}"
    );
    refused(SecretSource::Command(Vec::new())).await;
}

#[tokio::test]
async fn a_program_that_fails_shows_its_stderr_and_never_its_stdout() {
    let text = refused(shell(
        "echo hunter2; printf 'vault is\\033[2J sealed\\n' >&2; exit 3",
    ))
    .await;
    assert!(
        text.contains("exit status: 3") && text.contains("vault is [2J sealed"),
        "{text}"
    );
    assert!(
        !text.contains('\u{1b}') && !text.contains("token"),
        "{text}"
    );
}

#[tokio::test]
async fn a_program_that_prints_nothing_is_an_error() {
    assert!(refused(shell("true")).await.contains("empty"));
}

#[tokio::test(start_paused = true)]
async fn a_program_that_does_not_end_is_given_up() {
    // Becomes the sleeper itself, so that killing it leaves nothing behind.
    let text = refused(shell("exec sleep 600")).await;
    assert!(text.contains("within 30 s"), "{text}");
}

#[tokio::test]
async fn the_secret_is_the_first_line_without_its_end() {
    let folder = TempDir::new().unwrap();
    let contents: [&[u8]; 4] = [
        b"hunter2",
        b"hunter2\n",
        b"hunter2\r\n",
        b"hunter2\nnote: old\n",
    ];
    for content in contents {
        let secret = read(SecretSource::File(file(&folder, content, 0o600)))
            .await
            .unwrap();
        assert_eq!(secret.value.expose_secret(), "hunter2");
        assert_eq!(secret.warning, None);
        assert!(!format!("{secret:?}").contains("hunter2"));
    }
    let spaces = read(SecretSource::File(file(&folder, b" a b \n", 0o600)))
        .await
        .unwrap();
    assert_eq!(spaces.value.expose_secret(), " a b ");
}

#[tokio::test]
async fn every_other_source_gives_it_too() {
    let plain = SecretSource::Plain(SecretString::from("hunter2"));
    for source in [
        plain,
        SecretSource::Env("SET".to_owned()),
        shell("echo hunter2; echo user: x; echo noise >&2"),
    ] {
        assert_eq!(read(source).await.unwrap().value.expose_secret(), "hunter2");
    }
}

#[tokio::test]
async fn a_file_that_others_may_read_is_warned_about() {
    let folder = TempDir::new().unwrap();
    for mode in [0o640, 0o604] {
        let path = file(&folder, b"hunter2\n", mode);
        let warning = read(SecretSource::File(path.clone()))
            .await
            .unwrap()
            .warning
            .unwrap();
        assert!(
            warning.contains(path.to_str().unwrap()) && warning.contains("`lab`"),
            "{warning}"
        );
    }
}
