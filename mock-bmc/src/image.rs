//! This room makes and reads the only kind of firmware image that the mock takes.
//!
//! An image is one line of JSON that says what it is, then filler. It deliberately carries no signature and no real
//! code: whether an image is acceptable is decided by its first line alone.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The number in the first line that marks our own kind of image.
pub const FORMAT: u32 = 1;

/// Longest first line that is looked at. A header is some hundred bytes; anything that has no line end by then is a
/// foreign file, and is not searched through to its end.
const HEADER_MAX_BYTES: usize = 4096;

/// What an image updates.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// The manager itself.
    Bmc,
    /// One system's boot firmware.
    Bios,
}

impl Component {
    /// The word as the header and the command line spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bmc => "bmc",
            Self::Bios => "bios",
        }
    }
}

impl std::fmt::Display for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The first line of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageHeader {
    /// Always [`FORMAT`].
    pub mock_firmware: u32,
    /// What the image updates.
    pub component: Component,
    /// The version that runs once the image is active, byte for byte as the service will report it.
    pub version: String,
    /// The oldest running version from which the image is taken; `None` takes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<String>,
}

/// Makes an image of `size` bytes, header included; a `size` below the header's length gives the bare header.
///
/// The filler depends on the header and on nothing else, so that the same arguments give the same digest on every host.
pub fn build(component: Component, version: &str, requires: Option<&str>, size: usize) -> Vec<u8> {
    let header = ImageHeader {
        mock_firmware: FORMAT,
        component,
        version: version.to_owned(),
        requires: requires.map(str::to_owned),
    };
    let mut bytes =
        serde_json::to_vec(&header).expect("a struct of strings and numbers always serialises");
    bytes.push(b'\n');
    fill(&mut bytes, size);
    bytes
}

/// Reads the first line; `None` where the bytes are no image of ours.
pub fn parse(bytes: &[u8]) -> Option<ImageHeader> {
    let head = bytes.get(..HEADER_MAX_BYTES).unwrap_or(bytes);
    let end = head
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(head.len());
    let header: ImageHeader = serde_json::from_slice(head.get(..end)?).ok()?;
    (header.mock_firmware == FORMAT && !header.version.is_empty()).then_some(header)
}

/// Appends blocks of a hash chain that begins at the header: cheap, deterministic, and not compressible.
fn fill(bytes: &mut Vec<u8>, size: usize) {
    let mut block = Sha256::digest(&bytes);
    while bytes.len() < size {
        let missing = size - bytes.len();
        bytes.extend(block.iter().take(missing));
        block = Sha256::digest(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_are_no_image() {
        for bytes in [
            b"".as_slice(),
            b"\x7fELF",
            b"{}\n",
            b"{\"mock_firmware\":2,\"component\":\"bmc\",\"version\":\"1\"}\n",
            b"{\"mock_firmware\":1,\"component\":\"nic\",\"version\":\"1\"}\n",
            b"{\"mock_firmware\":1,\"component\":\"bmc\",\"version\":\"\"}\n",
            &[b'x'; 10_000],
        ] {
            assert_eq!(parse(bytes), None);
        }
    }

    #[test]
    fn a_built_image_reads_back_and_has_the_asked_size() {
        let bytes = build(Component::Bios, "2.20", Some("2.10"), 10_000);
        assert_eq!(bytes.len(), 10_000);
        let header = parse(&bytes).expect("our own image");
        assert_eq!(header.component, Component::Bios);
        assert_eq!(header.version, "2.20");
        assert_eq!(header.requires.as_deref(), Some("2.10"));
    }

    #[test]
    fn the_same_arguments_give_the_same_bytes_and_others_give_others() {
        let one = build(Component::Bmc, "1.60", None, 5000);
        assert_eq!(one, build(Component::Bmc, "1.60", None, 5000));
        assert_ne!(one, build(Component::Bmc, "1.61", None, 5000));
    }

    #[test]
    fn a_size_below_the_header_keeps_the_header_whole() {
        assert!(parse(&build(Component::Bmc, "1.60", None, 1)).is_some());
    }
}
