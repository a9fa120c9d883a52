//! The command line as clap reads it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::model::component::Component;

/// Moves BMC and BIOS firmware and settings of a bare-metal fleet over Redfish, one hop at a time.
///
/// Exit codes: 0 done; 1 a run failed; 2 usage or invalid file; 3 `plan` has changes or `drift` found drift; 4 nothing matched; 5 held, an
/// operator is needed; 6 a BMC was unreachable and nothing else is wrong; 70 a bug; 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "redpipe", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Inventory file or folder; may be given more than once [default: inventory/].
    #[arg(short, long = "inventory", global = true, value_name = "INVENTORY")]
    pub(crate) inventory: Vec<PathBuf>,
    /// Where runs are remembered: a path or `sqlite:PATH` [default: $XDG_STATE_HOME/redpipe/state.db].
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) state: Option<String>,
    /// Where BMCs that only pull fetch `file` images from: an address and port of this host that they reach
    /// [default: a free port on the address that faces each BMC].
    #[arg(long, global = true, value_name = "ADDR", env = "REDPIPE_IMAGE_SERVER")]
    pub(crate) image_server: Option<SocketAddr>,
    /// How results are printed.
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
    /// More detail on stderr.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Only results and errors.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How results are printed on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load and check all files; contacts nothing.
    Validate(Pipelines),
    /// Read the BMCs and say what would happen and why; writes nothing.
    Plan(PlanArgs),
    /// Plan, ask, and run to the end with live progress; a second `apply` carries on.
    ///
    /// Where a daemon serves on the state, the order is handed to it, and followed as if it were carried out here.
    Apply(ApplyArgs),
    /// How runs stand: phases per stage and server, with reasons and deadlines.
    Status {
        /// `PIPELINE/BMC` or `PIPELINE/BMC#N`; all without it.
        run: Option<String>,
    },
    /// Observe the fleet once, and say what is not as its pipelines want it in the end; writes nothing.
    ///
    /// Exit code 3 where something has drifted; a version past the last hop is told, and is no drift.
    Drift(PlanArgs),
    /// The journal as a person reads it.
    Events {
        /// `PIPELINE/BMC` or `PIPELINE/BMC#N`; all without it.
        run: Option<String>,
        /// Keep printing what happens.
        #[arg(short, long)]
        follow: bool,
    },
    /// Begin a failed or cancelled run anew, or look at a held one again.
    ///
    /// Carried out by the daemon that serves on the state or the process that drives the run, else here in the foreground.
    Retry(RunArgs),
    /// Agree to what a run asks for: exactly these stages, images and servers, once.
    ///
    /// For pipelines with `policy = "owner-approval"`. Carried out by the daemon or the process that drives the run; where
    /// none does, `apply` carries on.
    Approve {
        /// `PIPELINE/BMC`, the latest of the pair, or `PIPELINE/BMC#N`.
        run: String,
    },
    /// Begin no further step of a run; an update that is being flashed is followed to its end.
    ///
    /// What of the run waits on the BMC is taken back; the run ends as Cancelled once nothing of it is left, and is held
    /// with a reason that begins `left behind` otherwise. Carried out by the daemon or the process that drives the run,
    /// else here in the foreground.
    Cancel(RunArgs),
    /// Give a held run up.
    Release {
        /// Which run.
        #[command(flatten)]
        run: RunArgs,
        /// Answer for whatever of it is left on the BMC: nothing is looked at, nothing is deleted.
        #[arg(long, required = true)]
        leave: bool,
    },
    /// Begin no run of a pipeline; running ones are held at their next safe point.
    Pause {
        /// The pipeline's name.
        pipeline: String,
    },
    /// End a pause.
    Resume {
        /// The pipeline's name.
        pipeline: String,
    },
    /// Look after the inventory.
    Inventory {
        /// What to do with it.
        #[command(subcommand)]
        command: InventoryCommand,
    },
    /// Print a pipeline file made of one golden server's versions and settings; writes nothing.
    ///
    /// It selects every machine of that model. Settings are those that differ from what their registry states as default;
    /// what cannot be written, is secret, or names this one machine is left out.
    Snapshot(SnapshotArgs),
    /// Trust a BMC's certificate, credentials or identity anew.
    Trust(TrustArgs),
    /// JSON Schema of a file kind, for editors.
    Schema {
        /// Which file kind.
        kind: SchemaKind,
    },
    /// How two version texts compare, and by which rule.
    Versions {
        /// One text.
        a: String,
        /// The other.
        b: String,
        /// Class of machine that the rules are chosen for.
        #[arg(long)]
        platform: Option<String>,
        /// Component that the rules are chosen for.
        #[arg(long, value_parser = component)]
        component: Option<Component>,
    },
    /// Observe the fleet, tell what drifts, bring back what may be, and carry runs on, until it is stopped.
    ///
    /// SIGHUP reads the files anew, as does every change of them; wrong files change nothing. SIGTERM and Ctrl-C let runs
    /// come to a safe point.
    Daemon(DaemonArgs),
    /// Start a mock fleet and walk it through a multi-hop pipeline, for real.
    Demo,
}

