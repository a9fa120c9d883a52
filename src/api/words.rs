//! What clients order, as the command line does.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
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

/// What an apply may say beside its path.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidToApply {
    /// Who gives it.
    by: Option<String>,
    /// The file that is meant, as `/v1/daemon` names it.
    generation: Option<String>,
    /// Further narrowing, as `--limit` takes it.
    limit: Option<String>,
}

/// Longest name of somebody who orders.
const NAME_CHARACTERS_MAX: usize = 64;

pub(super) async fn to_run(
    State(api): State<Api>,
    Path((pipeline, bmc)): Path<(String, String)>,
    given: Result<Bytes, BytesRejection>,
    word: RunWord,
) -> Result<Response, Refusal> {
    let user = user(parsed::<Said>(&body(given)?)?.by)?;
    let name = format!("{pipeline}/{bmc}");
    let taken = ask(&api, move |handle| handle.say(&user, &name, word)).await?;
    let (runs, driven_by) = match taken.reached {
        Reached::Driven(who) => (Vec::new(), Some(who)),
        Reached::Over(status) | Reached::Waits(status) => (vec![status], None),
    };
    let document = json!({
        "run": taken.key.to_string(),
        "order": taken.order,
        "servers": taken.servers,
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
    let user = user(parsed::<Said>(&body(given)?)?.by)?;
    let order = ask(&api, move |handle| {
        handle.say_to_pipeline(&user, &pipeline, word)
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "order": order }))).into_response())
}

pub(super) async fn to_apply(
    State(api): State<Api>,
    Path(pipeline): Path<String>,
    given: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let said: SaidToApply = parsed(&body(given)?)?;
    let user = user(said.by)?;
    let order = ask(&api, move |handle| {
        handle.apply(&user, &pipeline, said.generation.as_deref(), said.limit)
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "order": order }))).into_response())
}

/// The files are read anew at once; `/v1/daemon` says what came of it.
pub(super) async fn reload(
    State(api): State<Api>,
    given: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    user(parsed::<Said>(&body(given)?)?.by)?;
    api.handle.reload();
    Ok((StatusCode::ACCEPTED, Json(json!({ "reload": true }))).into_response())
}

fn parsed<T: Default + DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(T::default());
    }
    serde_json::from_slice(body).map_err(|error| {
        Refusal::bad(format!("the body is not what an order may say: {error}"))
            .hint("send `{}` or `{\"by\": \"your name\"}`")
    })
}

/// Who orders, as the journal names them.
fn user(by: Option<String>) -> Result<String, Refusal> {
    let Some(name) = by else {
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
