//! What people ordered, as a run takes it up: each order once, by a record.

use super::machine::{Decision, RunMachine};
use super::record::Record;
use super::state::RunState;
use crate::model::Order;

impl RunState {
    /// Whether an order was taken up.
    pub fn has_taken_up(&self, order: &Order) -> bool {
        self.orders.iter().any(|taken| taken.id == order.id)
    }
}

impl RunMachine {
    /// Takes an order up, unless it was before.
    pub(super) fn ordered(&self, order: &Order) -> Decision {
        if self.state.has_taken_up(order) {
            return Decision::default();
        }
        Decision::only(vec![Record::Ordered {
            order: order.clone(),
        }])
    }
}
