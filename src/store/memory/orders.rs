//! This file keeps orders in memory.

use jiff::Timestamp;

use super::state::MemoryStore;
use crate::model::id::PipelineName;
use crate::model::order::{About, Order, Verb};
use crate::store::error::StoreError;
use crate::store::orders::Orders;

impl Orders for MemoryStore {
    fn place_order(
        &self,
        at: Timestamp,
        by: &str,
        about: &About,
        verb: &Verb,
    ) -> Result<Order, StoreError> {
        let mut state = self.state();
        let last = state.orders.last().map_or(0, |order| order.id);
        let order = Order {
            id: last.saturating_add(1),
            at,
            by: by.to_owned(),
            about: about.clone(),
            verb: verb.clone(),
        };
        state.orders.push(order.clone());
        Ok(order)
    }

    fn orders_about(&self, pipeline: &PipelineName) -> Result<Vec<Order>, StoreError> {
        let mut orders = self.state().orders.clone();
        orders.retain(|order| order.about.pipeline() == pipeline);
        Ok(orders)
    }

    fn orders(&self) -> Result<Vec<Order>, StoreError> {
        Ok(self.state().orders.clone())
    }

    fn last_order(&self) -> Result<u64, StoreError> {
        Ok(self.state().orders.last().map_or(0, |order| order.id))
    }
}
