//! From wire response to answer: JSON, messages, tags, locations.
//!
//! Pure; tolerant of whatever a BMC sends.

use std::hash::{DefaultHasher, Hasher as _};
use std::time::Duration;

use http::HeaderMap;
use http::header::{ETAG, LOCATION};
use jiff::Timestamp;
use memchr::memmem;
use serde_json::Value;

use super::answer::Answer;
use super::messages::{bmc_messages, page_message};
use super::retry_after::retry_after;
use crate::model::inventory::{Address, Scheme};
use crate::redfish::transport::{WireResponse, X_AUTH_TOKEN};

/// Reads a response to a request for `path`. The session token stays out of what is returned.
pub(super) fn read_answer(
    path: &str,
    response: WireResponse,
    address: &Address,
    now: Timestamp,
    retry_after_max: Duration,
) -> Answer {
    let (json, not_json) = parse_body(&response.body);
    let messages = if not_json {
        vec![page_message(&response.body)]
    } else {
        bmc_messages(&json)
    };
    let mut headers = response.headers;
    headers.remove(X_AUTH_TOKEN);
    Answer {
        path: path.to_owned(),
        status: response.status,
        digest: digest(&response.body),
        etag: etag_of(&headers, &json),
        location: text(&headers, LOCATION.as_str()).and_then(|location| path_on(address, location)),
        retry_after: retry_after(&headers, now, retry_after_max),
        headers,
        json,
        not_json,
        messages,
    }
}

/// A link as a path on this BMC: relative ones as they are, absolute ones only where they lead here.
pub(in crate::redfish) fn path_on(address: &Address, link: &str) -> Option<String> {
    let link = link.trim();
    if link.starts_with('/') && !link.starts_with("//") {
        return Some(link.to_owned());
    }
    let uri: http::Uri = link.parse().ok()?;
    let scheme = match uri.scheme_str()?.to_ascii_lowercase().as_str() {
        "https" => Scheme::Https,
        "http" => Scheme::Http,
        _ => return None,
    };
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
    let there = Address::new(scheme, host, uri.port_u16());
    let here = there.scheme == address.scheme
        && there.port == address.port
        && there.host.eq_ignore_ascii_case(&address.host);
    here.then(|| {
        uri.path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned()
    })
}

/// The body as JSON; whether there was one that is none.
fn parse_body(body: &[u8]) -> (Value, bool) {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    if body.iter().all(u8::is_ascii_whitespace) {
        return (Value::Null, false);
    }
    match serde_json::from_slice(body) {
        Ok(json) => (json, false),
        Err(_) => (Value::Null, true),
    }
}

/// The tag of the answer: header first, body second, empty ones never.
fn etag_of(headers: &HeaderMap, json: &Value) -> Option<String> {
    let header = text(headers, ETAG.as_str());
    header
        .or_else(|| json.get("@odata.etag").and_then(Value::as_str))
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

/// What a body says, but for the one member that moves by itself: the time of day of a manager.
pub(in crate::redfish) fn digest(body: &[u8]) -> u64 {
    const CLOCK: &[u8] = b"\"DateTime\"";
    let mut hasher = DefaultHasher::new();
    let mut rest = body;
    while let Some(at) = memmem::find(rest, CLOCK) {
        let (before, after) = rest.split_at(at + CLOCK.len());
        hasher.write(before);
        // The value ends with the second quotation mark behind the name.
        let mut quotes = (0..).zip(after).filter(|(_, byte)| **byte == b'"');
        let end = quotes.nth(1).map_or(after.len(), |(end, _)| end);
        rest = after.get(end..).unwrap_or_default();
    }
    hasher.write(rest);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(link: &str) -> Option<String> {
        path_on(&Address::new(Scheme::Https, "10.0.0.1", None), link)
    }

    #[test]
    fn locations_elsewhere_are_refused() {
        assert_eq!(on("https://evil.example/redfish/v1/T/1"), None);
        assert_eq!(on("http://10.0.0.1/redfish/v1/T/1"), None);
        assert_eq!(on("https://10.0.0.1:8443/redfish/v1/T/1"), None);
        assert_eq!(on("//evil.example/redfish/v1/T/1"), None);
        assert_eq!(on("ftp://10.0.0.1/x"), None);
        assert_eq!(on("not a link"), None);
    }

    #[test]
    fn locations_here_become_paths() {
        assert_eq!(on("/redfish/v1/T/1").as_deref(), Some("/redfish/v1/T/1"));
        assert_eq!(
            on("https://10.0.0.1/redfish/v1/T/1?x=1").as_deref(),
            Some("/redfish/v1/T/1?x=1")
        );
        assert_eq!(
            on("HTTPS://10.0.0.1:443/redfish/v1/T/1").as_deref(),
            Some("/redfish/v1/T/1")
        );
    }

    #[test]
    fn pages_empty_bodies_and_marks_are_told_apart() {
        assert_eq!(parse_body(b"<html>"), (Value::Null, true));
        assert_eq!(parse_body(b" \r\n"), (Value::Null, false));
        assert_eq!(
            parse_body(b"\xef\xbb\xbf{}"),
            (serde_json::json!({}), false)
        );
        assert_eq!(parse_body(b"{\"half\": "), (Value::Null, true));
    }

    #[test]
    fn a_clock_that_moves_changes_nothing_and_whatever_else_moves_does() {
        let at = |time: &str, version: &str| {
            digest(format!(r#"{{"DateTime": "{time}","FirmwareVersion":"{version}"}}"#).as_bytes())
        };
        assert_eq!(
            at("2026-03-01T10:00:00Z", "1.60"),
            at("1970-01-01T00:00:09Z", "1.60")
        );
        assert_ne!(
            at("2026-03-01T10:00:00Z", "1.60"),
            at("2026-03-01T10:00:00Z", "1.50")
        );
        assert_ne!(digest(b"{\"DateTime\":\"a"), digest(b"{}"));
    }
}
