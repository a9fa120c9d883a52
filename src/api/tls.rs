//! TLS of a TCP address.

use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::error::Unserved;

/// From PEM files: the certificate with its chain, and its key.
pub(super) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Unserved> {
    let failed = |path: &Path, why: String| Unserved::Tls {
        path: path.to_owned(),
        why,
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(failed(
            certificate,
            "there is no certificate in it".to_owned(),
        ));
    }
    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret))
        .map_err(|error| failed(key, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
