//! Every way to judge a certificate, and the wire's own promises, against a real TLS server on loopback.

mod trust;
mod wire;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::Method;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedKey, IsCa, Issuer, KeyPair,
    generate_simple_self_signed,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::support::TestMemory;
use crate::model::inventory::{Address, Scheme, TlsMode};
use crate::redfish::{
    CertProblem, HttpFleet, HttpTransport, Memory, Transport, WireBody, WireError, WireRequest,
    WireResponse, fingerprint,
};

/// What the server does with requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Answers and closes, so that each request needs a handshake.
    AnswerAndClose,
    /// Answers and keeps the connection.
    KeepAlive,
    /// Reads the first request and closes without an answer; then answers.
    DropFirst,
    /// Reads each request and closes without an answer.
    DropAll,
    /// Answers with a body that never ends.
    Endless,
}

/// Head and body of each request.
type Heard = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A TLS server on loopback.
struct Server {
    at: SocketAddr,
    config: Arc<Mutex<Arc<ServerConfig>>>,
    requests: Heard,
    handshakes: Arc<Mutex<Vec<rustls::HandshakeKind>>>,
}

impl Server {
    async fn start(identity: &Identity, habit: Habit) -> Self {
        Self::start_on("127.0.0.1", identity, habit).await
    }

    async fn start_on(host: &str, identity: &Identity, habit: Habit) -> Self {
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let server = Self {
            at: listener.local_addr().unwrap(),
            config: Arc::new(Mutex::new(identity.config())),
            requests: Arc::default(),
            handshakes: Arc::default(),
        };
        let (config, requests) = (Arc::clone(&server.config), Arc::clone(&server.requests));
        let (handshakes, seen) = (
            Arc::clone(&server.handshakes),
            Arc::new(AtomicUsize::new(0)),
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "the server of a test ends with its runtime"
        )]
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = TlsAcceptor::from(Arc::clone(&config.lock().unwrap()));
                let (requests, handshakes, seen) = (
                    Arc::clone(&requests),
                    Arc::clone(&handshakes),
                    Arc::clone(&seen),
                );
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        handshakes
                            .lock()
                            .unwrap()
                            .push(stream.get_ref().1.handshake_kind().unwrap());
                        serve(stream, habit, &requests, &seen).await;
                    }
                });
            }
        });
        server
    }

    fn change_to(&self, identity: &Identity) {
        *self.config.lock().unwrap() = identity.config();
    }

    fn address(&self) -> Address {
        Address::new(
            Scheme::Https,
            &self.at.ip().to_string(),
            Some(self.at.port()),
        )
    }

    fn heard(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

async fn serve(
    mut stream: TlsStream<TcpStream>,
    habit: Habit,
    requests: &Mutex<Vec<(String, Vec<u8>)>>,
    seen: &AtomicUsize,
) {
    while let Some(request) = read_request(&mut stream).await {
        requests.lock().unwrap().push(request);
        let number = seen.fetch_add(1, Ordering::Relaxed);
        match habit {
            Habit::DropAll => return,
            Habit::DropFirst if number == 0 => return,
            Habit::Endless => {
                let endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                if stream.write_all(endless.as_bytes()).await.is_err() {
                    return;
                }
                let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x10_0000], b"\r\n"].concat();
                while stream.write_all(&chunk).await.is_ok() {}
                return;
            }
            Habit::AnswerAndClose | Habit::KeepAlive | Habit::DropFirst => {}
        }
        let close = if habit == Habit::AnswerAndClose {
            "Connection: close\r\n"
        } else {
            ""
        };
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n{close}\r\n{{}}"
        );
        if stream.write_all(answer.as_bytes()).await.is_err() || habit == Habit::AnswerAndClose {
            stream.shutdown().await.ok();
            return;
        }
    }
}

async fn read_request(stream: &mut TlsStream<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let mut body = bytes.split_off(head_end);
    while body.len() < length.unwrap_or(0) {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, body))
}

/// A certificate with its key, and who signed it.
struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

impl Identity {
    fn self_signed() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        Self {
            chain: vec![cert.der().clone()],
            key: signing_key.serialize_der(),
        }
    }

    /// A certificate and the PEM of the authority that signed it.
    fn signed() -> (Self, String) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&ca_key).unwrap().pem();
        let issuer = Issuer::new(params, ca_key);
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()])
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        (
            Self {
                chain: vec![leaf.der().clone()],
                key: key.serialize_der(),
            },
            pem,
        )
    }

    fn fingerprint(&self) -> String {
        fingerprint(&self.chain[0])
    }

    fn config(&self) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::try_from(self.key.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let mut config = builder
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), key)
            .unwrap();
        config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
        Arc::new(config)
    }
}

fn transport(server: &Server, tls: &TlsMode, memory: &TestMemory) -> HttpTransport {
    HttpFleet::new(2, 8)
        .transport(&server.address(), tls, Arc::new(memory.clone()))
        .unwrap()
}

async fn get(transport: &HttpTransport) -> Result<WireResponse, WireError> {
    transport
        .send(WireRequest::new(Method::GET, "/redfish/v1/"))
        .await
}
