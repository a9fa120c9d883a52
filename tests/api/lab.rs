//! A served state: `asks/mock-1` waits for its owner, `fails/mock-2` has failed, `sets/mock-3` is completed.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};
use redpipe::api::{ApiOptions, Limits, Listening, TcpOptions};
use redpipe::daemon::{ApplyReport, Engine, EngineParts, Fleet, Handle, Readiness, apply};
use redpipe::model::BmcName;
use redpipe::redfish::Clock;
use redpipe::store::{SqliteStore, this_host};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::support::world::World;

/// Good for every test that needs one.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

const SCRIPT: &str = "[update]\nbios_outcome = \"failed\"\n";

/// Fast enough for runs that are driven in real time.
const PACE: &str = "[defaults.pace]\nrequests_per_second = 1000\nburst = 64\nsettle_for = \"20ms\"\nprobe_for = \"20ms\"\n\
     task_poll = \"20ms\"\n";

/// A server, and what it serves.
pub(crate) struct Lab {
    pub(crate) world: World,
    pub(crate) engine: Engine,
    pub(crate) handle: Handle,
    pub(crate) stop: CancellationToken,
    pub(crate) connections: tokio::sync::watch::Receiver<usize>,
    pub(crate) address: Option<SocketAddr>,
    pub(crate) client: Client,
    serving: JoinSet<()>,
}

/// For clients of any kind; the TLS engine is the process's.
pub(crate) fn client() -> reqwest::ClientBuilder {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.install_default().ok();
    Client::builder()
}

/// A TCP address on loopback with nothing else.
pub(crate) fn plain() -> TcpOptions {
    TcpOptions {
        address: "127.0.0.1:0".parse().unwrap(),
        token: None,
        tls: None,
    }
}

impl Lab {
    /// On a free loopback port.
    pub(crate) async fn start() -> Self {
        Self::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        let tcp = Some(plain());
        Self::serve(ApiOptions {
            limits,
            tcp,
            ..ApiOptions::default()
        })
        .await
    }

    pub(crate) async fn serve(options: ApiOptions) -> Self {
        Self::of(seeded(), options).await
    }

    pub(crate) async fn of(world: World, options: ApiOptions) -> Self {
        let engine = engine(&world);
        let handle = Handle::new(engine.clone(), Fleet::new());
        handle.set_readiness(Readiness::Ready);
        let listening = Listening::bind(options).await.unwrap();
        let stop = CancellationToken::new();
        let (address, connections) = (listening.tcp_address(), listening.connections());
        let mut serving = JoinSet::new();
        serving.spawn(listening.serve(handle.clone(), stop.clone()));
        Self {
            world,
            engine,
            handle,
            stop,
            connections,
            address,
            client: client().build().unwrap(),
            serving,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address.unwrap())
    }

    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.ask(Method::GET, path).send().await.unwrap()
    }

    /// A document that must be there.
    pub(crate) async fn read(&self, path: &str) -> Value {
        let response = self.get(path).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Orders something; the status and the document.
    pub(crate) async fn order(&self, path: &str, body: &'static str) -> (u16, Value) {
        let request = self
            .ask(Method::POST, path)
            .header("content-type", "application/json")
            .body(body);
        document(request.send().await.unwrap()).await
    }

    /// Something happens outside any run, as the daemon writes it down; returns its cursor.
    pub(crate) fn happens(&self, kind: &str, bmc: Option<&str>) -> i64 {
        let (store, now) = (self.engine.store(), self.engine.clock().now());
        let bmc = bmc.map(BmcName::from);
        store
            .add_happening(now, bmc.as_ref(), kind, "in words")
            .unwrap()
    }

    /// Ends the server, which must end by itself.
    pub(crate) async fn end(mut self) {
        self.stop.cancel();
        self.serving.join_next().await.unwrap().unwrap();
    }

    /// Drives pipelines in this process, in real time.
    pub(crate) async fn apply(&self, pipelines: &[&str]) -> ApplyReport {
        let assignments = self.world.assignments(pipelines).await;
        let options = redpipe::daemon::ApplyOptions::default();
        apply(&self.engine, assignments, options, &self.world.stop).await
    }
}

/// Status and document of an answer.
pub(crate) async fn document(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let document = serde_json::from_str(&text);
    (status, document.unwrap_or(Value::String(text)))
}

/// The words of an error.
pub(crate) fn message(document: &Value) -> &str {
    document["errors"][0]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("no error in {document}"))
}

/// The runs of the state are of yesterday.
struct DayLater(Arc<dyn Clock>);

impl Clock for DayLater {
    fn now(&self) -> Timestamp {
        self.0.now() + SignedDuration::from_hours(24)
    }
}

/// An engine of this process on a lab's state.
pub(crate) fn engine(world: &World) -> Engine {
    let store = SqliteStore::open(&world.folder.path().join("state.db")).unwrap();
    let lock = store.lock_process(&this_host()).unwrap();
    let owner = lock.owner().clone();
    Engine::new(EngineParts {
        lock: Some(lock),
        clock: Arc::new(DayLater(world.clock())),
        ..world.parts(Arc::new(store), owner)
    })
}

/// Only what a pipeline for `name` says of itself.
pub(crate) fn head(name: &str, more: &str) -> String {
    format!("name = \"{name}\"\n[selector]\nmatch_labels = {{ pipeline = \"{name}\" }}\n{more}\n")
}

/// One BMC setting that needs no reset; another server name each time makes it due again.
pub(crate) fn setting(server: &str) -> String {
    format!(
        "[[stage]]\nname = \"time\"\nkind = \"bmc-settings\"\n[[stage.flow]]\nname = \"ntp\"\npriority = 1\n\
         resources = [{{ uri = \"{{manager}}/NetworkProtocol\", set = {{ NTP = {{ ProtocolEnabled = true, NTPServers = [\"{server}\"] }} }} }}]\n"
    )
}

/// The three runs, as virtual time has driven them once for all tests.
pub(crate) fn seeded() -> World {
    static STATE: OnceLock<Vec<u8>> = OnceLock::new();
    let state = STATE.get_or_init(|| {
        let lived = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(live())
        });
        lived.join().unwrap()
    });
    let mut world = world();
    std::fs::write(world.folder.path().join(STATE_FILE), state).unwrap();
    world.defaults.push_str(PACE);
    world
}

const STATE_FILE: &str = "state.db";

fn world() -> World {
    let mut world = World::of(&[2, 3, 1], SCRIPT);
    for (number, pipeline) in [(1, "asks"), (2, "fails"), (3, "sets")] {
        let labels = format!("labels = {{ pipeline = \"{pipeline}\" }}\n");
        world.extra.insert(format!("mock-{number}"), labels);
    }
    world
}

async fn live() -> Vec<u8> {
    let world = world();
    let hop = format!(
        "[[stage]]\nname = \"bios\"\nkind = \"bios-version\"\nversion = \"2.20\"\nimage = {}\n",
        world.image("bios", "2.20")
    );
    let asks = head("asks", "[maintenance]\npolicy = \"owner-approval\"") + &hop;
    let fails = head("fails", "") + &hop;
    let sets = head("sets", "") + &setting("10.0.0.1");
    world.apply(&[&asks, &fails, &sets]).await;
    std::fs::read(world.folder.path().join(STATE_FILE)).unwrap()
}
