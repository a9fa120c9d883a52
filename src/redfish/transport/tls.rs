//! How a BMC's certificate is judged: by roots, by a pin, by first use, or not at all.
//!
//! One verifier serves every BMC of a class; by which pin it judges comes with each attempt to connect, because a server name
//! leaves out the port, and several BMCs may share a host behind forwarded ports. It
//! stores nothing: what first use has seen is told to the transport, which remembers it once the handshake is done.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use sha2::{Digest, Sha256};

use super::CertProblem;
use super::tls_tickets::Tickets;
use crate::model::inventory::TlsMode;
use crate::redfish::lock::lock;
use crate::redfish::memory::Memory;

tokio::task_local! {
    /// The attempt that a connection is opened for. A connection that nobody waits for has none, and fails.
    pub(super) static ATTEMPT: Arc<Attempt>;
}

/// By what the certificate of one BMC is judged. Only a handshake asks: most requests go out on an open connection, and
/// are not worth a look into the store.
pub(super) struct Trust {
    pub(super) mode: TlsMode,
    pub(super) host_port: String,
    pub(super) memory: Arc<dyn Memory>,
    /// First use is over, whoever it was.
    is_pinned: AtomicBool,
}

impl Trust {
    pub(super) fn new(mode: TlsMode, host_port: String, memory: Arc<dyn Memory>) -> Self {
        Self {
            mode,
            host_port,
            memory,
            is_pinned: AtomicBool::new(false),
        }
    }

    /// Whether the next certificate is the one to remember.
    pub(super) fn is_first_use(&self) -> bool {
        !self.is_pinned.load(Ordering::Relaxed) && self.judge() == Judge::FirstUse
    }

    fn judge(&self) -> Judge {
        match &self.mode {
            TlsMode::Verify | TlsMode::Ca(_) => Judge::Roots,
            TlsMode::Insecure => Judge::Nothing,
            TlsMode::Pin(hex) => Judge::Pin(format!("sha256:{hex}")),
            TlsMode::FirstUse => {
                let pin = self.memory.pin(&self.host_port);
                self.is_pinned.store(pin.is_some(), Ordering::Relaxed);
                pin.map_or(Judge::FirstUse, Judge::Pin)
            }
        }
    }
}

/// One request's wish to connect, and what the verifier saw.
pub(super) struct Attempt {
    trust: Arc<Trust>,
    seen: Mutex<Option<Seen>>,
    problem: Mutex<Option<CertProblem>>,
}

/// A certificate shown in a full handshake.
#[derive(Clone)]
struct Seen {
    fingerprint: String,
    judge: Judge,
}

impl Attempt {
    pub(super) fn new(trust: Arc<Trust>) -> Arc<Self> {
        Arc::new(Self {
            trust,
            seen: Mutex::new(None),
            problem: Mutex::new(None),
        })
    }

    /// Fingerprint of a certificate that is to be remembered: it was shown in a full handshake when there was none.
    pub(super) fn first_seen(&self) -> Option<String> {
        let seen = lock(&self.seen).clone()?;
        (seen.judge == Judge::FirstUse).then_some(seen.fingerprint)
    }

    /// Why the certificate was not accepted.
    pub(super) fn problem(&self) -> Option<CertProblem> {
        lock(&self.problem).clone()
    }
}

/// By what a certificate is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Judge {
    /// By the roots of the client's class.
    Roots,
    /// It must be this one, `sha256:HEX`.
    Pin(String),
    /// Any: none is remembered yet.
    FirstUse,
    /// Any, always.
    Nothing,
}

/// What a TLS configuration can be made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The operating system's roots.
    System,
    /// The roots of a PEM file.
    Ca(std::path::PathBuf),
    /// Pins, first use.
    Pinned,
    /// No judgment.
    Insecure,
}

