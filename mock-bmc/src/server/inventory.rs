//! This room writes the inventory file that redpipe takes to drive a served fleet.
//!
//! It deliberately shares no type with redpipe: the file is plain text in the documented format, so that neither side
//! can be wrong together with the other.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::running::{Endpoint, ServedSystem};
use crate::bmc::Bmc;

/// Requests per second that a client may send a BMC at scale 1, as redpipe documents it.
const REQUESTS_PER_SECOND: f64 = 2.0;

/// Most requests per second that are written, however fast mock time runs: more would only measure the host.
const REQUESTS_PER_SECOND_MAX: f64 = 1000.0;

/// Requests in a row at scale 1, and the most that are written.
const BURST: (f64, f64) = (4.0, 64.0);

/// Shortest span that is written. Below this the host's own scheduling decides, not the file.
const SPAN_MIN: Duration = Duration::from_millis(5);

/// The documented spans of `[defaults.pace]`, in seconds at scale 1.
const PACE: [(&str, u64); 4] = [
    ("task_poll", 10),
    ("settle_for", 60),
    ("probe_for", 30),
    ("lost_update", 20 * 60),
];

/// The documented `poll_interval`, in seconds at scale 1.
const POLL_INTERVAL: u64 = 5 * 60;

/// Why an inventory cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", path.display())]
pub struct InventoryError {
    /// The file.
    pub path: PathBuf,
    /// The system's own reason.
    pub source: io::Error,
}

/// Writes an inventory of all endpoints to `file`, and the password to a file beside it that only its owner can read.
///
/// The inventory appears whole or not at all. Spans are divided by `time_scale`, because a client waits in real time.
pub fn write_inventory(
    file: &Path,
    endpoints: &[Endpoint],
    user: &str,
    password: &str,
    time_scale: f64,
) -> Result<(), InventoryError> {
    let secret = file.with_extension("password");
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| InventoryError { path, source }
    };
    write_secret(&secret, password).map_err(failed(&secret))?;
    let secret = secret.canonicalize().map_err(failed(&secret))?;
    let text = text(endpoints, user, &secret, time_scale);
    let draft = file.with_extension("toml.draft");
    fs::write(&draft, text).map_err(failed(&draft))?;
    fs::rename(&draft, file).map_err(failed(file))
}

fn write_secret(path: &Path, password: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    // A file that was there before keeps its mode otherwise.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(password.as_bytes())
}

fn text(endpoints: &[Endpoint], user: &str, secret: &Path, time_scale: f64) -> String {
    let tls = endpoints
        .iter()
        .any(|endpoint| endpoint.url.starts_with("https:"));
    let mut text = String::from(
        "# Written by mock-bmc; valid while it runs.\n\n[defaults]\ncredentials = \"mock\"\n",
    );
    if tls {
        text.push_str("tls = \"first-use\"\n");
    }
    let requests = (REQUESTS_PER_SECOND * time_scale).clamp(1.0, REQUESTS_PER_SECOND_MAX);
    let burst = (BURST.0 * time_scale).clamp(BURST.0, BURST.1);
    let mut lines = vec![
        format!("poll_interval = {}", span(POLL_INTERVAL, time_scale)),
        "\n[defaults.pace]".to_owned(),
        format!("requests_per_second = {requests:.0}"),
        format!("burst = {burst:.0}"),
        "in_flight = 1".to_owned(),
        "settle_reads = 3".to_owned(),
    ];
    lines.extend(PACE.map(|(key, seconds)| format!("{key} = {}", span(seconds, time_scale))));
    lines.push("\n[credentials.mock]".to_owned());
    lines.push(format!("username = {}", quoted(user)));
    lines.push(format!(
        "password = {{ file = {} }}",
        quoted(&secret.to_string_lossy())
    ));
    for endpoint in endpoints {
        push_bmc(&mut lines, endpoint);
    }
    for line in lines {
        writeln!(text, "{line}").expect("a String takes every write");
    }
    text
}

