//! Who may come in: by token, by name, and never from somebody else's page.

use std::net::SocketAddr;
use std::path::PathBuf;

use redpipe::api::{ApiOptions, Listening, TcpOptions, Token, Unserved};
use reqwest::Method;

use crate::lab::{Lab, TOKEN, client, document, message, plain};

fn with_token() -> ApiOptions {
    let token = Some(Token::parse(TOKEN).unwrap());
    let tcp = Some(TcpOptions { token, ..plain() });
    ApiOptions {
        tcp,
        ..ApiOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_only_the_page_and_a_sign_of_life_are_served() {
    let lab = Lab::serve(with_token()).await;
    for (method, path) in redpipe::api::routes() {
        let path = path
            .replace("{pipeline}", "asks")
            .replace("{bmc}", "mock-1");
        let method: Method = method.parse().unwrap();
        let is_open = [
            "/",
            "/page.css",
            "/page.js",
            "/grid.js",
            "/panel.js",
            "/healthz",
        ]
        .contains(&path.as_str());
        for given in [
            None,
            Some("Bearer wrong"),
            Some(TOKEN),
            Some("Basic cm9vdDpyb290"),
        ] {
            let mut request = lab
                .ask(method.clone(), &path)
                .header("content-type", "application/json");
            if let Some(given) = given {
                request = request.header("authorization", given);
            }
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            assert_eq!(
                status == 401,
                !is_open,
                "{method} {path} {given:?}: {status}"
            );
            if status == 401 {
                assert!(
                    response.headers()["www-authenticate"]
                        .to_str()
                        .unwrap()
                        .starts_with("Bearer")
                );
            }
        }
    }
    let by_query = lab.get(&format!("/v1/runs?token={TOKEN}")).await;
    assert_eq!(by_query.status(), 401, "addresses are logged");
    assert_eq!(lab.engine.store().orders().unwrap(), []);
    let request = lab.ask(Method::GET, "/v1/runs").bearer_auth(TOKEN);
    assert_eq!(request.send().await.unwrap().status(), 200);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_somebody_else_orders_nothing() {
    let lab = Lab::start().await;
    let path = "/v1/runs/asks/mock-1/cancel";
    let post = || lab.ask(Method::POST, path).body("{}");
    // What a form or a simple request of a browser can send.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ] {
        let (status, told) =
            document(post().header("content-type", kind).send().await.unwrap()).await;
        assert_eq!(status, 415, "{kind}: {told}");
    }
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        let request = post()
            .header("content-type", "application/json")
            .header("origin", origin);
        let (status, told) = document(request.send().await.unwrap()).await;
        assert_eq!(status, 403, "{origin}: {told}");
    }
    let preflight = lab
        .ask(Method::OPTIONS, path)
        .header("origin", "https://evil.example");
    let answer = preflight.send().await.unwrap();
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
    assert_eq!(lab.engine.store().orders().unwrap(), []);
    let own = post()
        .header("content-type", "application/json")
        .header("origin", lab.url(""));
    assert_eq!(own.send().await.unwrap().status(), 202, "its own page does");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_somebody_else_lets_point_here_is_not_served() {
    let lab = Lab::start().await;
    let port = lab.address.unwrap().port();
    for (host, wanted) in [
        (format!("evil.example:{port}"), 421),
        ("127.0.0.1.evil.example".to_owned(), 421),
        (format!("localhost:{port}"), 200),
        (format!("127.0.0.1:{port}"), 200),
        (format!("[::1]:{port}"), 200),
    ] {
        let request = lab.ask(Method::GET, "/v1/runs").header("host", &host);
        let (status, told) = document(request.send().await.unwrap()).await;
        assert_eq!(status, wanted, "{host}: {told}");
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_forbids_what_the_page_does_not_need() {
    let lab = Lab::start().await;
    for path in ["/", "/v1/runs", "/v1/nothing"] {
        let response = lab.get(path).await;
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert_eq!(response.headers()["cache-control"], "no-store");
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_loopback_nothing_is_served_without_token_and_tls() {
    let address: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let token = Token::parse(TOKEN).unwrap();
    let tls = Some((PathBuf::from("cert.pem"), PathBuf::from("key.pem")));
    for (token, tls) in [(None, None), (Some(token), None), (None, tls)] {
        let tcp = Some(TcpOptions {
            address,
            token,
            tls,
        });
        let refused = Listening::bind(ApiOptions {
            tcp,
            ..ApiOptions::default()
        })
        .await;
        let error = refused.err().expect("it is refused");
        assert!(matches!(error, Unserved::Unguarded(_)), "{error}");
        assert!(error.hint().contains("token file"), "{}", error.hint());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_token_and_tls_the_api_speaks_https_only() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tcp = Some(TcpOptions {
        address: "0.0.0.0:0".parse().unwrap(),
        token: Some(Token::parse(TOKEN).unwrap()),
        tls: Some((cert, key)),
    });
    let lab = Lab::serve(ApiOptions {
        tcp,
        ..ApiOptions::default()
    })
    .await;
    let port = lab.address.unwrap().port();
    let trusting = client()
        .tls_certs_only([reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap()])
        .build()
        .unwrap();
    let url = format!("https://localhost:{port}/v1/runs");
    let answer = trusting.get(&url).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(trusting.get(&url).send().await.unwrap().status(), 401);
    let plain = client()
        .build()
        .unwrap()
        .get(format!("http://127.0.0.1:{port}/v1/runs"));
    assert!(plain.send().await.is_err(), "plain HTTP is not answered");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_and_tokens_that_are_no_use_are_told_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    std::fs::write(&path, "nothing of the kind").unwrap();
    let tls = Some((path.clone(), path.clone()));
    let tcp = Some(TcpOptions { tls, ..plain() });
    let refused = Listening::bind(ApiOptions {
        tcp,
        ..ApiOptions::default()
    })
    .await;
    let told = refused.err().expect("it is refused").to_string();
    assert!(told.contains("key.pem"), "{told}");
    let told = Token::read(&path).err().expect("it is refused").to_string();
    assert!(
        told.contains("key.pem") && !told.contains("nothing of the kind"),
        "{told}"
    );
    let lab = Lab::serve(with_token()).await;
    let (_, told) = document(lab.get("/v1/runs").await).await;
    assert_eq!(message(&told), "the token is missing or wrong");
    lab.end().await;
}
