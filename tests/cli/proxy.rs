//! A wire that listens: it passes everything on to a mock over plain HTTP and keeps what the client said.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A proxy before one BMC, for as long as the test runs.
pub(crate) struct Proxy {
    pub(crate) address: String,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// In front of `http://HOST:PORT`.
    pub(crate) fn before(url: &str) -> Self {
        let behind = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&sent);
        // Ends with the process: a test may not outlive its last connection.
        std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let Ok(server) = TcpStream::connect(&behind) else {
                    continue;
                };
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || pass(from, to, Some(&kept)));
                std::thread::spawn(move || pass(server, client, None));
            }
        });
        Self { address, sent }
    }

    /// Values of a header in all requests so far.
    pub(crate) fn header(&self, name: &str) -> Vec<String> {
        let sent = self.sent.lock().unwrap().clone();
        let text = String::from_utf8_lossy(&sent).into_owned();
        let mut values: Vec<String> = text
            .split("\r\n")
            .filter_map(|line| line.split_once(':'))
            .filter(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .collect();
        values.sort();
        values.dedup();
        values
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, kept: Option<&Mutex<Vec<u8>>>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if let Some(kept) = kept {
            kept.lock().unwrap().extend_from_slice(&buffer[..count]);
        }
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Write).ok();
    from.shutdown(Shutdown::Read).ok();
}
