//! This room gives each BMC a self-signed certificate, and another one when the BMC says that it was replaced.
//!
//! It deliberately keeps nothing on disk: a restarted mock is another box with other keys.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, SanType,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerSessionMemoryCache;

/// Remembered TLS sessions per BMC. A BMC has one or two clients at a time, and a fleet has thousands of BMCs.
const TLS_SESSIONS_MAX: usize = 16;

/// Why a BMC has no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The certificate could not be made.
    #[error("cannot make a certificate")]
    Make(#[from] rcgen::Error),
    /// The TLS library refused it.
    #[error("cannot use a certificate")]
    Use(#[from] rustls::Error),
}

/// The certificates of one BMC; only the newest is kept.
#[derive(Debug)]
pub(crate) struct Certificates {
    name: String,
    ip: IpAddr,
    current: Mutex<Option<(u32, Arc<rustls::ServerConfig>)>>,
}

impl Certificates {
    pub(crate) fn new(name: &str, ip: IpAddr) -> Self {
        Self {
            name: name.to_owned(),
            ip,
            current: Mutex::new(None),
        }
    }

    /// The TLS configuration of a generation: made at its first use, so that a large fleet starts at once.
    pub(crate) fn config(
        &self,
        generation: u32,
    ) -> Result<Arc<rustls::ServerConfig>, CertificateError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made, config)) = current.as_ref()
            && *made == generation
        {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make()?);
        *current = Some((generation, Arc::clone(&config)));
        Ok(config)
    }

    fn make(&self) -> Result<rustls::ServerConfig, CertificateError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
        params.subject_alt_names.push(SanType::IpAddress(self.ip));
        let mut subject = DistinguishedName::new();
        subject.push(DnType::OrganizationName, "mock-bmc");
        subject.push(DnType::CommonName, self.name.as_str());
        params.distinguished_name = subject;
        let certificate = params.self_signed(&key)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config =
            rustls::ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.session_storage = ServerSessionMemoryCache::new(TLS_SESSIONS_MAX);
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_generation_is_made_once_and_the_next_one_replaces_it() {
        let certificates = Certificates::new("mock-1", [127, 0, 0, 1].into());
        let first = certificates.config(0).unwrap();
        assert!(Arc::ptr_eq(&first, &certificates.config(0).unwrap()));
        assert!(!Arc::ptr_eq(&first, &certificates.config(1).unwrap()));
    }
}