fn push_bmc(lines: &mut Vec<String>, endpoint: &Endpoint) {
    lines.push("\n[[bmc]]".to_owned());
    lines.push(format!("name = {}", quoted(&endpoint.name)));
    lines.push(format!("address = {}", quoted(&endpoint.url)));
    lines.push(format!(
        "labels = {{ platform = {} }}",
        quoted(&endpoint.platform)
    ));
    for system in &endpoint.systems {
        lines.push("\n  [[bmc.server]]".to_owned());
        lines.push(format!("  name = {}", quoted(&system.server)));
        lines.push(format!("  system = {}", quoted(&system.id)));
    }
}

/// A span of mock time in real time, as the file spells it.
fn span(seconds: u64, time_scale: f64) -> String {
    let real = Duration::from_secs(seconds)
        .div_f64(time_scale)
        .max(SPAN_MIN);
    let text = match (real.as_secs(), real.subsec_millis()) {
        (seconds, 0) => format!("{seconds}s"),
        (seconds, _) if seconds >= 60 => format!("{seconds}s"),
        _ => format!("{}ms", real.as_millis()),
    };
    quoted(&text)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Names the systems of a BMC for an inventory: `mock-1-437XR1138R2`.
pub(crate) fn systems(bmc: &Bmc) -> Vec<ServedSystem> {
    let system = |id: &str| {
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
                letter
            } else {
                '-'
            }
        };
        let safe: String = id.chars().map(plain).collect();
        ServedSystem {
            server: format!("{}-{safe}", bmc.name()),
            id: id.to_owned(),
        }
    };
    bmc.state()
        .systems
        .iter()
        .map(|state| system(&state.id))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        let system = |id: &str| ServedSystem {
            server: format!("mock-1-{id}"),
            id: id.to_owned(),
        };
        Endpoint {
            name: "mock-1".into(),
            url: url.into(),
            platform: "generic".into(),
            systems: vec![system("1"), system("2")],
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error =
            write_inventory(Path::new("/nowhere/i.toml"), &[], "root", "secret", 1.0).unwrap_err();
        assert_eq!(error.to_string(), "cannot write `/nowhere/i.password`");
    }

    #[test]
    fn the_password_is_in_a_file_of_its_own_that_others_cannot_read() {
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("mock.password");
        fs::write(&secret, "an older one").unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o644)).unwrap();
        let file = dir.path().join("mock.toml");
        write_inventory(
            &file,
            &[endpoint("https://127.0.0.1:8443")],
            "root",
            "s3cret",
            60.0,
        )
        .unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("s3cret"));
        let parsed: toml::Table = text.parse().unwrap();
        let path = parsed["credentials"]["mock"]["password"]["file"]
            .as_str()
            .unwrap();
        assert!(Path::new(path).is_absolute());
        assert_eq!(fs::read_to_string(path).unwrap(), "s3cret");
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(parsed["defaults"]["tls"].as_str(), Some("first-use"));
        assert_eq!(parsed["bmc"][0]["server"][1]["system"].as_str(), Some("2"));
    }

    #[test]
    fn the_pace_follows_the_time_scale() {
        let pace = |scale: f64| {
            let text = text(
                &[endpoint("http://127.0.0.1:1")],
                "root",
                Path::new("/p"),
                scale,
            );
            let parsed: toml::Table = text.parse().unwrap();
            assert_eq!(parsed["defaults"].get("tls"), None);
            parsed["defaults"]["pace"].clone()
        };
        let slow = pace(1.0);
        assert_eq!(slow["requests_per_second"].as_integer(), Some(2));
        assert_eq!(slow["burst"].as_integer(), Some(4));
        assert_eq!(slow["settle_for"].as_str(), Some("60s"));
        let fast = pace(60.0);
        assert_eq!(fast["requests_per_second"].as_integer(), Some(120));
        assert_eq!(fast["settle_for"].as_str(), Some("1s"));
        assert_eq!(fast["task_poll"].as_str(), Some("166ms"));
        assert_eq!(fast["lost_update"].as_str(), Some("20s"));
    }
}
