//! A transport that ends in a mock BMC in the same process: no sockets, and time is tokio's, paused or not.
//!
//! It shows what a network would show: who is gone refuses connections, a cut answer is lost, a black hole is waited for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use mock_bmc::bmc::Bmc;
use mock_bmc::message::{Reply, Request, Response};
use mock_bmc::time::Moment;
use redpipe::redfish::{
    ANSWER_BYTES_MAX, BoxFuture, CertProblem, Memory, PartContent, Progress, Timeouts, Transport,
    WireBody, WireError, WireRequest, WireResponse,
};
use secrecy::ExposeSecret;
use tokio::time::{Instant, sleep};

/// Images that BMCs may fetch, by URL; whatever is not here answers 404.
pub(crate) type Images = Arc<Mutex<BTreeMap<String, Bytes>>>;

/// Bytes of a file between two words about progress.
const CHUNK_BYTES: usize = 64 * 1024;

const BOUNDARY: &str = "redpipe-test-boundary";

/// The wire to one mock BMC.
pub(crate) struct MemoryTransport {
    bmc: Arc<Mutex<Bmc>>,
    images: Images,
    scheme_host: String,
    switched_on: Instant,
    certificate: u32,
    remembered: Option<Remembered>,
}

/// Where the certificate of an address is remembered, and the address.
pub(crate) type Remembered = (Arc<dyn Memory>, String);

impl MemoryTransport {
    /// A wire to a BMC that was switched on at mock time zero at `switched_on`; the client knows it as `scheme_host`
    /// (`https://bmc.test`). The certificate that counts is the remembered one, or else the one that it shows now.
    pub(crate) fn new(
        bmc: Arc<Mutex<Bmc>>,
        images: Images,
        scheme_host: &str,
        switched_on: Instant,
        remembered: Option<Remembered>,
    ) -> Self {
        let certificate = lock(&bmc).certificate_generation();
        Self {
            bmc,
            images,
            scheme_host: scheme_host.to_owned(),
            switched_on,
            certificate,
            remembered,
        }
    }

    /// What is wrong with the certificate of this generation.
    fn misjudged(&self, seen: u32) -> Option<CertProblem> {
        let seen = fingerprint(seen);
        let pinned = match &self.remembered {
            None => fingerprint(self.certificate),
            Some((memory, place)) if memory.remember_pin(place, &seen) => return None,
            Some((memory, place)) => memory.pin(place)?,
        };
        (pinned != seen).then_some(CertProblem::Changed { pinned, seen })
    }

    async fn exchange(&self, request: WireRequest) -> Result<WireResponse, WireError> {
        let timeouts = request.timeouts;
        let message = self.message(request)?;
        let reply = self.reply(&message)?;
        self.shown(reply, timeouts).await
    }

    /// Everything up to the BMC's decision; no time passes.
    fn reply(&self, message: &Request) -> Result<Reply, WireError> {
        let now = self.now();
        let mut bmc = lock(&self.bmc);
        catch_up(&mut bmc, &self.images, now);
        if !bmc.is_listening(now) {
            return Err(WireError::NotSent("connection refused".to_owned()));
        }
        if let Some(problem) = self.misjudged(bmc.certificate_generation()) {
            return Err(WireError::Certificate(problem));
        }
        let reply = bmc.handle(now, message);
        deliver(&mut bmc, &self.images, now);
        Ok(reply)
    }

    /// What the client sees of a reply, when it sees it.
    async fn shown(&self, reply: Reply, timeouts: Timeouts) -> Result<WireResponse, WireError> {
        let mut reply = reply;
        let mut waited = Duration::ZERO;
        loop {
            match reply {
                Reply::Answer(response) => return answer(response),
                Reply::Delayed { answer, by } => {
                    waited += by;
                    if waited > timeouts.answer {
                        sleep(timeouts.answer.saturating_sub(waited.saturating_sub(by))).await;
                        return Err(WireError::Lost("no answer in time".to_owned()));
                    }
                    sleep(by).await;
                    reply = *answer;
                }
                Reply::Truncated { keep_bytes, .. } => {
                    let text = format!("connection reset after {keep_bytes} bytes of the answer");
                    return Err(WireError::Lost(text));
                }
                Reply::Refused => return Err(WireError::NotSent("connection refused".to_owned())),
                Reply::Drop => {
                    return Err(WireError::Lost(
                        "connection closed without an answer".to_owned(),
                    ));
                }
                Reply::Hang => {
                    sleep(timeouts.answer).await;
                    return Err(WireError::Lost("no answer in time".to_owned()));
                }
            }
        }
    }

