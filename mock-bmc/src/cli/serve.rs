//! This room is `mock-bmc serve`.
//!
//! It deliberately starts nothing before every file and argument was found good.

use jiff::Timestamp;
use mock_bmc::fleet::{Fleet, FleetBuilder};
use mock_bmc::platform;
use mock_bmc::server::{self, Endpoint, Running, ServeError, ServeOptions};
use mock_bmc::tree::{Tree, TreeError};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::args::{ServeArgs, SourceArg};
use super::dispatch::closed;
use super::report::{EXIT_FAILED, EXIT_USAGE, Failure};
use super::{printer, script};

/// Serves until a signal ends it.
pub(crate) fn run(args: &ServeArgs, sources: &[SourceArg]) -> Result<(), Failure> {
    let fleet = fleet(args, sources)?;
    let runtime = Runtime::new().map_err(|error| Failure::of(&error))?;
    runtime.block_on(serve(args, fleet.build()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the wall time at which the mock is switched on"
)]
fn fleet(args: &ServeArgs, sources: &[SourceArg]) -> Result<FleetBuilder, Failure> {
    let bmcs = usize::try_from(args.bmcs).unwrap_or(usize::MAX);
    let systems = usize::try_from(args.systems).unwrap_or(usize::MAX);
    // Two mocks must not be taken for one box, and a restarted one has forgotten all that it was.
    let (seed, _) = uuid::Uuid::new_v4().as_u64_pair();
    let mut fleet = Fleet::builder()
        .account(&args.user, &args.password)
        .uuid_seed(seed)
        .epoch(Timestamp::now());
    for source in sources {
        fleet = match source {
            SourceArg::Platform(name) => {
                known(name)?;
                fleet.platform(name, bmcs, systems)
            }
            SourceArg::Tree(dir) => {
                fleet.tree(Tree::load(dir).map_err(|error| no_tree(&error))?, bmcs)
            }
        };
    }
    match &args.script {
        None => Ok(fleet),
        Some(path) => {
            let script = script::load(path, &fleet.names())?;
            Ok(fleet.script(script))
        }
    }
}

fn known(name: &str) -> Result<(), Failure> {
    if platform::PLATFORMS.iter().any(|(known, _)| *known == name) {
        return Ok(());
    }
    let names: Vec<String> = platform::PLATFORMS
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    Err(Failure::usage(format!(
        "found platform `{name}`, expected one of {}",
        names.join(", ")
    ))
    .hint(
        "`mock-bmc platforms` lists the built-in ones; a recorded tree is given with `--tree DIR`",
    ))
}

fn no_tree(error: &TreeError) -> Failure {
    Failure::of(error)
        .code(EXIT_USAGE)
        .hint("`--tree` takes the folder that holds `redfish/v1/index.json`")
}

async fn serve(args: &ServeArgs, fleet: Fleet) -> Result<(), Failure> {
    let signals = signal(SignalKind::terminate())
        .and_then(|term| Ok((term, signal(SignalKind::interrupt())?)));
    let (mut terminate, mut interrupt) = signals.map_err(|error| Failure::of(&error))?;
    let options = ServeOptions {
        listen: args.listen,
        tls: args.tls,
        time_scale: args.time_scale,
        ledger: args.ledger.clone(),
        keep_ledger: false,
    };
    let running = server::serve(fleet, options)
        .await
        .map_err(|error| not_served(&error))?;
    announce(args, &running)?;
    let ended = tokio::select! {
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        message = running.failed() => Err(Failure::usage(message).code(EXIT_FAILED)),
    };
    running.shutdown().await;
    ended
}

/// Writes the inventory, then one line per BMC and `ready`, so that who reads `ready` finds everything in place.
fn announce(args: &ServeArgs, running: &Running) -> Result<(), Failure> {
    if let Some(file) = &args.inventory_out {
        let written = server::write_inventory(
            file,
            running.endpoints(),
            &args.user,
            &args.password,
            args.time_scale,
        );
        written.map_err(|error| {
            Failure::of(&error).hint("`--inventory-out` takes a file in a folder that exists")
        })?;
    }
    for endpoint in running.endpoints() {
        let Endpoint {
            name,
            url,
            platform,
            systems,
        } = endpoint;
        printer::line(format_args!("{name} {url} {platform} {}", systems.len()))
            .map_err(|error| closed(&error))?;
    }
    printer::line("ready").map_err(|error| closed(&error))
}

fn not_served(error: &ServeError) -> Failure {
    let failure = Failure::of(error);
    match error {
        ServeError::TimeScale(_) | ServeError::Listen(_) => failure.code(EXIT_USAGE),
        ServeError::Bind { source, .. } => match source.raw_os_error() {
            // EMFILE and ENFILE: each BMC needs a file, and each of its connections another.
            Some(23 | 24) => failure.hint("`ulimit -n` raises the number of open files"),
            _ => failure.hint("`--listen 127.0.0.1:0` takes free ports"),
        },
        ServeError::Ledger { .. } | ServeError::Client(_) => failure,
    }
}
