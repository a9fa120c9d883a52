//! Recorded trees brought to life, where they are at hand: nothing of what was recorded is lost.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use mock_bmc::bmc::Bmc;
use mock_bmc::fleet::Fleet;
use mock_bmc::message::{Reply, Request, Response};
use mock_bmc::time::Moment;
use mock_bmc::tree::Tree;

/// The folders of `../shared/mockups` beside the repository; none where there is no such folder.
fn trees() -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/mockups");
    let Ok(entries) = fs::read_dir(shared) else {
        return Vec::new();
    };
    let mut trees: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    trees.sort();
    trees
}

fn live(tree: Tree) -> Bmc {
    Fleet::builder().tree(tree, 1).build().bmcs.remove(0).bmc
}

fn get(bmc: &mut Bmc, path: &str) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(
        "authorization",
        HeaderValue::from_static("Basic cm9vdDpzZWNyZXQ="),
    );
    let request = Request {
        method: Method::GET,
        path: path.to_owned(),
        headers,
        body: Bytes::new(),
        scheme_host: "https://127.0.0.1".to_owned(),
    };
    match bmc.handle(Moment(0), &request) {
        Reply::Answer(response) => response,
        other @ (Reply::Delayed { .. }
        | Reply::Truncated { .. }
        | Reply::Refused
        | Reply::Drop
        | Reply::Hang) => {
            panic!("{path}: {other:?}")
        }
    }
}

#[test]
fn every_recorded_document_can_still_be_read() {
    for dir in trees() {
        let tree = Tree::load(&dir).unwrap();
        let mut bmc = live(tree.clone());
        // A recorded session ended with the recording.
        let is_session = |uri: &str| uri.contains("/Sessions/");
        let kept = tree.documents.keys().map(String::as_str);
        let lost: Vec<&str> = kept
            .filter(|uri| !is_session(uri) && get(&mut bmc, uri).status != StatusCode::OK)
            .collect();
        assert_eq!(lost, Vec::<&str>::new(), "{}", dir.display());
    }
}

#[test]
fn systems_have_the_bios_version_that_was_recorded() {
    for dir in trees() {
        let tree = Tree::load(&dir).unwrap();
        let bmc = live(tree.clone());
        for system in bmc.state().systems {
            let recorded = tree.documents[&system.uri]["BiosVersion"].as_str();
            if recorded.is_some() {
                assert_eq!(
                    system.bios_version.as_deref(),
                    recorded,
                    "{} {}",
                    dir.display(),
                    system.uri
                );
            }
        }
    }
}
