//! Tables: RFC 4180, with `,`, `;` or a tab between the fields.

use super::host::{Host, Imported, Misread, is_known_column};

/// Whether the first line is the header of a table that lists BMCs.
pub(super) fn is_one(content: &str) -> bool {
    let first = content.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        let names = line.split([',', ';', '\t']);
        let mut names = names.map(|name| name.trim().trim_matches('"'));
        !line.trim_start().starts_with(['[', '#'])
            && !line.contains('=')
            && names.any(is_known_column)
    })
}

/// One BMC or server for each line below the header.
pub(super) fn from_csv(content: &str) -> Result<Imported, Misread> {
    let first = content
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let delimiter = [',', ';', '\t']
        .into_iter()
        .max_by_key(|delimiter| first.matches(*delimiter).count())
        .unwrap_or(',');
    let mut rows = rows(content, delimiter)?.into_iter();
    let (_, header) = rows.next().unwrap_or_default();
    let mut hosts = Vec::new();
    for (line, row) in rows {
        if row.len() > header.len() {
            let message = format!(
                "this line has {} fields, and the header names {}",
                row.len(),
                header.len()
            );
            return Err(Misread::new(
                Some(line),
                message,
                "put fields that hold the delimiter in quotes",
            ));
        }
        let named = header.iter().cloned().zip(row);
        hosts.push(Host {
            line: Some(line),
            fields: named
                .filter(|(name, value)| !name.is_empty() && !value.is_empty())
                .collect(),
            ..Host::default()
        });
    }
    Imported::of(hosts)
}

/// Lines with their numbers; a quoted field may hold delimiters, line ends, and quotes doubled.
fn rows(content: &str, delimiter: char) -> Result<Vec<(usize, Vec<String>)>, Misread> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut began, mut quoted) = (1, 1, None);
    let mut chars = content.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match (c, quoted) {
            ('"', Some(_)) if chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            ('"', Some(_)) => quoted = None,
            ('"', None) if field.trim().is_empty() => quoted = Some(line),
            ('\n', None) => {
                row.push(field.trim().to_owned());
                field.clear();
                rows.push((began, std::mem::take(&mut row)));
                began = line;
            }
            (c, None) if c == delimiter => {
                row.push(field.trim().to_owned());
                field.clear();
            }
            (c, _) => field.push(c),
        }
    }
    if let Some(line) = quoted {
        return Err(Misread::new(
            Some(line),
            "a quote is not closed",
            "double each quote inside a field",
        ));
    }
    row.push(field.trim().to_owned());
    rows.push((began, row));
    rows.retain(|(_, row)| row.iter().any(|field| !field.is_empty()));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_delimiters_and_line_ends_inside_a_field_are_kept() {
        let rows = rows("a,b\r\n\"x,\"\"y\"\"\",\"1\n2\"\r\n\r\nlast,", ',').expect("a table");
        let texts: Vec<(usize, Vec<&str>)> = rows
            .iter()
            .map(|(line, row)| (*line, row.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(texts[1], (2, vec!["x,\"y\"", "1\n2"]));
        assert_eq!(texts[2], (5, vec!["last", ""]));
        assert_eq!(texts.len(), 3);
    }

    #[test]
    fn an_open_quote_and_a_line_too_long_name_their_line() {
        let open = from_csv("name,address\nx,\"10.0.0.1\n").expect_err("an open quote");
        assert_eq!(open.line, Some(2));
        let long = from_csv("name,address\n\nx,10.0.0.1,y\n").expect_err("a long line");
        assert_eq!(long.line, Some(3));
    }

    #[test]
    fn lines_at_one_address_are_servers_of_one_bmc_and_passwords_stay_behind() {
        let table = "Name;BMC IP;User;Password;Server;Serial;Rack\nc1;10.0.0.1;admin;s3cret;n1;S1;r4\nc1;10.0.0.1;admin;s3cret;n2;S2;r4\n";
        assert!(is_one(table));
        let imported = from_csv(table).expect("a table");
        assert_eq!(imported.bmcs(), ["c1"]);
        let bmc = &imported.all[0];
        assert_eq!(bmc.credentials.as_deref(), Some("admin"));
        assert_eq!(bmc.labels, [("Rack".to_owned(), "r4".to_owned())].into());
        let servers: Vec<_> = bmc
            .servers
            .iter()
            .map(|server| (server.name.as_str(), server.serial.as_deref()))
            .collect();
        assert_eq!(servers, [("n1", Some("S1")), ("n2", Some("S2"))]);
        assert!(!format!("{imported:?}").contains("s3cret"));
        assert_eq!(imported.notes.len(), 1);
    }
}
