//! Clients over real sockets, each shared by all BMCs whose certificates are judged alike.
//!
//! A bare one: no redirects, proxies or cookies, and no URL that is read again at each of those layers. A fleet is asked
//! for four small documents a BMC for ever; what a richer client adds to each is a fifth of what that costs.

use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use reqwest::{Body, Url};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower::BoxError;
use tower::timeout::Timeout;
use tower::util::BoxCloneSyncService;

/// TCP and TLS together: handshakes of old BMCs take seconds, and a black hole must not hold a slot for long.
pub(super) const CONNECT: Duration = Duration::from_secs(20);

/// A connection of a run that is idle for longer is closed: below what services keep (30 to 60 s), above the time between
/// two polls of a task.
const POOL_IDLE: Duration = Duration::from_secs(12);

/// The same of who only looks: between two observations no connection is worth the 40 KB that it takes.
const POOL_IDLE_BRIEF: Duration = Duration::from_secs(3);

/// Time between two probes of a silent connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Printable ASCII that a path may not hold (path percent-encode set of the WHATWG URL standard), and the backslash, which
/// that standard reads as a slash.
const ENCODED: &[u8] = b"\"<>\\^`{|}";

/// A shared client.
pub(super) struct Sockets {
    brief: Client<Connector, Body>,
    long: Client<Connector, Body>,
}

impl Sockets {
    /// The client for a request after which more follow within seconds, or none.
    pub(super) fn client(&self, more_follows: bool) -> &Client<Connector, Body> {
        if more_follows {
            &self.long
        } else {
            &self.brief
        }
    }
}

/// Opens connections, in time.
type Connector = BoxCloneSyncService<Uri, MaybeHttpsStream<TokioIo<TcpStream>>, BoxError>;

/// A client that offers HTTP/1.1, and HTTP/2 where it may.
pub(super) fn sockets(config: &ClientConfig, http1_only: bool) -> Sockets {
    Sockets {
        brief: client(config.clone(), http1_only, POOL_IDLE_BRIEF),
        long: client(config.clone(), http1_only, POOL_IDLE),
    }
}

fn client(config: ClientConfig, http1_only: bool, idle: Duration) -> Client<Connector, Body> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEP_ALIVE));
    let tls = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1();
    let tls = if http1_only {
        tls.wrap_connector(tcp)
    } else {
        tls.enable_http2().wrap_connector(tcp)
    };
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle)
        .pool_max_idle_per_host(1)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .build(Connector::new(Timeout::new(tls, CONNECT)))
}

/// The place of a path on a service; what a path may not hold is percent-encoded, as browsers do with a link.
pub(super) fn uri(base: &str, path: &str) -> Result<Uri, String> {
    let whole = format!("{base}{path}");
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !ENCODED.contains(&byte);
    if path.bytes().all(is_plain) {
        return Uri::try_from(whole).map_err(|error| error.to_string());
    }
    let url: Url = whole.parse().map_err(|error| format!("{error}"))?;
    Uri::try_from(url.as_str()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_path_is_sent_as_it_was_written_where_it_can_be() {
        let at = |path: &str| {
            let uri = uri("https://10.0.0.1:8443", path).unwrap();
            uri.path_and_query().unwrap().to_string()
        };
        assert_eq!(
            at("/redfish/v1/Systems?$expand=.($levels=1)"),
            "/redfish/v1/Systems?$expand=.($levels=1)"
        );
        assert_eq!(
            at("/redfish/v1/Chassis/1/Power#/PowerSupplies/0"),
            "/redfish/v1/Chassis/1/Power"
        );
        assert_eq!(at("/redfish/v1/A%20B:1'@x"), "/redfish/v1/A%20B:1'@x");
        assert_eq!(at("/redfish/v1/A B/{x}"), "/redfish/v1/A%20B/%7Bx%7D");
        assert_eq!(at("/redfish/v1/Käse"), "/redfish/v1/K%C3%A4se");
    }
}
