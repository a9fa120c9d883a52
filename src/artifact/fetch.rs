//! This file downloads one image into its place in the cache, hashing it on the way.
//!
//! It follows redirects, since the digest decides what is taken, and never resumes: a download that breaks is begun
//! again by the next start.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::cache::Slot;
use super::hash::{Digested, Hasher};
use super::uri::masked;
use crate::model::fault::{Fault, FaultKind, Retry};

/// A server in the same building answers within a second.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// A transfer in which nothing moves for this long is dead.
const STALL_TIMEOUT: Duration = Duration::from_mins(1);
/// Mirrors redirect once or twice.
const REDIRECTS_MAX: usize = 5;
/// Larger than any firmware bundle (whole-server bundles reach some gigabytes), smaller than a disk.
const IMAGE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// Downloads a URI into a slot. The bytes are not yet judged; on failure nothing is left.
pub(super) async fn fetch(uri: &str, slot: &Slot) -> Result<Digested, Fault> {
    let result = stream(uri, slot).await;
    if result.is_err() {
        slot.discard();
    }
    result
}

async fn stream(uri: &str, slot: &Slot) -> Result<Digested, Fault> {
    let response = request(uri).await?;
    let failed = |error: std::io::Error| {
        fault(uri, Retry::Operator, "cannot be kept in the cache")
            .with_cause(error.to_string())
            .with_hint("free some space, or place the cache elsewhere with `XDG_CACHE_HOME`")
    };
    let mut file = slot.create().map_err(failed)?;
    let (mut hasher, mut body) = (Hasher::default(), response.bytes_stream());
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| broken(uri, "broke off", error))?;
        if hasher.update(&chunk) > IMAGE_BYTES_MAX {
            return Err(fault(
                uri,
                Retry::Operator,
                "is larger than any firmware image",
            ));
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    Ok(hasher.finish())
}

async fn request(uri: &str) -> Result<Response, Fault> {
    let response = client(uri)
        .map_err(|fault| *fault)?
        .get(uri)
        .send()
        .await
        .map_err(|error| broken(uri, "did not answer", error))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let retry = if status.is_server_error() {
        Retry::Transient
    } else {
        Retry::Operator
    };
    let mut fault = fault(uri, retry, &format!("was answered with {status}"));
    fault.status = Some(status.as_u16());
    Err(fault.with_hint("check that the image server has the file and lets this host have it"))
}

fn client(uri: &str) -> Result<Client, Box<Fault>> {
    let is_https = match uri.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => true,
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => false,
        Some(_) | None => {
            let what = "is neither http nor https, so redpipe cannot check its digest";
            let hint = "leave `sha256` out to let the BMC alone fetch it, or name an http(s) URI or a `file`";
            return Err(Box::new(fault(uri, Retry::Operator, what).with_hint(hint)));
        }
    };
    let tls = tls(is_https).map_err(|error| {
        let what = "needs the certificates of this host, which cannot be read";
        fault(uri, Retry::Operator, what)
            .with_cause(error.to_string())
            .with_hint("install the system's CA certificates, or name the image by `file`")
    })?;
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::limited(REDIRECTS_MAX))
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(STALL_TIMEOUT)
        .build();
    client.map_err(|error| Box::new(broken(uri, "cannot be asked for", error)))
}

/// Hosts without certificates can still download over plain http; a redirect to https then trusts nobody.
fn tls(is_https: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    match builder.with_platform_verifier() {
        Ok(builder) => Ok(builder.with_no_client_auth()),
        Err(error) if is_https => Err(error),
        Err(_) => Ok(ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth()),
    }
}

/// The transport's words, without its copy of the URI.
fn broken(uri: &str, what: &str, error: reqwest::Error) -> Fault {
    let error = error.without_url();
    let mut fault = fault(uri, Retry::Transient, what).with_cause(error.to_string());
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        fault = fault.with_cause(cause.to_string());
        source = cause.source();
    }
    fault.with_hint("check that this host reaches the image server")
}

fn fault(uri: &str, retry: Retry, what: &str) -> Fault {
    let shown = masked(uri);
    let mut fault = Fault::new(
        FaultKind::ImageInvalid,
        retry,
        format!("image `{shown}` {what}"),
    );
    fault.uri = Some(shown);
    fault
}
