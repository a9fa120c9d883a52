//! This room proves what entity tags look like, and which of a client's are taken.
//!
//! It deliberately changes the same setting each time.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::json;

use super::support::{BASIC, Bench, SETTINGS, SYSTEM, bench};

/// What a client makes of the header's tag.
type Form = fn(&str) -> String;

#[test]
fn an_unchanged_document_is_304_and_a_changed_one_is_not() {
    let mut bench = bench("");
    let tag = bench.tag(SYSTEM);
    let conditional = |tag: &str| {
        [
            ("authorization", BASIC.to_owned()),
            ("if-none-match", tag.to_owned()),
        ]
    };
    let ask = |bench: &mut Bench| {
        let headers = conditional(&tag);
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        bench
            .send(Method::GET, SYSTEM, &headers, Bytes::new())
            .status
    };
    assert_eq!(ask(&mut bench), StatusCode::NOT_MODIFIED);
    bench.patch(SYSTEM, &json!({"AssetTag": "new"}));
    assert_eq!(ask(&mut bench), StatusCode::OK);
}

#[test]
fn each_habit_with_tags_takes_only_its_own_form() {
    let habits: [(&str, Form, StatusCode); 9] = [
        ("", |tag| tag.to_owned(), StatusCode::OK),
        (
            "",
            |_| "\"other\"".to_owned(),
            StatusCode::PRECONDITION_FAILED,
        ),
        ("", |_| "*".to_owned(), StatusCode::OK),
        ("style = \"strong\"", |tag| tag.to_owned(), StatusCode::OK),
        (
            "style = \"doubly-quoted\"",
            |tag| tag.to_owned(),
            StatusCode::PRECONDITION_FAILED,
        ),
        (
            "style = \"doubly-quoted\"",
            |tag| tag.replace("\"\"", "\""),
            StatusCode::OK,
        ),
        (
            "style = \"gzip\"",
            |tag| tag.to_owned(),
            StatusCode::PRECONDITION_FAILED,
        ),
        (
            "style = \"gzip\"",
            |tag| tag.replace("-gzip", ""),
            StatusCode::OK,
        ),
        (
            "star_only = true",
            |tag| tag.to_owned(),
            StatusCode::PRECONDITION_FAILED,
        ),
    ];
    for (habit, form, status) in habits {
        let mut bench = bench(&format!("[etag]\n{habit}"));
        let tag = form(&bench.tag(SETTINGS));
        assert_eq!(bench.patch_if(SETTINGS, &tag), status, "{habit} {tag}");
    }
}

#[test]
fn a_tag_can_be_required_and_can_go_stale() {
    let mut needy = bench("[etag]\nrequired = true");
    let change = json!({"Attributes": {"QuietBoot": false}});
    assert_eq!(
        needy.patch(SETTINGS, &change).0,
        StatusCode::PRECONDITION_REQUIRED
    );
    let mut stale = bench("[etag]\nstale = 2");
    let tag = stale.tag(SETTINGS);
    let answers: Vec<StatusCode> = (0..3).map(|_| stale.patch_if(SETTINGS, &tag)).collect();
    assert_eq!(
        answers,
        [
            StatusCode::PRECONDITION_FAILED,
            StatusCode::PRECONDITION_FAILED,
            StatusCode::OK
        ]
    );
    let mut restless = bench("[etag]\nrestless = true");
    let old = restless.tag(SETTINGS);
    let new = restless.tag(SETTINGS);
    assert_ne!(old, new);
    assert_eq!(
        restless.patch_if(SETTINGS, &old),
        StatusCode::PRECONDITION_FAILED
    );
    assert_eq!(restless.patch_if(SETTINGS, &new), StatusCode::OK);
}
