//! `pace`: each key from the BMC, else from defaults, else redpipe's.

use std::time::Duration;

use crate::model::inventory::Pace;
use crate::pipeline::check::Check;
use crate::pipeline::document::{At, PaceDocument};
use crate::pipeline::value::parse_duration;

/// Findings of one `pace` table, once per table.
pub(super) fn check_pace(pace: &PaceDocument, check: &mut Check<'_>) {
    if let Some(rate) = pace
        .requests_per_second
        .as_ref()
        .filter(|rate| *rate.get() <= 0.0)
    {
        check
            .error(
                rate.span(),
                "`requests_per_second` must be above zero",
                "no request at all",
            )
            .hint("use a fraction for less than one, such as 0.5");
    }
    let durations = [
        ("task_poll", &pace.task_poll),
        ("settle_for", &pace.settle_for),
        ("probe_for", &pace.probe_for),
        ("lost_update", &pace.lost_update),
    ];
    for (key, text) in durations {
        if let Some(text) = text {
            check.duration(key, text);
        }
    }
    if let Some(poll) = pace
        .task_poll
        .as_ref()
        .filter(|text| parse_duration(text.get()) == Some(Duration::ZERO))
    {
        check
            .error(poll.span(), "`task_poll` is zero", "asks without a pause")
            .hint("use a second or more");
    }
}

/// The pace of a BMC: the first table that has a key wins.
pub(super) fn layered_pace(layers: &[&PaceDocument]) -> Pace {
    let plain = Pace::default();
    let number = |read: fn(&PaceDocument) -> Option<&At<u32>>, otherwise| {
        layers
            .iter()
            .find_map(|layer| read(layer))
            .map_or(otherwise, |value| *value.get())
    };
    let duration = |read: fn(&PaceDocument) -> Option<&At<String>>, otherwise| {
        let text = layers.iter().find_map(|layer| read(layer));
        text.and_then(|text| parse_duration(text.get()))
            .unwrap_or(otherwise)
    };
    let rate = layers
        .iter()
        .find_map(|layer| layer.requests_per_second.as_ref());
    Pace {
        requests_per_second: rate.map_or(plain.requests_per_second, |rate| *rate.get()),
        burst: number(|pace| pace.burst.as_ref(), plain.burst),
        in_flight: number(|pace| pace.in_flight.as_ref(), plain.in_flight),
        task_poll: duration(|pace| pace.task_poll.as_ref(), plain.task_poll),
        settle_reads: number(|pace| pace.settle_reads.as_ref(), plain.settle_reads),
        settle_for: duration(|pace| pace.settle_for.as_ref(), plain.settle_for),
        probe_for: duration(|pace| pace.probe_for.as_ref(), plain.probe_for),
        lost_update: duration(|pace| pace.lost_update.as_ref(), plain.lost_update),
    }
}
