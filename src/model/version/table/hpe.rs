//! Rules for HPE.

use crate::model::component::Component;
use crate::model::version::rule::{Family, Field, Form, Rule, Unnamed};

const PLATFORMS: &[&str] = &["hpe", "hp", "ilo"];

pub(super) const ILO: Rule = Rule {
    name: "hpe ilo",
    note: "product and number, always two places behind the point; inventory leaves the product out and may add a third field or a date",
    platforms: PLATFORMS,
    component: Some(Component::Bmc),
    forms: &[
        Form::named(
            r"ilo ?(?<product>\d+) v?(?<major>\d+)\.(?<minor>\d\d)(?:\.(?<patch>\d\d))?(?: \(?(?<date>[a-z]{3} \d\d \d{4}|\d\d/\d\d/\d{4})\)?)?",
        ),
        Form::shaped(
            r"(?<major>\d+)\.(?<minor>\d\d)(?:\.(?<patch>\d\d))? (?<date>[a-z]{3} \d\d \d{4})",
        ),
        Form::short(r"(?<major>\d+)\.(?<minor>\d\d)(?:\.(?<patch>\d\d))?"),
    ],
    family: Family {
        unnamed: Unnamed::AnyFamily,
        generation: Some("ilo"),
        ..Family::of(&["product"])
    },
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
    ],
    date: Some("date"),
    ..Rule::BLANK
};

pub(super) const ROM: Rule = Rule {
    name: "hpe rom",
    note: "ROM family, number and an optional date with or without brackets; some fields leave the family out",
    platforms: PLATFORMS,
    component: Some(Component::Bios),
    forms: &[
        Form::named(
            r"(?<rom>[a-z]\d\d) v(?<major>\d+)\.(?<minor>\d\d)(?: \(?(?<date>\d\d/\d\d/\d{4})\)?)?",
        ),
        Form::shaped(
            r"(?<rom>[a-z]\d\d) (?<major>\d+)\.(?<minor>\d\d)(?: \(?(?<date>\d\d/\d\d/\d{4})\)?)?",
        ),
        Form::short(r"(?<major>\d+)\.(?<minor>\d\d)(?: \(?(?<date>\d\d/\d\d/\d{4})\)?)?"),
    ],
    family: Family::of(&["rom"]),
    fields: &[Field::decimal("major"), Field::decimal("minor")],
    date: Some("date"),
    ..Rule::BLANK
};

pub(super) const DRIVE: Rule = Rule {
    name: "hpe drive",
    note: "`HP`, a model letter, a revision",
    platforms: PLATFORMS,
    forms: &[Form::shaped(r"(?<model>hp[a-z])(?<revision>[0-9a-z])")],
    family: Family::of(&["model"]),
    fields: &[Field::mark("revision")],
    ..Rule::BLANK
};
