//! Rules for Dell.

use crate::model::component::Component;
use crate::model::version::rule::{Band, Family, Field, Form, Rule};

const PLATFORMS: &[&str] = &["dell", "idrac"];

pub(super) const IDRAC: Rule = Rule {
    name: "dell idrac",
    note: "four numbers, of which the first tells the generation: iDRAC 7 and 8 are 2.x, iDRAC 9 is 3.x to 7.x, iDRAC 10 began again at 1.x",
    platforms: PLATFORMS,
    component: Some(Component::Bmc),
    forms: &[
        Form::shaped(r"(?<major>[1-9]|10)\.(?<minor>\d\d)\.(?<patch>\d\d)\.(?<build>\d\d)"),
        Form::short(r"(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)\.(?<build>\d+)"),
    ],
    family: Family {
        bands: &[
            Band {
                lowest: 1,
                highest: 1,
                name: "1.x",
            },
            Band {
                lowest: 2,
                highest: 2,
                name: "2.x",
            },
            Band {
                lowest: 3,
                highest: 7,
                name: "3.x to 7.x",
            },
        ],
        ..Family::of(&["major"])
    },
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
        Field::decimal("build"),
    ],
    ..Rule::BLANK
};

pub(super) const BIOS: Rule = Rule {
    name: "dell bios",
    note: "three numbers",
    platforms: PLATFORMS,
    component: Some(Component::Bios),
    forms: &[Form::short(r"(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)")],
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
    ],
    ..Rule::BLANK
};

pub(super) const DIAGNOSTICS: Rule = Rule {
    name: "dell diagnostics",
    note: "number, letter, revision",
    platforms: PLATFORMS,
    forms: &[Form::shaped(
        r"(?<number>\d{4})(?<letter>[a-z])(?<revision>\d\d)",
    )],
    fields: &[
        Field::decimal("number"),
        Field::letter("letter"),
        Field::decimal("revision"),
    ],
    ..Rule::BLANK
};

pub(super) const INVENTORY_ID: Rule = Rule {
    name: "dell inventory id",
    note: "an id, not a version, whatever stands inside: equality only",
    platforms: PLATFORMS,
    forms: &[Form::named(
        r"(?:installed|current|previous|available)-[0-9a-z]+-[\x20-\x7e]+",
    )],
    ..Rule::BLANK
};
