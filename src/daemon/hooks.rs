//! Running a hook: a program that reads what it is about on stdin, ends in time, and whose words are kept.
//!
//! There is no shell and no second try. Variables of the environment that hold secrets of redpipe do not reach it.

use std::collections::BTreeSet;
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::timeout;

use crate::run::HookCall;
use crate::run::record::HookOutcome;

/// How much of what a hook prints is kept: its end, where programs say why they failed.
const OUTPUT_BYTES_MAX: usize = 4096;
/// After a hook was killed, its pipes close at once, unless something it started has left its process group.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// Runs a hook to its end. Dropped before that, it ends the hook together with everything that it started.
pub(super) async fn run(call: &HookCall, hidden: &BTreeSet<String>) -> HookOutcome {
    let document = match serde_json::to_vec(&call.document) {
        Ok(document) => document,
        Err(error) => return trouble(format!("cannot be told what it is about: {error}")),
    };
    let (child, printed) = match start(call, hidden) {
        Ok(started) => started,
        Err(error) => return trouble(format!("does not start: {error}")),
    };
    let mut group = Group::of(&child);
    // Processes live in real time: a thread waits for this one.
    let mut work = tokio::task::spawn_blocking(move || collect(child, printed, &document));
    let mut ended = timeout(call.timeout, &mut work).await;
    let is_late = ended.is_err();
    if is_late {
        group.kill();
        ended = timeout(AFTER_KILL, work).await;
    }
    group.forget();
    let mut outcome = match ended {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) => std::panic::resume_unwind(panic.into_panic()),
        Err(_) => HookOutcome::default(),
    };
    if is_late {
        outcome.trouble = Some(format!("had {} s and was ended", call.timeout.as_secs()));
    }
    outcome
}

fn trouble(words: String) -> HookOutcome {
    HookOutcome {
        trouble: Some(words),
        ..HookOutcome::default()
    }
}

/// Starts the program in a process group of its own, so that Ctrl-C is ours alone and all of it can be ended.
fn start(call: &HookCall, hidden: &BTreeSet<String>) -> std::io::Result<(Child, PipeReader)> {
    let (printed, out) = std::io::pipe()?;
    let mut command = Command::new(&call.hook.path);
    command
        .stdin(Stdio::piped())
        .stdout(out.try_clone()?)
        .stderr(out)
        .process_group(0);
    for name in hidden {
        command.env_remove(name);
    }
    Ok((command.spawn()?, printed))
}

/// Hands the document over, keeps the end of what is printed, and waits.
fn collect(mut child: Child, printed: PipeReader, document: &[u8]) -> HookOutcome {
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A hook that does not read what it is about has no use for it.
            stdin.map(|mut stdin| stdin.write_all(document).ok())
        });
        tail(printed)
    });
    match child.wait() {
        Ok(status) => ended(status, &output),
        Err(error) => trouble(format!("cannot be waited for: {error}")),
    }
}

fn ended(status: ExitStatus, output: &[u8]) -> HookOutcome {
    HookOutcome {
        code: status.code(),
        trouble: status.code().is_none().then(|| status.to_string()),
        output: shown(output),
    }
}

/// The end of everything that is printed, until nobody can print any more.
fn tail(mut printed: PipeReader) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), [0; OUTPUT_BYTES_MAX]);
    loop {
        match printed.read(&mut chunk) {
            Ok(0) | Err(_) => return kept,
            Ok(count) => {
                kept.extend_from_slice(chunk.get(..count).unwrap_or_default());
                let surplus = kept.len().saturating_sub(OUTPUT_BYTES_MAX);
                kept.drain(..surplus);
            }
        }
    }
}

/// Text without anything that moves a cursor.
fn shown(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let plain = |c: char| {
        if c.is_control() && c != '\n' { ' ' } else { c }
    };
    text.trim().chars().map(plain).collect()
}

