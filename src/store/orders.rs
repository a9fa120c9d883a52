//! This file says what a store does with orders of people: they are added, numbered, and never changed.
//!
//! That an order was carried out is written in the journal of the run that did it, under that run's lease.

use jiff::Timestamp;

use super::error::StoreError;
use crate::model::id::PipelineName;
use crate::model::order::{About, Order, Verb};

/// Orders of people. All writes are on disk when the call returns.
pub trait Orders: Send + Sync {
    /// Adds an order; the store chooses its number.
    fn place_order(
        &self,
        at: Timestamp,
        by: &str,
        about: &About,
        verb: &Verb,
    ) -> Result<Order, StoreError>;

    /// Every order about a pipeline and its runs, oldest first.
    fn orders_about(&self, pipeline: &PipelineName) -> Result<Vec<Order>, StoreError>;

    /// Every order, oldest first.
    fn orders(&self) -> Result<Vec<Order>, StoreError>;

    /// The number of the newest order; 0 = none.
    fn last_order(&self) -> Result<u64, StoreError>;
}
