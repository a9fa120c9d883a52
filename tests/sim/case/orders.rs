//! What people order meanwhile, and servers that leave the inventory and come back.

use std::time::Duration;

use redpipe::model::Verb;

use super::Deed;
use crate::dice::Dice;

/// The first seed of which this is drawn, by dice of its own: seeds before it keep their stories.
pub(crate) const FROM: u64 = 10_000;

/// Few or none of each.
pub(super) fn orders(seed: u64, systems: &[usize], mins: u64) -> Vec<(Duration, Deed)> {
    let mut dice = Dice::new(!seed);
    let mut deeds = Vec::new();
    let at = |dice: &mut Dice| dice.between(1, mins * 60);
    for _ in 0..dice.pick(&[0, 1, 1, 2]) {
        let verb = dice.pick(&[Word::Cancel, Word::Retry, Word::Retry]);
        let bmc = dice.between(1, u64::try_from(systems.len()).unwrap());
        deeds.push((
            at(&mut dice),
            Deed::Order(format!("mock-{bmc}"), verb.verb()),
        ));
    }
    if dice.percent(40) {
        let from = at(&mut dice);
        deeds.push((from, Deed::Pause(true)));
        deeds.push((from + dice.between(60, 7200), Deed::Pause(false)));
    }
    let many = systems.iter().position(|count| *count > 1);
    if let Some(index) = many.filter(|_| dice.percent(60)) {
        let last = u64::try_from(systems[index]).unwrap();
        let server = format!("mock-{}-s{}", index + 1, dice.between(1, last));
        let from = at(&mut dice);
        deeds.push((from, Deed::Listed(server.clone(), false)));
        if dice.percent(50) {
            deeds.push((from + dice.between(60, 7200), Deed::Listed(server, true)));
        }
    }
    deeds
        .into_iter()
        .map(|(at, deed)| (Duration::from_secs(at), deed))
        .collect()
}

#[derive(Debug, Clone, Copy)]
enum Word {
    Cancel,
    Retry,
}

impl Word {
    fn verb(self) -> Verb {
        match self {
            Self::Cancel => Verb::Cancel,
            Self::Retry => Verb::Retry,
        }
    }
}
