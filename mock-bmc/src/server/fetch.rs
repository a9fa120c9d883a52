//! This room really downloads the images that BMCs are told to pull.
//!
//! It deliberately checks nothing but the transfer: whether the bytes are an image is for the BMC to say.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

/// Largest body that is held in memory, pushed or pulled. Real images stay below a few hundred megabytes.
pub(crate) const BODY_MAX_BYTES: usize = 1 << 30;

/// Longest wait for a connection to an image server, in real time: the network does not run on mock time.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Longest silence within a download, in real time.
const READ_MAX: Duration = Duration::from_secs(30);

/// Makes the client that all BMCs share. Any certificate is taken, as most BMCs do.
pub(crate) fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls())
        .no_proxy()
        .connect_timeout(CONNECT_MAX)
        .read_timeout(READ_MAX)
        .build()
}

fn tls() -> rustls::ClientConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the provider's own versions are always supported by it")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth()
}

/// Downloads one image; the error is a sentence for the task's message.
pub(crate) async fn get(client: &reqwest::Client, url: &str) -> Result<Bytes, String> {
    let mut answer = client
        .get(url)
        .send()
        .await
        .map_err(|error| chain(&error))?;
    if !answer.status().is_success() {
        return Err(format!("the image server answered {}", answer.status()));
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| chain(&error))? {
        if body.len() + chunk.len() > BODY_MAX_BYTES {
            return Err(format!("the image is larger than {BODY_MAX_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// The innermost reason, because the outer ones repeat the URL, which may carry a password.
fn chain(error: &reqwest::Error) -> String {
    let mut innermost = std::error::Error::source(error);
    while let Some(next) = innermost.and_then(std::error::Error::source) {
        innermost = Some(next);
    }
    innermost.map_or_else(|| "the download failed".to_owned(), ToString::to_string)
}

/// Takes every certificate, but still checks that the peer owns the one it shows.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
