//! Every way to judge a certificate, and the wire's own promises, against a real TLS server on loopback.

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
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
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
        Address::new(Scheme::Https, "127.0.0.1", Some(self.at.port()))
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

#[tokio::test]
async fn first_use_remembers_and_then_refuses_a_changed_certificate() {
    let (first, second) = (Identity::self_signed(), Identity::self_signed());
    let (server, memory) = (
        Server::start(&first, Habit::AnswerAndClose).await,
        TestMemory::default(),
    );
    let host_port = server.address().host_port();
    let open = transport(&server, &TlsMode::FirstUse, &memory);
    assert_eq!(get(&open).await.unwrap().status, 200);
    assert_eq!(memory.pin(&host_port), Some(first.fingerprint()));
    get(&open).await.unwrap();

    server.change_to(&second);
    let changed = CertProblem::Changed {
        pinned: first.fingerprint(),
        seen: second.fingerprint(),
    };
    let fresh = transport(&server, &TlsMode::FirstUse, &memory);
    assert_eq!(
        get(&fresh).await.unwrap_err(),
        WireError::Certificate(changed.clone())
    );
    assert_eq!(
        get(&open).await.unwrap_err(),
        WireError::Certificate(changed)
    );
    assert_eq!(server.heard(), 2, "nothing was sent to the stranger");
    assert_eq!(
        memory.pin(&host_port),
        Some(first.fingerprint()),
        "the pin stays"
    );

    memory.with(|disk| disk.pins.clear());
    get(&open).await.unwrap();
    assert_eq!(memory.pin(&host_port), Some(second.fingerprint()));
}

#[tokio::test]
async fn verify_refuses_a_self_signed_certificate() {
    let identity = Identity::self_signed();
    let (server, memory) = (
        Server::start(&identity, Habit::KeepAlive).await,
        TestMemory::default(),
    );
    let fleet = HttpFleet::new(1, 8);
    let open = match fleet.transport(&server.address(), &TlsMode::Verify, Arc::new(memory)) {
        Ok(open) => open,
        Err(fault) => {
            assert!(
                fault.to_string().contains("roots"),
                "only a machine without roots refuses earlier: {fault}"
            );
            return;
        }
    };
    let refused = get(&open).await.unwrap_err();
    assert!(
        matches!(&refused, WireError::Certificate(CertProblem::Untrusted { seen, .. }) if *seen == identity.fingerprint()),
        "{refused}"
    );
    assert_eq!(server.heard(), 0);
}

#[tokio::test]
async fn a_ca_file_accepts_what_it_signed_or_lists_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (signed, ca_pem) = Identity::signed();
    let own = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let listed = Identity {
        chain: vec![own.cert.der().clone()],
        key: own.signing_key.serialize_der(),
    };
    let (path, memory) = (folder.path().join("ca.pem"), TestMemory::default());
    std::fs::write(&path, format!("{ca_pem}{}", own.cert.pem())).unwrap();
    let mode = TlsMode::Ca(path);
    for identity in [&signed, &listed] {
        let server = Server::start(identity, Habit::KeepAlive).await;
        assert_eq!(
            get(&transport(&server, &mode, &memory))
                .await
                .unwrap()
                .status,
            200
        );
    }
    let (stranger, _) = Identity::signed();
    let server = Server::start(&stranger, Habit::KeepAlive).await;
    let refused = get(&transport(&server, &mode, &memory)).await.unwrap_err();
    assert!(matches!(
        refused,
        WireError::Certificate(CertProblem::Untrusted { .. })
    ));
    assert!(memory.with(|disk| disk.pins.is_empty()));
}

#[tokio::test]
async fn an_unusable_ca_file_is_told_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let address = Address::new(Scheme::Https, "127.0.0.1", Some(1));
    let open = |path: &std::path::Path| {
        let memory = Arc::new(TestMemory::default());
        HttpFleet::new(1, 8)
            .transport(&address, &TlsMode::Ca(path.to_owned()), memory)
            .err()
            .map(|fault| fault.to_string())
    };
    assert!(open(&path).unwrap().contains("ca.pem"));
    std::fs::write(&path, "no certificate").unwrap();
    assert!(open(&path).unwrap().contains("no certificate in PEM form"));
}

#[tokio::test]
async fn a_written_pin_is_the_only_certificate_taken() {
    let identity = Identity::self_signed();
    let (server, memory) = (
        Server::start(&identity, Habit::KeepAlive).await,
        TestMemory::default(),
    );
    let pin =
        |fingerprint: String| TlsMode::Pin(fingerprint.trim_start_matches("sha256:").to_owned());
    get(&transport(&server, &pin(identity.fingerprint()), &memory))
        .await
        .unwrap();
    let other = transport(
        &server,
        &pin(Identity::self_signed().fingerprint()),
        &memory,
    );
    assert!(matches!(
        get(&other).await.unwrap_err(),
        WireError::Certificate(CertProblem::Changed { .. })
    ));
    assert!(memory.with(|disk| disk.pins.is_empty()));
}

#[tokio::test]
async fn insecure_takes_anything_and_remembers_nothing() {
    let identity = Identity::self_signed();
    let (server, memory) = (
        Server::start(&identity, Habit::AnswerAndClose).await,
        TestMemory::default(),
    );
    let open = transport(&server, &TlsMode::Insecure, &memory);
    get(&open).await.unwrap();
    server.change_to(&Identity::self_signed());
    get(&open).await.unwrap();
    assert!(memory.with(|disk| disk.pins.is_empty()));
}

