//! `inventory check`: reach every BMC and tell what it is.

mod document;
mod text;

use document::{Document, row};
use text::text;

use crate::cli::exit::Exit;
use crate::cli::report;
use crate::cli::shell::Shell;
use crate::daemon::{Awaited, Checked, Stop, check};
use crate::model::{Fault, FaultKind};

/// Reads every BMC of the inventory.
pub(crate) async fn run(shell: &Shell) -> Exit {
    let loaded = match shell.inventory() {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let bmcs = &loaded.inventory.bmcs;
    if bmcs.is_empty() {
        let message = "the inventory lists no bmc";
        return shell.refuse(Exit::NothingMatched, "nothing-matched", message, None);
    }
    let engine = match shell.engine(bmcs.len()) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let (stop, awaited) = (Stop::new(), Awaited::default());
    let work = check(&engine, bmcs, &stop, &awaited);
    let checked = match shell.reading(&stop, &awaited, work).await {
        Ok(checked) => checked,
        Err(exit) => return exit,
    };
    for (bmc, fault) in checked
        .iter()
        .filter_map(|one| Some((&one.bmc.name, one.look.as_ref().err()?)))
    {
        shell
            .printer
            .error(&report::fault(&format!("bmc `{bmc}`"), fault));
    }
    let document = Document {
        bmcs: checked.iter().map(row).collect(),
    };
    for line in text(&document) {
        shell.printer.text(&line);
    }
    shell.document(&document);
    Exit::worst(checked.iter().filter_map(exit_of_one))
}

/// An operator is needed where a BMC is not the one that is meant; what else is odd stops nobody from reading it.
fn exit_of_one(checked: &Checked) -> Option<Exit> {
    if let Err(fault) = &checked.look {
        return Some(exit_of(fault));
    }
    let wrong = FaultKind::WrongBox.as_str();
    let is_wrong = checked.problems.iter().any(|problem| problem.kind == wrong);
    is_wrong.then_some(Exit::Held)
}

/// What a BMC that cannot be worked with means for the exit code.
pub(crate) fn exit_of(fault: &Fault) -> Exit {
    match fault.kind {
        FaultKind::Unreachable
        | FaultKind::BadAnswer
        | FaultKind::NotReady
        | FaultKind::SessionsExhausted
        | FaultKind::Deadline => Exit::Unreachable,
        FaultKind::Bug => Exit::Bug,
        FaultKind::LoginRefused
        | FaultKind::CredentialsBad
        | FaultKind::LooksReset
        | FaultKind::PasswordChangeRequired
        | FaultKind::CertificateChanged
        | FaultKind::CertificateUntrusted
        | FaultKind::SecretUnavailable
        | FaultKind::WrongBox
        | FaultKind::SystemMissing
        | FaultKind::Blocked
        | FaultKind::UpdateRefused
        | FaultKind::UpdateFailed
        | FaultKind::VersionUnchanged
        | FaultKind::SideEffect
        | FaultKind::SettingsInvalid
        | FaultKind::SettingsRefused
        | FaultKind::SettingsNotApplied
        | FaultKind::ResetFailed
        | FaultKind::ImageInvalid
        | FaultKind::Unsupported
        | FaultKind::LeaseHeld
        | FaultKind::Cancelled => Exit::Held,
    }
}
