//! Which image a BMC is to fetch from us, and for how long.

use super::machine::RunMachine;
use super::record::{Intent, Place};
use super::state::{Step, Work};
use crate::model::IntentId;
use crate::model::action::ServedImage;

/// An image that a BMC is to fetch from us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serving {
    /// The intent that says so.
    pub id: IntentId,
    /// The image.
    pub image: ServedImage,
    /// Whether the BMC is still about to fetch it: it was asked to, and its task is not over.
    pub is_awaited: bool,
}

impl RunMachine {
    /// The image that is served, from its intent to the end of the hop: a process that takes the run up serves it again.
    pub fn serving(&self) -> Option<Serving> {
        self.state
            .works
            .iter()
            .find_map(|(place, work)| self.serving_for(place, work))
    }

    fn serving_for(&self, place: &Place, work: &Work) -> Option<Serving> {
        let act = work.update_at_large().filter(|_| work.is_flashing())?;
        let Intent::Update { served, sha256, .. } = &act.intent else {
            return None;
        };
        let path = served.clone()?;
        let spec = self.spec.stage(&place.stage)?.kind.version(&place.target)?;
        // An edited file may name another image by now, which nobody asked for.
        let image = Some(&spec.image).filter(|image| image.sha256 == *sha256)?;
        let (file, bytes) = image.held.clone().zip(image.bytes)?;
        Some(Serving {
            id: act.id.clone(),
            image: ServedImage { path, file, bytes },
            is_awaited: matches!(work.step, Step::Acting(_) | Step::Follow(_)),
        })
    }
}
