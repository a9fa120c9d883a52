//! What clients order, as the command line does.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::error::Refusal;
use super::routes::{ask, body};
use super::serve::Api;
use crate::daemon::orders::Reached;
use crate::daemon::verbs::{PipelineWord, RunWord};

/// What an order may say beside its path.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    /// Who gives it.
    by: Option<String>,
}

/// Longest name of somebody who orders.
const NAME_CHARACTERS_MAX: usize = 64;

pub(super) async fn to_run(
    State(api): State<Api>,
    Path((pipeline, bmc)): Path<(String, String)>,
    given: Result<Bytes, BytesRejection>,
    word: RunWord,
) -> Result<Response, Refusal> {
    let user = user(&body(given)?)?;
    let name = format!("{pipeline}/{bmc}");
    let taken = ask(&api, move |handle| handle.say(&user, &name, word)).await?;
    let (runs, driven_by) = match taken.reached {
        Reached::Driven(who) => (Vec::new(), Some(who)),
        Reached::Over(status) | Reached::Waits(status) => (vec![status], None),
    };
    let document = json!({
        "run": taken.key.to_string(),
        "runs": runs,
        "pipelines": [],
        "problems": [],
        "driven_by": driven_by,
    });
    Ok((StatusCode::ACCEPTED, Json(document)).into_response())
}

pub(super) async fn to_pipeline(
    State(api): State<Api>,
    Path(pipeline): Path<String>,
    given: Result<Bytes, BytesRejection>,
    word: PipelineWord,
) -> Result<Response, Refusal> {
    let user = user(&body(given)?)?;
    let order = ask(&api, move |handle| {
        handle.say_to_pipeline(&user, &pipeline, word)
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "order": order }))).into_response())
}

/// Who orders, as the journal names them.
fn user(body: &[u8]) -> Result<String, Refusal> {
    let said: Said = if body.trim_ascii().is_empty() {
        Said::default()
    } else {
        serde_json::from_slice(body).map_err(|error| {
            Refusal::bad(format!("the body is not what an order may say: {error}"))
                .hint("send `{}` or `{\"by\": \"your name\"}`")
        })?
    };
    let Some(name) = said.by else {
        return Ok("api".to_owned());
    };
    let is_name = !name.trim().is_empty()
        && name.chars().count() <= NAME_CHARACTERS_MAX
        && !name.chars().any(char::is_control);
    if is_name {
        return Ok(format!("{} by api", name.trim()));
    }
    let expected = format!("expected at most {NAME_CHARACTERS_MAX} printable characters");
    Err(Refusal::bad(format!("`by` is not a name: {expected}")))
}
