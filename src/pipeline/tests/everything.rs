//! Files that use everything there is, supported or not.

use super::{findings, loaded};

const INVENTORY: (&str, &str) = ("inventory.toml", include_str!("files/inventory.toml"));
const PIPELINE: (&str, &str) = ("pipeline.toml", include_str!("files/pipeline.toml"));

#[test]
fn an_inventory_that_uses_every_key_loads() {
    assert_eq!(findings(&[INVENTORY], &[]), Vec::<String>::new());
    let inventory = loaded(&[INVENTORY], &[]).inventory;
    assert_eq!(
        inventory.bmcs[0].pace,
        crate::model::inventory::Pace::default(),
        "it writes the defaults out"
    );
}

/// One digest in it is a placeholder; all else that is refused is refused because it is not supported yet.
#[test]
fn a_pipeline_that_uses_every_key_is_refused_for_exactly_what_is_not_supported_yet() {
    let found = findings(&[INVENTORY], &[PIPELINE]);
    let (not_yet, other): (Vec<_>, Vec<_>) = found
        .iter()
        .partition(|line| line.contains("is not supported yet"));
    let heads: Vec<_> = not_yet
        .iter()
        .filter_map(|line| line.split(" | ").next())
        .collect();
    let expected = [
        "pipeline.toml:14:10 error: `maintenance.policy = \"owner-approval\"` is not supported yet",
        "pipeline.toml:15:1 error: `maintenance.window` is not supported yet",
        "pipeline.toml:16:1 error: `maintenance.before` is not supported yet",
        "pipeline.toml:17:1 error: `maintenance.after` is not supported yet",
    ];
    assert_eq!(heads, expected);
    let digest = "pipeline.toml:34:62 error: `sha256` is not a SHA-256 \
                  | 3 characters, not 64 hexadecimal digits | `sha256sum FILE` prints the 64 hexadecimal digits";
    assert_eq!(other, [digest]);
}

#[test]
fn with_these_taken_out_it_loads() {
    let without = ["policy", "window", "before", "after"];
    let kept = |line: &&str| !without.iter().any(|key| line.starts_with(key));
    let lines: Vec<_> = PIPELINE.1.lines().filter(kept).collect();
    let text = lines.join("\n").replace(", sha256 = \"...\"", "");
    assert_eq!(
        findings(&[INVENTORY], &[("pipeline.toml", &text)]),
        Vec::<String>::new()
    );
}
