//! One `[[bmc]]`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::address::parse_address;
use super::defaults::{Layer, bmc_layer};
use super::pace::layered_pace;
use super::server::check_servers;
use crate::model::facts::FACT_PREFIX;
use crate::model::inventory::{
    Address, AuthMode, Bmc, CredentialsRef, POLL_INTERVAL_DEFAULT, TlsMode,
};
use crate::model::one_copy::OneCopy;
use crate::pipeline::check::{Check, Names};
use crate::pipeline::diagnostic::SourceId;
use crate::pipeline::document::{At, BmcDocument};

/// What the checks of all BMCs have seen so far.
pub(super) struct Sight {
    credentials: BTreeMap<String, Arc<CredentialsRef>>,
    credential_names: Names,
    bmcs: Names,
    addresses: BTreeMap<String, (SourceId, Range<usize>, String)>,
    /// Servers of all BMCs.
    pub(super) servers: Names,
    pub(super) labels: OneCopy<BTreeMap<String, String>>,
    files: OneCopy<str>,
}

impl Sight {
    /// Nothing but credentials: those that are usable, and the names of all.
    pub(super) fn new(
        credentials: BTreeMap<String, Arc<CredentialsRef>>,
        credential_names: Names,
    ) -> Self {
        Self {
            credentials,
            credential_names,
            bmcs: Names::default(),
            addresses: BTreeMap::new(),
            servers: Names::default(),
            labels: OneCopy::default(),
            files: OneCopy::default(),
        }
    }
}

pub(super) fn check_bmc(
    bmc: &At<BmcDocument>,
    defaults: &Layer<'_>,
    sight: &mut Sight,
    check: &mut Check<'_>,
) -> Option<Bmc> {
    let document = bmc.get();
    let name = check.name("bmc", document.name.as_ref());
    if let Some(name) = name {
        check.unique(&mut sight.bmcs, "bmc", name);
    }
    let address = document
        .address
        .as_ref()
        .map(|address| check_address(address, name, sight, check));
    let labels = sight.labels.of(check_labels(&document.labels, check));
    let servers = check_servers(bmc, &labels, sight, check);
    let own = bmc_layer(document, &sight.credential_names.0, check);
    let auth = own.auth.or(defaults.auth).unwrap_or(AuthMode::Auto);
    if auth != AuthMode::None
        && !own.set.contains_key("credentials")
        && !defaults.set.contains_key("credentials")
    {
        nobody_logs_in(bmc, name, check);
    }
    let credentials = own.credentials.as_ref().or(defaults.credentials.as_ref());
    let layers: Vec<_> = [own.pace, defaults.pace].into_iter().flatten().collect();
    Some(Bmc {
        name: name?.get().as_str().into(),
        address: address??,
        labels,
        credentials: credentials
            .filter(|_| auth != AuthMode::None)
            .and_then(|name| sight.credentials.get(name))
            .cloned(),
        tls: own.tls.or(defaults.tls.clone()).unwrap_or(TlsMode::Verify),
        tls_change: own.tls_change.or(defaults.tls_change).unwrap_or_default(),
        auth,
        pace: layered_pace(&layers),
        poll_interval: own
            .poll_interval
            .or(defaults.poll_interval)
            .unwrap_or(POLL_INTERVAL_DEFAULT),
        platform: document
            .platform
            .as_ref()
            .map(|platform| platform.get().clone()),
        servers,
        file: sight.files.of(check.file.source.name()),
        line: check.file.source.position(bmc.span().start).line,
    })
}

fn nobody_logs_in(bmc: &At<BmcDocument>, name: Option<&At<String>>, check: &mut Check<'_>) {
    if !check.file.was_reported(&bmc.span(), "credentials") {
        let shown = name.map_or("?", |name| name.get());
        check
            .error(
                bmc.span(),
                format!("bmc `{shown}` has no credentials"),
                "nobody to log in as",
            )
            .hint("add `credentials = \"NAME\"` here or in `[defaults]`, or `auth = \"none\"`");
    }
}

fn check_address(
    address: &At<String>,
    name: Option<&At<String>>,
    sight: &mut Sight,
    check: &mut Check<'_>,
) -> Option<Address> {
    let parsed = match parse_address(address.get()) {
        Ok(parsed) => parsed,
        Err(problem) => {
            check
                .error(
                    address.span(),
                    format!("`address` has {problem}"),
                    "not an address",
                )
                .hint("write `HOST`, `HOST:PORT` or `https://HOST:PORT`");
            return None;
        }
    };
    let shown = name.map_or("?", |name| name.get()).to_owned();
    let here = (check.file.id, address.span(), shown.clone());
    if let Some((source, span, other)) = sight.addresses.insert(parsed.host_port(), here) {
        check
            .error(
                address.span(),
                format!("bmc `{shown}` has the address of bmc `{other}`"),
                "again here",
            )
            .hint("list each BMC once, with all its servers")
            .related(source, span, "first here");
    }
    Some(parsed)
}

/// Labels as written; facts from hardware have a name space of their own.
pub(super) fn check_labels(
    labels: &BTreeMap<At<String>, At<String>>,
    check: &mut Check<'_>,
) -> BTreeMap<String, String> {
    for key in labels.keys() {
        let text = key.get();
        if text.starts_with(FACT_PREFIX) {
            check
                .error(
                    key.span(),
                    format!("label `{text}` is reserved"),
                    "read from hardware",
                )
                .hint("use a name that does not begin with `redfish.`");
        } else if text.is_empty()
            || text.contains(|c: char| c.is_whitespace() || "!=,()<>".contains(c))
        {
            check
                .error(
                    key.span(),
                    format!("label `{text}` cannot be selected"),
                    "not a label name",
                )
                .hint("use letters, digits, `-`, `_`, `.` and `/`");
        }
    }
    labels
        .iter()
        .map(|(key, value)| (key.get().clone(), value.get().clone()))
        .collect()
}
