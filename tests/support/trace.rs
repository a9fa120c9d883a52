//! What was written down and what happened, for assertions on records and for people who look for a reason.

use jiff::Timestamp;
use redpipe::daemon::history;
use redpipe::store::Store;

use super::world::{EPOCH, World};

impl World {
    /// All records about a BMC, as JSON.
    pub(crate) fn journal(&self, name: &str) -> Vec<String> {
        let events =
            history::events_after(self.engine().store().as_ref(), 0, usize::MAX >> 1).unwrap();
        let ours = events
            .into_iter()
            .filter(|event| event.key.bmc.as_str() == name);
        ours.map(|event| serde_json::to_string(&event.record).unwrap())
            .collect()
    }

    /// What runs wrote down and what a BMC saw, in order of time: for people who look for the reason of a failure.
    pub(crate) fn trace(&self, name: &str) -> String {
        self.trace_of(self.engine().store().as_ref(), name)
    }

    /// The same, by another store than the lab's own.
    pub(crate) fn trace_of(&self, store: &dyn Store, name: &str) -> String {
        let epoch: Timestamp = EPOCH.parse().unwrap();
        let at = |time: Timestamp| {
            let since = time.duration_since(epoch).as_millis();
            u64::try_from(since).unwrap_or_default()
        };
        let events = history::events_after(store, 0, usize::MAX >> 1).unwrap();
        let mut lines: Vec<(u64, String)> = events
            .into_iter()
            .filter(|event| event.key.bmc.as_str() == name)
            .map(|event| (at(event.at), format!("      {:?}", event.record)))
            .collect();
        lines.extend(self.ledger(name).into_iter().map(|line| {
            let said = line.method.iter().chain(&line.path).cloned();
            let did = line.caused.into_iter().chain(line.detail);
            let words: Vec<String> = said
                .chain(line.status.map(|status| status.to_string()))
                .chain(did)
                .collect();
            (line.at_ms, words.join(" "))
        }));
        lines.sort_by_key(|(at, _)| *at);
        let texts = lines.into_iter().map(|(at, text)| {
            let seconds = at / 1000;
            format!(
                "{:02}:{:02}.{:03} {text}\n",
                seconds / 60,
                seconds % 60,
                at % 1000
            )
        });
        texts.collect()
    }
}