/// Why a TLS configuration cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    /// The file of a `ca` mode.
    #[error("cannot read certificates of `{path}`: {reason}")]
    CaFile { path: String, reason: String },
    /// The roots of the system.
    #[error("the operating system's certificate roots cannot be used: {0}")]
    SystemRoots(String),
    /// The TLS engine.
    #[error("the TLS engine cannot be set up: {0}")]
    Engine(#[from] rustls::Error),
}

/// The configuration of one class, with the session tickets that its connections share.
pub(super) fn client_config(
    class: &Class,
    tickets: Arc<Tickets>,
) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let (roots, listed) = match class {
        Class::System => (Some(system_roots(&provider)?), Vec::new()),
        Class::Ca(path) => {
            let listed = read_certificates(path)?;
            (Some(file_roots(path, &listed, &provider)?), listed)
        }
        Class::Pinned | Class::Insecure => (None, Vec::new()),
    };
    let verifier = FleetVerifier {
        provider: Arc::clone(&provider),
        roots,
        listed,
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::store(tickets);
    Ok(config)
}

/// SHA-256 of a certificate as pins are written: `sha256:` and 64 lower-case hexadecimal digits.
pub fn fingerprint(certificate: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(certificate)))
}

fn system_roots(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(provider))
        .map_err(|error| TlsError::SystemRoots(error.to_string()))?;
    Ok(Arc::new(verifier))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |reason: String| TlsError::CaFile {
        path: path.display().to_string(),
        reason,
    };
    let pem = CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
    let listed: Vec<_> = pem
        .collect::<Result<_, _>>()
        .map_err(|error| failed(error.to_string()))?;
    if listed.is_empty() {
        return Err(failed("it holds no certificate in PEM form".to_owned()));
    }
    Ok(listed)
}

fn file_roots(
    path: &Path,
    listed: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    let failed = |reason: String| TlsError::CaFile {
        path: path.display().to_string(),
        reason,
    };
    let mut roots = RootCertStore::empty();
    for certificate in listed {
        roots
            .add(certificate.clone())
            .map_err(|error| failed(error.to_string()))?;
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| failed(error.to_string()))?;
    Ok(verifier)
}

/// Judges every certificate of one class.
struct FleetVerifier {
    provider: Arc<CryptoProvider>,
    roots: Option<Arc<dyn ServerCertVerifier>>,
    /// Certificates of a `ca` file: a BMC that shows exactly one of them is the one that was meant, though a
    /// self-signed certificate is no root for itself.
    listed: Vec<CertificateDer<'static>>,
}

impl fmt::Debug for FleetVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetVerifier")
    }
}

impl ServerCertVerifier for FleetVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let attempt = ATTEMPT.try_with(Arc::clone).map_err(|_| {
            rustls::Error::General("no request waits for this connection".to_owned())
        })?;
        let seen = fingerprint(end_entity);
        let judge = attempt.trust.judge();
        *lock(&attempt.seen) = Some(Seen {
            fingerprint: seen.clone(),
            judge: judge.clone(),
        });
        let problem = match judge {
            Judge::FirstUse | Judge::Nothing => return Ok(ServerCertVerified::assertion()),
            Judge::Pin(pinned) if pinned == seen => return Ok(ServerCertVerified::assertion()),
            Judge::Pin(pinned) => CertProblem::Changed { pinned, seen },
            Judge::Roots => {
                if self.listed.iter().any(|listed| listed == end_entity) {
                    return Ok(ServerCertVerified::assertion());
                }
                let roots = self
                    .roots
                    .as_ref()
                    .ok_or_else(|| rustls::Error::General("no roots".to_owned()))?;
                match roots.verify_server_cert(
                    end_entity,
                    intermediates,
                    server_name,
                    ocsp_response,
                    now,
                ) {
                    Ok(verified) => return Ok(verified),
                    Err(error) => CertProblem::Untrusted {
                        seen,
                        reason: error.to_string(),
                    },
                }
            }
        };
        *lock(&attempt.problem) = Some(problem);
        Err(rustls::Error::InvalidCertificate(
            CertificateError::ApplicationVerificationFailure,
        ))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
