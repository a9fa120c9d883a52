//! Numbers that a seed decides.

/// A stream of numbers (SplitMix64): the same seed, the same fleet, on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Evenly from 0 to 1, 1 left out.
    pub(crate) fn even(&mut self) -> f64 {
        // 53 bits are what a double holds exactly.
        let bits = self.next() >> 11;
        let whole = f64::from(u32::try_from(bits >> 21).unwrap_or(u32::MAX));
        let rest = f64::from(u32::try_from(bits & 0x1f_ffff).unwrap_or(u32::MAX));
        (whole + rest / 2_097_152.0) / 4_294_967_296.0
    }

    /// Evenly from 0 to `end`, `end` left out.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    /// Lognormal with this median and the given sigma of its logarithm.
    pub(crate) fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.even()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.even()).cos();
        median * (sigma * normal).exp()
    }

    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }
}

/// SplitMix64: the next number of a stream, from its state.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
