//! Claims about the hops of one stage over its targets.

use super::*;
use crate::pipeline::{Image, ImageFile, Requirement, RequirementOp};
use crate::plan::testing::{look, server};

fn image(version: &str, requires: Option<&str>) -> FirmwareImage {
    FirmwareImage {
        platform: None,
        version: version.to_owned(),
        requires: requires.map(|version| Requirement {
            op: RequirementOp::AtLeast,
            version: version.to_owned(),
        }),
        image: Image::File(ImageFile {
            path: version.into(),
            sha256: None,
        }),
    }
}

fn ladder() -> Vec<FirmwareImage> {
    vec![
        image("1.60", None),
        image("1.80", Some("1.60")),
        image("2.00", Some("1.80")),
    ]
}

/// Hops as `VERSION on TARGETS`, and the paths to write down.
fn expanded(
    images: &[FirmwareImage],
    component: Component,
    targets: &[Target],
    footing: Footing<'_>,
) -> (Vec<String>, BTreeMap<Target, HopPath>) {
    let (stage, before) = ("fw".into(), BTreeMap::new());
    let wanted = Wanted {
        stage: &stage,
        version: "2.00".to_owned(),
        component,
        images,
        before: &before,
    };
    let (hops, paths) = expand(&wanted, targets, footing);
    let shown = |hop: &ComputedHop<'_>| {
        let on: Vec<&str> = hop.targets.keys().map(Target::name).collect();
        format!("{} on {}", hop.version, on.join("+"))
    };
    (hops.iter().map(shown).collect(), paths)
}

#[test]
fn servers_go_their_own_ways_and_meet_at_the_end() {
    let look = look(
        None,
        &[
            ("a", Some("1.50")),
            ("b", Some("1.80")),
            ("c", Some("2.10")),
        ],
    );
    let targets = [server("a"), server("b"), server("c")];
    let (hops, paths) = expanded(&ladder(), Component::Bios, &targets, Footing::Now(&look));
    assert_eq!(hops, ["1.60 on a", "1.80 on a", "2.00 on a+b+c"]);
    assert_eq!(paths[&server("b")].hops, ["2.00"]);
    assert_eq!(paths[&server("b")].from.as_deref(), Some("1.80"));
}

#[test]
fn a_run_walks_what_it_wrote_down_whatever_the_catalogue_has_gained() {
    let look = look(Some("1.50"), &[]);
    let (hops, path) = expanded(
        &ladder(),
        Component::Bmc,
        &[Target::Bmc],
        Footing::Now(&look),
    );
    let paths = HopPaths::from([("fw".into(), path)]);
    let begun = Footing::Begun {
        platform: "generic",
        paths: &paths,
    };
    let mut longer = ladder();
    longer.push(image("1.90", None));
    assert_eq!(
        expanded(&longer, Component::Bmc, &[Target::Bmc], begun).0,
        hops
    );
    assert_eq!(
        expanded(&longer, Component::Bmc, &[Target::Bmc], Footing::Now(&look)).0,
        ["1.90 on bmc", "2.00 on bmc"]
    );
}

#[test]
fn a_path_that_the_catalogue_has_lost_is_computed_anew_from_the_last_hop_made() {
    let path = HopPath {
        from: Some("1.80".to_owned()),
        hops: vec!["1.60".to_owned(), "1.80".to_owned(), "2.00".to_owned()],
        missing: None,
    };
    let paths = HopPaths::from([("fw".into(), BTreeMap::from([(Target::Bmc, path)]))]);
    let begun = Footing::Begun {
        platform: "generic",
        paths: &paths,
    };
    let shorter = [image("2.00", Some("1.80"))];
    let (hops, _) = expanded(&shorter, Component::Bmc, &[Target::Bmc], begun);
    assert_eq!(hops, ["2.00 on bmc"]);
}

#[test]
fn where_nothing_says_what_runs_only_a_hop_that_requires_nothing_is_made() {
    let unknown = look(None, &[]);
    let bare = [image("2.00", None)];
    let missing = |images: &[FirmwareImage]| {
        let (_, paths) = expanded(
            images,
            Component::Bmc,
            &[Target::Bmc],
            Footing::Now(&unknown),
        );
        paths[&Target::Bmc].missing.clone()
    };
    assert_eq!(missing(&bare), None);
    let told = missing(&ladder());
    assert!(told.is_some_and(|told| told.contains("nothing said what runs")));
}

#[test]
fn without_a_look_there_is_only_the_end() {
    let of_one = FirmwareImage {
        platform: Some("hpe-ilo6".to_owned()),
        ..image("2.00", Some("1.80"))
    };
    let images = [of_one];
    let (hops, _) = expanded(&images, Component::Bmc, &[Target::Bmc], Footing::End);
    assert_eq!(hops, ["2.00 on bmc"]);
}
