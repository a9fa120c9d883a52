//! `[[bmc.server]]`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::bmc::{Sight, check_labels};
use crate::model::inventory::{Expect, Labels, Server};
use crate::pipeline::check::Check;
use crate::pipeline::document::{At, BmcDocument, ServerDocument};

pub(super) fn check_servers(
    bmc: &At<BmcDocument>,
    bmc_labels: &Labels,
    sight: &mut Sight,
    check: &mut Check<'_>,
) -> Vec<Server> {
    let documents = &bmc.get().server;
    let mut systems = BTreeMap::new();
    let mut servers: Vec<Server> = documents
        .iter()
        .filter_map(|server| {
            check_system(server, documents.len(), &mut systems, check);
            check_server(server.get(), bmc_labels, sight, check)
        })
        .collect();
    servers.shrink_to_fit();
    servers
}

fn check_server(
    server: &ServerDocument,
    bmc_labels: &Labels,
    sight: &mut Sight,
    check: &mut Check<'_>,
) -> Option<Server> {
    let name = check.name("server", server.name.as_ref());
    if let Some(name) = name {
        check.unique(&mut sight.servers, "server", name);
    }
    let mut labels = Labels::clone(bmc_labels);
    let own = check_labels(&server.labels, check);
    if !own.is_empty() {
        Arc::make_mut(&mut labels).extend(own);
        labels = sight.labels.of(labels);
    }
    let text = |value: &Option<At<String>>| value.as_ref().map(|value| value.get().clone());
    Some(Server {
        name: name?.get().as_str().into(),
        system: text(&server.system),
        labels,
        expect: server
            .expect
            .as_ref()
            .map(|expect| Expect {
                serial: text(&expect.get().serial),
                model: text(&expect.get().model),
            })
            .unwrap_or_default(),
    })
}

/// With several servers behind one BMC, each must say which system it is, and no two may be the same.
fn check_system(
    server: &At<ServerDocument>,
    count: usize,
    systems: &mut BTreeMap<String, Range<usize>>,
    check: &mut Check<'_>,
) {
    let name = server.get().name.as_ref().map_or("?", |name| name.get());
    let Some(system) = &server.get().system else {
        if count > 1 && !check.file.was_reported(&server.span(), "system") {
            let message =
                format!("server `{name}` has no `system`, and its BMC has {count} servers");
            check
                .error(server.span(), message, "which ComputerSystem?")
                .hint("add `system = \"ID\"`, such as \"1\"");
        }
        return;
    };
    if system.get().is_empty() {
        check
            .error(
                system.span(),
                format!("`system` of server `{name}` is empty"),
                "names nothing",
            )
            .hint("write the member id or URI of its ComputerSystem");
        return;
    }
    let id = system
        .get()
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    if let Some(first) = systems.insert(id.to_owned(), system.span()) {
        let source = check.file.id;
        check
            .error(
                system.span(),
                format!("system `{}` is listed twice behind one BMC", system.get()),
                "again here",
            )
            .hint("list each ComputerSystem once")
            .related(source, first, "first here");
    }
}
