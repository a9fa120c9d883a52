//! Rules for Supermicro.

use crate::model::component::Component;
use crate::model::version::rule::{Family, Field, Form, Rule};

const PLATFORMS: &[&str] = &["supermicro", "smc"];

pub(super) const FILE: Rule = Rule {
    name: "supermicro file",
    note: "kind, board, date and version as image files spell them; boards are families",
    platforms: PLATFORMS,
    forms: &[Form::named(
        r"(?<kind>bmc|bios)_(?<board>[a-z0-9]+-[a-z0-9]+)_(?<date>\d{8})_(?<major>\d+)\.(?<minor>\d+)(?:\.(?<patch>\d+))?(?<letter>[a-z])?(?:_std(?:sp)?)?(?:\.[a-z]+)?",
    )],
    family: Family::of(&["kind", "board"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
        Field::letter("letter"),
    ],
    date: Some("date"),
    ..Rule::BLANK
};

pub(super) const BMC: Rule = Rule {
    name: "supermicro bmc",
    note: "numbers, sometimes with a zero in front; the text does not tell the board line, so both must be of one machine",
    platforms: PLATFORMS,
    component: Some(Component::Bmc),
    forms: &[Form::short(
        r"(?<major>\d+)\.(?<minor>\d+)(?:\.(?<patch>\d+))?",
    )],
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
    ],
    ..Rule::BLANK
};

pub(super) const BIOS: Rule = Rule {
    name: "supermicro bios",
    note: "two numbers, then a letter that is later than none; some fields wrap them in words with a date",
    platforms: PLATFORMS,
    component: Some(Component::Bios),
    forms: &[
        Form::shaped(r"(?<major>[1-9]\d*)\.(?<minor>\d+)(?<letter>[a-z])").in_own_case(),
        Form::named(
            r"bios date: ?(?<date>\d\d/\d\d/\d{4}) ver\.? ?(?<major>\d+)\.(?<minor>\d+)(?<letter>[a-z])?",
        ),
        Form::short(r"(?<major>\d+)\.(?<minor>\d+)"),
    ],
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::letter("letter"),
    ],
    date: Some("date"),
    ..Rule::BLANK
};
