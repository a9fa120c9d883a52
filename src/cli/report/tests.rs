//! How findings look, letter by letter.

use super::{fault, findings};
use crate::model::{BmcMessage, Fault, FaultKind, Retry};
use crate::pipeline::{Diagnostic, Diagnostics, Source, SourceId};

fn of(text: &str, all: Vec<Diagnostic>) -> Diagnostics {
    Diagnostics {
        sources: vec![Source::new("inventory/lab.toml", text)],
        findings: all,
    }
}

#[test]
fn a_finding_is_its_message_its_place_the_underlined_text_and_a_hint_and_nothing_else() {
    let text = "[defaults]\nname = \"größe\", tls = \"first-us\"\npoll = 1\n";
    let at = text.find("\"first-us\"").expect("it is there");
    let mut finding = Diagnostic::error(
        SourceId(0),
        at..at + 10,
        "`tls` cannot be `first-us`",
        "not one of its values",
    );
    finding.hint("did you mean `first-use`?");
    let told = findings(&of(text, vec![finding]));
    let wanted = "\
error: `tls` cannot be `first-us`
   ╭─[inventory/lab.toml:2:23]
 1 │ [defaults]
 2 │ name = \"größe\", tls = \"first-us\"
   ·                       ─────┬────
   ·                            ╰── not one of its values
 3 │ poll = 1
   ╰────
hint: did you mean `first-use`?

1 error
";
    assert_eq!(told, wanted);
}

#[test]
fn errors_and_warnings_are_counted_each_by_itself_and_other_places_are_named() {
    let text = "a = 1\na = 2\n";
    let mut twice = Diagnostic::error(SourceId(0), 6..7, "`a` is there twice", "again here");
    twice.related(SourceId(0), 0..1, "first here");
    let mut plain = Diagnostic::error(SourceId(0), 10..11, "a plain password", "in plain sight");
    plain.warning();
    let told = findings(&of(text, vec![twice.clone(), twice, plain]));
    assert!(
        told.contains("see inventory/lab.toml:1:1: first here\n"),
        "{told}"
    );
    assert!(told.contains("warning: a plain password\n"), "{told}");
    assert!(told.ends_with("\n2 errors, 1 warning\n"), "{told}");
}

#[test]
fn of_too_many_findings_the_first_are_told_errors_before_warnings_and_the_rest_is_counted() {
    let mut warning = Diagnostic::error(SourceId(0), 0..1, "in plain sight", "here");
    warning.warning();
    let error = Diagnostic::error(SourceId(0), 0..1, "wrong", "here");
    let mut all = vec![warning; 60];
    all.extend(vec![error; 3]);
    let told = findings(&of("a = 1\n", all));
    let count = |what: &str| told.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((count("error: "), count("warning: ")), (3, 47));
    assert!(
        told.ends_with("\nand 13 more\n\n3 errors, 60 warnings\n"),
        "{told}"
    );
}

#[test]
fn a_finding_at_the_end_of_an_empty_file_or_over_lines_is_still_drawn() {
    let all = vec![Diagnostic::error(SourceId(0), 0..0, "it is empty", "here")];
    let told = findings(&of("", all));
    assert!(told.starts_with("error: it is empty\n"), "{told}");
    assert!(told.contains("[inventory/lab.toml:1:1]"), "{told}");
    let all = vec![Diagnostic::error(
        SourceId(0),
        0..11,
        "a whole table",
        "all of it",
    )];
    let told = findings(&of("a = 1\nb = 2\nc = 3\n", all));
    assert!(told.contains("[inventory/lab.toml:1:1]"), "{told}");
    assert!(told.contains("all of it"), "{told}");
}

#[test]
fn a_fault_is_one_error_line_with_causes_below_and_a_hint_apart() {
    let mut refused = Fault::new(
        FaultKind::LoginRefused,
        Retry::Operator,
        "bmc `b1` refused the login of user `root`",
    )
    .with_cause("it was the third time")
    .with_messages(vec![BmcMessage {
        message_id: Some("Base.1.0.NoValidSession".to_owned()),
        message: Some("There is no valid session".to_owned()),
        ..BmcMessage::default()
    }])
    .with_hint("check its credentials");
    refused.status = Some(401);
    let wanted = "\
error: bmc `b1` refused the login of user `root`
  cause: it was the third time
  cause: the request was answered with status 401
  cause: the BMC says: There is no valid session (Base.1.0.NoValidSession)

hint: check its credentials";
    assert_eq!(fault("bmc `b1`", &refused), wanted);
    refused.uri = Some("/redfish/v1/Sessions".to_owned());
    let told = fault("elsewhere", &refused);
    assert!(
        told.starts_with("error: elsewhere: bmc `b1` refused"),
        "{told}"
    );
    assert!(
        told.contains("  cause: `/redfish/v1/Sessions` was answered with status 401\n"),
        "{told}"
    );
}
