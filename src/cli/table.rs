//! Aligned columns, two spaces apart.

/// Rows under a heading, as lines; the last column is not padded.
pub(crate) fn lines(heading: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let cells = std::iter::once(&heading)
                .chain(rows)
                .filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    std::iter::once(&heading)
        .chain(rows)
        .map(|row| line(row, &widths))
        .collect()
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| format!("{cell:width$}"));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".to_owned(), "bb".to_owned()],
            vec!["ccc".to_owned(), "d".to_owned()],
        ];
        assert_eq!(
            super::lines(&["X", "Y"], &rows),
            ["X    Y", "a    bb", "ccc  d"]
        );
    }
}
