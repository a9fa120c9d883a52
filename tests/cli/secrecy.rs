//! What is secret stays with the operator and the BMC: not in what is printed, not in the deepest log, not in the state.

use std::path::Path;

use crate::lab::{Lab, PASSWORD, RESTART, Setup};
use crate::life::Ended;
use crate::proxy::Proxy;

/// In the user info of an image's URL.
const IMAGE_PASSWORD: &str = "osprey-92-Ledger";

fn lab() -> (Lab, Proxy) {
    let lab = Lab::start(Setup {
        stages: RESTART,
        tls: false,
        ..Setup::default()
    });
    let proxy = Proxy::before(&lab.address("mock-1"));
    (lab, proxy)
}

/// Every place of a folder, whole, as bytes that text can be looked for in.
fn bytes_under(folder: &Path) -> Vec<u8> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes_under(&path));
        } else {
            found.extend(std::fs::read(path).unwrap());
        }
    }
    found
}

#[track_caller]
fn check(lab: &Lab, said: &[Ended], secrets: &[String]) {
    let state = bytes_under(&lab.path("state"));
    let state = String::from_utf8_lossy(&state);
    for secret in secrets {
        assert!(!state.contains(secret), "the state holds `{secret}`");
        for ended in said {
            assert!(!ended.stdout.contains(secret), "stdout says `{secret}`");
            let line = ended.stderr.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "stderr says `{secret}`");
        }
    }
}

/// All commands that talk to a BMC or tell of it, as loud as they can be.
fn loud(lab: &Lab) -> Vec<Ended> {
    let commands: [&[&str]; 7] = [
        &["-vvv", "inventory", "check"],
        &["-vvv", "plan"],
        &["-vvv", "apply", "--yes"],
        &["-vvv", "--output", "json", "apply", "--yes"],
        &["-vvv", "--output", "json", "status"],
        &["-vvv", "--output", "json", "events"],
        &["-vvv", "events"],
    ];
    commands.map(|command| lab.redpipe(command)).into()
}

#[test]
fn password_and_session_token_are_in_no_output_no_log_and_no_state() {
    let (lab, proxy) = lab();
    lab.write_inventory(std::slice::from_ref(&proxy.address), "");
    let said = loud(&lab);
    assert!(
        said[2].stderr.contains("DEBUG") || said[2].stderr.contains("TRACE"),
        "no log at all"
    );
    assert!(!said[2].stderr.contains('\u{1b}'), "colors off a terminal");
    let mut secrets = proxy.header("x-auth-token");
    assert!(
        secrets.len() >= 3,
        "each command has a session: {secrets:?}"
    );
    secrets.push(PASSWORD.to_owned());
    check(&lab, &said, &secrets);
}

#[test]
fn basic_credentials_are_in_no_output_no_log_and_no_state() {
    let (lab, proxy) = lab();
    lab.write_inventory(std::slice::from_ref(&proxy.address), "auth = \"basic\"");
    let said = loud(&lab);
    let headers = proxy.header("authorization");
    let mut secrets: Vec<String> = headers
        .iter()
        .filter_map(|value| Some(value.split_once(' ')?.1.to_owned()))
        .collect();
    assert_eq!(secrets.len(), 1, "{headers:?}");
    secrets.push(PASSWORD.to_owned());
    check(&lab, &said, &secrets);
}

#[test]
fn a_refused_password_is_not_quoted_back() {
    let (lab, _) = lab();
    lab.bmc("mock-1", |bmc| bmc.set_password("another"));
    let said = loud(&lab);
    assert!(
        said[0].stderr.contains("refused the login"),
        "{}",
        said[0].stderr
    );
    check(&lab, &said, &[PASSWORD.to_owned()]);
}

#[test]
fn the_user_info_of_an_images_url_is_in_no_output_no_log_and_no_state() {
    let (lab, _) = lab();
    let stage = format!(
        "\n[[stage]]\nname = \"hop\"\nkind = \"bmc-version\"\nversion = \"1.60\"\nimage = {{ uri = \"http://fetcher:{IMAGE_PASSWORD}@127.0.0.1:9/bmc.img\" }}\n"
    );
    let path = lab.path("pipelines/p.toml");
    let text = std::fs::read_to_string(&path).unwrap() + &stage;
    std::fs::write(&path, text).unwrap();
    let said = loud(&lab);
    let masked = "http://***@127.0.0.1:9/bmc.img";
    assert!(said[2].stderr.contains(masked), "{}", said[2].stderr);
    check(&lab, &said, &[IMAGE_PASSWORD.to_owned()]);
}