    fn message(&self, request: WireRequest) -> Result<Request, WireError> {
        let mut headers = request.headers;
        let host = self.scheme_host.split("://").nth(1).unwrap_or_default();
        if let Ok(host) = HeaderValue::from_str(host) {
            headers.insert(HOST, host);
        }
        let (body, content_type) = body_bytes(request.body, request.progress.as_ref())?;
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        Ok(Request {
            method: request.method,
            path: request.path,
            headers,
            body,
            scheme_host: self.scheme_host.clone(),
        })
    }

    fn now(&self) -> Moment {
        let elapsed = self.switched_on.elapsed().as_millis();
        Moment(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }
}

impl Transport for MemoryTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        Box::pin(self.exchange(request))
    }
}

/// Lets the BMC live up to now: each event at its own time, and what it fetches at that time.
pub(crate) fn catch_up(bmc: &mut Bmc, images: &Images, now: Moment) {
    let mut last = None;
    while let Some(due) = bmc.due().filter(|due| *due <= now) {
        // An event that stays due at one moment would hold the loop for ever.
        if last == Some(due) {
            break;
        }
        last = Some(due);
        bmc.advance(due);
        deliver(bmc, images, due);
    }
    bmc.advance(now);
    deliver(bmc, images, now);
}

/// Hands over the images that the BMC asks for.
fn deliver(bmc: &mut Bmc, images: &Images, now: Moment) {
    for fetch in bmc.take_fetches() {
        let image = lock(images).get(&fetch.url).cloned();
        let result = image.ok_or_else(|| format!("`{}` answers 404", fetch.url));
        bmc.fetched(now, fetch.id, result);
    }
}

fn answer(response: Response) -> Result<WireResponse, WireError> {
    if response.body.len() > ANSWER_BYTES_MAX {
        return Err(WireError::Lost("the answer is too long".to_owned()));
    }
    Ok(WireResponse {
        status: response.status.as_u16(),
        headers: response.headers,
        body: response.body,
        http2: false,
    })
}

/// The body as bytes, and the type that only the transport can know.
fn body_bytes(
    body: WireBody,
    progress: Option<&Progress>,
) -> Result<(Bytes, Option<&'static str>), WireError> {
    match body {
        WireBody::Empty => Ok((Bytes::new(), None)),
        WireBody::Bytes(bytes) => Ok((bytes, None)),
        WireBody::File { path, bytes } => Ok((read_file(&path, bytes, progress)?, None)),
        WireBody::Multipart {
            parts,
            file_part,
            file,
            file_name,
            bytes,
        } => {
            let image = read_file(&file, bytes, progress)?;
            let mut whole = Vec::new();
            for part in parts {
                let name = part.name;
                let (kind, content) = match part.content {
                    PartContent::Json(json) => ("\r\nContent-Type: application/json", json),
                    PartContent::Token(token) => {
                        let token = token.expect("a token is put in before it leaves");
                        ("", Bytes::from(token.expose_secret().to_owned()))
                    }
                };
                let head = format!(
                    "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{kind}\r\n\r\n"
                );
                whole.extend_from_slice(head.as_bytes());
                whole.extend_from_slice(&content);
                whole.extend_from_slice(b"\r\n");
            }
            let head = format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{file_part}\"; filename=\"{file_name}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            );
            whole.extend_from_slice(head.as_bytes());
            whole.extend_from_slice(&image);
            whole.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
            let content_type = "multipart/form-data; boundary=redpipe-test-boundary";
            Ok((whole.into(), Some(content_type)))
        }
    }
}

/// Reads a file whose length must be the one that was checked.
fn read_file(path: &Path, bytes: u64, progress: Option<&Progress>) -> Result<Bytes, WireError> {
    let content = std::fs::read(path).map_err(|error| {
        WireError::NotSent(format!("cannot read image `{}`: {error}", path.display()))
    })?;
    let found = u64::try_from(content.len()).unwrap_or(u64::MAX);
    if found != bytes {
        let text = format!(
            "image `{}` has {found} bytes now, {bytes} when it was checked",
            path.display()
        );
        return Err(WireError::NotSent(text));
    }
    if let Some(progress) = progress {
        let mut sent = 0;
        for chunk in content.chunks(CHUNK_BYTES) {
            sent += u64::try_from(chunk.len()).unwrap_or(0);
            progress(sent, bytes);
        }
    }
    Ok(content.into())
}

fn fingerprint(generation: u32) -> String {
    format!("sha256:{generation:064x}")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
