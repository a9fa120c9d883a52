//! redpipe's own image server, for BMCs that only pull.
//!
//! It listens while something is offered, on the address of this host that faces the BMC, and answers nobody but that BMC,
//! under paths that nobody can guess. Ranges are served, as some BMCs fetch in pieces. It speaks HTTP: BMCs refuse the
//! certificate of a host that they do not know, and what they fetch is checked by its signature, and by us before.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, TryStreamExt};
use tokio::net::{TcpListener, UdpSocket, lookup_host};
use tokio::task::JoinSet;
use tower_http::services::ServeFile;

use super::host::{ImageHost, Offer, Offering, Served, Wanted};
use crate::model::fault::{Fault, FaultKind, Retry};

/// Serves images to BMCs.
pub struct ImageServer {
    /// Where people want it; `None` = a free port on the address that faces the BMC.
    listen: Option<SocketAddr>,
    doors: tokio::sync::Mutex<BTreeMap<SocketAddr, Weak<Door>>>,
}

/// One address that is listened on, for as long as somebody offers something behind it.
struct Door {
    address: SocketAddr,
    hall: Arc<Hall>,
    /// Ends with it; an open transfer does not.
    _listening: JoinSet<()>,
}

/// What is offered behind one address, by path.
#[derive(Default)]
struct Hall {
    offers: Mutex<BTreeMap<String, Offered>>,
}

#[derive(Clone)]
struct Offered {
    peers: Vec<IpAddr>,
    file: PathBuf,
    count: Arc<Mutex<Count>>,
}

#[derive(Default)]
struct Count {
    fetched: bool,
    sent: u64,
    open: u32,
}

struct Standing {
    uri: String,
    path: String,
    bytes: u64,
    count: Arc<Mutex<Count>>,
    door: Arc<Door>,
}

impl Offer for Standing {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn served(&self) -> Served {
        let count = locked(&self.count);
        Served {
            fetched: count.fetched,
            whole: count.sent >= self.bytes,
            open: count.open,
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        locked(&self.door.hall.offers).remove(&self.path);
    }
}

impl ImageHost for ImageServer {
    fn offer<'a>(&'a self, wanted: &'a Wanted) -> Offering<'a> {
        Box::pin(async move {
            let offer = self.stand(wanted).await.map_err(|error| {
                let message = format!(
                    "the image cannot be served to `{}` (`--image-server` names an address of this host that it reaches)",
                    wanted.host
                );
                Fault::new(FaultKind::Unsupported, Retry::Operator, message)
                    .with_cause(error.to_string())
            })?;
            Ok(Box::new(offer) as Box<dyn Offer>)
        })
    }
}

impl ImageServer {
    /// Listens nowhere yet. `listen` = the address to serve on, port 0 for a free one; without it, the address of this
    /// host from which packets to the BMC leave.
    pub fn new(listen: Option<SocketAddr>) -> Self {
        Self {
            listen,
            doors: tokio::sync::Mutex::default(),
        }
    }

    async fn stand(&self, wanted: &Wanted) -> io::Result<Standing> {
        let found = tokio::fs::metadata(&wanted.file).await?.len();
        if found != wanted.bytes {
            return Err(io::Error::other(format!(
                "`{}` has {found} bytes now, {} when it was checked",
                wanted.file.display(),
                wanted.bytes
            )));
        }
        let peers: Vec<SocketAddr> = lookup_host((wanted.host.as_str(), wanted.port))
            .await?
            .collect();
        let Some(bmc) = peers.first() else {
            return Err(io::Error::other("the name has no address"));
        };
        let facing = facing(*bmc).await?;
        let at = self.listen.unwrap_or(SocketAddr::new(facing, 0));
        let door = self.door(at).await?;
        let shown = if door.address.ip().is_unspecified() {
            SocketAddr::new(facing, door.address.port())
        } else {
            door.address
        };
        let count = Arc::<Mutex<Count>>::default();
        let offered = Offered {
            peers: peers.iter().map(|peer| plain(peer.ip())).collect(),
            file: wanted.file.clone(),
            count: Arc::clone(&count),
        };
        let path = format!("/{}", wanted.path);
        locked(&door.hall.offers).insert(path.clone(), offered);
        Ok(Standing {
            uri: format!("http://{shown}{path}"),
            path,
            bytes: wanted.bytes,
            count,
            door,
        })
    }

    /// The door at an address, opened where it is shut.
    async fn door(&self, at: SocketAddr) -> io::Result<Arc<Door>> {
        let mut doors = self.doors.lock().await;
        doors.retain(|_, door| door.strong_count() > 0);
        if let Some(door) = doors.get(&at).and_then(Weak::upgrade) {
            return Ok(door);
        }
        let listener = TcpListener::bind(at).await?;
        let address = listener.local_addr()?;
        let hall = Arc::<Hall>::default();
        let router = Router::new()
            .fallback(fetch)
            .with_state(Arc::clone(&hall))
            .into_make_service_with_connect_info::<SocketAddr>();
        let mut listening = JoinSet::new();
        listening.spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%address, %error, "images are no longer served");
            }
        });
        let door = Arc::new(Door {
            address,
            hall,
            _listening: listening,
        });
        doors.insert(at, Arc::downgrade(&door));
        Ok(door)
    }
}

/// The address of this host from which packets to a BMC leave; nothing is sent.
async fn facing(bmc: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = if bmc.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(bmc).await?;
    Ok(socket.local_addr()?.ip())
}

async fn fetch(
    State(hall): State<Arc<Hall>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let offered = locked(&hall.offers).get(request.uri().path()).cloned();
    let Some(offered) = offered else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if !offered.peers.contains(&plain(peer.ip())) {
        tracing::warn!(%peer, "somebody who is not the BMC asked for its image, and got nothing");
        return StatusCode::NOT_FOUND.into_response();
    }
    match ServeFile::new(&offered.file).try_call(request).await {
        Ok(response) => counted(response.map(Body::new), &offered),
        Err(error) => {
            let file = offered.file.display();
            tracing::error!(%file, %error, "the image cannot be read any more");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The answer, with its bytes counted as they leave.
fn counted(response: Response, offered: &Offered) -> Response {
    if !response.status().is_success() {
        return response;
    }
    let transfer = Transfer::begin(&offered.count);
    response.map(|body| {
        let stream = body.into_data_stream().inspect_ok(move |chunk| {
            let more = u64::try_from(chunk.len()).unwrap_or(0);
            locked(&transfer.0).sent += more;
        });
        Body::from_stream(stream.boxed())
    })
}

/// One open transfer.
struct Transfer(Arc<Mutex<Count>>);

impl Transfer {
    fn begin(count: &Arc<Mutex<Count>>) -> Self {
        let mut counted = locked(count);
        counted.fetched = true;
        counted.open += 1;
        drop(counted);
        Self(Arc::clone(count))
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        locked(&self.0).open -= 1;
    }
}

/// An IPv4 address that came in over an IPv6 socket is the same address.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks is one step: a panic elsewhere leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
