//! Whatever a file holds, a load ends with values or findings.

use proptest::prelude::*;

use super::{shown, try_load};

const FILES: [&str; 4] = [
    include_str!("files/inventory.toml"),
    include_str!("files/pipeline.toml"),
    include_str!("../../../inventory/lab.toml"),
    include_str!("../../../pipelines/generic.toml"),
];

/// Pieces that mean something somewhere.
const PIECES: [&str; 16] = [
    "\"",
    "[[stage]]\n",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "-1",
    "1.5",
    "true",
    "${env.X",
    "ä",
    "inf",
    "password = \"x\"",
    ".",
];

/// Loads it as both kinds; every finding can be shown.
fn load_both(text: &str) {
    for (inventory, pipelines) in [
        (vec![("i.toml", text)], vec![]),
        (vec![], vec![("p.toml", text)]),
    ] {
        let all = match try_load(&inventory, &pipelines) {
            Ok(loaded) => loaded.warnings,
            Err(all) => all,
        };
        for finding in &all.findings {
            assert!(
                !shown(&all, finding).is_empty() && finding.hint.is_some(),
                "{finding:?}"
            );
            let text = all.source(finding.source).text();
            assert!(
                text.get(finding.span.clone()).is_some(),
                "{finding:?} is inside the text"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn any_text_ends_in_values_or_findings(text in "[ -~\n\u{e4}]{0,200}") {
        load_both(&text);
    }

    #[test]
    fn a_damaged_file_ends_in_values_or_findings(
        file in 0..FILES.len(),
        cuts in proptest::collection::vec((0.0..1.0_f64, 0..12_usize, 0..PIECES.len()), 1..4),
    ) {
        let mut chars: Vec<char> = FILES[file].chars().collect();
        for (place, length, piece) in cuts {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
            let start = (place * chars.len() as f64) as usize;
            let end = (start + length).min(chars.len());
            chars.splice(start..end, PIECES[piece].chars());
        }
        load_both(&chars.into_iter().collect::<String>());
    }
}
