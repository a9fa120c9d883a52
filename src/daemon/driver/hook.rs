//! A hook of the run, between its two records.

use super::{Driver, Halt};
use crate::daemon::hooks;
use crate::daemon::journal::Journal;
use crate::run::{HookCall, Input, RunMachine};

impl Driver<'_> {
    /// Runs a hook and writes down how it ended. One that is aborted leaves no word, and is run again by the next
    /// process.
    pub(super) async fn run_hook(
        &self,
        machine: &mut RunMachine,
        journal: &mut Journal,
        call: &HookCall,
    ) -> Result<(), Halt> {
        let outcome = tokio::select! {
            outcome = hooks::run(call, &self.assignment.hidden) => outcome,
            // Cancel-safe: a dropped hook is ended, and hooks are repeatable.
            () = self.stop.aborted() => return self.rest(machine),
        };
        let input = Input::HookEnded {
            call,
            outcome: &outcome,
        };
        let decision = machine.decide(self.now(), input, self.permits());
        self.write_down(machine, journal, decision)?;
        Ok(())
    }
}
