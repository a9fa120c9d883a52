//! A daemon as systemd has it: it says that it is ready, that it lives, and that it stops.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::lab::{HOPS, Lab, Setup};

/// Longer than between two signs of life.
const PATIENCE: Duration = Duration::from_secs(30);

fn told(socket: &UnixDatagram, what: &str) {
    let mut bytes = [0; 1024];
    loop {
        let count = socket.recv(&mut bytes).expect(what);
        let text = String::from_utf8_lossy(&bytes[..count]);
        if text.lines().any(|line| line == what) {
            return;
        }
    }
}

#[test]
fn systemd_is_told_that_it_is_ready_lives_and_stops_and_no_session_is_left() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        time_scale: 100,
        ..Setup::default()
    });
    let path = lab.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = lab.command(&["daemon"]);
    command.env("NOTIFY_SOCKET", &path);
    let daemon = lab.start_command(command);
    told(&socket, "READY=1");
    told(&socket, "WATCHDOG=1");
    daemon.signal("TERM");
    told(&socket, "STOPPING=1");
    daemon.end().exits(0);
    assert_eq!(lab.sessions("mock-1"), 0);
}
