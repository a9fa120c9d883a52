//! Who may come in, and what every answer carries.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN,
    REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::time::timeout;

use super::error::Refusal;
use super::serve::Api;
use super::token::Token;

/// What is served to anybody: the page, which is the same for all, and that the process lives.
const OPEN: [&str; 6] = [
    "/",
    "/page.css",
    "/page.js",
    "/grid.js",
    "/panel.js",
    "/healthz",
];

/// Nothing but our own files, and nothing inline: a BMC's words can never become a program.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// By which way a client came.
#[derive(Clone)]
pub(super) enum Door {
    /// The socket's mode has let it in.
    Socket,
    /// Over TCP.
    Tcp {
        /// The address that is served.
        ip: IpAddr,
        /// What it must show.
        token: Option<Token>,
    },
}

/// Lets a request through, or refuses it.
pub(super) async fn guard(State(api): State<Api>, request: Request, next: Next) -> Response {
    let is_open = OPEN.contains(&request.uri().path());
    let checked = api.door.check(request.headers(), is_open).and_then(|()| {
        if request.method().is_safe() {
            Ok(())
        } else {
            may_change(request.headers())
        }
    });
    let mut response = match checked {
        Ok(()) => match timeout(api.limits.answer, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "deadline",
                "the answer took too long",
            )
            .into_response(),
        },
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 4] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        let how = HeaderValue::from_static("Bearer realm=\"redpipe\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, how);
    }
    response
}

impl Door {
    fn check(&self, headers: &HeaderMap, is_open: bool) -> Result<(), Refusal> {
        match self {
            Self::Socket => Ok(()),
            Self::Tcp {
                token: Some(token), ..
            } => {
                let given = text(headers, &AUTHORIZATION)
                    .and_then(|given| given.strip_prefix("Bearer "))
                    .unwrap_or_default();
                if is_open || token.is(given.trim()) {
                    return Ok(());
                }
                let message = "the token is missing or wrong";
                Err(
                    Refusal::new(StatusCode::UNAUTHORIZED, "login-refused", message)
                        .hint("send `Authorization: Bearer TOKEN`"),
                )
            }
            Self::Tcp { ip, token: None } => is_named_here(headers, *ip),
        }
    }
}

/// Without a token, a page of somebody else's must not reach us by a name that it lets point here.
fn is_named_here(headers: &HeaderMap, ip: IpAddr) -> Result<(), Refusal> {
    let host = text(headers, &HOST).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) {
            name
        } else {
            host
        }
    });
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = bare.parse().ok();
    if name == "localhost" || address.is_some_and(|named| named.is_loopback() || named == ip) {
        return Ok(());
    }
    let message = format!("`Host: {name}` is no name of this server");
    Err(
        Refusal::new(StatusCode::MISDIRECTED_REQUEST, "usage", message)
            .hint("ask by the address that it listens on, or give it a token file"),
    )
}

/// A browser sends what changes something for its own page only: others' can neither say JSON unasked nor hide where
/// they are from.
fn may_change(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = text(headers, &CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = format!("the body is `{kind}`, expected `application/json`");
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "usage",
            message,
        ));
    }
    let host = text(headers, &HOST).unwrap_or_default();
    let from = text(headers, &ORIGIN);
    let is_ours = from.is_none_or(|from| {
        from.split_once("://")
            .is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
    });
    if is_ours {
        return Ok(());
    }
    let message = format!(
        "a page of `{}` may not order anything here",
        from.unwrap_or_default()
    );
    Err(Refusal::new(StatusCode::FORBIDDEN, "usage", message))
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
