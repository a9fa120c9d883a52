//! One copy of what many say alike: the BMCs of a fleet have few labels, versions and URIs between them.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many are kept before it is looked which of them nobody holds any more.
const LOOK_AT_MIN: usize = 64;

/// Values that are shared; what nobody else holds is dropped from it in time.
#[derive(Debug)]
pub struct OneCopy<T: ?Sized> {
    known: BTreeSet<Arc<T>>,
    look_at: usize,
}

impl<T: Ord + ?Sized> OneCopy<T> {
    /// The one copy of this value.
    pub fn of<V: Borrow<T> + Into<Arc<T>>>(&mut self, value: V) -> Arc<T> {
        if let Some(known) = self.known.get(value.borrow()) {
            return Arc::clone(known);
        }
        if self.known.len() >= self.look_at {
            self.known.retain(|known| Arc::strong_count(known) > 1);
            self.look_at = (self.known.len() * 2).max(LOOK_AT_MIN);
        }
        let first: Arc<T> = value.into();
        self.known.insert(Arc::clone(&first));
        first
    }
}

impl<T: Ord + ?Sized> Default for OneCopy<T> {
    fn default() -> Self {
        Self {
            known: BTreeSet::new(),
            look_at: LOOK_AT_MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_for_as_long_as_somebody_holds_it() {
        let mut texts = OneCopy::<str>::default();
        let (first, second) = (texts.of("1.60"), texts.of(String::from("1.60").as_str()));
        assert!(Arc::ptr_eq(&first, &second));
        let held: Vec<Arc<str>> = (0..LOOK_AT_MIN)
            .map(|n| texts.of(n.to_string().as_str()))
            .collect();
        drop((first, second));
        for _ in 0..LOOK_AT_MIN * 2 {
            texts.of("of a moment");
        }
        let more: Vec<Arc<str>> = (0..LOOK_AT_MIN * 2)
            .map(|n| texts.of(format!("again {n}").as_str()))
            .collect();
        assert!(!texts.known.contains("1.60") && !texts.known.contains("of a moment"));
        assert!(texts.known.len() >= held.len() + more.len());
    }
}
