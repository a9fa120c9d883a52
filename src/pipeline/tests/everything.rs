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

/// One digest in it is a placeholder.
#[test]
fn a_pipeline_that_uses_every_key_is_refused_for_what_is_wrong_and_nothing_else() {
    let digest = "pipeline.toml:34:62 error: `sha256` is not a SHA-256 \
                  | 3 characters, not 64 hexadecimal digits | `sha256sum FILE` prints the 64 hexadecimal digits";
    assert_eq!(findings(&[INVENTORY], &[PIPELINE]), [digest]);
}

#[test]
fn with_that_taken_out_it_loads() {
    let text = PIPELINE.1.replace(", sha256 = \"...\"", "");
    assert_eq!(
        findings(&[INVENTORY], &[("pipeline.toml", &text)]),
        Vec::<String>::new()
    );
}
