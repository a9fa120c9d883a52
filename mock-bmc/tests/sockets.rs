//! A live BMC over real sockets with TLS: what a client sees of it, from its login to the end of an update.

#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use mock_bmc::bmc::Bmc;
use mock_bmc::image::{self, Component};
use mock_bmc::ledger::{Kind, LedgerLine};
use mock_bmc::server::ServeOptions;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use support::{Bench, ImageServer, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const UPDATE: &str = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate";
/// A session that nobody uses for so long is over, where the script says so.
const IDLE: Duration = Duration::from_hours(24);
const MANAGER: &str = "/redfish/v1/Managers/BMC";

fn refused(error: &reqwest::Error) -> bool {
    error.is_connect()
}

fn caused(lines: &[LedgerLine], phrase: &str) -> usize {
    lines
        .iter()
        .flat_map(|line| &line.caused)
        .filter(|caused| caused.contains(phrase))
        .count()
}

#[tokio::test]
async fn a_session_opens_the_door_and_its_end_closes_it() {
    let bench = Bench::start(1, "").await;
    let anonymous = bench
        .send(Method::GET, "/redfish/v1/Systems", "")
        .await
        .unwrap();
    assert_eq!(anonymous.status(), StatusCode::UNAUTHORIZED);
    bench.log_in().await;
    let sessions = bench.get("/redfish/v1/SessionService/Sessions").await;
    let session = sessions["Members"][0]["@odata.id"].as_str().unwrap();
    assert!(
        bench
            .send(Method::DELETE, session, "")
            .await
            .unwrap()
            .status()
            .is_success()
    );
    let late = bench
        .send(Method::GET, "/redfish/v1/Systems", "")
        .await
        .unwrap();
    assert_eq!(late.status(), StatusCode::UNAUTHORIZED);
    let lines = bench.lines(Kind::Request);
    assert_eq!(caused(&lines, "session created"), 1);
    assert_eq!(caused(&lines, "session deleted"), 1);
    assert!(
        lines
            .iter()
            .all(|line| !serde_json::to_string(line).unwrap().contains("secret"))
    );
}

/// A client opens a connection for each request here, and has a ticket for the second.
#[tokio::test]
async fn a_session_does_not_run_out_under_an_upload() {
    let script = "[sessions]\ntimeout = \"24h\"";
    let bench = Bench::with(1, script, ServeOptions::default()).await;
    let token = bench.log_in().await;
    let head = format!(
        "POST {UPDATE} HTTP/1.1\r\nhost: mock\r\nx-auth-token: {token}\r\n\
         content-type: application/json\r\ncontent-length: 2\r\n\r\n"
    );
    let arriving = async |count: usize| {
        until("requests whose bodies arrive", async || {
            bench
                .bmc()
                .with(|bmc, _| bmc.state().arriving == count)
                .then_some(())
        })
        .await;
    };
    let mut upload = bench.connect().await;
    upload.write_all(head.as_bytes()).await.unwrap();
    arriving(1).await;
    // Time passes for this BMC alone.
    bench.bmc().with(|bmc, now| bmc.advance(now + IDLE));
    upload.write_all(b"{}").await.unwrap();
    let mut answer = [0; 12];
    upload.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 400", "it is asked what to fetch");
    arriving(0).await;

    // One that never ends holds nothing once its connection is gone.
    upload.write_all(head.as_bytes()).await.unwrap();
    arriving(1).await;
    drop(upload);
    arriving(0).await;
    let open = |bmc: &mut Bmc| bmc.state().sessions.len();
    assert_eq!(bench.bmc().with(|bmc, _| open(bmc)), 1);
    let later = IDLE * 3;
    bench.bmc().with(|bmc, now| bmc.advance(now + later));
    assert_eq!(bench.bmc().with(|bmc, _| open(bmc)), 0);
}

#[tokio::test]
async fn handshakes_are_counted_by_how_they_began() {
    let bench = Bench::start(1, "").await;
    bench.log_in().await;
    bench.get("/redfish/v1").await;
    let seen = bench.running.handshakes();
    assert_eq!((seen.full, seen.resumed), (1, 1));
}

#[tokio::test]
async fn an_update_is_pulled_flashed_while_nobody_listens_and_then_shown() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ledger.jsonl");
    let options = ServeOptions {
        tls: true,
        ledger: Some(file.clone()),
        ..ServeOptions::default()
    };
    let bench = Bench::with(1, "", options).await;
    let images = ImageServer::start(&[(
        "/b.bin",
        image::build(Component::Bmc, "1.60", None, 200_000),
    )])
    .await;
    bench.log_in().await;
    let body = json!({ "ImageURI": format!("{}/b.bin", images.url), "TransferProtocol": "HTTP" });
    let accepted = bench
        .send(Method::POST, UPDATE, &body.to_string())
        .await
        .unwrap();
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
    assert!(accepted.headers().contains_key("location"));
    until("nobody listens", async || {
        bench
            .send(Method::GET, "/redfish/v1/", "")
            .await
            .err()
            .filter(refused)
    })
    .await;
    until("somebody listens again", async || {
        bench.send(Method::GET, "/redfish/v1/", "").await.ok()
    })
    .await;
    bench.log_in().await;
    assert_eq!(bench.get(MANAGER).await["FirmwareVersion"], "1.60");
    assert_eq!(images.hits("/b.bin"), 1);
    assert_eq!(caused(&bench.lines(Kind::Request), "update accepted"), 1);
    assert_eq!(
        caused(&bench.lines(Kind::Fetch), "update image bmc 1.60"),
        1
    );
    written_as_it_happened(
        &std::fs::read_to_string(&file).unwrap(),
        &bench.bmc().ledger(),
    );
}

