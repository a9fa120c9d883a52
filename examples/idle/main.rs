//! What a daemon costs while nothing happens:
//! `cargo build --release --bins && cargo run --release --example idle -- --bmcs 10000`.
//!
//! The BMCs are mocks over HTTPS in this process; the daemon is the binary, in a process of its own. It is measured from
//! the moment at which it has seen every BMC once.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot be made has failed"
)]
#![expect(clippy::print_stdout, reason = "a command of its own")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use clap::Parser;
use mock_bmc::fleet::Fleet;
use mock_bmc::server::{Handshakes, Running, ServeOptions, serve, write_inventory};
use tokio::time::{Instant, sleep};

/// What is measured with is that everybody is there; how fast one BMC may be asked is not.
const PACE: [(&str, &str); 2] = [
    ("requests_per_second = 2\n", "requests_per_second = 1000\n"),
    ("burst = 4\n", "burst = 64\n"),
];

const PIPELINE: &str = r#"
name = "p"
[selector]
match_labels = {}
[[stage]]
name = "bmc"
kind = "bmc-version"
version = "1.50"
image = { uri = "http://firmware.lab/bmc.img" }
[[stage]]
name = "bios"
kind = "bios-version"
version = "2.10"
image = { uri = "http://firmware.lab/bios.img" }
[[stage]]
name = "post"
kind = "bios-settings"
settings = { BootMode = "Uefi" }
"#;

/// Kernel ticks a second, as `/proc` counts them.
const TICKS_PER_SECOND: f64 = 100.0;

/// A daemon that has nothing to do.
#[derive(Parser)]
struct Args {
    /// Mock BMCs with one server each.
    #[arg(long, default_value_t = 10_000)]
    bmcs: usize,
    /// How long it is watched, once it has seen every BMC. It asks every BMC each 5 minutes.
    #[arg(long, default_value_t = 11)]
    minutes: u64,
    /// Where the BMCs listen.
    #[arg(long, default_value = "127.1.0.0/16:8443")]
    listen: String,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let folder = tempfile::tempdir().unwrap();
    let fleet = fleet(&args, folder.path()).await;
    let began = Instant::now();
    let daemon = Daemon::start(folder.path());
    let first = until(&fleet, |seen| seen.full > 0, began).await;
    let all = u64::try_from(args.bmcs).unwrap();
    let everyone = until(&fleet, |seen| seen.full >= all, began).await;
    println!(
        "{} BMCs: first asked after {:.2} s, all of them after {:.0} s",
        args.bmcs,
        first.as_secs_f64(),
        everyone.as_secs_f64()
    );
    let (before, cpu) = (fleet.handshakes(), daemon.cpu_seconds());
    sleep(Duration::from_mins(args.minutes)).await;
    let (after, resident) = (fleet.handshakes(), daemon.memory_kib("VmRSS"));
    let seconds = f64::from(u32::try_from(args.minutes * 60).unwrap());
    let share = (daemon.cpu_seconds() - cpu) / seconds * 100.0;
    let (full, resumed) = (after.full - before.full, after.resumed - before.resumed);
    let percent = percent(resumed, full + resumed);
    println!("resident {:.1} MiB, CPU {share:.2} %", mib(resident));
    println!("reconnects: {full} in full, {resumed} resumed ({percent:.1} %)");
    let in_sync = daemon.in_sync();
    println!(
        "in sync: {in_sync}; resident after a scrape of all metrics {:.1} MiB, at most {:.1} MiB",
        mib(daemon.memory_kib("VmRSS")),
        mib(daemon.memory_kib("VmHWM"))
    );
}

async fn fleet(args: &Args, folder: &Path) -> Running {
    let account = ("root", "secret");
    let fleet = Fleet::builder()
        .account(account.0, account.1)
        .platform("generic", args.bmcs, 1)
        .build();
    let options = ServeOptions {
        tls: true,
        listen: args.listen.parse().unwrap(),
        keep_ledger: false,
        ..ServeOptions::default()
    };
    let running = serve(fleet, options).await.unwrap();
    let path = folder.join("inventory.toml");
    write_inventory(&path, running.endpoints(), account.0, account.1, 1.0).unwrap();
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (slow, quick) in PACE {
        assert!(text.contains(slow), "{text}");
        text = text.replace(slow, quick);
    }
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.join("pipeline.toml"), PIPELINE).unwrap();
    running
}

/// How long after a moment the fleet saw something.
async fn until(fleet: &Running, seen: impl Fn(Handshakes) -> bool, since: Instant) -> Duration {
    while !seen(fleet.handshakes()) {
        sleep(Duration::from_millis(5)).await;
    }
    since.elapsed()
}

struct Daemon {
    process: Child,
    socket: PathBuf,
}

impl Daemon {
    fn start(folder: &Path) -> Self {
        // Cargo puts examples one folder below the binaries.
        let exe = std::env::current_exe().unwrap();
        let binary = exe.parent().unwrap().parent().unwrap().join("redpipe");
        let process = Command::new(binary)
            .arg("-i")
            .arg(folder.join("inventory.toml"))
            .arg("--state")
            .arg(folder.join("state.db"))
            .arg("daemon")
            .arg(folder.join("pipeline.toml"))
            // As `deploy/redpipe.service` has it.
            .env("MALLOC_ARENA_MAX", "1")
            .env("MALLOC_MMAP_THRESHOLD_", "1048576")
            .stderr(Stdio::null())
            .spawn()
            .expect("`cargo build --release --bins` comes first");
        let socket = folder.join("state.db.sock");
        Self { process, socket }
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.process.id())).unwrap()
    }

    fn memory_kib(&self, name: &str) -> u32 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.unwrap().split_whitespace().nth(1);
        number.unwrap().parse().unwrap()
    }

    /// Of the process and all its threads so far.
    fn cpu_seconds(&self) -> f64 {
        let stat = self.proc("stat");
        // Behind the name, which may hold anything; user and system time are the 14th and 15th field of all.
        let fields = stat.rsplit(')').next().unwrap();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks = |index: usize| fields[index].parse::<u32>().unwrap();
        f64::from(ticks(11) + ticks(12)) / TICKS_PER_SECOND
    }

    /// BMCs that are as wanted, as its metrics say.
    fn in_sync(&self) -> String {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        write!(stream, "GET /metrics HTTP/1.0\r\nHost: redpipe\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let mut lines = text.lines();
        let found = lines.find_map(|line| line.strip_prefix("redpipe_bmcs{state=\"in_sync\"} "));
        found.unwrap().to_owned()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn mib(kib: u32) -> f64 {
    f64::from(kib) / 1024.0
}

fn percent(part: u64, whole: u64) -> f64 {
    let number = |count: u64| f64::from(u32::try_from(count).unwrap());
    number(part) * 100.0 / number(whole.max(1))
}
