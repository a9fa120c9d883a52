//! `[defaults]` of several files, and the keys that they share with `[[bmc]]`.
//!
//! A file's own defaults hold for its BMCs. A key that it leaves out is taken from the one other file that sets it;
//! where several do, nobody can tell which is meant, and that is a finding.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use super::pace::check_pace;
use crate::model::inventory::{AuthMode, TlsChange, TlsMode};
use crate::pipeline::check::{Check, NotYet};
use crate::pipeline::diagnostic::SourceId;
use crate::pipeline::document::{
    At, AuthDocument, BmcDocument, DefaultsDocument, InventoryDocument, PaceDocument,
    TlsChangeDocument, TlsDocument, TlsWord,
};
use crate::pipeline::shape::nearest;
use crate::pipeline::value::parse_sha256;

const RECOVERY_CREDENTIALS: NotYet = NotYet {
    key: "recovery_credentials",
    would: "would be used once after a factory reset",
    instead: "remove it; change `credentials` by hand after a factory reset",
};

/// Keys that may stand in `[defaults]` and in `[[bmc]]`; a faulty value is absent here and reported.
#[derive(Default)]
pub(super) struct Layer<'d> {
    pub(super) credentials: Option<String>,
    pub(super) tls: Option<TlsMode>,
    pub(super) tls_change: Option<TlsChange>,
    pub(super) auth: Option<AuthMode>,
    pub(super) poll_interval: Option<Duration>,
    pub(super) pace: Option<&'d PaceDocument>,
    /// Keys that are set, faulty or not.
    pub(super) set: BTreeMap<&'static str, Range<usize>>,
}

/// The same keys as written.
struct Written<'d> {
    credentials: Option<&'d At<String>>,
    tls: Option<&'d At<TlsDocument>>,
    tls_change: Option<&'d At<TlsChangeDocument>>,
    auth: Option<&'d At<AuthDocument>>,
    poll_interval: Option<&'d At<String>>,
    pace: Option<&'d At<PaceDocument>>,
}

/// Checks a file's `[defaults]`.
pub(super) fn defaults_layer<'d>(
    document: &'d InventoryDocument,
    known: &BTreeMap<String, (SourceId, Range<usize>)>,
    check: &mut Check<'_>,
) -> Layer<'d> {
    let Some(defaults) = document.defaults.as_ref().map(At::get) else {
        return Layer::default();
    };
    let DefaultsDocument {
        credentials,
        tls,
        auth,
        poll_interval,
        pace,
        tls_change,
        recovery_credentials,
    } = defaults;
    if let Some(value) = recovery_credentials {
        check.not_yet(&RECOVERY_CREDENTIALS, check.file.key_of(&value.span()));
    }
    let written = Written {
        credentials: credentials.as_ref(),
        tls: tls.as_ref(),
        tls_change: tls_change.as_ref(),
        auth: auth.as_ref(),
        poll_interval: poll_interval.as_ref(),
        pace: pace.as_ref(),
    };
    layer(&written, known, check)
}

/// Checks the same keys of one BMC.
pub(super) fn bmc_layer<'d>(
    bmc: &'d BmcDocument,
    known: &BTreeMap<String, (SourceId, Range<usize>)>,
    check: &mut Check<'_>,
) -> Layer<'d> {
    if let Some(value) = &bmc.recovery_credentials {
        check.not_yet(&RECOVERY_CREDENTIALS, check.file.key_of(&value.span()));
    }
    let written = Written {
        credentials: bmc.credentials.as_ref(),
        tls: bmc.tls.as_ref(),
        tls_change: bmc.tls_change.as_ref(),
        auth: bmc.auth.as_ref(),
        poll_interval: bmc.poll_interval.as_ref(),
        pace: bmc.pace.as_ref(),
    };
    layer(&written, known, check)
}

