//! This room is one fault of a script: which requests it meets, and what they see instead of the answer.
//!
//! It deliberately keeps no count; the BMC does.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::keys::{entry, written};
use super::span::Span;
use super::words::During;

/// What a fault makes of a request.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerKind {
    /// The given status, headers and body.
    #[default]
    Status,
    /// An HTML page, with the given status or 200.
    Html,
    /// The connection is closed before anything is processed.
    DropBefore,
    /// The request is processed, then the connection is closed without an answer.
    DropAfter,
    /// Nothing is ever answered; nothing is processed.
    Hang,
    /// The answer breaks off after `keep_bytes` of its body.
    Truncate,
    /// The usual answer, `by` later.
    Delay,
    /// The connection is refused.
    Refuse,
    /// The usual answer with the members of `body` replaced in it; the text `-` removes one, the text `null` is null.
    Edit,
}

/// How `retry_after` is written.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryAfterForm {
    /// Seconds.
    #[default]
    Seconds,
    /// A date by the BMC's clock.
    Date,
}

written! {
    AnswerKind => "\"status\", \"html\", \"drop-before\", \"drop-after\", \"hang\", \"truncate\", \"delay\", \"refuse\" or \"edit\"",
    RetryAfterForm => "\"seconds\" or \"date\"",
}

entry! {
    /// What some requests see instead of the answer. The first fault that fits fires.
    Fault in "fault" {
        /// Only on this BMC; left out: on every one.
        bmc: Option<String> as "text", "";
        /// Only this method; left out: any.
        method: Option<String> as "text", "\"POST\"";
        /// Only this path; `*` stands for anything. Left out: any path below the service root.
        path: Option<String> as "text", "\"/redfish/v1/UpdateService/*\"";
        /// Only requests whose body holds this text.
        body_contains: Option<String> as "text", "";
        /// Only requests in a session or with basic authentication that is good; else any.
        authorized: bool as "true or false", "false";
        /// Only from this mock time on.
        from: Option<Span> as "span", "\"0s\"";
        /// Only until this mock time.
        until: Option<Span> as "span", "";
        /// Only while the BMC does this.
        during: During as "\"any\", \"bmc-flash\", \"bmc-return\", \"bios-stage\", \"bios-staged\" or \"post\"", "\"any\"";
        /// The first request that fits and meets the fault, from 1.
        nth: Option<u32> as "number", "1";
        /// How many meet it from there; 0 for all.
        count: Option<u32> as "number", "1";
        /// What they see.
        answer: AnswerKind as "\"status\", \"html\", \"drop-before\", \"drop-after\", \"hang\", \"truncate\", \"delay\", \"refuse\" or \"edit\"", "\"status\"";
        /// The status that they see; left out: 503, and 200 for `html`.
        status: Option<u16> as "number", "503";
        /// The request is processed all the same, before its answer is replaced.
        processed: bool as "true or false", "false";
        /// The body: text as it is, a table as JSON. Left out: a Redfish error.
        body: Option<toml::Value> as "text or table", "";
        /// More headers.
        headers: BTreeMap<String, String> as "table of texts", "{}";
        /// The id of the message in the Redfish error.
        message_id: Option<String> as "text", "\"Base.1.18.GeneralError\"";
        /// Its text.
        message: Option<String> as "text", "";
        /// Its arguments.
        message_args: Vec<String> as "list of texts", "[]";
        /// The header `Retry-After`.
        retry_after: Option<Span> as "span", "\"30s\"";
        /// How that is written.
        retry_after_form: RetryAfterForm as "\"seconds\" or \"date\"", "\"seconds\"";
        /// How many bytes of the body arrive before it breaks off.
        keep_bytes: Option<u64> as "number", "10";
        /// How much later the answer comes.
        by: Option<Span> as "span", "\"10s\"";
    }
}

impl Fault {
    /// Whether it is about a request of this method, path without query and body.
    pub fn fits(&self, method: &str, path: &str, body: &[u8]) -> bool {
        let method_fits = self
            .method
            .as_ref()
            .is_none_or(|wanted| wanted.eq_ignore_ascii_case(method));
        let path_fits = match &self.path {
            None => path.starts_with("/redfish/v1"),
            Some(pattern) => glob(pattern.trim_end_matches('/'), path.trim_end_matches('/')),
        };
        let body_fits = self.body_contains.as_ref().is_none_or(|wanted| {
            let wanted = wanted.as_bytes();
            wanted.is_empty() || body.windows(wanted.len()).any(|part| part == wanted)
        });
        method_fits && path_fits && body_fits
    }
}

/// Whether `text` is what `pattern` says, in which `*` stands for any text.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            None => return false,
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text_and_nothing_else_does() {
        for (pattern, text, fits) in [
            ("/a/b", "/a/b", true),
            ("/a/b", "/a/b/c", false),
            ("/a/*", "/a/b/c", true),
            ("/a/*", "/a", false),
            ("*/Bios/*", "/Systems/1/Bios/Settings", true),
            ("/a*b*c", "/aXbXbc", true),
            ("/a*b", "/a", false),
            ("/a?", "/ab", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn a_fault_without_a_path_leaves_what_is_outside_the_service_alone() {
        let fault = Fault::default();
        assert!(fault.fits("GET", "/redfish/v1/Systems", b""));
        assert!(!fault.fits("GET", "/redfish", b""));
    }

    #[test]
    fn the_body_of_a_request_can_be_asked_for() {
        let fault = Fault {
            body_contains: Some("1.60".into()),
            ..Fault::default()
        };
        assert!(fault.fits("POST", "/redfish/v1/x", b"an image 1.60"));
        assert!(!fault.fits("POST", "/redfish/v1/x", b"1.6"));
    }
}