fn written_as_it_happened(text: &str, kept: &[LedgerLine]) {
    assert!(text.ends_with('\n'));
    let written: Vec<LedgerLine> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(written, kept);
    assert!(
        written
            .windows(2)
            .all(|pair| pair[0].n < pair[1].n && pair[0].at_ms <= pair[1].at_ms)
    );
}

#[tokio::test]
async fn an_image_that_is_not_there_fails_the_task_and_changes_nothing() {
    let bench = Bench::start(1, "").await;
    let images = ImageServer::start(&[]).await;
    bench.log_in().await;
    let body =
        json!({ "ImageURI": format!("{}/gone.bin", images.url), "TransferProtocol": "HTTP" });
    let accepted = bench
        .send(Method::POST, UPDATE, &body.to_string())
        .await
        .unwrap();
    let task: Value = support::json(accepted).await;
    let uri = task["@odata.id"].as_str().unwrap();
    let state = async || {
        let task = bench.get(uri).await;
        (task["TaskState"] == "Exception").then_some(task)
    };
    let task = until("the task fails", state).await;
    assert!(
        task["Messages"].to_string().contains("TransferFailed"),
        "{task}"
    );
    assert_eq!(images.hits("/gone.bin"), 1);
    assert_eq!(bench.get(MANAGER).await["FirmwareVersion"], "1.50");
}

