//! The house rules that a compiler does not know: who may use whom, how long files may be, which licences come in, and
//! that no vendor is named outside its one place.

#![expect(
    clippy::unwrap_used,
    reason = "a check that cannot read its subject has failed"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Room, and the rooms it may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("pipeline", &["model"]),
    ("plan", &["model", "pipeline"]),
    ("run", &["model", "pipeline", "plan"]),
    ("drift", &["model", "pipeline", "plan"]),
    ("redfish", &["model"]),
    ("secret", &["model"]),
    ("artifact", &["model"]),
    ("store", &["model"]),
    ("observe", &["model"]),
    (
        "daemon",
        &[
            "model", "pipeline", "plan", "run", "drift", "redfish", "secret", "artifact", "store",
            "observe",
        ],
    ),
    ("api", &["model", "daemon"]),
    (
        "cli",
        &["model", "pipeline", "plan", "run", "drift", "daemon", "api"],
    ),
];

/// Folder of the room `redfish`, and what of that room it may use: bytes below, then talk, reading, acting, the client.
const REDFISH: &[(&str, &[&str])] = &[
    ("memory", &[]),
    ("wire", &[]),
    ("quirk", &["wire"]),
    ("transport", &["lock", "memory"]),
    ("line", &["lock", "transport"]),
    ("session", &["lock", "memory", "wire", "transport", "line"]),
    (
        "conversation",
        &["memory", "wire", "transport", "line", "session"],
    ),
    ("read", &["quirk", "wire", "line", "conversation"]),
    (
        "act",
        &[
            "memory",
            "quirk",
            "wire",
            "transport",
            "line",
            "conversation",
            "read",
        ],
    ),
    (
        "client",
        &[
            "lock",
            "quirk",
            "wire",
            "transport",
            "line",
            "conversation",
            "read",
            "act",
        ],
    ),
];

/// Rooms without I/O, clock, tasks or randomness.
const PURE: &[&str] = &["model", "pipeline", "plan", "run", "drift"];

/// What a pure room never names.
const IMPURE: &[&str] = &[
    "tokio",
    "reqwest",
    "rusqlite",
    "std::fs",
    "std::env",
    "std::process",
    "std::thread",
    "rand::",
    "Timestamp::now",
    "Instant::now",
    "SystemTime",
    "async fn",
];

/// A file beyond this is a room that must move house.
const FILE_LINES_MAX: usize = 1000;

/// Files longer than this are rare.
const FILE_LINES_AIM: usize = 400;

/// Share of files that may be longer than the aim, in percent.
const LONG_FILES_PERCENT_MAX: usize = 10;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The code of a file without comments, and without its test module.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    product
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn is_test_file(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_string_lossy();
    name == "tests"
        || name == "testing"
        || name.ends_with("_tests")
        || path.components().any(|part| part.as_os_str() == "tests")
}

/// Rooms that a file names by `crate::ROOM`.
fn used(text: &str) -> BTreeSet<String> {
    named_after("crate::", text)
}

/// The words right behind a prefix; empty for a list in braces.
fn named_after(prefix: &str, text: &str) -> BTreeSet<String> {
    text.match_indices(prefix)
        .map(|(at, found)| {
            let rest = &text[at + found.len()..];
            rest.chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect()
        })
        .collect()
}

