//! This file runs the program that prints a password.
//!
//! There is no shell, no input and no second try. What the program prints goes to the caller and nowhere else.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::error::SecretCause;
use super::resolve::bounded;

/// How long a password command may take: a vault over a network answers within seconds, a prompt never does.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of stderr an error shows: its end, where programs say why.
const STDERR_SHOWN_CHARS: usize = 400;

/// What a program prints to stdout.
pub(super) async fn output(words: &[String]) -> Result<Vec<u8>, SecretCause> {
    let (program, arguments) = words.split_first().ok_or(SecretCause::NoProgram)?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Covers the time-out and a caller that goes away.
        .kill_on_drop(true)
        .spawn()
        .map_err(SecretCause::Start)?;
    match timeout(COMMAND_TIMEOUT, collect(child)).await {
        Ok(result) => result,
        Err(_) => Err(SecretCause::TimedOut(COMMAND_TIMEOUT)),
    }
}

async fn collect(mut child: Child) -> Result<Vec<u8>, SecretCause> {
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(SecretCause::Output(std::io::ErrorKind::BrokenPipe.into()));
    };
    let (printed, complained) = tokio::join!(bounded(stdout), bounded(stderr));
    let status = child.wait().await.map_err(SecretCause::Output)?;
    if !status.success() {
        let stderr = shown(&complained.unwrap_or_default());
        return Err(SecretCause::Failed {
            status: status.to_string(),
            stderr,
        });
    }
    printed.map_err(SecretCause::Output)
}

/// The end of a text, on one line and without anything that moves a cursor.
fn shown(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line: Vec<char> = text
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    line.iter()
        .skip(line.len().saturating_sub(STDERR_SHOWN_CHARS))
        .collect()
}
