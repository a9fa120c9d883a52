//! This file hashes images as streams: they are far larger than what should be in memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Read at a time: large enough that system calls do not count, small enough for any host.
const CHUNK_BYTES: usize = 256 * 1024;

/// What is known of some bytes once all of them were seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digested {
    /// SHA-256, lower-case hex.
    pub(super) sha256: String,
    /// How many.
    pub(super) bytes: u64,
}

/// Hashes bytes as they pass.
#[derive(Default)]
pub(super) struct Hasher {
    hash: Sha256,
    bytes: u64,
}

impl Hasher {
    /// Takes the next bytes; returns how many there were so far.
    pub(super) fn update(&mut self, chunk: &[u8]) -> u64 {
        self.hash.update(chunk);
        self.bytes = self
            .bytes
            .saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        self.bytes
    }

    /// That was all.
    pub(super) fn finish(self) -> Digested {
        Digested {
            sha256: hex::encode(self.hash.finalize()),
            bytes: self.bytes,
        }
    }
}

/// Hashes a file, off the threads that must not block.
pub(super) async fn hash_file(path: &Path) -> io::Result<Digested> {
    let path = path.to_owned();
    match tokio::task::spawn_blocking(move || hash_now(&path)).await {
        Ok(result) => result,
        Err(error) => Err(io::Error::other(error)),
    }
}

fn hash_now(path: &Path) -> io::Result<Digested> {
    // Asked before it is opened: to open a pipe is to wait for somebody who writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let mut file = File::open(path)?;
    let (mut hasher, mut chunk) = (Hasher::default(), vec![0; CHUNK_BYTES]);
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(chunk.get(..count).unwrap_or_default());
    }
}