#[test]
fn every_room_uses_only_the_rooms_it_may() {
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (room, allowed) in &rooms {
        for path in sources(&root().join("src").join(room)) {
            for name in used(&code(&path)) {
                if rooms.contains_key(name.as_str())
                    && name != *room
                    && !allowed.contains(&name.as_str())
                {
                    wrong.push(format!("{}: room `{room}` uses `{name}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_of_redfish_uses_only_those_below_it() {
    let room = root().join("src/redfish");
    let folders: BTreeMap<&str, &[&str]> = REDFISH.iter().copied().collect();
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&room).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || name == "tests" {
            continue;
        }
        let below = folders.get(name.as_str()).copied();
        let below = below.unwrap_or_else(|| panic!("redfish/{name} is in no row of its table"));
        for path in sources(&folder) {
            let text = code(&path);
            let mut used = named_after("crate::redfish::", &text);
            if path == folder.join("mod.rs") {
                used.extend(named_after("use super::", &text));
            }
            let others = used.iter().map(String::as_str);
            wrong.extend(
                others
                    .filter(|used| *used != name && !below.contains(used))
                    .map(|used| format!("{}: `redfish/{name}` uses `{used}`", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_of_the_product_is_a_known_room() {
    let rooms: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let known = rooms.contains(name.as_str()) || ["lib", "main"].contains(&name.as_str());
        assert!(known, "src/{name} is in no row of the room table");
    }
}

#[test]
fn pure_rooms_name_nothing_impure() {
    let mut wrong = Vec::new();
    for room in PURE {
        for path in sources(&root().join("src").join(room))
            .iter()
            .filter(|path| !is_test_file(path))
        {
            let text = code(path);
            wrong.extend(
                IMPURE
                    .iter()
                    .filter(|word| text.contains(*word))
                    .map(|word| format!("{}: `{word}`", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_mock_knows_nothing_of_redpipe() {
    for path in sources(&root().join("mock-bmc")) {
        let text = code(&path);
        assert!(
            !text.contains("redpipe::"),
            "{} uses redpipe",
            path.display()
        );
    }
    let manifest = fs::read_to_string(root().join("mock-bmc/Cargo.toml")).unwrap();
    assert!(!manifest.contains("redpipe"), "mock-bmc depends on redpipe");
}

#[test]
fn only_the_demo_uses_the_mock() {
    for path in sources(&root().join("src")) {
        let text = code(&path);
        let is_demo = path.to_string_lossy().contains("command/demo");
        assert!(
            is_demo || !text.contains("mock_bmc"),
            "{} uses the mock",
            path.display()
        );
    }
}

#[test]
fn no_vendor_is_named_outside_the_quirks() {
    let vendors = [
        "dell",
        "idrac",
        "hpe",
        "\"ilo",
        "lenovo",
        "supermicro",
        "megarac",
        "openbmc",
        "nvidia",
    ];
    let mut wrong = Vec::new();
    for path in sources(&root().join("src")) {
        let shown = path.to_string_lossy().into_owned();
        // Version rules are data, one table; quirks have their one place.
        if shown.contains("redfish/quirk") || shown.contains("model/version") || is_test_file(&path)
        {
            continue;
        }
        for line in code(&path).lines() {
            let lower = line.to_lowercase();
            let branches =
                lower.contains("match ") || lower.contains(" == ") || lower.contains("contains(");
            if branches && vendors.iter().any(|vendor| lower.contains(vendor)) {
                wrong.push(format!("{shown}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_small_enough_to_love() {
    let mut all = sources(&root().join("src"));
    all.extend(sources(&root().join("mock-bmc/src")));
    let lines = |path: &PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let long: Vec<String> = all
        .iter()
        .filter(|path| lines(path) > FILE_LINES_AIM)
        .map(|path| format!("{} ({} lines)", path.display(), lines(path)))
        .collect();
    for path in &all {
        assert!(
            lines(path) <= FILE_LINES_MAX,
            "{} has {} lines",
            path.display(),
            lines(path)
        );
    }
    assert!(
        long.len() * 100 <= all.len() * LONG_FILES_PERCENT_MAX,
        "too many long files:\n{}",
        long.join("\n")
    );
}

#[test]
fn every_licence_is_permissive() {
    let permissive = [
        "MIT",
        "Apache-2.0",
        "ISC",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "Zlib",
        "Unicode-3.0",
        "Unlicense",
        "0BSD",
        "CC0-1.0",
        "MIT-0",
        "CDLA-Permissive-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSL-1.0",
        "OpenSSL",
    ];
    // Only crates of this platform are at hand offline.
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_owned();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--filter-platform", &host])
        .args(["--format-version", "1", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none stated");
        let alternatives = licence.replace(['(', ')'], "").replace('/', " OR ");
        let acceptable = alternatives.split(" OR ").any(|choice| {
            choice
                .split(" AND ")
                .all(|part| permissive.contains(&part.trim()))
        });
        if !acceptable {
            wrong.push(format!(
                "{} {}: {licence}",
                package["name"], package["version"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