fn layer<'d>(
    written: &Written<'d>,
    known: &BTreeMap<String, (SourceId, Range<usize>)>,
    check: &mut Check<'_>,
) -> Layer<'d> {
    let spans = [
        ("credentials", written.credentials.map(At::span)),
        ("tls", written.tls.map(At::span)),
        ("tls_change", written.tls_change.map(At::span)),
        ("auth", written.auth.map(At::span)),
        ("poll_interval", written.poll_interval.map(At::span)),
        ("pace", written.pace.map(At::span)),
    ];
    if let Some(pace) = written.pace {
        check_pace(pace.get(), check);
    }
    Layer {
        credentials: written
            .credentials
            .and_then(|name| credentials_name(name, known, check)),
        tls: written.tls.and_then(|tls| tls_mode(tls, check)),
        tls_change: written.tls_change.map(|change| tls_change(*change.get())),
        auth: written.auth.map(|auth| auth_mode(*auth.get())),
        poll_interval: written
            .poll_interval
            .and_then(|text| poll_interval(text, check)),
        pace: written.pace.map(At::get),
        set: spans
            .into_iter()
            .filter_map(|(key, span)| span.map(|span| (key, span)))
            .collect(),
    }
}

fn credentials_name(
    name: &At<String>,
    known: &BTreeMap<String, (SourceId, Range<usize>)>,
    check: &mut Check<'_>,
) -> Option<String> {
    if known.contains_key(name.get()) {
        return Some(name.get().clone());
    }
    let hint = match nearest(name.get(), known.keys().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("add `[credentials.{}]` to an inventory file", name.get()),
    };
    let message = format!("credentials `{}` are not defined", name.get());
    check
        .error(name.span(), message, "no such `[credentials.NAME]`")
        .hint(hint);
    None
}

fn tls_mode(tls: &At<TlsDocument>, check: &mut Check<'_>) -> Option<TlsMode> {
    let table = match tls.get() {
        TlsDocument::Word(TlsWord::Verify) => return Some(TlsMode::Verify),
        TlsDocument::Word(TlsWord::FirstUse) => return Some(TlsMode::FirstUse),
        TlsDocument::Word(TlsWord::Insecure) => return Some(TlsMode::Insecure),
        TlsDocument::Table(table) => table,
    };
    if let Some(ca) = &table.ca {
        if ca.get().is_empty() {
            check
                .error(ca.span(), "`ca` is empty", "names nothing")
                .hint("name a PEM file, relative to this one");
            return None;
        }
        return Some(TlsMode::Ca(check.path(ca.get())));
    }
    let pin = table.pin.as_ref()?;
    let digest = pin
        .get()
        .strip_prefix("sha256:")
        .and_then(|digits| parse_sha256(&digits.replace(':', "")));
    if digest.is_none() {
        check
            .error(
                pin.span(),
                "`pin` is not a certificate's SHA-256",
                "not `sha256:` and 64 hexadecimal digits",
            )
            .hint("`redpipe trust BMC` shows the digest of the certificate a BMC presents");
    }
    digest.map(TlsMode::Pin)
}

fn tls_change(change: TlsChangeDocument) -> TlsChange {
    match change {
        TlsChangeDocument::Hold => TlsChange::Hold,
        TlsChangeDocument::AcceptInOutage => TlsChange::AcceptInOutage,
    }
}

fn auth_mode(auth: AuthDocument) -> AuthMode {
    match auth {
        AuthDocument::Auto => AuthMode::Auto,
        AuthDocument::Session => AuthMode::Session,
        AuthDocument::Basic => AuthMode::Basic,
        AuthDocument::None => AuthMode::None,
    }
}

fn poll_interval(text: &At<String>, check: &mut Check<'_>) -> Option<Duration> {
    let interval = check.duration("poll_interval", text)?;
    if interval.is_zero() {
        check
            .error(
                text.span(),
                "`poll_interval` is zero",
                "asks without a pause",
            )
            .hint("use a minute or more");
        return None;
    }
    Some(interval)
}
