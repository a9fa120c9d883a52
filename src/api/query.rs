//! What an address may say behind its `?`.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;

use super::error::Refusal;

/// Which events.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Those after this cursor.
    pub(super) after: Option<i64>,
    /// Those of this run.
    pub(super) run: Option<String>,
    /// Whether each run's status is told with its news.
    #[serde(default)]
    pub(super) status: bool,
}

/// The query of the event routes.
pub(super) struct Events(pub(super) Wanted);

impl<S: Send + Sync> FromRequestParts<S> for Events {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(wanted)) => Ok(Self(wanted)),
            Err(rejection) => Err(Refusal::bad(rejection.body_text())
                .hint("`after` is a cursor, `run` is `PIPELINE/BMC` or `PIPELINE/BMC#N`, `status` is `true`")),
        }
    }
}
