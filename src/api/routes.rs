//! Every route, and the simple ones themselves.

use std::future::{Ready, ready};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router, middleware};
use serde::Serialize;
use serde_json::json;

use super::error::Refusal;
use super::query::Events;
use super::serve::Api;
use super::{door, stream, words};
use crate::daemon::verbs::{PipelineWord, RunWord};
use crate::daemon::{Errand, Handle, Known, Readiness};

/// Of this redpipe; a client of another one may not understand what is told.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the routes ask and answer.
pub const OPENAPI: &str = include_str!("../../openapi.json");

/// Named by an answer that events can be asked for after, without a gap and without a double.
const CURSOR: HeaderName = HeaderName::from_static("redpipe-cursor");

struct Route {
    method: &'static str,
    path: &'static str,
    handler: MethodRouter<Api>,
}

/// Method and path of every route, as the OpenAPI document names them.
pub fn routes() -> Vec<(&'static str, &'static str)> {
    let table = table().into_iter();
    table.map(|route| (route.method, route.path)).collect()
}

pub(super) fn router(api: Api) -> Router {
    let guard = middleware::from_fn_with_state(api.clone(), door::guard);
    let routes = table().into_iter();
    routes
        .fold(Router::new(), |router, route| {
            router.route(route.path, route.handler)
        })
        .fallback(nowhere)
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(api.limits.body_bytes))
        .layer(guard)
        .with_state(api)
}

fn table() -> Vec<Route> {
    let get_at = |path, handler| Route {
        method: "GET",
        path,
        handler,
    };
    let post_at = |path, handler| Route {
        method: "POST",
        path,
        handler,
    };
    let run = |word| post(move |api, path, body| words::to_run(api, path, body, word));
    let pipeline = |word| post(move |api, path, body| words::to_pipeline(api, path, body, word));
    vec![
        get_at("/", get(|| file("text/html; charset=utf-8", PAGE))),
        get_at("/page.js", get(|| file(JAVASCRIPT, SCRIPT))),
        get_at("/page.css", get(|| file("text/css; charset=utf-8", STYLE))),
        get_at("/grid.js", get(|| file(JAVASCRIPT, GRID))),
        get_at("/panel.js", get(|| file(JAVASCRIPT, PANEL))),
        get_at("/openapi.json", get(|| file("application/json", OPENAPI))),
        get_at("/healthz", get(|| async { "ok\n" })),
        get_at("/readyz", get(readiness)),
        get_at("/metrics", get(metrics)),
        get_at("/v1/runs", get(runs)),
        get_at("/v1/runs/{pipeline}/{bmc}", get(run_of)),
        get_at("/v1/runs/{pipeline}/{bmc}/events", get(events_of)),
        get_at("/v1/pipelines", get(pipelines)),
        get_at("/v1/bmcs", get(bmcs)),
        get_at("/v1/drift", get(drift)),
        get_at("/v1/events", get(stream::events)),
        get_at("/v1/daemon", get(daemon)),
        get_at("/v1/orders/{order}", get(order)),
        post_at("/v1/pipelines/{pipeline}/apply", post(words::to_apply)),
        post_at("/v1/reload", post(words::reload)),
        post_at("/v1/runs/{pipeline}/{bmc}/approve", run(RunWord::Approve)),
        post_at("/v1/runs/{pipeline}/{bmc}/retry", run(RunWord::Retry)),
        post_at("/v1/runs/{pipeline}/{bmc}/cancel", run(RunWord::Cancel)),
        post_at("/v1/runs/{pipeline}/{bmc}/release", run(RunWord::Release)),
        post_at(
            "/v1/pipelines/{pipeline}/pause",
            pipeline(PipelineWord::Pause),
        ),
        post_at(
            "/v1/pipelines/{pipeline}/resume",
            pipeline(PipelineWord::Resume),
        ),
    ]
}

const PAGE: &str = include_str!("page/index.html");
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const GRID: &str = include_str!("page/grid.js");
const PANEL: &str = include_str!("page/panel.js");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");

fn file(kind: &'static str, text: &'static str) -> Ready<Response> {
    let kind = HeaderValue::from_static(kind);
    ready(([(CONTENT_TYPE, kind)], text).into_response())
}

