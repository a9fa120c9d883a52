//! One seed, played, in words.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::case::Case;
use crate::fleet::{Told, play};
use crate::invariants::Broken;
use crate::saboteurs::Saboteur;

/// Plays a seed; a panic breaks it too.
pub(crate) fn told(seed: u64, saboteur: Option<Saboteur>) -> Told {
    let case = Case::draw(seed);
    catch_unwind(AssertUnwindSafe(|| play(&case, saboteur))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Told {
            broken: Some(Broken {
                invariant: "panic",
                how: text.unwrap_or_default(),
            }),
            ends: Vec::new(),
            lines: 0,
            trace: String::new(),
        }
    })
}

/// The first seed that catches a wrong engine, and by what.
pub(crate) fn caught(
    saboteur: Saboteur,
    seeds: impl IntoIterator<Item = u64>,
) -> Option<(u64, Broken)> {
    let found = |seed| Some((seed, told(seed, Some(saboteur)).broken?));
    seeds.into_iter().find_map(found)
}

/// The one line that names a broken seed and plays it again.
pub(crate) fn line(seed: u64, broken: &Broken) -> String {
    format!(
        "seed {seed} breaks {}: {} | cargo run --release --example sim -- --seeds 1 --from {seed}",
        broken.invariant, broken.how
    )
}
