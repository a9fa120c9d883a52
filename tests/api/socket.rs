//! The Unix socket: its owner's alone, taken over from the dead, left to the living.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use redpipe::api::{ApiOptions, Listening, Unserved, socket_beside};

use crate::lab::{Lab, client, seeded};

fn over(path: &std::path::Path) -> ApiOptions {
    ApiOptions {
        socket: Some(path.to_owned()),
        ..ApiOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_is_served_beside_the_state_to_its_owner_alone() {
    let world = seeded();
    let path = socket_beside(&world.folder.path().join("state.db"));
    let lab = Lab::of(world, over(&path)).await;
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let client = client().unix_socket(path.as_path()).build().unwrap();
    let answer = client.get("http://redpipe/v1/runs").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    drop((client, answer));
    lab.end().await;
    assert!(!path.exists(), "a daemon that ended leaves no socket");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_of_a_dead_daemon_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listening = Listening::bind(over(&path)).await.unwrap();
    assert_eq!(listening.socket_path(), Some(path.as_path()));
    tokio::net::UnixStream::connect(&path).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_of_a_living_daemon_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sock");
    let living = Listening::bind(over(&path)).await.unwrap();
    let error = Listening::bind(over(&path)).await.err().expect("refused");
    assert!(matches!(error, Unserved::Live(_)), "{error}");
    tokio::net::UnixStream::connect(&path).await.unwrap();
    drop(living);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_socket_is_not_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "mine").unwrap();
    let error = Listening::bind(over(&path)).await.err().expect("refused");
    assert!(matches!(error, Unserved::NoSocket(_)), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let nowhere = folder.path().join("no/such/folder.sock");
    let error = Listening::bind(over(&nowhere))
        .await
        .err()
        .expect("refused");
    assert!(matches!(error, Unserved::Bind { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_another_daemon_has_taken_over_stays_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sock");
    let first = Listening::bind(over(&path)).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    let second = Listening::bind(over(&path)).await.unwrap();
    drop(first);
    tokio::net::UnixStream::connect(&path).await.unwrap();
    drop(second);
}
