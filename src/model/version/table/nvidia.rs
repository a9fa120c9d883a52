//! Rules for NVIDIA: HGX, Grace boards and BlueField.

use crate::model::component::Component;
use crate::model::version::rule::{Family, Field, Form, Rule};

const PLATFORMS: &[&str] = &["nvidia", "bluefield", "gb", "gh", "hgx", "dgx", "dgxh"];

pub(super) const BMC: Rule = Rule {
    name: "nvidia bmc",
    note: "board, year, month, then a number or a letter, which have no order between them; a release is later than its candidates",
    platforms: PLATFORMS,
    component: Some(Component::Bmc),
    forms: &[Form::named(
        r"(?<board>[a-z]+[0-9]*[a-z]*)-(?<year>\d\d)\.(?<month>\d\d)-(?<release>\d+|[a-z])(?:-rc(?<candidate>\d+))?",
    )],
    family: Family::of(&["board"]),
    fields: &[
        Field::decimal("year"),
        Field::decimal("month"),
        Field::mark("release"),
        Field::decimal("candidate").newer_without(),
    ],
    ..Rule::BLANK
};

pub(super) const ROOT_OF_TRUST: Rule = Rule {
    name: "nvidia root of trust",
    note: "four numbers, of which the first is the family; `_n` is a key revision, not a version",
    platforms: PLATFORMS,
    forms: &[Form::named(
        r"(?<line>\d\d)\.(?<major>\d\d)\.(?<minor>\d{4})\.(?<patch>\d{4})(?:_n\d\d)",
    )],
    family: Family::of(&["line"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
    ],
    ..Rule::BLANK
};

pub(super) const CPLD: Rule = Rule {
    name: "nvidia cpld",
    note: "part number and revision",
    platforms: PLATFORMS,
    forms: &[Form::named(r"cpld(?<part>\d+)_rev(?<revision>[0-9a-f]{4})")],
    family: Family::of(&["part"]),
    fields: &[Field::hex("revision")],
    ..Rule::BLANK
};

pub(super) const FPGA: Rule = Rule {
    name: "nvidia fpga",
    note: "two or three fields, the last of two hexadecimal digits in upper case",
    platforms: PLATFORMS,
    forms: &[
        Form::shaped(r"(?<major>0)\.(?<minor>[0-9A-F]{2})").in_own_case(),
        Form::short(r"(?<major>\d)\.(?<minor>[0-9A-F]{1,2})(?:\.(?<patch>[0-9A-F]{2}))?")
            .in_own_case(),
    ],
    fields: &[
        Field::hex("major"),
        Field::hex("minor"),
        Field::hex("patch"),
    ],
    ..Rule::BLANK
};

pub(super) const DATE_LIKE: Rule = Rule {
    name: "nvidia date-like",
    note: "looks like a date behind a prefix, which nobody has confirmed: equality only",
    platforms: PLATFORMS,
    forms: &[Form::named(r"0\d{7}")],
    ..Rule::BLANK
};

pub(super) const BLUEFIELD: Rule = Rule {
    name: "bluefield software",
    note: "part, three numbers, commits since, and a hash without order",
    platforms: PLATFORMS,
    forms: &[
        Form::named(
            r"(?<part>bluefield|\d+\.\d+\([a-z]+\)):(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)-(?<commits>\d+)-g(?<hash>[0-9a-f]+)",
        ),
        Form::short(
            r"(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)-(?<commits>\d+)-g(?<hash>[0-9a-f]+)",
        ),
    ],
    family: Family::of(&["part"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
        Field::decimal("commits"),
    ],
    builds: &["hash"],
    ..Rule::BLANK
};

pub(super) const VBIOS: Rule = Rule {
    name: "nvidia vbios",
    note: "five hexadecimal bytes, of which the first two name the board",
    platforms: PLATFORMS,
    forms: &[Form::shaped(
        r"(?<board>[0-9a-f]{2}\.[0-9a-f]{2})\.(?<major>[0-9a-f]{2})\.(?<minor>[0-9a-f]{2})\.(?<patch>[0-9a-f]{2})",
    )],
    family: Family::of(&["board"]),
    fields: &[
        Field::hex("major"),
        Field::hex("minor"),
        Field::hex("patch"),
    ],
    ..Rule::BLANK
};
