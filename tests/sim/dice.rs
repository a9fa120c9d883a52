//! All chance of a simulation, from one seed.

use crate::support::dice::split_mix;

/// splitmix64: the same numbers on every machine and in every version.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed);
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// From `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.between(1, 100) <= chance
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let last = u64::try_from(from.len()).unwrap_or(1) - 1;
        let at = usize::try_from(self.between(0, last)).unwrap_or(0);
        from[at]
    }
}
