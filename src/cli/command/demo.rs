//! `demo`: a mock fleet in this process, and a bundled pipeline applied to it by the very same code.

use std::path::Path;
use std::sync::Arc;

use mock_bmc::fleet::Fleet;
use mock_bmc::server::{Running, ServeOptions, serve, write_inventory};

use crate::cli::command::apply;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::daemon::ApplyOptions;

/// Mock minutes that pass in one second: the whole walk then takes half a minute.
const TIME_SCALE: f64 = 240.0;

/// The bundled pipeline and its images.
const PIPELINE: &str = include_str!("../../../pipelines/generic.toml");

/// Image files beside the pipeline.
const IMAGES: &[(&str, &[u8])] = &[
    (
        "generic-bmc-1.60.img",
        include_bytes!("../../../pipelines/images/generic-bmc-1.60.img"),
    ),
    (
        "generic-bmc-1.80.img",
        include_bytes!("../../../pipelines/images/generic-bmc-1.80.img"),
    ),
    (
        "generic-bios-2.20.img",
        include_bytes!("../../../pipelines/images/generic-bios-2.20.img"),
    ),
    (
        "generic-bios-2.50.img",
        include_bytes!("../../../pipelines/images/generic-bios-2.50.img"),
    ),
];

/// The mock's account.
const ACCOUNT: (&str, &str) = ("root", "secret");

/// Starts the fleet, applies the pipeline, takes everything away again.
pub(crate) async fn run(shell: &Shell) -> Exit {
    let folder = match scratch() {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("the demo needs a scratch folder: {error}");
            return shell.refuse(Exit::Bug, "bug", &message, None);
        }
    };
    let exit = demonstrate(shell, &folder).await;
    if let Err(error) = std::fs::remove_dir_all(&folder) {
        shell.printer.note(&format!(
            "`{}` could not be removed: {error}",
            folder.display()
        ));
    }
    exit
}

async fn demonstrate(shell: &Shell, folder: &Path) -> Exit {
    let inventory = folder.join("inventory.toml");
    let fleet = match start_fleet(&inventory).await {
        Ok(fleet) => fleet,
        Err(message) => {
            let message = format!("the mock fleet does not start: {message}");
            return shell.refuse(Exit::Bug, "bug", &message, None);
        }
    };
    for endpoint in fleet.endpoints() {
        shell.printer.note(&format!(
            "{}  {}  {} systems",
            endpoint.name,
            endpoint.url,
            endpoint.systems.len()
        ));
    }
    let inner = Shell {
        printer: shell.printer,
        inventory: vec![inventory],
        image_server: None,
        state: Some(folder.join("state.db").display().to_string()),
        env: Arc::clone(&shell.env),
        told: Arc::clone(&shell.told),
    };
    let exit = apply_pipeline(&inner, &folder.join("pipelines/generic.toml")).await;
    fleet.shutdown().await;
    exit
}

async fn apply_pipeline(shell: &Shell, pipeline: &Path) -> Exit {
    let loaded = match shell.files(&[pipeline.to_owned()]) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match shell.chosen(&loaded, None).await {
        Ok(chosen) => apply::drive(shell, chosen, ApplyOptions::default()).await,
        Err(exit) => exit,
    }
}

/// Three BMCs with one, two and three servers, on free ports of the loopback address, and the inventory that lists them.
async fn start_fleet(inventory: &Path) -> Result<Running, String> {
    let fleet = Fleet::builder()
        .account(ACCOUNT.0, ACCOUNT.1)
        .platform("generic", 1, 1)
        .platform("generic", 1, 2)
        .platform("generic", 1, 3)
        .build();
    let options = ServeOptions {
        tls: true,
        time_scale: TIME_SCALE,
        ..ServeOptions::default()
    };
    let running = serve(fleet, options)
        .await
        .map_err(|error| error.to_string())?;
    write_inventory(
        inventory,
        running.endpoints(),
        ACCOUNT.0,
        ACCOUNT.1,
        TIME_SCALE,
    )
    .map_err(|error| error.to_string())?;
    Ok(running)
}

fn scratch() -> std::io::Result<std::path::PathBuf> {
    let folder =
        std::env::temp_dir().join(format!("redpipe-demo-{}", uuid::Uuid::new_v4().simple()));
    let images = folder.join("pipelines/images");
    std::fs::create_dir_all(&images)?;
    std::fs::write(folder.join("pipelines/generic.toml"), PIPELINE)?;
    for (name, bytes) in IMAGES {
        std::fs::write(images.join(name), bytes)?;
    }
    Ok(folder)
}
