//! Events as they happen, over SSE.
//!
//! A stream holds a cursor and at most one page of lines. It reads the next page when its client has taken the last one,
//! so that a slow client costs nobody anything, and one that takes nothing at all is dropped with its connection.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::sleep;

use super::error::Refusal;
use super::query::{Events, Wanted};
use super::routes::ask;
use super::serve::Api;
use crate::daemon::history::{EventLine, Line};
use crate::daemon::{Handle, board};
use crate::model::{Fault, RunKey};

/// Lines read at once.
const PAGE_LINES: usize = 200;

/// Other processes on the state do not wake us; what they write is seen within this time.
const OTHERS_POLL: Duration = Duration::from_secs(2);

/// The header by which a browser asks for what it missed.
const LAST_EVENT_ID: &str = "last-event-id";

/// `/v1/events`: what happens from now on, or after a cursor.
pub(super) async fn events(
    State(api): State<Api>,
    Events(wanted): Events,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let place = api.streams.clone().try_acquire_owned().map_err(|_| {
        let most = api.limits.streams;
        let message = format!("{most} clients follow events, and no more are served at once");
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", message)
    })?;
    // What happens from here on is either in the first page or wakes us.
    let (news, fleet) = (api.handle.news(), api.handle.fleet().news());
    let asked = match last_event_id(&headers)? {
        Some(missed) => Some(missed),
        None => wanted.after,
    };
    let name = wanted.run.clone();
    let (cursor, run) = ask(&api, move |handle| {
        let cursor = match asked {
            Some(cursor) => cursor,
            None => handle.last_cursor()?,
        };
        let run = name.map(|name| named(handle, &name)).transpose()?;
        Ok::<_, Refusal>((cursor, run))
    })
    .await?;
    let keep_alive = KeepAlive::new().interval(api.limits.keep_alive);
    let follower = Follower {
        api,
        wanted,
        run,
        cursor,
        news,
        fleet,
        ready: VecDeque::new(),
        _place: place,
    };
    let stream = unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<_, Infallible>(event), follower))
    });
    Ok(Sse::new(stream).keep_alive(keep_alive).into_response())
}

/// One client.
struct Follower {
    api: Api,
    wanted: Wanted,
    run: Option<RunKey>,
    cursor: i64,
    news: broadcast::Receiver<Arc<board::Event>>,
    fleet: watch::Receiver<u64>,
    ready: VecDeque<Event>,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    /// The next event; `None` = the daemon stops, or the state cannot be read.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            self.news = self.news.resubscribe();
            match self.page().await {
                Ok(true) => {}
                Ok(false) => tokio::select! {
                    () = self.api.stop.cancelled() => return None,
                    // Whatever it is, and even if some were missed, the journal has it.
                    _ = self.news.recv() => {}
                    Ok(()) = self.fleet.changed() => {}
                    () = sleep(OTHERS_POLL) => {}
                },
                Err(fault) => {
                    tracing::warn!(%fault, "events cannot be read for a client");
                    return None;
                }
            }
        }
    }

    /// Reads on; false where there is nothing new.
    async fn page(&mut self) -> Result<bool, Fault> {
        let (run, cursor, status) = (self.run.clone(), self.cursor, self.wanted.status);
        let read = move |handle: &Handle| {
            let lines = match &run {
                Some(_) => handle.events_after(run.as_ref(), cursor, PAGE_LINES)?,
                None => return everything(handle, cursor, status),
            };
            let mut events: VecDeque<Event> = lines.iter().map(record).collect();
            if status {
                events.extend(statuses(handle, &lines)?);
            }
            Ok::<_, Fault>((lines.last().map(|line| line.cursor), events))
        };
        let (last, events) = ask(&self.api, read).await?;
        self.ready = events;
        self.cursor = last.unwrap_or(self.cursor);
        Ok(last.is_some())
    }
}

/// A page of all that happened, runs or not.
fn everything(
    handle: &Handle,
    cursor: i64,
    status: bool,
) -> Result<(Option<i64>, VecDeque<Event>), Fault> {
    let lines = handle.all_after(cursor, PAGE_LINES)?;
    let (mut events, mut records) = (VecDeque::new(), Vec::new());
    for line in &lines {
        match line {
            Line::Run(happened) => {
                let line = happened.line();
                events.push_back(record(&line));
                records.push(line);
            }
            Line::Fleet(line) => {
                events.push_back(event("fleet", line).id(line.cursor.to_string()));
            }
        }
    }
    if status {
        events.extend(statuses(handle, &records)?);
    }
    Ok((lines.last().map(Line::cursor), events))
}

fn record(line: &EventLine) -> Event {
    event("record", line).id(line.cursor.to_string())
}

/// How each run stands that has news.
fn statuses(handle: &Handle, lines: &[EventLine]) -> Result<Vec<Event>, Fault> {
    let runs: BTreeSet<&str> = lines.iter().map(|line| line.run.as_str()).collect();
    let mut events = Vec::new();
    for run in runs {
        if let Some((_, status)) = handle.run(run)? {
            events.push(event("status", &status));
        }
    }
    Ok(events)
}

fn event(name: &str, data: &impl Serialize) -> Event {
    let text = serde_json::to_string(data)
        .expect("status and records hold only maps with text keys, which JSON can always say");
    Event::default().event(name).data(text)
}

fn named(handle: &Handle, name: &str) -> Result<RunKey, Refusal> {
    let found = handle.run(name)?;
    let (key, _) = found.ok_or_else(|| Refusal::no_run(name))?;
    Ok(key)
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, Refusal> {
    let Some(given) = headers.get(LAST_EVENT_ID) else {
        return Ok(None);
    };
    let cursor = given
        .to_str()
        .ok()
        .and_then(|text| text.trim().parse().ok());
    cursor.map(Some).ok_or_else(|| {
        Refusal::bad("`Last-Event-ID` is no cursor")
            .hint("give the `id` of an event of this stream")
    })
}
