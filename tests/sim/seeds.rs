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
    (
        3198,
        "I6: a stage in front of settings that were not read back yet waited for them, and they for it",
    ),
    (
        3613,
        "I5: the hash of a write-only value was lost with the process that had just written it down",
    ),
    (
        4387,
        "I1: a host that its flash had restarted by itself, which was not shown yet, was switched off by force",
    ),
    (
        4725,
        "hold: power set back by a stage that had been granted, after an edit that asks anew, was taken for a new step",
    ),
    (
        5558,
        "I4: settings that an edit took away between their write and their read-back were claimed",
    ),
    (
        7272,
        "sessions: dead logins whose age nobody knew, as the clock of the host had gone back, were asked for",
    ),
    (
        10_004,
        "I4: a server that left the inventory and came back was never walked again",
    ),
    (
        10_436,
        "sessions: those of logins that were never answered stayed where the collection has more than one page",
    ),
];
