//! This room is virtual media: a slot of the manager holds one image, and actions put it there and take it away.
//!
//! It deliberately fetches nothing: only what the slot shows matters here.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::core::Bmc;
use crate::docs::messages::Message;

impl Bmc {
    /// Answers `VirtualMedia.InsertMedia`. A slot that is taken says so, as most services do.
    pub(super) fn insert_media(&mut self, slot: &str, body: &Map<String, Value>) -> Answer {
        let Some(image) = body.get("Image").and_then(Value::as_str) else {
            let parameters = ["VirtualMedia.InsertMedia", "Image"];
            let missing = Message::base("ActionParameterMissing", &parameters);
            return Answer::refused(StatusCode::BAD_REQUEST, &[missing]);
        };
        let taken = self
            .store
            .get(slot)
            .is_some_and(|slot| slot["Inserted"] == true);
        if taken {
            let message = Message::base("ResourceInUse", &[]);
            return Answer::refused(StatusCode::CONFLICT, &[message]);
        }
        self.ledger.cause(format!("media inserted {slot} {image}"));
        let write_protected = body.get("WriteProtected").cloned().unwrap_or(json!(true));
        self.show_media(slot, json!(image), true, write_protected);
        Answer::done()
    }

    /// Answers `VirtualMedia.EjectMedia`.
    pub(super) fn eject_media(&mut self, slot: &str) -> Answer {
        self.ledger.cause(format!("media ejected {slot}"));
        self.show_media(slot, Value::Null, false, json!(true));
        Answer::done()
    }

    fn show_media(&mut self, slot: &str, image: Value, inserted: bool, write_protected: Value) {
        self.store.set(slot, "/Image", image);
        self.store.set(slot, "/Inserted", json!(inserted));
        self.store.set(slot, "/WriteProtected", write_protected);
    }
}
