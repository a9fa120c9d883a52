//! This file turns columns into values and back.
//!
//! A column that does not read is an error of the row, never a guess.

use std::str::FromStr;

use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A column that holds a text form: a time, a path.
pub(super) fn parsed<T>(row: &Row<'_>, column: &'static str) -> Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(row, column, error))
}

/// Like [`parsed`], where the column may be null.
pub(super) fn parsed_if_set<T>(row: &Row<'_>, column: &'static str) -> Result<Option<T>>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|error| unreadable(row, column, error)))
        .transpose()
}

/// A column that holds a name.
pub(super) fn name<T: From<String>>(row: &Row<'_>, column: &'static str) -> Result<T> {
    row.get::<_, String>(column).map(T::from)
}

/// A column of JSON text.
pub(super) fn json(row: &Row<'_>, column: &'static str) -> Result<Value> {
    typed(row, column)
}

/// A column of JSON text in a known shape.
pub(super) fn typed<T: DeserializeOwned>(row: &Row<'_>, column: &'static str) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(row, column, error))
}

/// A column that counts.
pub(super) fn count(row: &Row<'_>, column: &'static str) -> Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|error| unreadable(row, column, error))
}

/// A count as SQLite holds it. Counts start at 0 and go up by one, so the bound is out of reach.
pub(super) fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn unreadable<E>(row: &Row<'_>, column: &str, error: E) -> Error
where
    E: std::error::Error + Send + Sync + 'static,
{
    let index = row.as_ref().column_index(column).unwrap_or_default();
    Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
