//! This room defines what may stand on the command line.
//!
//! It deliberately opens no file: a value is only checked for its form here.

use std::path::PathBuf;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use mock_bmc::image::Component;
use mock_bmc::server::Listen;

/// Most systems behind one manager. The densest chassis controllers have some dozens.
const SYSTEMS_MAX: u64 = 256;

/// Most BMCs per source: one class-B loopback network holds no more.
const BMCS_MAX: u64 = 65_534;

/// A stateful fake BMC: Redfish over HTTP and HTTPS, with firmware that flashes, settings that wait and faults on demand.
#[derive(Debug, Parser)]
#[command(name = "mock-bmc", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put a fleet of fake BMCs on the network until SIGINT or SIGTERM.
    Serve(ServeArgs),
    /// List the built-in platforms.
    Platforms,
    /// Explain what a script file may contain.
    Script(ScriptArgs),
    /// Make a firmware image that a mock takes.
    Image(ImageArgs),
    /// Record a real BMC.
    #[command(hide = true)]
    Record(RecordArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A built-in platform; may be repeated. Without --platform and --tree: `generic`.
    #[arg(long, value_name = "NAME")]
    pub(crate) platform: Vec<String>,
    /// A folder with a recorded tree in DSP2043's mockup layout; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Vec<PathBuf>,
    /// BMCs per source.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count(BMCS_MAX))]
    pub(crate) bmcs: u64,
    /// Systems behind each BMC of a platform; a tree has its own.
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = count(SYSTEMS_MAX))]
    pub(crate) systems: u64,
    /// `IP:0` takes a free port per BMC, `IP:PORT` counts ports up, `NETWORK/BITS:PORT` gives each BMC its own address.
    #[arg(long, value_name = "ADDR", default_value_t)]
    pub(crate) listen: Listen,
    /// HTTPS, with a self-signed certificate per BMC.
    #[arg(long)]
    pub(crate) tls: bool,
    /// The account's name.
    #[arg(long, value_name = "U", default_value = "root")]
    pub(crate) user: String,
    /// The account's password.
    #[arg(long, value_name = "P", default_value = "secret")]
    pub(crate) password: String,
    /// Mock seconds per real second: with 60 a mock minute lasts one second.
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = time_scale)]
    pub(crate) time_scale: f64,
    /// Starting state, durations, requirements and faults; see `mock-bmc script --explain`.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) script: Option<PathBuf>,
    /// A file that gets one line of JSON for each thing that happens; emptied at start.
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) ledger: Option<PathBuf>,
    /// Write an inventory that `redpipe -i` takes as it is, and the password to a file beside it.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) inventory_out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ScriptArgs {
    /// Print every key with its meaning and default.
    #[arg(long, required = true)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImageArgs {
    /// What the image updates: `bmc` or `bios`.
    #[arg(long, value_name = "C", value_parser = component)]
    pub(crate) component: Component,
    /// The version that runs once the image is active.
    #[arg(long, value_name = "V", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) version: String,
    /// The oldest running version from which the image is taken.
    #[arg(long, value_name = "R")]
    pub(crate) requires: Option<String>,
    /// Size in bytes.
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub(crate) size: usize,
    /// The file to write.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _ignored: Vec<String>,
}

/// What BMCs are copies of, in the order in which the command line names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceArg {
    Platform(String),
    Tree(PathBuf),
}

/// Reads the process's arguments; wrong ones end the process with clap's own message and code 2.
pub(crate) fn parse() -> (Cli, Vec<SourceArg>) {
    let matches = Cli::command().get_matches();
    let sources = matches
        .subcommand_matches("serve")
        .map(sources)
        .unwrap_or_default();
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => (cli, sources),
        Err(error) => error.format(&mut Cli::command()).exit(),
    }
}

fn sources(matches: &ArgMatches) -> Vec<SourceArg> {
    let mut found: Vec<(usize, SourceArg)> = Vec::new();
    let at = |id: &str| matches.indices_of(id).into_iter().flatten();
    let platforms = matches.get_many::<String>("platform").into_iter().flatten();
    found.extend(at("platform").zip(platforms.cloned().map(SourceArg::Platform)));
    let trees = matches.get_many::<PathBuf>("tree").into_iter().flatten();
    found.extend(at("tree").zip(trees.cloned().map(SourceArg::Tree)));
    found.sort_by_key(|(index, _)| *index);
    if found.is_empty() {
        return vec![SourceArg::Platform("generic".to_owned())];
    }
    found.into_iter().map(|(_, source)| source).collect()
}

fn count(max: u64) -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=max)
}

fn time_scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text
        .parse()
        .map_err(|_| format!("found `{text}`, expected a number"))?;
    if scale.is_finite() && scale > 0.0 {
        Ok(scale)
    } else {
        Err(format!("found `{text}`, expected a number above 0"))
    }
}

fn component(text: &str) -> Result<Component, String> {
    match text {
        "bmc" => Ok(Component::Bmc),
        "bios" => Ok(Component::Bios),
        other => Err(format!("found `{other}`, expected `bmc` or `bios`")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn refused(arguments: &[&str]) -> String {
        let arguments = std::iter::once(&"mock-bmc").chain(arguments);
        Cli::try_parse_from(arguments).unwrap_err().to_string()
    }

    fn ordered(arguments: &[&str]) -> Vec<SourceArg> {
        let arguments = ["mock-bmc", "serve"].iter().chain(arguments);
        let matches = Cli::command().try_get_matches_from(arguments).unwrap();
        sources(matches.subcommand_matches("serve").unwrap())
    }

    #[test]
    fn bad_values_say_what_was_expected() {
        for (arguments, part) in [
            (vec!["serve", "--listen", "nowhere"], "expected `IP:PORT`"),
            (
                vec!["serve", "--time-scale", "0"],
                "expected a number above 0",
            ),
            (
                vec!["serve", "--time-scale", "fast"],
                "found `fast`, expected a number",
            ),
            (vec!["serve", "--bmcs", "0"], "0 is not in 1..=65534"),
            (vec!["serve", "--paltform", "x"], "--platform"),
            (
                vec!["image", "--component", "nic", "--version", "1", "f"],
                "expected `bmc` or `bios`",
            ),
            (vec!["image", "--component", "bmc", "f"], "--version"),
            (vec!["script"], "--explain"),
        ] {
            let error = refused(&arguments);
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn sources_keep_the_order_of_the_command_line() {
        assert_eq!(ordered(&[]), [SourceArg::Platform("generic".into())]);
        assert_eq!(
            ordered(&["--tree", "a", "--platform", "generic", "--tree", "b"]),
            [
                SourceArg::Tree("a".into()),
                SourceArg::Platform("generic".into()),
                SourceArg::Tree("b".into())
            ]
        );
    }
}
