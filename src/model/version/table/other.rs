//! Rules for other vendors, and for shapes that several share.

use crate::model::component::Component;
use crate::model::version::rule::{Family, Field, Form, Rule};

pub(super) const CISCO_CIMC: Rule = Rule {
    name: "cisco cimc",
    note: "two numbers, then a maintenance number and a letter in brackets",
    platforms: &["cisco", "cimc"],
    component: Some(Component::Bmc),
    forms: &[Form::named(
        r"(?<major>\d+)\.(?<minor>\d+)\((?<maintenance>\d+)(?<letter>[a-z])?\)",
    )],
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("maintenance"),
        Field::letter("letter"),
    ],
    ..Rule::BLANK
};

pub(super) const HUAWEI: Rule = Rule {
    name: "huawei",
    note: "two numbers, then the board's part in brackets",
    platforms: &["huawei", "xfusion"],
    forms: &[Form::named(
        r"(?<major>\d+)\.(?<minor>\d+) \((?<part>u\d+)\)",
    )],
    family: Family::of(&["part"]),
    fields: &[Field::decimal("major"), Field::decimal("minor")],
    ..Rule::BLANK
};

pub(super) const DRIVE: Rule = Rule {
    name: "drive code",
    note: "three letters, four digits, a letter: an order is known for `GDC` alone, the letters around it being the family",
    forms: &[
        Form::named(r"(?<model>gdc)(?<number>\d{4})(?<tail>[a-z])"),
        Form::named(r"(?<model>[a-z]{3}\d{4})(?<tail>[a-z])"),
    ],
    family: Family::of(&["model", "tail"]),
    fields: &[Field::decimal("number")],
    ..Rule::BLANK
};

pub(super) const HEX_NUMBERS: Rule = Rule {
    name: "hex numbers",
    note: "one to four numbers that say themselves that they are hexadecimal",
    forms: &[Form::named(
        r"0x(?<first>[0-9a-f]+)(?: 0x(?<second>[0-9a-f]+))?(?: 0x(?<third>[0-9a-f]+))?(?: 0x(?<fourth>[0-9a-f]+))?",
    )],
    fields: &[
        Field::hex("first"),
        Field::hex("second"),
        Field::hex("third"),
        Field::hex("fourth"),
    ],
    ..Rule::BLANK
};

pub(super) const HEX_BYTES: Rule = Rule {
    name: "hex bytes",
    note: "three hexadecimal bytes, as power supplies and CPLDs state them",
    forms: &[Form::shaped(
        r"(?<first>[0-9a-f]{2})\.(?<second>[0-9a-f]{2})\.(?<third>[0-9a-f]{2})",
    )],
    fields: &[
        Field::hex("first"),
        Field::hex("second"),
        Field::hex("third"),
    ],
    ..Rule::BLANK
};
