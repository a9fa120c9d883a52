//! Licences: of the license service where there is one, else of what a vendor hangs on its manager under that name.
//!
//! Keys are not read: whoever may see them finds them on the BMC.

use serde_json::Value;

use super::managers::oem_links;
use super::reader::Reader;
use crate::model::Fault;
use crate::model::circumstances::Licence;
use crate::redfish::quirk::licence_in_text;
use crate::redfish::wire::{link, text, texts};

/// Resources read in search of licences: vendors hang up to four on a manager that have the word in their name.
const CANDIDATES_MAX: usize = 6;

/// The licences; `None` where the BMC shows no place for them.
pub(in crate::redfish) async fn read_licences(
    reader: &mut Reader<'_>,
    root: &Value,
    manager: Option<&Value>,
) -> Result<Option<Vec<Licence>>, Fault> {
    if let Some(service) = link(root, "LicenseService")
        && let Some(doc) = reader.read_if_well(&service, "licence").await?
        && let Some(collection) = link(&doc, "Licenses")
    {
        return of_collection(reader, &collection).await.map(Some);
    }
    let named = manager.map(oem_links).unwrap_or_default();
    let candidates = named
        .into_iter()
        .filter(|(name, _)| name.to_ascii_lowercase().contains("license"))
        .take(CANDIDATES_MAX);
    let mut found = None;
    for (_, uri) in candidates {
        if let Some(licences) = of_candidate(reader, &uri).await? {
            found.get_or_insert_with(Vec::new).extend(licences);
        }
    }
    Ok(found)
}

async fn of_candidate(reader: &mut Reader<'_>, uri: &str) -> Result<Option<Vec<Licence>>, Fault> {
    let Some(doc) = reader.read_if_well(uri, "licence").await? else {
        return Ok(None);
    };
    if doc.get("Members").is_some() {
        return of_collection(reader, uri).await.map(Some);
    }
    let Some(query) = link(&doc, "QueryLicense") else {
        return Ok(None);
    };
    let told = reader.read_if_well(&query, "licence").await?;
    Ok(told.map(|told| {
        texts(&told, "Licenses")
            .iter()
            .map(|text| of_text(text))
            .collect()
    }))
}

async fn of_collection(reader: &mut Reader<'_>, uri: &str) -> Result<Vec<Licence>, Fault> {
    let members = reader.members(uri, "licence", "LicenseType").await?;
    Ok(members.iter().map(|member| licence(&member.doc)).collect())
}

fn licence(doc: &Value) -> Licence {
    let described = texts(doc, "LicenseDescription").into_iter().next();
    let name = described
        .or_else(|| text(doc, "License"))
        .or_else(|| text(doc, "Name"))
        .or_else(|| text(doc, "Id"));
    Licence {
        name: name.unwrap_or_default(),
        kind: text(doc, "LicenseType"),
    }
}

fn of_text(text: &str) -> Licence {
    Licence {
        name: licence_in_text(text).unwrap_or_else(|| "unnamed".to_owned()),
        kind: None,
    }
}
