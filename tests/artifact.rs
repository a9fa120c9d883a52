//! Images from files and over HTTP: what is refused first, and that nothing refused is kept.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use redpipe::artifact::{
    Image, ImageCache, ImageHost, ImageRef, ImageServer, Served, Wanted, gather,
};
use redpipe::model::{Fault, FaultKind, Retry};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const BYTES: &[u8] = b"not really firmware";

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn file(path: &Path, sha256: Option<String>) -> ImageRef {
    ImageRef::File {
        path: path.to_owned(),
        sha256,
    }
}

fn uri(uri: String, sha256: String) -> ImageRef {
    ImageRef::Uri { uri, sha256 }
}

async fn one(wanted: ImageRef, cache: &ImageCache) -> Result<Image, Fault> {
    match gather(&BTreeSet::from([wanted.clone()]), cache).await {
        Ok(mut images) => Ok(images.remove(&wanted).unwrap()),
        Err(mut faults) => Err(faults.remove(0).1),
    }
}

async fn refused(wanted: ImageRef, cache: &ImageCache) -> Fault {
    let fault = one(wanted.clone(), cache).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::ImageInvalid);
    let all = format!("{fault:?} {wanted:?}");
    assert!(!all.contains("hunter2"), "{all}");
    fault
}

/// Names in the cache that are no lock files.
fn kept(cache: &ImageCache) -> Vec<String> {
    let Ok(entries) = fs::read_dir(cache.folder()) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.contains(".lock")).collect()
}

fn cache(folder: &TempDir) -> ImageCache {
    ImageCache::new(folder.path().join("cache/redpipe/images"))
}

/// An image server that says the same to everybody.
struct Server {
    address: String,
    requests: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers with these bytes, as they are.
    fn start(answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (requests, heads) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(Mutex::new(Vec::new())),
        );
        let (count, log) = (Arc::clone(&requests), Arc::clone(&heads));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                log.lock().unwrap().push(head(&stream));
                // The other side may have gone by then, which some tests want.
                if stream.write_all(&answer).is_ok() {
                    stream.shutdown(std::net::Shutdown::Write).ok();
                }
            }
        });
        Self {
            address,
            requests,
            heads,
        }
    }

    fn ok(bytes: &[u8]) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            bytes.len()
        );
        Self::start([head.as_bytes(), bytes].concat())
    }

    fn uri(&self) -> String {
        format!("http://me:hunter2@{}/a.bin?key=hunter2", self.address)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn head(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test]
async fn a_file_that_is_missing_empty_or_no_file_is_refused() {
    let folder = TempDir::new().unwrap();
    let empty = folder.path().join("empty.bin");
    fs::write(&empty, "").unwrap();
    let pipe = folder.path().join("pipe.bin");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for (path, why) in [
        (folder.path().join("nope.bin"), "No such file"),
        (folder.path().to_owned(), "not a regular file"),
        (pipe, "not a regular file"),
        (empty, "is empty"),
    ] {
        let fault = refused(file(&path, None), &cache(&folder)).await;
        let text = fault.to_string();
        assert!(
            text.contains(path.to_str().unwrap()) && text.contains(why),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_file_that_is_not_the_one_promised_is_refused_with_both_digests() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.bin");
    fs::write(&path, BYTES).unwrap();
    let fault = refused(file(&path, Some(digest(b"another"))), &cache(&folder)).await;
    let text = fault.to_string();
    assert!(
        text.contains(&digest(b"another")) && text.contains(&digest(BYTES)),
        "{text}"
    );
    assert!(fault.hint.is_some() && fault.retry == Retry::Operator);
}

#[tokio::test]
async fn everything_wrong_is_said_at_once() {
    let folder = TempDir::new().unwrap();
    let wanted = ["a.bin", "b.bin", "c.bin"].map(|name| file(&folder.path().join(name), None));
    let faults = gather(&BTreeSet::from(wanted), &cache(&folder))
        .await
        .unwrap_err();
    assert_eq!(faults.len(), 3);
}

#[tokio::test]
async fn a_download_that_is_not_the_one_promised_is_refused_and_not_kept() {
    let folder = TempDir::new().unwrap();
    let server = Server::ok(b"<html>login</html>");
    let fault = refused(uri(server.uri(), digest(BYTES)), &cache(&folder)).await;
    let text = fault.to_string();
    assert!(
        text.contains(&format!("http://***@{}/a.bin", server.address)),
        "{text}"
    );
    assert!(text.contains("18 bytes"), "{text}");
    assert_eq!(kept(&cache(&folder)), Vec::<String>::new());
}

#[tokio::test]
async fn a_download_that_breaks_off_is_refused_and_not_kept() {
    let folder = TempDir::new().unwrap();
    let answer = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".as_slice(),
        BYTES,
    ]
    .concat();
    let server = Server::start(answer);
    let fault = refused(uri(server.uri(), digest(BYTES)), &cache(&folder)).await;
    assert!(
        fault.message.contains("broke off") && fault.retry == Retry::Transient,
        "{fault:?}"
    );
    assert_eq!(kept(&cache(&folder)), Vec::<String>::new());
}

#[tokio::test]
async fn a_server_that_has_it_not_or_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    for (status, retry) in [
        ("404 Not Found", Retry::Operator),
        ("503 Busy", Retry::Transient),
    ] {
        let server =
            Server::start(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into_bytes());
        let fault = refused(uri(server.uri(), digest(BYTES)), &cache(&folder)).await;
        assert!(
            fault.message.contains(&status[..3]) && fault.retry == retry,
            "{fault:?}"
        );
    }
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let gone = refused(
        uri(format!("http://me:hunter2@{nobody}/a"), digest(BYTES)),
        &cache(&folder),
    )
    .await;
    assert!(
        gone.message.contains("did not answer") && gone.causes.len() > 1,
        "{gone:?}"
    );
}

#[tokio::test]
async fn a_uri_that_redpipe_cannot_check_says_what_to_do() {
    let folder = TempDir::new().unwrap();
    for scheme in ["tftp", "nfs", "file"] {
        let fault = refused(
            uri(format!("{scheme}://me:hunter2@host/a"), digest(BYTES)),
            &cache(&folder),
        )
        .await;
        assert!(fault.hint.unwrap().contains("leave `sha256` out"));
    }
}

#[tokio::test]
async fn a_digest_that_is_none_never_becomes_a_path() {
    let folder = TempDir::new().unwrap();
    let server = Server::ok(BYTES);
    for sha256 in ["../../escape", "", &"g".repeat(64)] {
        refused(uri(server.uri(), sha256.to_owned()), &cache(&folder)).await;
    }
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn a_certificate_that_the_system_does_not_trust_is_refused() {
    let folder = TempDir::new().unwrap();
    let address = self_signed_server();
    let fault = refused(
        uri(format!("https://{address}/a"), digest(BYTES)),
        &cache(&folder),
    )
    .await;
    assert_eq!(kept(&cache(&folder)), Vec::<String>::new());
    assert!(fault.message.contains(&address), "{fault:?}");
}

/// Serves the right bytes over TLS, with a certificate that nobody vouches for.
fn self_signed_server() -> String {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(connection, stream.unwrap());
            let mut byte = [0];
            // Fails in the handshake where the client does its job.
            if tls.read_exact(&mut byte).is_ok() {
                tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n")
                    .ok();
                tls.write_all(BYTES).ok();
            }
        }
    });
    address
}

