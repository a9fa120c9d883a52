//! "Did you mean": the known name closest to a wrong one.

/// The closest of `known`, if it is close enough to be a slip.
pub(crate) fn nearest<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wrong = normal(wrong);
    let limit = (wrong.len() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (distance(&wrong, &normal(name)), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Case and the choice between `-` and `_` are the commonest slips.
fn normal(name: &str) -> Vec<char> {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == '-' || c == ' ' { '_' } else { c })
        .collect()
}

/// Edits (insert, remove, replace, swap neighbours) from one word to the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(ca != cb);
            let mut best = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *ca == b[j - 1] && a[i - 1] == *cb {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["max_concurrent", "max_failures", "canary", "tls", "name"];
        let cases = [
            ("max-concurrent", Some("max_concurrent")),
            ("maxConcurrent", Some("max_concurrent")),
            ("max_failure", Some("max_failures")),
            ("naem", Some("name")),
            ("TLS", Some("tls")),
            ("window", None),
            ("", None),
        ];
        for (wrong, right) in cases {
            assert_eq!(nearest(wrong, known), right, "{wrong}");
        }
    }
}
