//! This file keeps orders: one row each, only ever added.

use jiff::Timestamp;
use rusqlite::{Row, params};

use super::convert;
use super::database::SqliteStore;
use crate::model::id::{PipelineName, RunKey};
use crate::model::order::{About, Order, Verb};
use crate::store::error::StoreError;
use crate::store::orders::Orders;

impl Orders for SqliteStore {
    fn place_order(
        &self,
        at: Timestamp,
        by: &str,
        about: &About,
        verb: &Verb,
    ) -> Result<Order, StoreError> {
        let run = match about {
            About::Run(key) => Some((key.bmc.as_str(), key.number)),
            About::Pipeline(_) => None,
        };
        let text = serde_json::to_string(verb).unwrap_or_default();
        Ok(self.write("place an order", |tx| {
            tx.execute(
                "INSERT INTO orders (at, by, pipeline, bmc, number, verb) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    at.to_string(),
                    by,
                    about.pipeline().as_str(),
                    run.map(|(bmc, _)| bmc),
                    run.map(|(_, number)| number),
                    text,
                ],
            )?;
            let id = tx.last_insert_rowid();
            Ok(tx.query_row("SELECT * FROM orders WHERE id = ?1", [id], order)?)
        })?)
    }

    fn orders_about(&self, pipeline: &PipelineName) -> Result<Vec<Order>, StoreError> {
        Ok(self.read("list orders", |tx| {
            let mut query = tx.prepare("SELECT * FROM orders WHERE pipeline = ?1 ORDER BY id")?;
            let rows = query.query_map([pipeline.as_str()], order)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn orders(&self) -> Result<Vec<Order>, StoreError> {
        Ok(self.read("list orders", |tx| {
            let mut query = tx.prepare("SELECT * FROM orders ORDER BY id")?;
            let rows = query.query_map([], order)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn last_order(&self) -> Result<u64, StoreError> {
        Ok(self.read("list orders", |tx| {
            let last = "SELECT coalesce(max(id), 0) AS id FROM orders";
            Ok(tx.query_row(last, [], |row| convert::count(row, "id"))?)
        })?)
    }
}

fn order(row: &Row<'_>) -> rusqlite::Result<Order> {
    let pipeline = convert::name(row, "pipeline")?;
    let bmc: Option<String> = row.get("bmc")?;
    let about = match bmc {
        None => About::Pipeline(pipeline),
        Some(bmc) => About::Run(RunKey {
            pipeline,
            bmc: bmc.into(),
            number: row.get("number")?,
        }),
    };
    let verb: Verb = convert::typed(row, "verb")?;
    Ok(Order {
        id: convert::count(row, "id")?,
        at: convert::parsed(row, "at")?,
        by: row.get("by")?,
        about,
        verb,
    })
}
