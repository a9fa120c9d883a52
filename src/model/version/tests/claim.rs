//! How a claim about versions is written down and checked.

use crate::model::component::Component;
use crate::model::version::{Comparison, compare};

/// Texts in groups: all of one group are the same version, each group is older than the next.
pub(super) type Chain = &'static [&'static [&'static str]];

/// Claims about the texts of one vendor's component.
pub(super) struct Row {
    /// What the texts are.
    pub(super) name: &'static str,
    /// Where they come from.
    pub(super) home: (&'static str, Option<Component>),
    /// Whether the texts alone do not suffice: checked with the platform only.
    pub(super) needs_home: bool,
    /// Every pair of a chain is checked, neighbors or not.
    pub(super) chains: &'static [Chain],
    /// In each list, every text is incomparable to every other.
    pub(super) apart: &'static [&'static [&'static str]],
    /// In each entry, every text of the first list is incomparable to every text of the second.
    pub(super) strangers: &'static [(&'static [&'static str], &'static [&'static str])],
}

impl Row {
    pub(super) const BLANK: Self = Self {
        name: "",
        home: ("generic", None),
        needs_home: false,
        chains: &[],
        apart: &[],
        strangers: &[],
    };

    /// Checks every pair both ways round, by shape and on the platform, and returns what does not hold.
    pub(super) fn broken(&self) -> Vec<String> {
        let (platform, component) = self.home;
        let mut ways = vec![(Some(platform), component), (Some(platform), None)];
        if !self.needs_home {
            ways.extend([
                (None, None),
                (None, component),
                (Some("generic"), component),
            ]);
        }
        let pairs = self.pairs();
        assert!(
            !pairs.is_empty(),
            "{}: a row that claims nothing",
            self.name
        );
        let each = ways
            .iter()
            .flat_map(|way| pairs.iter().map(move |pair| (way, pair)));
        each.flat_map(|((platform, component), (a, wanted, b))| {
            [(a, *wanted, b), (b, wanted.reversed(), a)].into_iter().filter_map(move |(a, wanted, b)| {
                let found = compare(a, b, *platform, *component);
                let (name, sign, rule, why) = (self.name, wanted.sign(), found.rule, &found.explanation);
                let got = found.comparison.sign();
                let line = format!("{name}: `{a}` {sign} `{b}` on {platform:?} {component:?}: {got} {rule}: {why}");
                (found.comparison != wanted).then_some(line)
            })
        })
        .collect()
    }

    fn pairs(&self) -> Vec<(&'static str, Comparison, &'static str)> {
        let mut pairs = Vec::new();
        for chain in self.chains {
            let all = chain
                .iter()
                .enumerate()
                .flat_map(|(at, group)| group.iter().map(move |text| (at, *text)));
            pairs.extend(
                every_pair(&all.collect::<Vec<_>>())
                    .map(|((i, a), (j, b))| (a, i.cmp(&j).into(), b)),
            );
        }
        for list in self.apart {
            pairs.extend(every_pair(list).map(|(a, b)| (a, Comparison::Incomparable, b)));
        }
        for (ours, theirs) in self.strangers {
            let cross = ours.iter().flat_map(|a| {
                theirs
                    .iter()
                    .map(move |b| (*a, Comparison::Incomparable, *b))
            });
            pairs.extend(cross);
        }
        pairs
    }
}

/// Each pair once, in order, without pairs of an entry with itself.
fn every_pair<T: Copy>(list: &[T]) -> impl Iterator<Item = (T, T)> + '_ {
    list.iter()
        .enumerate()
        .flat_map(move |(at, a)| list.iter().skip(at + 1).map(move |b| (*a, *b)))
}

/// Fails with every broken claim of every row.
pub(super) fn check(rows: &[Row]) {
    let broken: Vec<String> = rows.iter().flat_map(Row::broken).collect();
    assert!(
        broken.is_empty(),
        "{} broken claims:\n{}",
        broken.len(),
        broken.join("\n")
    );
}