#[tokio::test]
async fn a_file_is_hashed_where_it_lies() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("big.bin");
    let bytes: Vec<u8> = (0..1_000_003_u32).map(|n| n.to_le_bytes()[0]).collect();
    fs::write(&path, &bytes).unwrap();
    for promised in [
        None,
        Some(digest(&bytes)),
        Some(digest(&bytes).to_uppercase()),
    ] {
        let image = one(file(&path, promised), &cache(&folder)).await.unwrap();
        assert_eq!(
            image,
            Image {
                sha256: digest(&bytes),
                bytes: 1_000_003,
                path: path.clone()
            }
        );
    }
}

#[tokio::test]
async fn a_download_happens_once_and_is_found_in_the_cache_afterwards() {
    let folder = TempDir::new().unwrap();
    let server = Server::ok(BYTES);
    for _ in 0..2 {
        let image = one(uri(server.uri(), digest(BYTES)), &cache(&folder))
            .await
            .unwrap();
        assert_eq!(fs::read(&image.path).unwrap(), BYTES);
        assert_eq!((image.sha256, image.bytes), (digest(BYTES), 19));
    }
    assert_eq!(server.requests(), 1);
    assert!(
        server.heads.lock().unwrap()[0]
            .to_lowercase()
            .contains("authorization: basic")
    );
}

#[tokio::test]
async fn a_cached_file_that_was_damaged_is_downloaded_again() {
    let folder = TempDir::new().unwrap();
    let server = Server::ok(BYTES);
    let image = one(uri(server.uri(), digest(BYTES)), &cache(&folder))
        .await
        .unwrap();
    fs::write(&image.path, "damaged").unwrap();
    let again = one(uri(server.uri(), digest(BYTES)), &cache(&folder))
        .await
        .unwrap();
    assert_eq!(
        (fs::read(&again.path).unwrap().as_slice(), server.requests()),
        (BYTES, 2)
    );
}

