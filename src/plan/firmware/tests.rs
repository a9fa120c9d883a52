//! Claims about `firmware`.

use std::collections::BTreeMap;

use super::*;
use crate::model::Capability;
use crate::model::look::ManagerView;
use crate::pipeline::{Guard, Requirement, RequirementOp};
use crate::plan::running::{guard_unmet, staged};
use crate::plan::spec::StageKindSpec;
use crate::plan::testing::{bios_hop, hop, look, server, software, stage, system};

fn bmc(version: &VersionSpec, look: &Look) -> VersionAssessment {
    let by = BTreeMap::from([(Target::Bmc, version.clone())]);
    assess_version(
        &stage("h", StageKindSpec::BmcVersion(by)),
        version,
        &Target::Bmc,
        look,
    )
}

fn at(live: &str, to: &str) -> VersionAssessment {
    bmc(&hop(to), &look(Some(live), &[]))
}

fn requiring(op: RequirementOp, version: &str) -> VersionSpec {
    VersionSpec {
        requires: Some(Requirement {
            op,
            version: version.into(),
        }),
        ..hop("1.80")
    }
}

#[test]
fn nothing_is_flashed_where_nobody_knows_what_runs() {
    for version in [None, Some(""), Some("N/A")] {
        let assessment = bmc(&hop("1.60"), &look(version, &[]));
        assert!(
            matches!(assessment, VersionAssessment::NoVersion { .. }),
            "{assessment:?}"
        );
        assert!(
            assessment
                .blocked()
                .is_some_and(|reason| reason.starts_with("no version shown"))
        );
    }
}

#[test]
fn an_absent_version_is_looked_for_in_the_inventory() {
    let mut look = look(Some("N/A"), &[]);
    look.software = vec![software("bmc", "1.50", &["/Managers/BMC"])];
    assert_eq!(bmc(&hop("1.60"), &look).live(), Some("1.50"));
    look.software
        .iter_mut()
        .for_each(|software| software.staged = true);
    assert!(matches!(
        bmc(&hop("1.60"), &look),
        VersionAssessment::NoVersion { .. }
    ));
    assert_eq!(staged(&look, &Target::Bmc).len(), 1);
}

#[test]
fn what_cannot_be_compared_is_blocked_with_both_texts_unless_the_operator_allowed_it() {
    let assessment = at("iLO 5 v3.09", "iLO 6 v1.70");
    let reason = assessment.blocked().unwrap_or_default();
    assert!(
        reason.contains("iLO 5 v3.09") && reason.contains("iLO 6 v1.70"),
        "{reason}"
    );
    let live = look(Some("iLO 5 v3.09"), &[]);
    let allowed = VersionSpec {
        exact: true,
        allow_downgrade: true,
        ..hop("iLO 6 v1.70")
    };
    assert!(matches!(
        bmc(&allowed, &live),
        VersionAssessment::Above { .. }
    ));
    for half in [
        VersionSpec {
            exact: false,
            ..allowed.clone()
        },
        VersionSpec {
            allow_downgrade: false,
            ..allowed.clone()
        },
        VersionSpec {
            is_last: false,
            ..allowed
        },
    ] {
        assert!(matches!(
            bmc(&half, &live),
            VersionAssessment::Incomparable { .. }
        ));
    }
}

#[test]
fn at_or_past_a_hop_is_done_and_past_the_last_is_ahead() {
    let rows = [
        ("1.60", true, false),
        ("1.75", true, true),
        ("1.75", false, false),
    ];
    for (live, is_last, is_ahead) in rows {
        let version = VersionSpec {
            is_last,
            ..hop("1.60")
        };
        let VersionAssessment::AtTarget { ahead, reason, .. } =
            bmc(&version, &look(Some(live), &[]))
        else {
            panic!("{live} is at 1.60");
        };
        assert_eq!(ahead, is_ahead);
        assert!(reason.contains(live) && reason.contains("1.60"), "{reason}");
    }
    assert!(matches!(
        at("1.50", "1.60"),
        VersionAssessment::Below { .. }
    ));
}

#[test]
fn a_version_goes_down_only_by_exact_and_allow_downgrade_on_the_last_hop() {
    let live = look(Some("1.90"), &[]);
    for (exact, allow_downgrade, is_last) in [
        (true, false, true),
        (false, true, true),
        (true, true, false),
    ] {
        let version = VersionSpec {
            is_last,
            exact,
            allow_downgrade,
            ..hop("1.80")
        };
        assert!(bmc(&version, &live).is_done(), "{version:?}");
    }
    let version = VersionSpec {
        exact: true,
        allow_downgrade: true,
        ..hop("1.80")
    };
    assert!(matches!(
        bmc(&version, &live),
        VersionAssessment::Above { .. }
    ));
    assert!(bmc(&version, &look(Some("1.80"), &[])).is_done());
}

