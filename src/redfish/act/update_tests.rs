use std::path::PathBuf;

use super::*;
use crate::model::Target;

fn links() -> UpdateLinks {
    UpdateLinks {
        simple_update: Some("/u/Simple".to_owned()),
        transfer_protocols: vec!["HTTP".to_owned(), "HTTPS".to_owned()],
        multipart_push: Some("/u/multi".to_owned()),
        http_push: Some("/u/push".to_owned()),
        max_image_bytes: Some(1000),
        ..UpdateLinks::default()
    }
}

fn action(method: UpdateMethod, image: ImageSource) -> UpdateAction {
    UpdateAction {
        target: Target::Bmc,
        image,
        method,
        targets: Vec::new(),
        apply_time: None,
        keep: None,
    }
}

fn file(bytes: u64) -> ImageSource {
    ImageSource::File {
        path: PathBuf::from("images/firm.exe"),
        bytes,
        name: "firm.exe".to_owned(),
    }
}

fn uri(text: &str) -> ImageSource {
    ImageSource::Uri(text.to_owned())
}

fn body_of(body: &WireBody) -> Value {
    match body {
        WireBody::Bytes(bytes) => serde_json::from_slice(bytes).expect("JSON"),
        WireBody::Multipart { parts, .. } => match &parts[0].content {
            PartContent::Json(bytes) => serde_json::from_slice(bytes).expect("JSON"),
            PartContent::Token(_) => Value::Null,
        },
        WireBody::Empty | WireBody::File { .. } => Value::Null,
    }
}

#[test]
fn what_this_bmc_cannot_do_is_not_sent() {
    let none = UpdateLinks::default();
    assert!(
        request(
            &none,
            "generic",
            &action(UpdateMethod::SimpleUpdate, uri("http://x/i"))
        )
        .is_err()
    );
    let ftp = action(UpdateMethod::SimpleUpdate, uri("ftp://x/i"));
    let fault = request(&links(), "generic", &ftp).expect_err("ftp is not allowed");
    assert!(fault.message.contains("HTTP, HTTPS"), "{fault}");
    let big = request(
        &links(),
        "generic",
        &action(UpdateMethod::MultipartPush, file(1001)),
    )
    .expect_err("too big");
    assert_eq!(big.kind, FaultKind::ImageInvalid);
    assert!(
        request(
            &links(),
            "generic",
            &action(UpdateMethod::MultipartPush, uri("http://x/i"))
        )
        .is_err()
    );
    let mut late = action(UpdateMethod::SimpleUpdate, uri("http://x/i"));
    late.apply_time = Some("OnReset".to_owned());
    let mut only_now = links();
    only_now.simple_apply_times = vec!["Immediate".to_owned()];
    assert!(request(&only_now, "generic", &late).is_err());
}

#[test]
fn the_protocol_follows_from_the_uri_where_the_bmc_lists_them() {
    let update = action(UpdateMethod::SimpleUpdate, uri("https://x/i"));
    let (path, body) = request(&links(), "generic", &update).expect("a request");
    assert_eq!(path, "/u/Simple");
    assert_eq!(
        body_of(&body),
        json!({"ImageURI": "https://x/i", "TransferProtocol": "HTTPS"})
    );
    let unlisted = UpdateLinks {
        transfer_protocols: Vec::new(),
        ..links()
    };
    let (_, body) = request(&unlisted, "generic", &update).expect("a request");
    assert_eq!(body_of(&body), json!({"ImageURI": "https://x/i"}));
}

#[test]
fn targets_and_apply_time_are_sent_only_where_asked() {
    let mut update = action(UpdateMethod::SimpleUpdate, uri("http://x/i"));
    update.targets = vec!["/redfish/v1/Systems/1/Bios".to_owned()];
    update.apply_time = Some("OnReset".to_owned());
    let (_, body) = request(&links(), "generic", &update).expect("a request");
    assert_eq!(
        body_of(&body),
        json!({"ImageURI": "http://x/i", "TransferProtocol": "HTTP", "Targets": ["/redfish/v1/Systems/1/Bios"],
            "@Redfish.OperationApplyTime": "OnReset"})
    );
}

#[test]
fn a_push_names_the_file_and_keeps_its_parameters_bare() {
    let push = action(UpdateMethod::MultipartPush, file(10));
    let (path, body) = request(&links(), "generic", &push).expect("a request");
    assert_eq!(path, "/u/multi");
    assert_eq!(body_of(&body), json!({"Targets": []}));
    let WireBody::Multipart {
        file_name, bytes, ..
    } = &body
    else {
        panic!("not multipart");
    };
    assert_eq!((file_name.as_str(), *bytes), ("firm.exe", 10));
    let (_, body) = request(&links(), "dell-idrac9", &push).expect("a request");
    assert_eq!(body_of(&body), json!({"Targets": [], "Oem": {}}));
}
