//! This room takes a multipart push apart (DSP0266, "Multipart HTTP push").
//!
//! It deliberately checks what the specification fixes: names, order and types of the parts.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::docs::messages::Message;

/// A multipart push.
#[derive(Clone, Debug)]
pub(super) struct Upload {
    pub(super) parameters: Map<String, Value>,
    pub(super) file_name: String,
    pub(super) file: Bytes,
    /// The vendor's part.
    pub(super) oem: Option<Value>,
}

/// One part.
pub(in super::super) struct Part {
    pub(in super::super) name: String,
    pub(in super::super) file_name: Option<String>,
    pub(in super::super) body: Bytes,
}

/// All parts of a form, by the request's `Content-Type`.
pub(in super::super) fn parts(kind: &str, body: &Bytes) -> Option<Vec<Part>> {
    split(body, &parameter(kind, "boundary")?)
}

/// Takes a body apart, by the request's `Content-Type`.
pub(super) fn read(kind: &str, body: &Bytes) -> Result<Upload, Message> {
    let malformed = || Message::base("MissingOrMalformedPart", &[]);
    let parts = parts(kind, body).ok_or_else(malformed)?;
    // The parameters come first, so that a service knows where to put the file while it arrives.
    let [parameters, more @ ..] = parts.as_slice() else {
        return Err(malformed());
    };
    let is_file = |part: &&Part| part.name == "UpdateFile";
    let file = more.iter().find(is_file).ok_or_else(malformed)?;
    let is_known = |part: &Part| part.name == "UpdateFile" || part.name.starts_with("Oem");
    if parameters.name != "UpdateParameters" || !more.iter().all(is_known) {
        return Err(malformed());
    }
    let oem = more.iter().find(|part| part.name == "OemParameters");
    let oem = oem.and_then(|part| serde_json::from_slice(&part.body).ok());
    let json: Option<Map<String, Value>> = serde_json::from_slice(&parameters.body).ok();
    Ok(Upload {
        parameters: json.ok_or_else(|| Message::base("MalformedJSON", &[]))?,
        file_name: file.file_name.clone().ok_or_else(malformed)?,
        file: file.body.clone(),
        oem,
    })
}

/// A parameter of a header's value.
fn parameter(header: &str, name: &str) -> Option<String> {
    let mut pieces = header.split(';').skip(1).map(str::trim);
    let piece = pieces.find_map(|piece| {
        let (known, value) = piece.split_once('=')?;
        known
            .trim()
            .eq_ignore_ascii_case(name)
            .then_some(value.trim())
    })?;
    Some(piece.trim_matches('"').to_owned())
}

fn split(body: &Bytes, boundary: &str) -> Option<Vec<Part>> {
    let first = format!("--{boundary}");
    let between = format!("\r\n--{boundary}");
    let mut at = find(body, first.as_bytes(), 0)? + first.len();
    let mut parts = Vec::new();
    loop {
        if body.get(at..at + 2) == Some(b"--") {
            return Some(parts);
        }
        let start = find(body, b"\r\n", at)? + 2;
        let end = find(body, between.as_bytes(), start)?;
        parts.push(part(&body.slice(start..end))?);
        at = end + between.len();
    }
}

fn part(bytes: &Bytes) -> Option<Part> {
    let end = find(bytes, b"\r\n\r\n", 0)?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let mut lines = head.split("\r\n");
    let disposition = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case("content-disposition")
            .then_some(value)
    })?;
    Some(Part {
        name: parameter(disposition, "name")?,
        file_name: parameter(disposition, "filename")
            .or_else(|| parameter(disposition, "filename*")),
        body: bytes.slice(end + 4..),
    })
}

/// Bytes looked through at once. Whether a byte is in a block is told far faster than where, and images are big.
const BLOCK_BYTES: usize = 4096;

/// The first place of `needle` at or after `from`.
fn find(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let block = rest.get(..BLOCK_BYTES).unwrap_or(rest);
        if !block.contains(&first) {
            at += block.len();
            continue;
        }
        at += block.iter().position(|byte| *byte == first)?;
        if bytes.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const KIND: &str = "multipart/form-data; boundary=\"x y\"";

    fn body(parts: &[(&str, &str)]) -> Bytes {
        let part = |(disposition, content): &(&str, &str)| {
            format!("--x y\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{content}\r\n")
        };
        let text: String = parts.iter().map(part).collect();
        Bytes::from(text + "--x y--\r\n")
    }

    #[test]
    fn parameters_and_file_come_out_as_they_went_in() {
        let parts = [
            ("name=\"UpdateParameters\"", "{\"Targets\":[]}"),
            (
                "name=\"UpdateFile\"; filename=\"a.bin\"",
                "\r\n--x\r\nimage",
            ),
        ];
        let upload = read(KIND, &body(&parts)).unwrap();
        assert_eq!(upload.file_name, "a.bin");
        assert_eq!(&upload.file[..], b"\r\n--x\r\nimage");
        assert!(upload.parameters.contains_key("Targets"));
    }

    #[test]
    fn missing_misnamed_misordered_and_broken_parts_are_refused() {
        let parameters = ("name=\"UpdateParameters\"", "{}");
        let file = ("name=\"UpdateFile\"; filename=\"a\"", "x");
        for parts in [
            vec![parameters],
            vec![file, parameters],
            vec![parameters, ("name=\"File\"; filename=\"a\"", "x")],
            vec![parameters, ("name=\"UpdateFile\"", "x")],
            vec![parameters, file, ("name=\"Extra\"", "x")],
            vec![("name=\"UpdateParameters\"", "{"), file],
        ] {
            assert!(read(KIND, &body(&parts)).is_err(), "{parts:?}");
        }
        let whole = body(&[parameters, file]);
        assert!(read("multipart/form-data", &whole).is_err());
        assert!(read(KIND, &whole.slice(..whole.len() - 8)).is_err());
        assert!(read(KIND, &Bytes::from_static(b"rubbish")).is_err());
    }
}
