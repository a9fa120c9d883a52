//! What the mock's ledger says, line by line.

use std::collections::BTreeMap;

use mock_bmc::ledger::LedgerLine;

/// All lines so far.
pub(crate) struct Ledger(Vec<LedgerLine>);

impl Ledger {
    pub(crate) fn read(lines: &[String]) -> Self {
        let lines = lines.iter();
        Self(
            lines
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        )
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn caused(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|line| {
            line.caused
                .iter()
                .map(String::as_str)
                .chain(line.detail.as_deref())
        })
    }

    /// By BMC: what was accepted or reset, each with its count.
    pub(crate) fn destructive(&self) -> BTreeMap<String, BTreeMap<String, usize>> {
        let mut found: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for line in &self.0 {
            for words in &line.caused {
                let what = words.split(" task ").next().unwrap_or(words);
                let begins = ["update accepted ", "settings accepted ", "reset "];
                if begins.iter().any(|begin| what.starts_with(begin)) {
                    let of_bmc = found.entry(line.bmc.clone()).or_default();
                    *of_bmc.entry(what.to_owned()).or_default() += 1;
                }
            }
        }
        found
    }

    /// Accepted update requests by component, version and target.
    fn updates(&self) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        for words in self
            .caused()
            .filter(|text| text.starts_with("update accepted "))
        {
            let what = words.split(" task ").next().unwrap_or(words);
            *found.entry(what.to_owned()).or_default() += 1;
        }
        found
    }

    /// No hop has a second accepted update request.
    pub(crate) fn check_updates(&self) {
        let twice: Vec<_> = self
            .updates()
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .collect();
        assert!(twice.is_empty(), "accepted more than once: {twice:?}");
    }

    /// One update for each BMC hop, one for each BIOS hop and server, and the versions they lead to.
    pub(crate) fn check_end(&self) {
        assert_eq!(self.updates().len(), 2 + 2 * 2, "{:?}", self.updates());
        for version in [
            "bmc version 1.60 -> 1.80",
            "bios 1 version 2.20 -> 2.50",
            "bios 2 version 2.20 -> 2.50",
        ] {
            assert!(
                self.caused().any(|text| text == version),
                "no line says `{version}`"
            );
        }
        assert!(
            !self.caused().any(|text| text.starts_with("bricked")),
            "a server is bricked"
        );
    }

    /// Whether an accepted update has not yet led to its version.
    pub(crate) fn has_update_under_way(&self) -> bool {
        let accepted = self.updates().values().sum::<usize>();
        let shown = self
            .caused()
            .filter(|text| text.contains(" version ") && text.contains(" -> "))
            .count();
        accepted > shown
    }

    /// Sessions that are still open.
    pub(crate) fn sessions_left(&self) -> usize {
        let mut open: Vec<String> = Vec::new();
        for text in self.caused() {
            if let Some(id) = text.strip_prefix("session created ") {
                open.push(id.to_owned());
            } else if let Some(id) = text
                .strip_prefix("session deleted ")
                .or_else(|| text.strip_prefix("session expired "))
            {
                open.retain(|known| known != id);
            } else if text.starts_with("manager gone") {
                open.clear();
            }
        }
        open.len()
    }
}
