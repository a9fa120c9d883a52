//! Ansible's own form: `[group]`, `[group:vars]`, `[group:children]`, and a host with its variables on a line.

use std::collections::{BTreeMap, BTreeSet};

use super::super::host::{Imported, Misread};
use super::{imported, spread};

/// Most hosts that one range may stand for: a slip of a digit must not fill the memory.
const RANGE_MAX: u32 = 10_000;

/// What a section is about.
enum Section {
    Hosts(String),
    Variables(String),
    Children(String),
}

#[derive(Default)]
struct Read {
    hosts: BTreeMap<String, (Option<usize>, BTreeMap<String, String>)>,
    groups: BTreeMap<String, BTreeSet<String>>,
    variables: BTreeMap<String, BTreeMap<String, String>>,
    children: BTreeMap<String, Vec<String>>,
}

/// Hosts with the variables of their groups below their own; those of inner groups go before those of outer ones.
pub(in super::super) fn from_ini(content: &str) -> Result<Imported, Misread> {
    let mut read = Read::default();
    let mut section = Section::Hosts("ungrouped".to_owned());
    for (index, line) in content.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        match line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(head) => section = read.section(head),
            None => read.line(line, index + 1, &section)?,
        }
    }
    let children = std::mem::take(&mut read.children);
    let own = read.groups.clone();
    spread(&mut read.groups, &|group| {
        children.get(group).cloned().unwrap_or_default()
    });
    let all: BTreeSet<String> = read.hosts.keys().cloned().collect();
    read.groups.insert("all".to_owned(), all);
    // The smaller a group, the further inside it is: what it says goes first.
    let mut order: Vec<&String> = read.groups.keys().collect();
    order.sort_by_key(|group| (read.groups[*group].len(), !own.contains_key(*group)));
    for group in order {
        for host in &read.groups[group] {
            let fields = read.hosts.get_mut(host).into_iter();
            for (_, fields) in fields {
                for (name, value) in read.variables.get(group).into_iter().flatten() {
                    fields.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
        }
    }
    imported(read.hosts, &read.groups)
}

impl Read {
    fn section(&mut self, head: &str) -> Section {
        let (group, what) = head.split_once(':').unwrap_or((head, ""));
        let group = group.trim().to_owned();
        self.groups.entry(group.clone()).or_default();
        match what.trim() {
            "vars" => Section::Variables(group),
            "children" => Section::Children(group),
            _ => Section::Hosts(group),
        }
    }

    fn line(&mut self, line: &str, number: usize, section: &Section) -> Result<(), Misread> {
        match section {
            Section::Children(group) => {
                let child = words(line, number)?.into_iter().next().unwrap_or_default();
                self.groups.entry(child.clone()).or_default();
                self.children.entry(group.clone()).or_default().push(child);
            }
            Section::Variables(group) => {
                let (name, value) = line
                    .split_once('=')
                    .ok_or_else(|| no_variable(line, number))?;
                let value = words(value.trim(), number)?.join(" ");
                let variables = self.variables.entry(group.clone()).or_default();
                variables.insert(name.trim().to_owned(), value);
            }
            Section::Hosts(group) => {
                let mut words = words(line, number)?.into_iter();
                let name = words.next().unwrap_or_default();
                let mut fields = BTreeMap::new();
                for word in words {
                    let (name, value) = word
                        .split_once('=')
                        .ok_or_else(|| no_variable(&word, number))?;
                    fields.insert(name.to_owned(), value.to_owned());
                }
                for host in ranged(&name, number)? {
                    let (at, known) = self.hosts.entry(host.clone()).or_default();
                    at.get_or_insert(number);
                    known.extend(fields.clone());
                    self.groups.entry(group.clone()).or_default().insert(host);
                }
            }
        }
        Ok(())
    }
}

fn no_variable(found: &str, line: usize) -> Misread {
    let message = format!("`{found}` is no variable");
    Misread::new(
        Some(line),
        message,
        "write `NAME=VALUE`, in quotes where it holds spaces",
    )
}

/// Words as a shell splits them; what follows ` #` is a comment.
fn words(line: &str, number: usize) -> Result<Vec<String>, Misread> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            ('#', None) if word.is_none() => break,
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(_) => Err(Misread::new(
            Some(number),
            "a quote is not closed",
            "close it on the same line",
        )),
    }
}

/// `n[01:03]` is three hosts; leading zeros stay.
fn ranged(name: &str, line: usize) -> Result<Vec<String>, Misread> {
    let Some((before, rest)) = name.split_once('[') else {
        return Ok(vec![name.to_owned()]);
    };
    let range = rest.split_once(']').and_then(|(range, after)| {
        let (first, last) = range.split_once(':')?;
        let numbers: (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some((numbers, first.len(), after))
    });
    let Some(((first, last), width, after)) =
        range.filter(|((first, last), ..)| first <= last && last - first < RANGE_MAX)
    else {
        let message = format!("`{name}` is no range of hosts");
        return Err(Misread::new(
            Some(line),
            message,
            "write `NAME[01:20]`, or list the hosts",
        ));
    };
    let mut hosts = Vec::new();
    for number in first..=last {
        hosts.extend(ranged(&format!("{before}{number:0width$}{after}"), line)?);
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_ranges_and_quotes_are_read_as_ansible_reads_them() {
        let text = "lone bmc_ip=10.0.0.9 note='two words' # aside\n[db]\nn[08:10].lab rack=r4\n[web]\nw1 bmc_user=web\n\
                    [all:vars]\nbmc_user=admin\n[lab:children]\ndb\n[lab:vars]\nsite = \"north wing\"\n";
        let imported = from_ini(text).expect("an inventory");
        assert_eq!(
            imported.bmcs(),
            ["lone", "n08.lab", "n09.lab", "n10.lab", "w1"]
        );
        let label = |at: usize, name: &str| imported.all[at].labels.get(name).map(String::as_str);
        assert_eq!(label(0, "note"), Some("two words"));
        assert_eq!(label(1, "site"), Some("north wing"));
        assert_eq!(label(1, "group.lab"), Some("yes"));
        assert_eq!(label(4, "site"), None);
        let accounts: Vec<Option<&str>> = imported
            .all
            .iter()
            .map(|bmc| bmc.credentials.as_deref())
            .collect();
        assert_eq!(
            accounts,
            [
                Some("admin"),
                Some("admin"),
                Some("admin"),
                Some("admin"),
                Some("web")
            ]
        );
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        let wrong = |text: &str| from_ini(text).expect_err("a fault").line;
        assert_eq!(wrong("[db]\nn1 rack\n"), Some(2));
        assert_eq!(wrong("n1 note='open\n"), Some(1));
        assert_eq!(wrong("n[1:99999999] a=b\n"), Some(1));
        assert_eq!(wrong("# nobody\n"), None);
    }
}
