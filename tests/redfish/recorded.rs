//! A transport that answers from a recorded tree: GET only, any letter case, as several services do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytes::Bytes;
use http::{HeaderMap, Method};
use redpipe::redfish::{BoxFuture, Transport, WireError, WireRequest, WireResponse};

/// The folder of all trees; `None` where this checkout stands alone.
pub(crate) fn mockups() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/mockups");
    folder.is_dir().then_some(folder)
}

/// One tree.
pub(crate) struct Recorded {
    documents: BTreeMap<String, PathBuf>,
    asked: Mutex<Vec<String>>,
}

impl Recorded {
    /// Finds the documents of a tree.
    pub(crate) fn open(folder: &Path) -> Self {
        let mut documents = BTreeMap::new();
        walk(folder, folder, &mut documents);
        Self {
            documents,
            asked: Mutex::default(),
        }
    }

    /// Paths asked since the last time this was asked.
    pub(crate) fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn answer(&self, request: &WireRequest) -> WireResponse {
        self.asked.lock().unwrap().push(request.path.clone());
        let path = request.path.trim_end_matches('/').to_ascii_lowercase();
        let document = self
            .documents
            .get(&path)
            .filter(|_| request.method == Method::GET);
        let (status, body) = match document {
            // A query option is refused, as far as these trees can tell.
            _ if path.contains('?') => (501, Bytes::new()),
            Some(file) => (200, std::fs::read(file).unwrap().into()),
            None => (404, Bytes::new()),
        };
        WireResponse {
            status,
            headers: HeaderMap::new(),
            body,
            http2: false,
        }
    }
}

impl Transport for Recorded {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        let answer = self.answer(&request);
        Box::pin(async move { Ok(answer) })
    }
}

fn walk(root: &Path, folder: &Path, documents: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, documents);
        } else if path.file_name().is_some_and(|name| name == "index.json") {
            let below = path.parent().unwrap().strip_prefix(root).unwrap();
            let uri = format!("/{}", below.to_string_lossy()).to_ascii_lowercase();
            documents.insert(uri, path);
        }
    }
}
