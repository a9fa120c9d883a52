//! What an update keeps, as written: a word or a list.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::at::At;

/// What an update keeps of the configuration of what it flashes: `all` where left out, `none`, or a list of what alone is
/// kept, in the platform's own words as `redpipe inventory check` tells them, such as `["PreserveCfg"]`.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum PreserveDocument {
    Word(PreserveWord),
    List(Vec<At<String>>),
}

/// What an update keeps, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PreserveWord {
    /// Everything that the platform can keep.
    All,
    /// Nothing that it can be told to wipe.
    None,
}

impl<'de> Deserialize<'de> for PreserveDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PreserveVisitor)
    }
}

struct PreserveVisitor;

impl<'de> Visitor<'de> for PreserveVisitor {
    type Value = PreserveDocument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a list")
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<PreserveDocument, E> {
        let word = serde::de::value::StrDeserializer::new(value);
        PreserveWord::deserialize(word).map(PreserveDocument::Word)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<PreserveDocument, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(PreserveDocument::List)
    }
}
