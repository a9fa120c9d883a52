//! Seeds that once broke an invariant. They stay.

/// Each with what it found.
pub(crate) const FOUND: &[(u64, &str)] = &[
    (
        114,
        "I3: our own boot flashed what was staged over what somebody had flashed by hand meanwhile",
    ),
    (175, "I9: two transient stages took turns with one setting"),
    (
        1300,
        "I4: settings that a self-restarting flash had reset were not read once more",
    ),
];
