//! This room is how a table of a script is declared: once, with documentation, type and default.
//!
//! It deliberately has no keys of its own.

/// How a type is written in the explanation.
pub(crate) trait Written {
    /// What may stand there.
    const FORM: &'static str;
}

macro_rules! written {
    ($($kind:ty => $form:literal),+ $(,)?) => {
        $(impl $crate::script::keys::Written for $kind { const FORM: &'static str = $form; })+
    };
}
pub(crate) use written;

written! {
    bool => "true or false",
    u16 => "number",
    u32 => "number",
    u64 => "number",
    String => "text",
    Vec<String> => "list of texts",
    Vec<u32> => "list of numbers",
    super::span::Span => "span",
    std::collections::BTreeMap<String, String> => "table of texts",
    std::collections::BTreeMap<String, toml::Value> => "table",
    toml::Value => "any value",
}

/// One key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) form: &'static str,
    /// The default as a script would write it; empty where leaving the key out means something of its own.
    pub(crate) default: &'static str,
    pub(crate) about: &'static [&'static str],
}

/// One table with its keys.
pub(crate) struct Table {
    pub(crate) header: &'static str,
    pub(crate) about: &'static [&'static str],
    pub(crate) keys: &'static [Key],
}

/// Declares a table of which there is one per BMC. Every field is optional; a method of the same name gives the value
/// or its default.
macro_rules! section {
    ($(#[doc = $about:literal])+ $name:ident in $header:literal {
        $($(#[doc = $doc:literal])+ $key:ident: $kind:ty = $default:expr, $shown:literal;)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: Option<$kind>,)+
        }

        impl $name {
            pub(crate) const TABLE: $crate::script::keys::Table = $crate::script::keys::Table {
                header: $header,
                about: &[$($about),+],
                keys: &[$($crate::script::keys::Key {
                    name: stringify!($key),
                    form: <$kind as $crate::script::keys::Written>::FORM,
                    default: $shown,
                    about: &[$($doc),+],
                }),+],
            };

            /// What this table says, and what `base` says where it is silent.
            pub(crate) fn over(self, base: &Self) -> Self {
                Self { $($key: self.$key.or_else(|| base.$key.clone()),)+ }
            }

            $($(#[doc = $doc])+
            pub fn $key(&self) -> $kind {
                self.$key.clone().unwrap_or_else(|| $default)
            })+
        }
    };
}
pub(crate) use section;

/// Declares a table that may stand several times. Fields that have no default are `Option` in the declaration.
macro_rules! entry {
    ($(#[doc = $about:literal])+ $name:ident in $header:literal {
        $($(#[doc = $doc:literal])+ $key:ident: $kind:ty as $form:literal, $shown:literal;)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $kind,)+
        }

        impl $name {
            pub(crate) const TABLE: $crate::script::keys::Table = $crate::script::keys::Table {
                header: $header,
                about: &[$($about),+],
                keys: &[$($crate::script::keys::Key {
                    name: stringify!($key),
                    form: $form,
                    default: $shown,
                    about: &[$($doc),+],
                }),+],
            };
        }
    };
}
pub(crate) use entry;
