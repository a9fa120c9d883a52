//! What an operator may declare trusted anew.

use super::engine::Engine;
use crate::model::Fault;
use crate::model::inventory::Bmc;

/// Which memories are given up.
#[derive(Debug, Clone, Copy)]
pub struct What {
    /// The remembered certificate.
    pub certificate: bool,
    /// Refusals of the credentials.
    pub credentials: bool,
    /// The claims of the box.
    pub identity: bool,
}

/// Gives memories up; returns what was done, in words.
pub fn trust(engine: &Engine, bmc: &Bmc, what: What) -> Result<Vec<String>, Fault> {
    let store = engine.store();
    let failed = |error: crate::store::StoreError| error.fault();
    let mut told = Vec::new();
    if what.certificate {
        let host_port = bmc.address.host_port();
        let old = store.give_up_pin(&host_port, None).map_err(failed)?;
        told.push(match old {
            Some(pin) => format!("certificate {pin} of {host_port} is forgotten; the next contact remembers the one shown then"),
            None => format!("no certificate of {host_port} was remembered"),
        });
    }
    if what.credentials {
        let mut forgiven = 0;
        for mark in store.login_marks().map_err(failed)? {
            let name = bmc.name.as_str();
            store
                .update_logins(&mark, &mut |old| {
                    let mut record: crate::redfish::LoginRecord =
                        serde_json::from_value(old?).ok()?;
                    forgiven += usize::from(record.is_bad(name));
                    record.forgive(name);
                    serde_json::to_value(record).ok()
                })
                .map_err(failed)?;
        }
        told.push(format!("refused logins are forgotten ({forgiven} credentials were marked bad); the next contact tries them again"));
    }
    if what.identity {
        store.forget_identity(&bmc.name).map_err(failed)?;
        told.push(
            "the box is forgotten; the next contact remembers the one that answers then".to_owned(),
        );
    }
    Ok(told)
}
