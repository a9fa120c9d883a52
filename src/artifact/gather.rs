//! This file finds all images that some runs need, and says everything that is wrong with them at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use futures_util::{StreamExt, stream};

use super::cache::ImageCache;
use super::fetch;
use super::hash::{Digested, hash_file};
use super::uri::masked;
use crate::model::fault::{Fault, FaultKind, Retry};

/// Images looked at or downloaded at once: enough to hide a slow server, too few to trouble one.
const AT_ONCE: usize = 4;

/// Digits of a SHA-256.
const SHA256_HEX: usize = 64;

/// An image as a pipeline names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageRef {
    /// A file on this host.
    File {
        /// Where it is.
        path: PathBuf,
        /// The digest promised, lower-case hex.
        sha256: Option<String>,
    },
    /// To be downloaded. One without a promised digest is not ours to look at.
    Uri {
        /// From here; http or https.
        uri: String,
        /// The digest promised, lower-case hex.
        sha256: String,
    },
}

impl fmt::Debug for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, sha256 } => f
                .debug_struct("File")
                .field("path", path)
                .field("sha256", sha256)
                .finish(),
            Self::Uri { uri, sha256 } => f
                .debug_struct("Uri")
                .field("uri", &masked(uri))
                .field("sha256", sha256)
                .finish(),
        }
    }
}

/// An image on this host, hashed and as promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Where the bytes lie.
    pub path: PathBuf,
}

/// Finds every image, or says all that is wrong. No BMC needs to be asked for it.
pub async fn gather(
    wanted: &BTreeSet<ImageRef>,
    cache: &ImageCache,
) -> Result<BTreeMap<ImageRef, Image>, Vec<(ImageRef, Fault)>> {
    let looked: Vec<(ImageRef, Result<Image, Fault>)> = stream::iter(wanted.iter().cloned())
        .map(|image| async move {
            let found = match &image {
                ImageRef::File { path, sha256 } => local(path, sha256.as_deref()).await,
                ImageRef::Uri { uri, sha256 } => remote(uri, sha256, cache).await,
            };
            (image, found)
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let (mut images, mut faults) = (BTreeMap::new(), Vec::new());
    for (wanted, found) in looked {
        match found {
            Ok(image) => {
                images.insert(wanted, image);
            }
            Err(fault) => faults.push((wanted, fault)),
        }
    }
    if faults.is_empty() {
        Ok(images)
    } else {
        Err(faults)
    }
}

async fn local(path: &Path, promised: Option<&str>) -> Result<Image, Fault> {
    let shown = path.display().to_string();
    let digested = hash_file(path)
        .await
        .map_err(|error| unreadable(&shown, &error))?;
    if digested.bytes == 0 {
        return Err(invalid(format!("image `{shown}` is empty")));
    }
    match promised.and_then(|promised| mismatch(&shown, promised, &digested)) {
        Some(fault) => Err(fault),
        None => Ok(image(digested, path.to_owned())),
    }
}

async fn remote(uri: &str, promised: &str, cache: &ImageCache) -> Result<Image, Fault> {
    // It becomes a file name.
    if promised.len() != SHA256_HEX || !promised.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(invalid(format!(
            "image `{}` is promised with a sha256 that is not 64 hex digits",
            masked(uri)
        )));
    }
    let promised = promised.to_ascii_lowercase();
    let promised = promised.as_str();
    let kept = cache.path(promised);
    if let Some(digested) = in_cache(&kept, promised).await {
        return Ok(image(digested, kept));
    }
    let slot = cache.slot(promised).await.map_err(|error| {
        let shown = cache.folder().display();
        invalid(format!("cache folder `{shown}` cannot be used"))
            .with_cause(error.to_string())
            .with_hint("place the cache elsewhere with `XDG_CACHE_HOME`")
    })?;
    // Another process may have put it there while this one waited.
    if let Some(digested) = in_cache(&kept, promised).await {
        return Ok(image(digested, kept));
    }
    let digested = fetch::fetch(uri, &slot).await?;
    if let Some(fault) = mismatch(&masked(uri), promised, &digested) {
        slot.discard();
        return Err(fault);
    }
    let path = slot
        .keep()
        .map_err(|error| unreadable(&masked(uri), &error))?;
    Ok(image(digested, path))
}

/// What is in the cache under this digest, if its bytes still have it.
async fn in_cache(path: &Path, promised: &str) -> Option<Digested> {
    hash_file(path)
        .await
        .ok()
        .filter(|digested| digested.sha256.eq_ignore_ascii_case(promised))
}

/// What is wrong, if anything is.
fn mismatch(shown: &str, promised: &str, found: &Digested) -> Option<Fault> {
    if found.sha256.eq_ignore_ascii_case(promised) {
        return None;
    }
    let fault = invalid(format!("image `{shown}` is not the one promised"))
        .with_cause(format!("the pipeline promises sha256 `{promised}`"))
        .with_cause(format!(
            "its {} bytes have sha256 `{}`",
            found.bytes, found.sha256
        ))
        .with_hint("get the right file; change `sha256` only if you know that this one is right");
    Some(fault)
}

fn unreadable(shown: &str, error: &io::Error) -> Fault {
    invalid(format!("image `{shown}` cannot be read"))
        .with_cause(error.to_string())
        .with_hint("check the path (it counts from the pipeline's folder) and that you may read it")
}

fn invalid(message: String) -> Fault {
    Fault::new(FaultKind::ImageInvalid, Retry::Operator, message)
}

fn image(digested: Digested, path: PathBuf) -> Image {
    Image {
        sha256: digested.sha256,
        bytes: digested.bytes,
        path,
    }
}
