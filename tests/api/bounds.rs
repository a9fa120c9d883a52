//! What clients may take is bounded, and whoever takes nothing is shown out.

use std::time::Duration;

use redpipe::api::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::lab::{Lab, document, head, message, setting};

/// Nothing here takes so long, unless it never comes.
const PATIENCE: Duration = Duration::from_mins(1);

async fn connections(lab: &Lab, wanted: usize) {
    let mut open = lab.connections.clone();
    let seen = timeout(PATIENCE, open.wait_for(|open| *open == wanted)).await;
    seen.expect("connections become as many").unwrap();
}

async fn connect(lab: &Lab) -> TcpStream {
    TcpStream::connect(lab.address.unwrap()).await.unwrap()
}

/// All that comes until the server hangs up.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    // A reset is as good as an end.
    read.expect("the server hangs up").ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_beyond_the_limit_is_refused_unread() {
    let lab = Lab::start().await;
    let body: &'static str = Box::leak(" ".repeat(16 * 1024 + 1).into_boxed_str());
    let (status, told) = lab.order("/v1/runs/asks/mock-1/cancel", body).await;
    assert_eq!(status, 413, "{told}");
    assert!(message(&told).contains("limit"), "{told}");
    let (status, told) = lab.order("/v1/runs/asks/mock-1/cancel", &body[1..]).await;
    assert_eq!(status, 202, "{told}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_beyond_the_limit_is_refused() {
    let lab = Lab::start().await;
    let request = lab
        .ask(reqwest::Method::GET, "/v1/runs")
        .header("x-long", "x".repeat(20_000));
    assert_eq!(request.send().await.unwrap().status(), 431);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_come_ends_its_connection() {
    let limits = Limits {
        head: Duration::from_millis(50),
        ..Limits::default()
    };
    let lab = Lab::with(limits).await;
    let mut silent = connect(&lab).await;
    assert_eq!(rest(&mut silent).await, "");
    let mut slow = connect(&lab).await;
    slow.write_all(b"GET /healthz HTTP/1.1\r\nhost: lo")
        .await
        .unwrap();
    let told = rest(&mut slow).await;
    assert!(told.is_empty() || told.contains("408"), "{told}");
    let mut idle = connect(&lab).await;
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let told = rest(&mut idle).await;
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    connections(&lab, 0).await;
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_ends_its_request() {
    let limits = Limits {
        answer: Duration::from_millis(50),
        ..Limits::default()
    };
    let lab = Lab::with(limits).await;
    let mut slow = connect(&lab).await;
    let request = b"POST /v1/runs/asks/mock-1/cancel HTTP/1.1\r\nhost: localhost\r\n\
        content-type: application/json\r\ncontent-length: 2\r\n\r\n{";
    slow.write_all(request).await.unwrap();
    let told = rest(&mut slow).await;
    assert!(told.starts_with("HTTP/1.1 503"), "{told}");
    assert_eq!(lab.engine.store().orders().unwrap(), []);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_too_many_is_told_so_and_another_is_taken_later() {
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let lab = Lab::with(limits).await;
    let (one, two) = (connect(&lab).await, connect(&lab).await);
    connections(&lab, 2).await;
    let told = rest(&mut connect(&lab).await).await;
    assert!(told.starts_with("HTTP/1.1 503"), "{told}");
    drop((one, two));
    connections(&lab, 0).await;
    assert_eq!(lab.get("/healthz").await.status(), 200);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_leave_room_for_everything_else() {
    let limits = Limits {
        streams: 1,
        ..Limits::default()
    };
    let lab = Lab::with(limits).await;
    let first = lab.get("/v1/events").await;
    assert_eq!(first.status(), 200);
    let (status, told) = document(lab.get("/v1/events").await).await;
    assert_eq!(status, 503, "{told}");
    assert_eq!(lab.get("/v1/runs").await.status(), 200);
    drop(first);
    // Its place is free as soon as its connection is gone.
    connections(&lab, 1).await;
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_is_dropped_and_holds_nobody() {
    let limits = Limits {
        stall: Duration::from_millis(200),
        ..Limits::default()
    };
    let lab = Lab::with(limits).await;
    let mut deaf = connect(&lab).await;
    // The same journal again and again, pipelined: more than any buffer between the two takes.
    let request = b"GET /v1/runs HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(20_000);
    let flood = async {
        deaf.write_all(&request).await.ok();
        std::future::pending::<()>().await;
    };
    let others = async {
        connections(&lab, 1).await;
        let sets = head("sets", "") + &setting("10.0.0.3");
        lab.apply(&[&sets]).await;
        let run = lab.read("/v1/runs/sets/mock-3").await;
        assert_eq!(run["runs"][0]["phase"], "Completed");
        // Only the reader of this test is left.
        connections(&lab, 1).await;
    };
    tokio::select! {
        () = flood => unreachable!("it never ends"),
        () = others => {}
    }
    lab.end().await;
}