/// A process group that is killed when nobody waits for it any more.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(i32::try_from(child.id()).ok().and_then(Pid::from_raw))
    }

    fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            // All of it may have ended just now.
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    /// It has ended, and its number may be another's soon.
    fn forget(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
#[path = "../../tests/support/script.rs"]
mod script;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::path::Path;

    use super::script::write_program;
    use super::*;
    use crate::pipeline::Hook;
    use crate::run::hold::{HookDocument, HookStage};
    use crate::run::record::HookSide;

    /// A call of a small shell script.
    fn call(folder: &Path, script: &str, timeout: Duration) -> HookCall {
        let path = folder.join("hook");
        write_program(&path, &format!("#!/bin/sh\n{script}\n"));
        HookCall {
            side: HookSide::Before,
            index: 0,
            hook: Hook {
                name: "hook".to_owned(),
                path,
            },
            timeout,
            document: HookDocument {
                hook: HookSide::Before,
                pipeline: "p".into(),
                bmc: "b".into(),
                run: "p/b#1".to_owned(),
                servers: vec!["s1".into()],
                stages: vec![HookStage {
                    name: "hop".into(),
                    kind: "bmc-version",
                }],
                end: None,
                outcomes: Vec::new(),
            },
        }
    }

    async fn outcome(script: &str, timeout: Duration) -> HookOutcome {
        let folder = tempfile::tempdir().unwrap();
        run(&call(folder.path(), script, timeout), &BTreeSet::new()).await
    }

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_hook_that_cannot_be_started_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let mut call = call(folder.path(), "", LONG);
        call.hook.path = folder.path().join("absent");
        let outcome = run(&call, &BTreeSet::new()).await;
        assert!(!outcome.is_good());
        assert!(
            outcome.words().starts_with("does not start: "),
            "{outcome:?}"
        );
    }

    #[tokio::test]
    async fn the_document_is_on_stdin_and_what_is_printed_is_kept() {
        let outcome = outcome("cat; echo; echo said >&2", LONG).await;
        assert!(outcome.is_good(), "{outcome:?}");
        assert_eq!(
            outcome.output,
            "{\"hook\":\"before\",\"pipeline\":\"p\",\"bmc\":\"b\",\"run\":\"p/b#1\",\"servers\":[\"s1\"],\
             \"stages\":[{\"name\":\"hop\",\"kind\":\"bmc-version\"}],\"end\":null,\"outcomes\":[]}\nsaid"
        );
    }

    #[tokio::test]
    async fn a_failed_hook_says_its_code_and_its_last_words() {
        let outcome = outcome("echo one; echo 'two\x1b[2J' >&2; exit 3", LONG).await;
        assert_eq!(outcome.words(), "exit code 3: two [2J");
    }

    #[tokio::test]
    async fn a_hook_that_reads_nothing_and_prints_much_ends_well_with_a_bounded_tail() {
        let outcome = outcome(
            "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done",
            LONG,
        )
        .await;
        assert!(outcome.is_good());
        assert!(outcome.output.len() <= OUTPUT_BYTES_MAX);
        assert!(outcome.output.ends_with("line 2999"));
    }

    #[tokio::test]
    async fn a_hook_that_takes_too_long_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("alive");
        let script = format!(
            "mkfifo {0}\n(exec sleep 600 > {0}) &\necho waiting\nwait",
            mark.display()
        );
        let call = call(folder.path(), &script, Duration::from_millis(1500));
        // Nobody but the hook's own child holds the other end: it can be read to its end once that child is gone.
        let reader = {
            let mark = mark.clone();
            tokio::task::spawn_blocking(move || {
                while !mark.exists() {
                    std::thread::yield_now();
                }
                std::fs::read(mark)
            })
        };
        let outcome = run(&call, &BTreeSet::new()).await;
        assert_eq!(outcome.words(), "had 1 s and was ended: waiting");
        assert_eq!(reader.await.unwrap().unwrap(), b"");
    }

    #[tokio::test]
    async fn a_hidden_variable_does_not_reach_it() {
        let folder = tempfile::tempdir().unwrap();
        let call = call(folder.path(), "echo \"${HOME-unset}\"", LONG);
        let seen = run(&call, &BTreeSet::new()).await;
        assert_ne!(seen.output, "unset");
        let hidden = run(&call, &BTreeSet::from(["HOME".to_owned()])).await;
        assert_eq!(hidden.output, "unset");
    }
}