/// Asks the state, beside the tasks that must not wait.
pub(super) async fn ask<T: Send + 'static>(
    api: &Api,
    question: impl FnOnce(&Handle) -> T + Send + 'static,
) -> T {
    let handle = api.handle.clone();
    match tokio::task::spawn_blocking(move || question(&handle)).await {
        Ok(answer) => answer,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

async fn runs(State(api): State<Api>) -> Result<Response, Refusal> {
    // The cursor first: what happens between the two is told again rather than not at all.
    let (cursor, summary) = ask(&api, |handle| {
        Ok::<_, Refusal>((handle.last_cursor()?, handle.status()?))
    })
    .await?;
    Ok(with_cursor(cursor, &summary))
}

async fn run_of(
    State(api): State<Api>,
    Path((pipeline, bmc)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let name = format!("{pipeline}/{bmc}");
    ask(&api, move |handle| {
        let cursor = handle.last_cursor()?;
        let Some((_, run)) = handle.run(&name)? else {
            return Err(Refusal::no_run(&name));
        };
        let mut summary = handle.status()?;
        summary.pipelines.retain(|of| of.pipeline == run.pipeline);
        summary.runs = vec![run];
        Ok(with_cursor(cursor, &summary))
    })
    .await
}

/// The journal of a run, from its start or after a cursor: at most a page.
async fn events_of(
    State(api): State<Api>,
    Path((pipeline, bmc)): Path<(String, String)>,
    Events(wanted): Events,
) -> Result<Response, Refusal> {
    let name = format!("{pipeline}/{bmc}");
    ask(&api, move |handle| {
        let Some((key, _)) = handle.run(&name)? else {
            return Err(Refusal::no_run(&name));
        };
        let after = wanted.after.unwrap_or(0);
        let events = handle.events_after(Some(&key), after, PAGE_LINES)?;
        let cursor = events.last().map_or(after, |event| event.cursor);
        Ok(with_cursor(cursor, &json!({ "events": events })))
    })
    .await
}

/// Lines of one answer; more are asked for after its cursor.
const PAGE_LINES: usize = 2000;

async fn pipelines(State(api): State<Api>) -> Result<Response, Refusal> {
    let summary = ask(&api, Handle::status).await?;
    Ok(Json(json!({ "pipelines": summary.pipelines })).into_response())
}

/// Which daemon it is, and the files that it goes by.
async fn daemon(State(api): State<Api>) -> Response {
    let files = api.handle.fleet().files();
    let pipeline = |(name, generation)| json!({ "pipeline": name, "generation": generation });
    let pipelines: Vec<_> = files.pipelines.iter().map(pipeline).collect();
    Json(json!({
        "version": VERSION,
        "process": api.handle.process(),
        "files": { "loaded_at": files.loaded_at, "refused": files.refused, "reads": files.reads },
        "pipelines": pipelines,
    }))
    .into_response()
}

/// An order, and how far it came.
async fn order(State(api): State<Api>, Path(order): Path<String>) -> Result<Response, Refusal> {
    let none = || {
        let message = format!("there is no order `{order}`");
        Refusal::new(StatusCode::NOT_FOUND, "nothing-matched", message)
            .hint("give the `id` of an order that was answered by a POST")
    };
    let Ok(id) = order.parse::<u64>() else {
        return Err(none());
    };
    let found = ask(&api, move |handle| handle.order(id)).await?;
    let (order, known) = found.ok_or_else(none)?;
    let (taken, errand) = match known {
        Known::Waits => ("waits", Errand::default()),
        Known::Older => ("older", Errand::default()),
        Known::Taken(errand) => ("taken", errand),
    };
    let bmcs = errand.bmcs.iter().map(|((pipeline, bmc), progress)| {
        let mut row = json!(progress);
        row["pipeline"] = json!(pipeline);
        row["bmc"] = json!(bmc);
        row
    });
    let mut document = json!({
        "order": order,
        "taken": taken,
        "at_rest": taken == "taken" && errand.is_at_rest(),
        "bmcs": bmcs.collect::<Vec<_>>(),
    });
    if let Some(fault) = &errand.refused {
        document["refused"] = json!(fault);
    }
    Ok(Json(document).into_response())
}

async fn metrics(State(api): State<Api>) -> Result<Response, Refusal> {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let text = ask(&api, Handle::metrics).await?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response())
}

async fn bmcs(State(api): State<Api>) -> Response {
    Json(json!({ "bmcs": api.handle.fleet().bmcs() })).into_response()
}

async fn drift(State(api): State<Api>) -> Response {
    Json(api.handle.fleet().drift()).into_response()
}

async fn readiness(State(api): State<Api>) -> Response {
    let (status, document) = match ask(&api, Handle::readiness).await {
        Readiness::Ready => (StatusCode::OK, json!({ "ready": true, "problems": [] })),
        Readiness::Stale(problems) => (
            StatusCode::OK,
            json!({ "ready": true, "problems": problems }),
        ),
        Readiness::NotReady(why) => (
            StatusCode::SERVICE_UNAVAILABLE,
            json!({ "ready": false, "problems": [why] }),
        ),
    };
    (status, Json(document)).into_response()
}

fn with_cursor(cursor: i64, document: &impl Serialize) -> Response {
    let mut response = Json(document).into_response();
    response.headers_mut().insert(CURSOR, cursor.into());
    response
}

async fn nowhere() -> Refusal {
    let message = "there is nothing at this path";
    Refusal::new(StatusCode::NOT_FOUND, "nothing-matched", message)
        .hint("`GET /openapi.json` lists all paths")
}

async fn other_method() -> Refusal {
    let message = "this path has no such method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "usage", message)
        .hint("`GET /openapi.json` lists what each path takes")
}

/// A body as far as it may go.
pub(super) fn body(
    given: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Bytes, Refusal> {
    given.map_err(|rejection| Refusal::new(rejection.status(), "usage", rejection.body_text()))
}