#[tokio::test]
async fn open_connections_are_cut_when_the_manager_goes() {
    let bench = Bench::start(1, "").await;
    bench.log_in().await;
    let address = bench.url.strip_prefix("https://").unwrap().to_owned();
    let mut open = tokio::net::TcpStream::connect(&address).await.unwrap();
    let reset = format!("{MANAGER}/Actions/Manager.Reset");
    let answer = bench
        .send(Method::POST, &reset, r#"{"ResetType":"ForceRestart"}"#)
        .await
        .unwrap();
    assert!(answer.status().is_success());
    let mut byte = [0_u8; 1];
    let ended = tokio::io::AsyncReadExt::read(&mut open, &mut byte).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    until("somebody listens again", async || {
        bench.send(Method::GET, "/redfish/v1/", "").await.ok()
    })
    .await;
    let old = bench
        .send(Method::GET, "/redfish/v1/Systems", "")
        .await
        .unwrap();
    assert_eq!(old.status(), StatusCode::UNAUTHORIZED);
}

const SYSTEMS: &str = "/redfish/v1/Systems";

fn fault(answer: &str, more: &str) -> String {
    format!("[[fault]]\nmethod = \"GET\"\npath = \"{SYSTEMS}\"\nanswer = \"{answer}\"\n{more}\n")
}

#[tokio::test]
async fn a_scripted_fault_is_seen_once_as_the_network_shows_it() {
    for (answer, more) in [
        ("truncate", "keep_bytes = 10"),
        ("drop-before", ""),
        ("drop-after", ""),
        ("refuse", ""),
    ] {
        let bench = Bench::start(1, &fault(answer, more)).await;
        bench.log_in().await;
        let met = match bench.send(Method::GET, SYSTEMS, "").await {
            Ok(cut) => {
                assert_eq!(answer, "truncate");
                cut.bytes().await.unwrap_err()
            }
            Err(error) => error,
        };
        assert!(!met.is_timeout(), "{answer}: {met}");
        assert_eq!(bench.lines(Kind::Fault).len(), 1, "{answer}");
        bench.get(SYSTEMS).await;
    }
}

#[tokio::test]
async fn a_late_answer_comes_after_its_mock_time_and_a_hung_one_never() {
    let bench = Bench::start(
        1,
        &format!("{}{}", fault("delay", "by = \"2m\""), fault("hang", "")),
    )
    .await;
    bench.log_in().await;
    let began = tokio::time::Instant::now();
    bench.get(SYSTEMS).await;
    assert!(began.elapsed() >= Duration::from_millis(200));
    let hung = tokio::time::timeout(
        Duration::from_millis(300),
        bench.send(Method::GET, SYSTEMS, ""),
    );
    assert!(hung.await.is_err());
    bench.get(SYSTEMS).await;
}

#[tokio::test]
async fn an_update_may_replace_the_certificate() {
    let bench = Bench::start(1, "[update]\nnew_certificate = true").await;
    let images =
        ImageServer::start(&[("/b.bin", image::build(Component::Bmc, "1.60", None, 1000))]).await;
    let certificate = async || {
        let answer = bench.send(Method::GET, "/redfish", "").await.ok()?;
        let shown = answer.extensions().get::<reqwest::tls::TlsInfo>()?;
        shown.peer_certificate().map(<[u8]>::to_vec)
    };
    let before = certificate().await.unwrap();
    assert_eq!(certificate().await.unwrap(), before);
    bench.log_in().await;
    let body = json!({ "ImageURI": format!("{}/b.bin", images.url), "TransferProtocol": "HTTP" });
    assert_eq!(
        bench
            .send(Method::POST, UPDATE, &body.to_string())
            .await
            .unwrap()
            .status(),
        StatusCode::ACCEPTED
    );
    until("another certificate is shown", async || {
        certificate().await.filter(|now| *now != before)
    })
    .await;
}

#[tokio::test]
async fn an_act_beside_the_box_is_seen_over_the_network() {
    let bench = Bench::start(2, "").await;
    bench.log_in().await;
    bench.bmc().with(|bmc, _| bmc.set_bios_version(1, "2.99"));
    assert_eq!(
        bench.get("/redfish/v1/Systems/2").await["BiosVersion"],
        "2.99"
    );
    assert_eq!(
        bench.get("/redfish/v1/Systems/1").await["BiosVersion"],
        "2.10"
    );
}

#[tokio::test]
async fn each_bmc_has_its_own_address_in_a_network() {
    let fleet = mock_bmc::fleet::Fleet::builder()
        .platform("generic", 40, 1)
        .build();
    let options = ServeOptions {
        listen: "127.77.0.0/16:18443".parse().unwrap(),
        ..ServeOptions::default()
    };
    let running = mock_bmc::server::serve(fleet, options).await.unwrap();
    let client = support::client();
    for endpoint in running.endpoints() {
        let answer = client
            .get(format!("{}/redfish", endpoint.url))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{endpoint:?}");
    }
    let last = running.endpoints()[39].url.clone();
    assert_eq!(last, "http://127.77.0.40:18443");
    running.shutdown().await;
    assert!(client.get(last).send().await.unwrap_err().is_connect());
}
