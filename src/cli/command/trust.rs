//! `trust`: an operator's word on a BMC's certificate, credentials or identity.

use crate::cli::args::TrustArgs;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::daemon::trust;
use crate::model::BmcName;

/// Forgets what stands in the way, and says exactly what.
pub(crate) fn run(shell: &Shell, args: &TrustArgs) -> Exit {
    let loaded = match shell.inventory() {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let mut bmcs = Vec::new();
    for name in &args.bmcs {
        if let Some(bmc) = loaded.inventory.bmc(&BmcName::from(name.as_str())) {
            bmcs.push(bmc.clone());
        } else {
            shell
                .printer
                .error(&format!("error: the inventory has no bmc `{name}`"));
            return Exit::NothingMatched;
        }
    }
    let engine = match shell.engine(bmcs.len()) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let what = trust::What {
        certificate: args.certificate || !(args.credentials || args.identity),
        credentials: args.credentials,
        identity: args.identity,
    };
    for bmc in &bmcs {
        match trust::trust(&engine, bmc, what) {
            Ok(told) => told
                .iter()
                .for_each(|line| shell.printer.note(&format!("{}: {line}", bmc.name))),
            Err(fault) => return shell.failed(bmc.name.as_str(), &fault, Exit::Bug),
        }
    }
    Exit::Done
}
