//! `validate`: load and check everything offline.

use serde_json::json;

use crate::cli::args::Pipelines;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::daemon::check_image_files;

/// Loads all files and looks at the hooks and the images that are files; findings are printed by the shell.
pub(crate) async fn run(shell: &Shell, args: &Pipelines) -> Exit {
    let loaded = match shell.files(&args.pipelines) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    if let Err(exit) = shell.hooks(&loaded) {
        return exit;
    }
    let unusable = check_image_files(&loaded.image_files()).await;
    if let Err(exit) = shell.image_files(&loaded, &unusable) {
        return exit;
    }
    let servers: usize = loaded
        .inventory
        .bmcs
        .iter()
        .map(|bmc| bmc.servers.len())
        .sum();
    let (bmcs, pipelines) = (loaded.inventory.bmcs.len(), loaded.pipelines.len());
    shell.printer.text(&format!(
        "valid: {bmcs} BMCs with {servers} listed servers, {pipelines} pipelines"
    ));
    shell.document(&json!({
        "valid": true,
        "bmcs": bmcs,
        "servers": servers,
        "pipelines": loaded.pipelines.iter().map(|pipeline| pipeline.name.to_string()).collect::<Vec<_>>(),
        "warnings": loaded.warnings.findings.len(),
    }));
    Exit::Done
}