#[tokio::test]
async fn two_bmcs_behind_one_host_have_pins_of_their_own() {
    let (one, two) = (Identity::self_signed(), Identity::self_signed());
    let servers = (
        Server::start(&one, Habit::AnswerAndClose).await,
        Server::start(&two, Habit::AnswerAndClose).await,
    );
    let (memory, fleet) = (TestMemory::default(), HttpFleet::new(2, 8));
    let open = |server: &Server| {
        fleet
            .transport(
                &server.address(),
                &TlsMode::FirstUse,
                Arc::new(memory.clone()),
            )
            .unwrap()
    };
    let opened = (open(&servers.0), open(&servers.1));
    for _ in 0..3 {
        get(&opened.0).await.unwrap();
        get(&opened.1).await.unwrap();
    }
    assert_eq!(
        memory.pin(&servers.0.address().host_port()),
        Some(one.fingerprint())
    );
    assert_eq!(
        memory.pin(&servers.1.address().host_port()),
        Some(two.fingerprint())
    );
    assert!(
        servers
            .0
            .handshakes
            .lock()
            .unwrap()
            .iter()
            .all(|kind| *kind != rustls::HandshakeKind::Resumed)
    );
}

#[tokio::test]
async fn sessions_are_resumed_and_idle_connections_reused() {
    let identity = Identity::self_signed();
    let (server, memory) = (
        Server::start(&identity, Habit::AnswerAndClose).await,
        TestMemory::default(),
    );
    let open = transport(&server, &TlsMode::FirstUse, &memory);
    for _ in 0..3 {
        get(&open).await.unwrap();
    }
    let kinds = server.handshakes.lock().unwrap().clone();
    assert_eq!(kinds.len(), 3);
    assert!(
        kinds[1..]
            .iter()
            .all(|kind| *kind == rustls::HandshakeKind::Resumed),
        "{kinds:?}"
    );

    let server = Server::start(&identity, Habit::KeepAlive).await;
    let open = transport(&server, &TlsMode::Insecure, &memory);
    for _ in 0..3 {
        get(&open).await.unwrap();
    }
    assert_eq!(server.handshakes.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_refused_connection_sent_nothing_and_a_dropped_one_may_have() {
    let identity = Identity::self_signed();
    let memory = TestMemory::default();
    let server = Server::start(&identity, Habit::DropAll).await;
    let open = transport(&server, &TlsMode::Insecure, &memory);
    let post = open
        .send(WireRequest::new(Method::POST, "/redfish/v1/x"))
        .await
        .unwrap_err();
    assert!(matches!(post, WireError::Lost(_)), "{post:?}");
    assert_eq!(server.heard(), 1, "a POST is sent once");

    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let address = Address::new(Scheme::Https, "127.0.0.1", Some(closed.port()));
    let open = HttpFleet::new(1, 8)
        .transport(&address, &TlsMode::Insecure, Arc::new(memory))
        .unwrap();
    let refused = get(&open).await.unwrap_err();
    assert!(
        matches!(&refused, WireError::NotSent(text) if text.contains("refused")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_read_on_a_connection_that_died_is_sent_once_more() {
    let server = Server::start(&Identity::self_signed(), Habit::DropFirst).await;
    let open = transport(&server, &TlsMode::Insecure, &TestMemory::default());
    assert_eq!(get(&open).await.unwrap().status, 200);
    assert_eq!(server.heard(), 2);
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let server = Server::start(&Identity::self_signed(), Habit::Endless).await;
    let open = transport(&server, &TlsMode::Insecure, &TestMemory::default());
    let lost = get(&open).await.unwrap_err();
    assert!(
        matches!(&lost, WireError::Lost(text) if text.contains("longer than")),
        "{lost:?}"
    );
}

#[tokio::test]
async fn an_image_is_streamed_with_its_length_and_progress() {
    const BYTES: u64 = 3_000_000;
    let server = Server::start(&Identity::self_signed(), Habit::KeepAlive).await;
    let open = transport(&server, &TlsMode::Insecure, &TestMemory::default());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bmc.bin");
    std::fs::write(&file, vec![7_u8; usize::try_from(BYTES).unwrap()]).unwrap();
    let seen = Arc::new(Mutex::new((0, 0)));
    let (told, parameters) = (Arc::clone(&seen), "{\"Targets\":[]}");
    let mut request = WireRequest::new(Method::POST, "/upload");
    request.progress = Some(Arc::new(move |sent, total| {
        *told.lock().unwrap() = (sent, total);
    }));
    request.body = WireBody::Multipart {
        parameters: parameters.into(),
        file: file.clone(),
        file_name: "bmc.bin".to_owned(),
        bytes: BYTES,
    };
    open.send(request.clone()).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), (BYTES, BYTES));
    let (head, body) = server.requests.lock().unwrap().pop().unwrap();
    let head = head.to_ascii_lowercase();
    assert!(
        !head.contains("chunked") && head.contains(&format!("content-length: {}", body.len())),
        "{head}"
    );
    let text = String::from_utf8_lossy(&body[..600]).into_owned();
    let places = [
        text.find("name=\"UpdateParameters\""),
        text.find(parameters),
        text.find("filename=\"bmc.bin\""),
    ];
    assert!(
        places[0] < places[1] && places[1] < places[2] && places[0].is_some(),
        "{text}"
    );

    request.body = WireBody::File {
        path: file.clone(),
        bytes: BYTES,
    };
    open.send(request.clone()).await.unwrap();
    let (head, body) = server.requests.lock().unwrap().pop().unwrap();
    assert!(
        head.to_ascii_lowercase()
            .contains("content-length: 3000000")
            && body.iter().all(|byte| *byte == 7)
    );

    std::fs::write(&file, "other").unwrap();
    assert!(
        matches!(open.send(request).await.unwrap_err(), WireError::NotSent(text) if text.contains("5 bytes now"))
    );
    assert_eq!(server.heard(), 0);
}
