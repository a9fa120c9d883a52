//! Bodies from files: streamed, of a length that is told beforehand, with progress.
//!
//! Some BMCs refuse chunked bodies, and an image must never be held in memory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt;
use reqwest::header::CONTENT_LENGTH;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder};
use secrecy::ExposeSecret;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use super::{FormPart, PartContent, Progress, WireBody};

/// Bytes read from a file at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Puts the body of an upload on a request; an error means that nothing was sent.
pub(super) async fn with_file(
    builder: RequestBuilder,
    body: WireBody,
    progress: Option<Progress>,
) -> Result<RequestBuilder, String> {
    match body {
        WireBody::Empty => Ok(builder),
        WireBody::Bytes(bytes) => Ok(builder.body(bytes)),
        WireBody::File { path, bytes } => {
            let body = file_body(&path, bytes, progress).await?;
            Ok(builder.header(CONTENT_LENGTH, bytes).body(body))
        }
        WireBody::Multipart {
            parts,
            file_part,
            file,
            file_name,
            bytes,
        } => {
            let body = file_body(&file, bytes, progress).await?;
            Ok(builder.multipart(form(parts, (file_part, body, bytes), file_name)?))
        }
    }
}

fn form(
    parts: Vec<FormPart>,
    (file_part, file, bytes): (&'static str, Body, u64),
    file_name: String,
) -> Result<Form, String> {
    let typed = |part: Part, mime: &str| part.mime_str(mime).map_err(|error| error.to_string());
    let mut form = Form::new();
    for part in parts {
        let content = match part.content {
            PartContent::Json(json) => {
                let length = u64::try_from(json.len()).unwrap_or(u64::MAX);
                typed(Part::stream_with_length(json, length), "application/json")?
            }
            PartContent::Token(token) => {
                let token = token.ok_or("no session's token was put into the form")?;
                Part::text(token.expose_secret().to_owned())
            }
        };
        form = form.part(part.name, content);
    }
    let file = typed(
        Part::stream_with_length(file, bytes).file_name(file_name),
        "application/octet-stream",
    )?;
    Ok(form.part(file_part, file))
}

async fn file_body(path: &Path, bytes: u64, progress: Option<Progress>) -> Result<Body, String> {
    let failed = |error: std::io::Error| format!("cannot read image `{}`: {error}", path.display());
    let file = File::open(path).await.map_err(failed)?;
    let found = file.metadata().await.map_err(failed)?.len();
    if found != bytes {
        return Err(format!(
            "image `{}` has {found} bytes now, {bytes} when it was checked",
            path.display()
        ));
    }
    let sent = Arc::new(AtomicU64::new(0));
    let stream =
        ReaderStream::with_capacity(file.take(bytes), CHUNK_BYTES).inspect_ok(move |chunk| {
            let more = u64::try_from(chunk.len()).unwrap_or(0);
            let so_far = sent.fetch_add(more, Ordering::Relaxed) + more;
            if let Some(progress) = &progress {
                progress(so_far, bytes);
            }
        });
    Ok(Body::wrap_stream(stream))
}