#[test]
fn a_requirement_is_checked_only_where_the_hop_is_due() {
    let rows = [
        (RequirementOp::AtLeast, "1.60", false),
        (RequirementOp::AtLeast, "1.50", true),
        (RequirementOp::Above, "1.50", false),
        (RequirementOp::Equal, "1.50", true),
        (RequirementOp::NotEqual, "1.50", false),
        (RequirementOp::NotEqual, "1.40", true),
        (RequirementOp::AtMost, "1.50", true),
        (RequirementOp::Below, "1.50", false),
        (RequirementOp::NotEqual, "nightly", false),
    ];
    for (op, version, is_due) in rows {
        let assessment = bmc(&requiring(op, version), &look(Some("1.50"), &[]));
        assert_eq!(
            assessment.is_due(),
            is_due,
            "{op:?} {version}: {assessment:?}"
        );
    }
    assert!(
        bmc(
            &requiring(RequirementOp::Below, "1.0"),
            &look(Some("1.80"), &[])
        )
        .is_done()
    );
}

#[test]
fn two_managers_need_targets() {
    let mut look = look(Some("1.50"), &[]);
    look.managers.push(ManagerView {
        uri: "/managers/other".into(),
        is_bmc: true,
        ..ManagerView::default()
    });
    assert!(matches!(
        bmc(&hop("1.60"), &look),
        VersionAssessment::TwoManagers { .. }
    ));
    let by = BTreeMap::from([(Target::Bmc, hop("1.60"))]);
    let mut stage = stage("h", StageKindSpec::BmcVersion(by));
    stage.options.targets = Some(vec!["{manager}".into()]);
    assert!(assess_version(&stage, &hop("1.60"), &Target::Bmc, &look).is_due());
}

#[test]
fn a_server_without_bios_wants_nothing_and_a_missing_one_is_told() {
    let mut look = look(None, &[("s", None)]);
    if let Some(system) = look.systems.get_mut(&"s".into()) {
        system.bios_uri = None;
    }
    let assess = |name: &str| {
        assess_version(
            &bios_hop("h", "2.50", &[name]),
            &hop("2.50"),
            &server(name),
            &look,
        )
    };
    assert_eq!(assess("s"), VersionAssessment::NoBios);
    assert!(matches!(
        assess("gone"),
        VersionAssessment::SystemMissing { .. }
    ));
}

#[test]
fn a_hop_that_cannot_be_sent_is_blocked_only_where_it_is_due() {
    let mut deaf = look(None, &[("1", Some("2.10"))]);
    deaf.capability = Capability::default();
    let stage = bios_hop("h", "2.50", &["1"]);
    let blocked = assess_version(&stage, &hop("2.50"), &server("1"), &deaf);
    assert!(
        matches!(blocked, VersionAssessment::Unsupported { .. }),
        "{blocked:?}"
    );
    assert!(assess_version(&stage, &hop("2.10"), &server("1"), &deaf).is_done());
    let mut bare = look(None, &[("1", Some("2.10"))]);
    bare.other_systems.push(system("2", None));
    if let Some(system) = bare.systems.get_mut(&"1".into()) {
        system.bios_uri = None;
    }
    let blocked = assess_version(&stage, &hop("2.50"), &server("1"), &bare);
    assert!(
        matches!(blocked, VersionAssessment::NeedsTargets { .. }),
        "{blocked:?}"
    );
}

#[test]
fn a_guard_lets_through_at_or_past_its_version_or_only_on_it() {
    let look = look(None, &[]);
    let unmet = |exact: bool, live: Option<&str>| {
        let guard = Guard {
            version: "1.60".into(),
            exact,
        };
        guard_unmet(Some(&guard), live, &Target::Bmc, &look).is_some()
    };
    let rows = [
        (None, true, true),
        (Some("1.50"), true, true),
        (Some("1.60"), false, false),
        (Some("1.70"), false, true),
        (Some("nightly"), true, true),
    ];
    for (live, loose, exact) in rows {
        assert_eq!(
            (unmet(false, live), unmet(true, live)),
            (loose, exact),
            "{live:?}"
        );
    }
    assert_eq!(guard_unmet(None, None, &Target::Bmc, &look), None);
}
