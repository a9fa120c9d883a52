//! A web server as small as can be: files of one folder, one answer per connection.

use std::path::PathBuf;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

/// Serves the pipelines' images for as long as the test runs; returns the URL of their folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the server of a test ends with its runtime"
)]
pub(crate) async fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let mut request = String::new();
            stream.read_line(&mut request).await.unwrap();
            let mut header = String::new();
            while stream.read_line(&mut header).await.unwrap() > 2 {
                header.clear();
            }
            let name = request
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .trim_start_matches('/')
                .to_owned();
            let body = std::fs::read(folder.join("pipelines").join(name)).unwrap_or_default();
            let status = if body.is_empty() {
                "404 Not Found"
            } else {
                "200 OK"
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&body).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    format!("http://{address}")
}
