//! What happens on the wire, and what is told of it.

use super::*;
use crate::redfish::{FormPart, PartContent};

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

/// More BMCs than a store without knowledge of the fleet would remember, each asked in turn.
#[tokio::test]
async fn a_whole_fleet_that_is_asked_in_turn_is_resumed() {
    const BMCS: usize = 100;
    let (identity, memory) = (Identity::self_signed(), TestMemory::default());
    let fleet = HttpFleet::new(BMCS, 8);
    let (mut servers, mut wires) = (Vec::new(), Vec::new());
    for number in 1..=BMCS {
        let host = format!("127.0.0.{number}");
        let server = Server::start_on(&host, &identity, Habit::AnswerAndClose).await;
        let wire = fleet.transport(
            &server.address(),
            &TlsMode::FirstUse,
            Arc::new(memory.clone()),
        );
        servers.push(server);
        wires.push(wire.unwrap());
    }
    for _ in 0..2 {
        for wire in &wires {
            get(wire).await.unwrap();
        }
    }
    for server in &servers {
        let kinds = server.handshakes.lock().unwrap().clone();
        assert_eq!(
            kinds,
            [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed]
        );
    }
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
        parts: vec![FormPart {
            name: "UpdateParameters",
            content: PartContent::Json(parameters.into()),
        }],
        file_part: "UpdateFile",
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
