//! The known word that looks most like an unknown one.

/// The candidate nearest to a word, if it is near enough to be meant: at most a third of the letters differ.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let bound = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((to, diagonal), above) in b.iter().zip(&row).zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or(i + 1);
            let replaced = diagonal + usize::from(from != *to);
            next.push(replaced.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_and_a_far_one_is_not() {
        let known = ["BootMode", "QuietBoot", "NumLock"];
        assert_eq!(nearest("bootmod", known), Some("BootMode"));
        assert_eq!(nearest("QuietBot", known), Some("QuietBoot"));
        assert_eq!(nearest("SriovGlobalEnable", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
