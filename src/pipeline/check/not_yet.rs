//! What files may say one day, and are refused for now: ignoring it would be worse.

use std::ops::Range;

use super::context::Check;
use crate::pipeline::document::{At, TlsChangeDocument};

/// A key that is not supported yet.
pub(crate) struct NotYet {
    /// The key as a person would write it.
    pub(crate) key: &'static str,
    /// What it would do.
    pub(crate) would: &'static str,
    /// What to do now.
    pub(crate) instead: &'static str,
}

const TLS_CHANGE: NotYet = NotYet {
    key: "tls_change = \"accept-in-outage\"",
    would: "would trust a certificate that changes inside this stage's outage",
    instead: "write it on the BMC in the inventory, or in `[defaults]` there",
};

impl Check<'_> {
    /// Reports a key that is not supported yet.
    pub(crate) fn not_yet(&mut self, what: &NotYet, span: Range<usize>) {
        let message = format!("`{}` is not supported yet", what.key);
        self.error(span, message, what.would).hint(what.instead);
    }
}

/// `tls_change` of a stage, where it is more than the default: a certificate belongs to a BMC, not to a stage.
pub(super) fn tls_change(check: &mut Check<'_>, value: Option<&At<TlsChangeDocument>>) {
    if let Some(value) = value.filter(|value| *value.get() == TlsChangeDocument::AcceptInOutage) {
        check.not_yet(&TLS_CHANGE, value.span());
    }
}
