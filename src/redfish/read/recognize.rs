//! Recognizing a BMC: the facts that discovery has read anyway, put together; what they mean is said in `quirk`.

use serde_json::Value;

use super::links::Links;
use super::reader::Reader;
use crate::model::Fault;
use crate::model::look::SystemView;
use crate::redfish::quirk::{Evidence, asks_for_board, classify};
use crate::redfish::wire::{at, last_segment, object, text};

/// Finds out the platform, and keeps it with what it was told by. Asks for nothing but one chassis, where only a board's
/// name tells generations apart.
pub(in crate::redfish) async fn recognize(
    reader: &mut Reader<'_>,
    found: &mut Links,
    manager: Option<&str>,
    systems: &[SystemView],
) -> Result<(), Fault> {
    let mut evidence = evidence(reader, found, manager, systems);
    let mut class = classify(&evidence);
    let chassis = systems.iter().find_map(|system| system.chassis.first());
    if asks_for_board(&class)
        && let Some(chassis) = chassis
        && let Some(doc) = reader.read_if_well(chassis, "chassis").await?
    {
        evidence.board = text(&doc, "Model");
        class = classify(&evidence);
    }
    found.platform = class.platform;
    found.recognized_by = class.because;
    Ok(())
}

fn evidence(
    reader: &Reader<'_>,
    found: &Links,
    manager: Option<&str>,
    systems: &[SystemView],
) -> Evidence {
    let doc = manager.and_then(|uri| reader.seen(uri));
    let ids = |uris: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        uris.map(|uri| last_segment(uri).to_owned()).collect()
    };
    Evidence {
        vendor: found.root.vendor.clone(),
        product: found.root.product.clone(),
        oem: found.root.oem.clone(),
        manager_model: doc.as_ref().and_then(|doc| text(doc, "Model")),
        manager_version: doc.as_ref().and_then(|doc| text(doc, "FirmwareVersion")),
        manager_oem: doc.as_ref().map(|doc| oem_marks(doc)).unwrap_or_default(),
        managers: ids(&mut found.managers.iter().map(|manager| &manager.uri)),
        systems: ids(&mut systems.iter().map(|system| &system.uri)),
        maker: systems
            .iter()
            .find_map(|system| system.manufacturer.clone()),
        board: None,
    }
}

/// Keys of a resource's `Oem` with the types of what stands there, and the names of its Oem actions.
fn oem_marks(doc: &Value) -> Vec<String> {
    let mut marks = Vec::new();
    for (key, value) in object(doc, "Oem").into_iter().flatten() {
        if !key.starts_with('@') {
            marks.push(key.clone());
            marks.extend(text(value, "@odata.type"));
        }
    }
    let actions = at(doc, &["Actions", "Oem"]).and_then(Value::as_object);
    marks.extend(actions.into_iter().flatten().map(|(name, _)| name.clone()));
    marks
}