/// Pipelines to work on.
#[derive(Debug, clap::Args)]
pub(crate) struct Pipelines {
    /// Pipeline files or folders [default: pipelines/].
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipelines: Vec<PathBuf>,
}

/// Arguments of `plan` and `drift`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Which pipelines.
    #[command(flatten)]
    pub(crate) pipelines: Pipelines,
    /// Only servers with these labels, such as `rack=r04,role in (db,web)`.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) limit: Option<String>,
}

/// Arguments of `apply`.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// Which pipelines.
    #[command(flatten)]
    pub(crate) pipelines: Pipelines,
    /// Only servers with these labels, such as `rack=r04,role in (db,web)`.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) limit: Option<String>,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// BMCs in progress at once, over all pipelines; a daemon has an option of its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_concurrent: Option<u32>,
    /// Wait for held runs instead of ending with exit code 5.
    #[arg(long)]
    pub(crate) wait: bool,
}

/// Arguments of `daemon`.
#[derive(Debug, clap::Args)]
pub(crate) struct DaemonArgs {
    /// Which pipelines.
    #[command(flatten)]
    pub(crate) pipelines: Pipelines,
    /// BMCs in progress at once, over all pipelines.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_concurrent: Option<u32>,
    /// Where the API and the dashboard are served.
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

/// Where a daemon is spoken to.
#[derive(Debug, clap::Args)]
pub(crate) struct ApiArgs {
    /// Unix socket of the API, for its owner alone [default: the state's file with `.sock` behind it].
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// TCP address of API, dashboard and metrics, such as `127.0.0.1:7780` [default: none].
    ///
    /// Any but a loopback address needs a token and TLS.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// File with the token that clients of the TCP address must show.
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file with the certificate of the TCP address and its chain.
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM file with the certificate's private key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

/// A run, and the files that are needed where no process drives it.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// `PIPELINE/BMC`, the latest of the pair, or `PIPELINE/BMC#N`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Which pipelines.
    #[command(flatten)]
    pub(crate) pipelines: Pipelines,
}

/// What to do with the inventory.
#[derive(Debug, Subcommand)]
pub(crate) enum InventoryCommand {
    /// Reach every BMC and tell versions, attributes and problems.
    Check,
    /// Print an inventory made of a CSV table or an Ansible inventory; contacts nothing.
    ///
    /// Columns and variables are known by their usual names (`name`, `bmc_ip`, `username`, `server`, `serial`); others become
    /// labels, as do Ansible's groups. Passwords are not taken over.
    Import(ImportArgs),
}

/// Arguments of `inventory import`.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// A CSV table, an Ansible inventory, or what `ansible-inventory --list` prints.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Arguments of `snapshot`.
#[derive(Debug, clap::Args)]
pub(crate) struct SnapshotArgs {
    /// The server, as the inventory names it, or `BMC/ID`.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Where the image of the BMC's version is: a URI or a file.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) bmc_image: Option<String>,
    /// Where the image of the BIOS's version is: a URI or a file.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) bios_image: Option<String>,
}

/// Arguments of `trust`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// BMCs by name.
    #[arg(required = true, value_name = "BMC")]
    pub(crate) bmcs: Vec<String>,
    /// Forget the remembered certificate; the next contact remembers the one shown then. The default.
    #[arg(long)]
    pub(crate) certificate: bool,
    /// Try the credentials again that this BMC refused.
    #[arg(long)]
    pub(crate) credentials: bool,
    /// Forget which box answered under this name.
    #[arg(long)]
    pub(crate) identity: bool,
}

/// File kinds with a schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SchemaKind {
    /// `inventory/*.toml`
    Inventory,
    /// `pipelines/*.toml`
    Pipeline,
    /// A file of firmware images beside pipelines
    Catalogue,
}

fn component(text: &str) -> Result<Component, String> {
    match text {
        "bmc" => Ok(Component::Bmc),
        "bios" => Ok(Component::Bios),
        _ => Err("expected `bmc` or `bios`".to_owned()),
    }
}
