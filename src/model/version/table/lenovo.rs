//! Rules for Lenovo.

use crate::model::version::rule::{Family, Field, Form, Rule};

const PLATFORMS: &[&str] = &["lenovo", "xcc"];

pub(super) const BUILD: Rule = Rule {
    name: "lenovo build",
    note: "build id of four family characters and a base-36 level, then a number and a date; inventory may shorten the id to its level",
    platforms: PLATFORMS,
    forms: &[
        Form::shaped(
            r"(?<build>[a-z][a-z0-9][a-z][a-z0-9])(?<level>[a-z0-9]\d)(?<letter>[a-z])(?:[ -](?<number>\d+\.\d+))?(?: \(?(?<date>\d{4}-\d\d-\d\d)\)?)?",
        ),
        // The level's second place is a letter once its first hundred is used up.
        Form::shaped(
            r"(?<build>[a-z][a-z0-9][a-z][1-9])(?<level>[a-z0-9]{2})(?<letter>[a-z])(?:[ -](?<number>\d+\.\d+))?(?: \(?(?<date>\d{4}-\d\d-\d\d)\)?)?",
        ),
        Form::shaped(r"(?<level>\d[a-z0-9]|[a-z]\d)(?<letter>[a-z])[ -](?<number>\d+\.\d+)"),
    ],
    family: Family::of(&["build"]),
    fields: &[Field::base36("level"), Field::base36("letter")],
    confirms: &[Field::decimal("number")],
    date: Some("date"),
    ..Rule::BLANK
};

pub(super) const AMI: Rule = Rule {
    name: "lenovo ami",
    note: "number and build id, or a file label of both",
    platforms: &["lenovo", "ami"],
    forms: &[
        Form::named(
            r"(?<number>\d+\.\d+) \(build id (?<build>[a-z]{4})(?<level>[0-9a-z]{2})(?<letter>[a-z])\)",
        ),
        Form::named(
            r"lnvgy_fw_[a-z]+_(?<build>[a-z]{4})(?<level>[0-9a-z]{2})(?<letter>[a-z])-(?<number>\d+\.\d+)",
        ),
    ],
    family: Family::of(&["build"]),
    fields: &[Field::base36("level"), Field::base36("letter")],
    confirms: &[Field::decimal("number")],
    ..Rule::BLANK
};
