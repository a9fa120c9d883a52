//! Looking at one golden server: what runs on it, and which of its settings somebody chose.

use super::engine::Engine;
use super::stop::Stop;
use super::survey::{all_but_settings, looked, read};
use crate::model::inventory::Bmc;
use crate::model::{Fault, FaultKind, Look, LookRequest, Retry, ServerName, Target};
use crate::plan::golden::{Golden, OwnTexts, golden};

/// What one golden server showed.
#[derive(Debug, Clone)]
pub struct GoldenServer {
    /// All that was read of its BMC.
    pub look: Box<Look>,
    /// Its BMC's attributes; `None` = it has none.
    pub bmc_settings: Option<Golden>,
    /// Its BIOS attributes; `None` = it has none.
    pub bios_settings: Option<Golden>,
}

/// Reads a server and its BMC; writes nothing but sessions and pins. `None` = stopped.
pub async fn read_golden(
    engine: &Engine,
    bmc: &Bmc,
    server: &ServerName,
    stop: &Stop,
) -> Option<Result<GoldenServer, Fault>> {
    let client = match engine.client(bmc) {
        Ok(client) => client,
        Err(fault) => return Some(Err(fault)),
    };
    let target = Target::Server(server.clone());
    let reading = read(&client, stop, async {
        let first = all_but_settings();
        let look = looked(client.look(&first).await)?;
        if !look.systems.contains_key(server) {
            return Err(no_such_server(bmc, server, &look));
        }
        let request = LookRequest {
            settings: [Target::Bmc, target.clone()].into(),
            ..first
        };
        let look = looked(client.look(&request).await)?;
        let others = [bmc.name.as_str(), server.as_str(), &*bmc.address.host];
        let own = OwnTexts::of(&look, others);
        let mut sorted = Vec::new();
        for target in [&Target::Bmc, &target] {
            let view = look
                .settings
                .get(target)
                .filter(|view| view.is_observable());
            sorted.push(match view {
                Some(view) => {
                    let factory = client.factory_attributes(target, view).await?;
                    Some(golden(view, &factory, &own))
                }
                None => None,
            });
        }
        let bios_settings = sorted.pop().flatten();
        let bmc_settings = sorted.pop().flatten();
        Ok(GoldenServer {
            look,
            bmc_settings,
            bios_settings,
        })
    });
    let read = reading.await?;
    engine.keep_links(&bmc.name, &client);
    Some(read)
}

fn no_such_server(bmc: &Bmc, server: &ServerName, look: &Look) -> Fault {
    let known: Vec<String> = look
        .systems
        .keys()
        .map(|name| format!("`{name}`"))
        .collect();
    let message = format!(
        "BMC `{}` shows no system for server `{server}`; it has {}",
        bmc.name,
        known.join(", ")
    );
    Fault::new(FaultKind::SystemMissing, Retry::Operator, message)
}