#[tokio::test]
async fn what_a_killed_download_left_is_overwritten() {
    let folder = TempDir::new().unwrap();
    let (server, cache) = (Server::ok(BYTES), cache(&folder));
    fs::create_dir_all(cache.folder()).unwrap();
    let left: PathBuf = cache.folder().join(format!("{}.part", digest(BYTES)));
    fs::write(&left, "x".repeat(100_000)).unwrap();
    let image = one(uri(server.uri(), digest(BYTES)), &cache).await.unwrap();
    assert_eq!(fs::read(&image.path).unwrap(), BYTES);
    assert_eq!(kept(&cache), [digest(BYTES)]);
}

#[tokio::test]
async fn of_many_who_want_one_image_at_once_one_downloads_it() {
    let folder = TempDir::new().unwrap();
    let (server, cache) = (Server::ok(BYTES), cache(&folder));
    // Names of their own for one image: nothing but the cache's lock brings them together.
    let all = (0..4).map(|n| {
        one(
            uri(format!("{}&n={n}", server.uri()), digest(BYTES)),
            &cache,
        )
    });
    for image in futures_util::future::join_all(all).await {
        assert_eq!(image.unwrap().sha256, digest(BYTES));
    }
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_redirect_is_followed_without_taking_the_password_along() {
    let folder = TempDir::new().unwrap();
    let mirror = Server::ok(BYTES);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{}/b.bin\r\nContent-Length: 0\r\n\r\n",
        mirror.address
    );
    let first = Server::start(answer.into_bytes());
    one(uri(first.uri(), digest(BYTES)), &cache(&folder))
        .await
        .unwrap();
    assert!(
        !mirror.heads.lock().unwrap()[0]
            .to_lowercase()
            .contains("authorization")
    );
}

/// What is offered to a BMC at `host`.
fn offered(host: &str, file: &Path) -> Wanted {
    Wanted {
        host: host.to_owned(),
        port: 443,
        path: "secret/image.bin".to_owned(),
        file: file.to_owned(),
        bytes: u64::try_from(BYTES.len()).unwrap(),
    }
}

/// A client at an address of this host.
fn client_at(address: &str) -> reqwest::Client {
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .ok();
    reqwest::Client::builder()
        .local_address(address.parse::<IpAddr>().unwrap())
        .build()
        .unwrap()
}

#[tokio::test]
async fn an_image_is_served_to_its_bmc_alone_whole_and_in_ranges_until_it_is_taken_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("image.bin");
    fs::write(&path, BYTES).unwrap();
    let server = ImageServer::new(None);
    let offer = server.offer(&offered("127.0.0.1", &path)).await.unwrap();
    assert_eq!(offer.served(), Served::default());
    let uri = offer.uri().to_owned();
    assert!(uri.ends_with("/secret/image.bin"), "{uri}");

    let stranger = client_at("127.0.0.2").get(&uri).send().await.unwrap();
    assert_eq!(stranger.status(), 404);
    let bmc = client_at("127.0.0.1");
    let other = uri.replace("secret", "secrex");
    assert_eq!(bmc.get(other).send().await.unwrap().status(), 404);
    assert!(!offer.served().fetched, "nobody has fetched it yet");

    let part = bmc
        .get(&uri)
        .header("range", "bytes=4-9")
        .send()
        .await
        .unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.bytes().await.unwrap(), &BYTES[4..10]);
    assert!(offer.served().fetched && !offer.served().whole);
    let whole = bmc.get(&uri).send().await.unwrap();
    assert_eq!(whole.content_length(), Some(offered("", &path).bytes));
    assert_eq!(whole.bytes().await.unwrap(), BYTES);
    let served = offer.served();
    assert!(served.fetched && served.whole, "{served:?}");

    let second = offered("127.0.0.1", &path);
    let second = Wanted {
        path: "other/image.bin".to_owned(),
        ..second
    };
    let stays = server.offer(&second).await.unwrap();
    drop(offer);
    assert_eq!(bmc.get(&uri).send().await.unwrap().status(), 404);
    let still = bmc.get(stays.uri()).send().await.unwrap();
    assert_eq!(still.status(), 200);
    let uri = stays.uri().to_owned();
    drop((stays, bmc));
    assert!(
        client_at("127.0.0.1").get(&uri).send().await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn an_image_that_changed_or_an_address_that_is_not_ours_is_not_served() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("image.bin");
    fs::write(&path, b"shorter").unwrap();
    let wanted = offered("127.0.0.1", &path);
    let refused = ImageServer::new(None).offer(&wanted).await.err().unwrap();
    let shown = refused.to_string();
    assert!(shown.contains("7 bytes now, 19 when"), "{shown}");
    fs::write(&path, BYTES).unwrap();
    let elsewhere = ImageServer::new(Some("192.0.2.1:0".parse().unwrap()));
    let refused = elsewhere.offer(&wanted).await.err().unwrap();
    assert!(refused.to_string().contains("--image-server"), "{refused}");
}
