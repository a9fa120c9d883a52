//! `trust`: an operator's word on a BMC's certificate, credentials or identity.

use serde_json::json;

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
            let message = format!("the inventory has no bmc `{name}`");
            let names = loaded.inventory.bmcs.iter().map(|bmc| bmc.name.as_str());
            let hint = format!("it has: {}", names.collect::<Vec<_>>().join(", "));
            let (exit, kind) = (Exit::NothingMatched, "nothing-matched");
            return shell.refuse(exit, kind, &message, Some(&hint));
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
    let mut rows = Vec::new();
    for bmc in &bmcs {
        match trust::trust(&engine, bmc, what) {
            Ok(done) => {
                for line in &done {
                    shell.printer.note(&format!("{}: {line}", bmc.name));
                }
                rows.push(json!({ "bmc": bmc.name, "done": done }));
            }
            Err(fault) => return shell.failed(bmc.name.as_str(), &fault, Exit::Bug),
        }
    }
    shell.document(&json!({ "bmcs": rows }));
    Exit::Done
}
