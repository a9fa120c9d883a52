//! This file keeps facts as rows of JSON text.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::convert;
use super::database::SqliteStore;
use crate::store::error::StoreError;
use crate::store::fact_kind::FactKind;
use crate::store::facts::Facts;

impl Facts for SqliteStore {
    fn fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
    ) -> Result<Option<Value>, StoreError> {
        Ok(self.read_one("read a fact", |db| body(db, kind, about, subject))?)
    }

    fn facts(&self, kind: FactKind, about: &str) -> Result<BTreeMap<String, Value>, StoreError> {
        Ok(self.read("read facts", |tx| {
            let mut query =
                tx.prepare("SELECT subject, body FROM facts WHERE kind = ?1 AND about = ?2")?;
            let rows = query.query_map(params![kind.as_str(), about], |row| {
                Ok((row.get("subject")?, convert::json(row, "body")?))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn holders(&self, kind: FactKind, subject: &str) -> Result<BTreeSet<String>, StoreError> {
        Ok(self.read("look up facts", |tx| {
            let mut query =
                tx.prepare("SELECT about FROM facts WHERE kind = ?1 AND subject = ?2")?;
            let rows = query.query_map(params![kind.as_str(), subject], |row| row.get("about"))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn update_fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
        change: &mut dyn FnMut(Option<Value>) -> Option<Value>,
    ) -> Result<Option<Value>, StoreError> {
        Ok(self.write("remember a fact", |tx| {
            let before = body(tx, kind, about, subject)?;
            let changed = change(before.clone());
            if changed == before {
                // Nothing is written, and no disk is waited for.
                return Ok(changed);
            }
            match &changed {
                Some(value) => tx.execute(
                    "INSERT OR REPLACE INTO facts (kind, about, subject, body) VALUES (?1, ?2, ?3, ?4)",
                    params![kind.as_str(), about, subject, value.to_string()],
                )?,
                None => tx.execute(
                    "DELETE FROM facts WHERE kind = ?1 AND about = ?2 AND subject = ?3",
                    params![kind.as_str(), about, subject],
                )?,
            };
            Ok(changed)
        })?)
    }
}

impl SqliteStore {
    /// Every fact of a kind.
    pub(super) fn bodies(&self, kind: FactKind) -> Result<Vec<Value>, StoreError> {
        Ok(self.read("read facts", |tx| {
            let mut query = tx.prepare("SELECT body FROM facts WHERE kind = ?1")?;
            let rows = query.query_map([kind.as_str()], |row| convert::json(row, "body"))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }
}

fn body(
    db: &Connection,
    kind: FactKind,
    about: &str,
    subject: &str,
) -> rusqlite::Result<Option<Value>> {
    let mut query = db
        .prepare_cached("SELECT body FROM facts WHERE kind = ?1 AND about = ?2 AND subject = ?3")?;
    query
        .query_row(params![kind.as_str(), about, subject], |row| {
            convert::json(row, "body")
        })
        .optional()
}
