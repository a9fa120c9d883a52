//! What people ordered, taken up at each turn.

use super::{Driver, Halt};
use crate::daemon::journal::Journal;
use crate::model::order::concerning;
use crate::run::{Input, RunMachine};

impl Driver<'_> {
    /// Takes up what was ordered since the last turn: each order is written down before anything follows from it.
    pub(super) fn take_orders(
        &self,
        machine: &mut RunMachine,
        journal: &mut Journal,
    ) -> Result<(), Halt> {
        let orders = self
            .engine
            .store()
            .orders_about(&machine.key().pipeline)
            .map_err(|error| Halt::Broken(error.fault()))?;
        for order in concerning(&orders, &machine.key().clone()) {
            let decision = machine.decide(self.now(), Input::Ordered(order), self.permits());
            self.write_down(machine, journal, decision)?;
        }
        Ok(())
    }

    /// Whether anybody ordered anything, of whatever run, since a number was read.
    pub(super) fn last_order(&self) -> Result<u64, Halt> {
        let last = self.engine.store().last_order();
        last.map_err(|error| Halt::Broken(error.fault()))
    }
}
