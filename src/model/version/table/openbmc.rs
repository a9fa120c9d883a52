//! Rules for Cray, Intel and IBM, whose boxes mostly run OpenBMC.

use crate::model::component::Component;
use crate::model::version::rule::{Family, Field, Form, Rule};

const CRAY: &[&str] = &["cray", "openbmc"];
const INTEL: &[&str] = &["intel", "openbmc"];
const IBM: &[&str] = &["ibm", "openpower", "openbmc"];

pub(super) const CRAY_BIOS: Rule = Rule {
    name: "cray bios",
    note: "the node model stands in front; a renamed model is another family",
    platforms: CRAY,
    component: Some(Component::Bios),
    forms: &[Form::named(
        r"(?<model>[a-z0-9]+)\.bios-(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)",
    )],
    family: Family::of(&["model"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
    ],
    ..Rule::BLANK
};

pub(super) const CRAY_CONTROLLER: Rule = Rule {
    name: "cray controller",
    note: "number, a build after the dash that is later than none, channel, processor, date and hash",
    platforms: CRAY,
    component: Some(Component::Bmc),
    forms: &[Form::named(
        r"(?<kind>[a-z]+)\.(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)(?:-(?<build>\d+))?(?:-[a-z]+)*\.(?<processor>[a-z0-9_]+)\.(?<date>\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d)(?:\+00:00|z)\.(?<hash>[0-9a-f]+)",
    )],
    family: Family::of(&["kind", "processor"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
        Field::decimal("build"),
    ],
    date: Some("date"),
    builds: &["hash"],
    ..Rule::BLANK
};

pub(super) const INTEL_BIOS: Rule = Rule {
    name: "intel bios",
    note: "board id, then fixed slots and a date, month first",
    platforms: INTEL,
    component: Some(Component::Bios),
    forms: &[Form::named(
        r"(?<board>[a-z0-9]+\.\d\d[a-z])\.(?<major>\d{2})\.(?<minor>\d{2})\.(?<build>\d{4})(?:\.c(?<change>\d{4}))?(?:\.(?<date>\d{12}))?",
    )],
    family: Family::of(&["board"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("build"),
        Field::decimal("change"),
    ],
    date: Some("date"),
    ..Rule::BLANK
};

pub(super) const INTEL_BMC: Rule = Rule {
    name: "intel bmc",
    note: "two numbers and a hash, which has no order",
    platforms: INTEL,
    component: Some(Component::Bmc),
    forms: &[Form::shaped(
        r"(?<major>\d+)\.(?<minor>\d+)\.(?<hash>[0-9a-f]{8})",
    )],
    fields: &[Field::decimal("major"), Field::decimal("minor")],
    builds: &["hash"],
    ..Rule::BLANK
};

pub(super) const INTEL_OPENBMC: Rule = Rule {
    name: "intel openbmc",
    note: "branch, number, commits since, two hashes without order",
    platforms: INTEL,
    component: Some(Component::Bmc),
    forms: &[Form::named(
        r"(?<branch>[a-z]{3})-(?<major>\d+)\.(?<minor>\d+)-(?<commits>\d+)-g(?<hash>[0-9a-f]+)-(?<meta>[0-9a-f]+)",
    )],
    family: Family::of(&["branch"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("commits"),
    ],
    builds: &["hash", "meta"],
    ..Rule::BLANK
};

pub(super) const IBM_BUILD: Rule = Rule {
    name: "ibm build",
    note: "machine, release, build, day; the letter behind the day has no known order",
    platforms: IBM,
    forms: &[Form::named(
        r"(?:(?<machine>\d{4})_)?(?<release>\d{3})\.(?<build>\d{4})\.(?<date>20\d\d[01]\d[0-3]\d)(?<letter>[a-z])",
    )],
    family: Family::of(&["machine"]),
    fields: &[Field::decimal("release"), Field::decimal("build")],
    date: Some("date"),
    builds: &["letter"],
    ..Rule::BLANK
};

pub(super) const IBM_PNOR: Rule = Rule {
    name: "ibm pnor",
    note: "board and platform, then two numbers of two fields",
    platforms: IBM,
    forms: &[Form::named(
        r"ibm-(?<board>[a-z0-9]+)-(?<build>[a-z0-9]+-op\d+)_v(?<major>\d+)\.(?<minor>\d+)_(?<patch>\d+)\.(?<level>\d+)",
    )],
    family: Family::of(&["board", "build"]),
    fields: &[
        Field::decimal("major"),
        Field::decimal("minor"),
        Field::decimal("patch"),
        Field::decimal("level"),
    ],
    ..Rule::BLANK
};
