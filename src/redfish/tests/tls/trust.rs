//! Which certificates are taken.

use super::*;

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
async fn only_a_handshake_reads_the_pin() {
    let (server, memory) = (
        Server::start(&Identity::self_signed(), Habit::KeepAlive).await,
        TestMemory::default(),
    );
    get(&transport(&server, &TlsMode::FirstUse, &memory))
        .await
        .unwrap();
    let again = transport(&server, &TlsMode::FirstUse, &memory);
    get(&again).await.unwrap();
    let before = memory.with(|disk| disk.pins_read);
    for _ in 0..3 {
        get(&again).await.unwrap();
    }
    assert_eq!(memory.with(|disk| disk.pins_read), before);
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
