//! An inventory file as written.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::at::{Any, At};
use super::pipeline::TlsChangeDocument;

/// An inventory: which BMCs there are, how to reach them, and which servers stand behind each.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "redpipe inventory")]
pub(crate) struct InventoryDocument {
    /// What holds for every BMC that does not say otherwise.
    pub(crate) defaults: Option<At<DefaultsDocument>>,
    /// Accounts by name.
    #[serde(default)]
    pub(crate) credentials: BTreeMap<At<String>, At<CredentialsDocument>>,
    /// One entry for each BMC.
    #[serde(default)]
    pub(crate) bmc: Vec<At<BmcDocument>>,
}

/// What holds for every BMC that does not say otherwise.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefaultsDocument {
    /// Name of a `[credentials.NAME]` table.
    pub(crate) credentials: Option<At<String>>,
    /// How certificates are judged; `verify` where left out.
    pub(crate) tls: Option<At<TlsDocument>>,
    /// How to log in; `auto` where left out.
    pub(crate) auth: Option<At<AuthDocument>>,
    /// Time between two observations of an idle BMC, such as `"5m"`.
    pub(crate) poll_interval: Option<At<String>>,
    /// How fast a BMC may be asked.
    pub(crate) pace: Option<At<PaceDocument>>,
    /// What a remembered certificate that changes inside a declared outage leads to; `hold` where left out.
    pub(crate) tls_change: Option<At<TlsChangeDocument>>,
    /// Not supported yet: credentials after a factory reset.
    pub(crate) recovery_credentials: Option<At<Any>>,
}

/// One account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialsDocument {
    /// Account name.
    #[schemars(required)]
    pub(crate) username: Option<At<String>>,
    /// Where the password is, such as `{ env = "BMC_PASSWORD" }`.
    #[schemars(required)]
    pub(crate) password: Option<At<SecretDocument>>,
}

/// Where a secret is: exactly one of these.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub(crate) struct SecretDocument {
    /// An environment variable.
    pub(crate) env: Option<At<String>>,
    /// A file, relative to this one; its first line is the secret.
    pub(crate) file: Option<At<String>>,
    /// A program and its arguments; the first line it prints is the secret.
    pub(crate) command: Option<At<Vec<At<String>>>>,
    /// The secret itself; warned about.
    pub(crate) plain: Option<At<String>>,
}

impl fmt::Debug for SecretDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("secret")
    }
}

/// How a BMC's certificate is judged.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum TlsDocument {
    Word(TlsWord),
    Table(TlsTable),
}

/// How a BMC's certificate is judged, in a word.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TlsWord {
    /// Against the operating system's roots.
    Verify,
    /// Remembered on first contact, refused when changed.
    FirstUse,
    /// Not judged.
    Insecure,
}

/// How a BMC's certificate is judged: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub(crate) struct TlsTable {
    /// A PEM file with trusted roots, relative to this file.
    pub(crate) ca: Option<At<String>>,
    /// Digest of the certificate, `"sha256:..."`.
    pub(crate) pin: Option<At<String>>,
}

impl<'de> Deserialize<'de> for TlsDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TlsVisitor)
    }
}

struct TlsVisitor;

impl<'de> Visitor<'de> for TlsVisitor {
    type Value = TlsDocument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a table")
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<TlsDocument, E> {
        TlsWord::deserialize(serde::de::value::StrDeserializer::new(value)).map(TlsDocument::Word)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TlsDocument, A::Error> {
        TlsTable::deserialize(MapAccessDeserializer::new(map)).map(TlsDocument::Table)
    }
}

/// How to log in.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AuthDocument {
    /// Session, else basic.
    Auto,
    /// Session only.
    Session,
    /// Basic only.
    Basic,
    /// No login.
    None,
}

/// How fast a BMC may be asked, and how long to wait before believing it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaceDocument {
    /// Steady requests per second; 2 where left out.
    pub(crate) requests_per_second: Option<At<f64>>,
    /// Requests that may come at once after a pause; 4 where left out.
    #[schemars(range(min = 1))]
    pub(crate) burst: Option<At<u32>>,
    /// Requests in flight; 1 where left out.
    #[schemars(range(min = 1))]
    pub(crate) in_flight: Option<At<u32>>,
    /// Time between two polls of a task; `"10s"` where left out.
    pub(crate) task_poll: Option<At<String>>,
    /// Consecutive good reads that agree; 3 where left out.
    #[schemars(range(min = 1))]
    pub(crate) settle_reads: Option<At<u32>>,
    /// Time over which these reads are spread; `"60s"` where left out.
    pub(crate) settle_for: Option<At<String>>,
    /// How long a lost reset or settings request is looked for; `"30s"` where left out.
    pub(crate) probe_for: Option<At<String>>,
    /// How long a lost update request is waited for; `"20m"` where left out.
    pub(crate) lost_update: Option<At<String>>,
}

/// One BMC.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BmcDocument {
    /// Unique name.
    #[schemars(required)]
    pub(crate) name: Option<At<String>>,
    /// Host, `host:port` or URL; HTTPS unless it says `http://`.
    #[schemars(required)]
    pub(crate) address: Option<At<String>>,
    /// Labels of the BMC and of every server behind it.
    #[serde(default)]
    pub(crate) labels: BTreeMap<At<String>, At<String>>,
    /// Name of a `[credentials.NAME]` table.
    pub(crate) credentials: Option<At<String>>,
    /// How its certificate is judged.
    pub(crate) tls: Option<At<TlsDocument>>,
    /// How to log in.
    pub(crate) auth: Option<At<AuthDocument>>,
    /// Time between two observations while idle, such as `"5m"`.
    pub(crate) poll_interval: Option<At<String>>,
    /// How fast it may be asked.
    pub(crate) pace: Option<At<PaceDocument>>,
    /// Class of machine; overrules detection.
    pub(crate) platform: Option<At<String>>,
    /// What a remembered certificate that changes inside a declared outage leads to.
    pub(crate) tls_change: Option<At<TlsChangeDocument>>,
    /// Not supported yet: credentials after a factory reset.
    pub(crate) recovery_credentials: Option<At<Any>>,
    /// Servers behind it; every ComputerSystem found where none is listed.
    #[serde(default)]
    pub(crate) server: Vec<At<ServerDocument>>,
}

/// One server behind a BMC.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerDocument {
    /// Unique name.
    #[schemars(required)]
    pub(crate) name: Option<At<String>>,
    /// Member id or URI of its ComputerSystem; may be left out where the BMC has exactly one.
    pub(crate) system: Option<At<String>>,
    /// Labels, laid over the BMC's.
    #[serde(default)]
    pub(crate) labels: BTreeMap<At<String>, At<String>>,
    /// What the box must say of itself before the first write.
    pub(crate) expect: Option<At<ExpectDocument>>,
}

/// Facts that refuse the wrong box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub(crate) struct ExpectDocument {
    /// `SerialNumber` of the ComputerSystem.
    pub(crate) serial: Option<At<String>>,
    /// `Model` of the ComputerSystem.
    pub(crate) model: Option<At<String>>,
}
