//! Events come at once, whole, in order, and once, however often a client comes and goes.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Response;
use serde_json::Value;
use tokio::time::timeout;

use crate::lab::{Lab, document, head, setting};

/// Nothing here takes so long, unless it never comes.
const PATIENCE: Duration = Duration::from_mins(1);

/// One event as a browser would see it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: Value,
}

/// Reads a stream event by event.
pub(crate) struct Reader {
    response: Response,
    text: String,
}

impl Reader {
    pub(crate) fn new(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/event-stream"), "{kind}");
        Self {
            response,
            text: String::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Seen> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                match seen(&block) {
                    Some(seen) => return Some(seen),
                    None => continue,
                }
            }
            let chunk = timeout(PATIENCE, self.response.chunk()).await.unwrap();
            let chunk = chunk.ok().flatten()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Records until one says so.
    pub(crate) async fn records_until(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let seen = self.next().await.expect("the stream goes on");
            if seen.event != "record" {
                continue;
            }
            assert_eq!(seen.id, Some(seen.data["cursor"].to_string()));
            let last = is_last(&seen.data);
            all.push(seen.data);
            if last {
                return all;
            }
        }
    }
}

fn seen(block: &str) -> Option<Seen> {
    let field = |name: &str| {
        let mut lines = block.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().map(|value| value.trim_start().to_owned())
    };
    Some(Seen {
        id: field("id:"),
        event: field("event:")?,
        data: serde_json::from_str(&field("data:")?).unwrap(),
    })
}

fn is_end(event: &Value) -> bool {
    event["record"]["record"] == "ended"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_live_from_its_first_record_to_its_last() {
    let lab = Lab::start().await;
    let mut reader = Reader::new(lab.get("/v1/events").await);
    let sets = head("sets", "") + &setting("10.0.0.2");
    let pipelines = [sets.as_str()];
    let (_, told) = tokio::join!(lab.apply(&pipelines), reader.records_until(is_end));
    let journal = lab.read("/v1/runs/sets/mock-3/events").await;
    assert_eq!(told, *journal["events"].as_array().unwrap());
    assert!(told.iter().all(|event| event["run"] == "sets/mock-3#2"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_again_misses_nothing_and_sees_nothing_twice() {
    let lab = Lab::start().await;
    let mut all = Reader::new(lab.get("/v1/events?after=0").await);
    let whole = all
        .records_until(|event| is_end(event) && event["pipeline"] == "sets")
        .await;
    assert!(whole.len() > 10, "{}", whole.len());
    for cut in [1, whole.len() / 2, whole.len() - 1] {
        let last = whole[cut - 1]["cursor"].to_string();
        let request = lab
            .ask(reqwest::Method::GET, "/v1/events?after=0")
            .header("last-event-id", &last);
        let mut reader = Reader::new(request.send().await.unwrap());
        let rest = reader
            .records_until(|event| event == whole.last().unwrap())
            .await;
        assert_eq!(rest, whole[cut..], "after {last}");
    }
    let request = lab
        .ask(reqwest::Method::GET, "/v1/events")
        .header("last-event-id", "yesterday");
    assert_eq!(document(request.send().await.unwrap()).await.0, 400);
    lab.end().await;
}

/// What happens outside runs stands in the same stream, in its place, and comes again to whoever missed it.
#[tokio::test(flavor = "multi_thread")]
async fn what_happens_outside_runs_is_told_between_the_records() {
    let lab = Lab::start().await;
    let first = lab.happens("unreachable", Some("mock-1"));
    lab.order("/v1/runs/asks/mock-1/cancel", "{}").await;
    let second = lab.happens("reachable", Some("mock-1"));
    let path = format!("/v1/events?after={}", first - 1);
    for (path, missed) in [(path.as_str(), None), ("/v1/events", Some(first - 1))] {
        let mut request = lab.ask(reqwest::Method::GET, path);
        if let Some(missed) = missed {
            request = request.header("last-event-id", missed);
        }
        let mut reader = Reader::new(request.send().await.unwrap());
        let mut seen = Vec::new();
        while seen
            .last()
            .is_none_or(|(id, _): &(i64, String)| *id < second)
        {
            let next = reader.next().await.unwrap();
            seen.push((next.id.unwrap().parse().unwrap(), next.event));
        }
        assert_eq!(seen[0], (first, "fleet".to_owned()));
        assert_eq!(seen[seen.len() - 1], (second, "fleet".to_owned()));
        assert!(seen.is_sorted() && seen.len() > 2, "{seen:?}");
        let between = &seen[1..seen.len() - 1];
        assert!(
            between.iter().all(|(_, event)| event == "record"),
            "{seen:?}"
        );
    }
    // It comes at once to whoever listens already.
    let mut reader = Reader::new(lab.get("/v1/events").await);
    lab.happens("drift-detected", Some("mock-2"));
    let next = reader.next().await.unwrap();
    assert_eq!(
        (next.event.as_str(), &next.data["bmc"]),
        ("fleet", &"mock-2".into())
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_run_alone_is_followed_where_that_is_asked() {
    let lab = Lab::start().await;
    let path = "/v1/events?after=0&run=fails/mock-2";
    let mut reader = Reader::new(lab.get(path).await);
    let told = reader.records_until(is_end).await;
    let journal = lab.read("/v1/runs/fails/mock-2/events").await;
    let events = journal["events"].as_array().unwrap();
    assert_eq!(told[..], events[..told.len()]);
    let (status, _) = document(lab.get("/v1/events?run=fails/mock-9").await).await;
    assert_eq!(status, 404);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_comes_with_the_news_of_its_run_where_that_is_asked() {
    let lab = Lab::start().await;
    let before = lab.get("/v1/runs").await;
    let cursor = before.headers()["redpipe-cursor"]
        .to_str()
        .unwrap()
        .to_owned();
    let path = format!("/v1/events?status=true&after={cursor}");
    let mut reader = Reader::new(lab.get(&path).await);
    // Written by no driver of this process: seen all the same.
    lab.order("/v1/runs/asks/mock-1/cancel", "{}").await;
    let status = loop {
        let seen = reader.next().await.expect("the stream goes on");
        if seen.event == "status" {
            break seen;
        }
    };
    assert_eq!(status.id, None, "only records move the cursor");
    assert_eq!(
        status.data,
        lab.read("/v1/runs/asks/mock-1").await["runs"][0]
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_stream_shows_that_it_lives() {
    let limits = redpipe::api::Limits {
        keep_alive: Duration::from_millis(20),
        ..redpipe::api::Limits::default()
    };
    let lab = Lab::with(limits).await;
    let mut stream = lab.get("/v1/events").await.bytes_stream();
    let first = timeout(PATIENCE, stream.next()).await.unwrap();
    assert_eq!(first.unwrap().unwrap(), ":\n\n");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_when_the_daemon_stops() {
    let lab = Lab::start().await;
    let mut reader = Reader::new(lab.get("/v1/events").await);
    lab.stop.cancel();
    assert_eq!(reader.next().await, None);
    lab.end().await;
}
