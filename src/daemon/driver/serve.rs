//! Images that the BMC of a run fetches from this process.

use std::sync::{MutexGuard, PoisonError};

use super::Driver;
use crate::artifact::{Offer, Wanted};
use crate::model::action::{ImageSource, UpdateAction};
use crate::model::{Action, Fault, FaultKind, IntentId, Outcome, Retry, Seen};
use crate::run::RunMachine;

/// What is served for an intent.
pub(super) struct Standing {
    id: IntentId,
    offer: Box<dyn Offer>,
}

impl Driver<'_> {
    /// Serves what the run needs served, and nothing else. A fault where it cannot.
    pub(super) async fn serve(&self, machine: &RunMachine) -> Result<(), Fault> {
        let Some(serving) = machine.serving() else {
            *self.standing() = None;
            return Ok(());
        };
        if self.is_serving(&serving.id) {
            return Ok(());
        }
        let address = &self.bmc.address;
        let wanted = Wanted {
            host: address.host.as_ref().to_owned(),
            port: address.port,
            path: serving.image.path,
            file: serving.image.file,
            bytes: serving.image.bytes,
        };
        let offer = self.engine.images().offer(&wanted).await?;
        *self.standing() = Some(Standing {
            id: serving.id,
            offer,
        });
        Ok(())
    }

    /// The same for a run that is taken up: a BMC that has what it needs, or has given up, is no worse off without.
    pub(super) async fn serve_again(&self, machine: &RunMachine) {
        if let Err(fault) = self.serve(machine).await {
            tracing::warn!(bmc = %self.bmc.name, %fault, "an image is not served again");
        }
    }

    /// An action as it leaves: what is served has a URI by now.
    pub(super) async fn served(
        &self,
        machine: &RunMachine,
        action: Action,
    ) -> Result<Action, Outcome> {
        let Action::Update(update) = &action else {
            return Ok(action);
        };
        let ImageSource::Served(_) = &update.image else {
            return Ok(action);
        };
        let not_sent = |fault| Outcome::NotSent { fault };
        self.serve(machine).await.map_err(not_sent)?;
        let standing = self.standing();
        let Some(standing) = standing.as_ref() else {
            let fault = Fault::new(
                FaultKind::Bug,
                Retry::Never,
                "an image is to be served that no intent names",
            );
            return Err(not_sent(fault));
        };
        Ok(Action::Update(UpdateAction {
            image: ImageSource::Uri(standing.offer.uri().to_owned()),
            ..update.clone()
        }))
    }

    /// Adds to what a look shows what the BMC has fetched from us.
    pub(super) fn note_fetched(&self, seen: &mut Seen) {
        if let (Seen::Looked(look), Some(standing)) = (seen, self.standing().as_ref())
            && standing.offer.served().fetched
        {
            look.fetched = vec![standing.id.clone()];
        }
    }

    /// Whether this process may leave the run as it stands: a BMC that fetches from us, or is about to, is not left alone.
    pub(super) fn may_leave(&self, machine: &RunMachine) -> bool {
        let is_fetching = self.standing().as_ref().is_some_and(|standing| {
            let served = standing.offer.served();
            let awaits = machine.serving().is_some_and(|serving| serving.is_awaited);
            served.open > 0 || (awaits && !served.whole)
        });
        machine.is_at_safe_point() && !is_fetching
    }

    fn is_serving(&self, id: &IntentId) -> bool {
        let standing = self.standing();
        standing.as_ref().is_some_and(|standing| standing.id == *id)
    }

    fn standing(&self) -> MutexGuard<'_, Option<Standing>> {
        // One assignment each: a panic elsewhere leaves it whole.
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
