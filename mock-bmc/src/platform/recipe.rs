//! This room is a platform as its file describes it: `generic` under other names, with documents that say what machines of
//! its kind say, and with their habits.
//!
//! It deliberately knows no platform: what one is stands in a file beside this one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::generic::Documents;
use crate::docs::store::Store;
use crate::docs::walk::last_segment;
use crate::script::Script;

/// Stands for a system's number in names, URIs and texts.
const NUMBER: &str = "{n}";

/// Stands for the number of every system but the first.
const LATER_NUMBER: &str = "{n?}";

/// What a platform's file holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Recipe {
    /// URIs of `generic` and what they are here; what lies below one moves with it. The longest that fits counts.
    rename: BTreeMap<String, String>,
    /// URIs, under their names here, that this platform does not have.
    without: Vec<String>,
    /// What is said in documents; `{n}` in a URI stands for each system.
    document: Vec<Words>,
    /// Habits, where the script of a person is silent.
    pub(crate) habits: Script,
}

/// What is said in one document; it is made where there is none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Words {
    uri: String,
    /// Members, objects merged into what is there.
    set: toml::Table,
    /// JSON pointers of members that are not there.
    without: Vec<String>,
    /// The collection that it is a member of, where it is new.
    member_of: Option<String>,
}

impl Recipe {
    /// Reads a platform's file.
    pub(crate) fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Gives documents of `generic` the names of this platform.
    pub(crate) fn renamed(&self, documents: Documents, systems: usize) -> Documents {
        let names = self.names(systems);
        let renamed = documents.into_iter().map(|(uri, mut document)| {
            let new = rename(&names, &uri).unwrap_or_else(|| uri.clone());
            if new != uri && document["Id"] == last_segment(&uri) {
                document["Id"] = last_segment(&new).into();
            }
            rename_inside(&names, &mut document);
            (new, document)
        });
        renamed.collect()
    }

    /// Lets a platform's documents say what they say here.
    pub(crate) fn put_words(&self, store: &mut Store, systems: usize) {
        for uri in each(&self.without, systems) {
            let collection = store.get(parent(&uri));
            if collection.is_some_and(|found| found["Members"].is_array()) {
                store.remove_member(parent(&uri), &uri);
            } else {
                store.remove(&uri);
            }
        }
        for words in &self.document {
            for number in numbers(&words.uri, systems) {
                words.put(store, number);
            }
        }
    }

    /// Old and new names, the longest first.
    fn names(&self, systems: usize) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for (old, new) in &self.rename {
            for number in numbers(old, systems) {
                names.push((filled(old, number), filled(new, number)));
            }
        }
        names.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        names
    }
}

impl Words {
    fn put(&self, store: &mut Store, number: usize) {
        let uri = filled(&self.uri, number);
        if store.get(&uri).is_none() {
            store.put(
                &uri,
                serde_json::json!({ "@odata.id": uri, "Id": last_segment(&uri) }),
            );
        }
        let set = serde_json::to_value(&self.set).unwrap_or_default();
        store.edit(&uri, |document| {
            merge(document, set, number);
            for pointer in &self.without {
                remove(document, pointer);
            }
        });
        if let Some(collection) = &self.member_of {
            store.add_member(&filled(collection, number), &uri);
        }
    }
}

/// The numbers for which a text stands: each system's, or one where it speaks of none.
fn numbers(text: &str, systems: usize) -> std::ops::RangeInclusive<usize> {
    let is_each = text.contains(NUMBER) || text.contains(LATER_NUMBER);
    1..=if is_each { systems } else { 1 }
}

fn filled(text: &str, number: usize) -> String {
    let number = number.to_string();
    let later = if number == "1" { "" } else { &number };
    text.replace(LATER_NUMBER, later).replace(NUMBER, &number)
}

fn each(texts: &[String], systems: usize) -> Vec<String> {
    let all = texts
        .iter()
        .flat_map(|text| numbers(text, systems).map(|number| filled(text, number)));
    all.collect()
}

fn parent(uri: &str) -> &str {
    uri.rsplit_once('/').map_or(uri, |(parent, _)| parent)
}

fn rename(names: &[(String, String)], text: &str) -> Option<String> {
    names.iter().find_map(|(old, new)| {
        let rest = text.strip_prefix(old.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{new}{rest}"))
    })
}

fn rename_inside(names: &[(String, String)], value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(new) = rename(names, text) {
                *text = new;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|one| rename_inside(names, one)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|one| rename_inside(names, one)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Objects are merged, everything else is put in place.
fn merge(document: &mut Value, said: Value, number: usize) {
    match said {
        Value::Object(members) => {
            if !document.is_object() {
                *document = Value::Object(Map::new());
            }
            for (name, value) in members {
                merge(&mut document[name.as_str()], value, number);
            }
        }
        Value::String(text) => *document = filled(&text, number).into(),
        Value::Array(list) => {
            let filled = list.into_iter().map(|one| {
                let mut place = Value::Null;
                merge(&mut place, one, number);
                place
            });
            *document = filled.collect();
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => *document = plain,
    }
}

fn remove(document: &mut Value, pointer: &str) {
    let Some((holder, name)) = pointer.rsplit_once('/') else {
        return;
    };
    let name = name.replace("~1", "/").replace("~0", "~");
    if let Some(holder) = document.pointer_mut(holder).and_then(Value::as_object_mut) {
        holder.remove(&name);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn the_longest_name_counts_and_what_lies_below_moves_with_it() {
        let recipe = Recipe::read(
            "[rename]\n'/r/Systems/{n}' = '/r/Systems/System.{n}'\n'/r/Systems/{n}/Bios/Settings' = '/r/Systems/System.{n}/Bios/SD'\n",
        )
        .unwrap();
        let links = json!({"Id": "1", "a": "/r/Systems/1/Bios", "b": ["/r/Systems/1/Bios/Settings"], "c": "/r/Systems/11"});
        let renamed = recipe.renamed(vec![("/r/Systems/1".to_owned(), links)], 1);
        let expected = json!({"Id": "System.1", "a": "/r/Systems/System.1/Bios", "b": ["/r/Systems/System.1/Bios/SD"], "c": "/r/Systems/11"});
        assert_eq!(renamed, [("/r/Systems/System.1".to_owned(), expected)]);
    }

    #[test]
    fn words_are_merged_for_every_system() {
        let recipe = Recipe::read(
            "without = ['/r/S/gone']\n[[document]]\nuri = '/r/S/{n}'\nset = { Name = 'number {n}', Oem = { A = 1 } }\nwithout = ['/Old']\nmember_of = '/r/S'\n",
        )
        .unwrap();
        let mut store = Store::new(1);
        store.put("/r/S", json!({"Members": [{"@odata.id": "/r/S/gone"}]}));
        store.put("/r/S/gone", json!({}));
        store.put("/r/S/1", json!({"Old": 1, "Oem": {"B": 2}}));
        recipe.put_words(&mut store, 2);
        let first = json!({"Name": "number 1", "Oem": {"A": 1, "B": 2}});
        assert_eq!(store.get("/r/S/1"), Some(&first));
        assert_eq!(store.get("/r/S/2").unwrap()["Name"], "number 2");
        assert_eq!(store.get("/r/S").unwrap()["Members@odata.count"], 2);
        assert!(store.get("/r/S/gone").is_none());
    }
}
