//! Claims about the shortest allowed way.

use super::*;
use crate::pipeline::{Image, ImageFile};

/// `VERSION`, or `VERSION >= OTHER`, with `@PLATFORM` where it is for one alone.
fn images(texts: &[&str]) -> Vec<FirmwareImage> {
    let image = |text: &&str| {
        let (text, platform) = match text.split_once('@') {
            Some((text, platform)) => (text, Some(platform.to_owned())),
            None => (*text, None),
        };
        let mut words = text.split_whitespace();
        let version = words.next().unwrap_or_default().to_owned();
        let requires = words.next().map(|sign| Requirement {
            op: RequirementOp::ALL
                .into_iter()
                .find(|op| op.as_str() == sign)
                .unwrap_or(RequirementOp::Below),
            version: words.next().unwrap_or_default().to_owned(),
        });
        let file = ImageFile {
            path: text.into(),
            sha256: None,
        };
        FirmwareImage {
            platform,
            version,
            requires,
            image: Image::File(file),
        }
    };
    texts.iter().map(image).collect()
}

#[track_caller]
fn check(catalogue: &[&str], from: &str, to: &str, expected: &[&str]) {
    let images = images(catalogue);
    let found = Atlas::new(&images, Some("generic"), Component::Bmc).path(from, to);
    let found = found.map(|path| versions(&path));
    assert_eq!(found.as_deref(), Ok(expected), "{from} to {to}");
}

#[track_caller]
fn check_gap(catalogue: &[&str], from: &str, to: &str, expected: &str) {
    let images = images(catalogue);
    let found = Atlas::new(&images, Some("generic"), Component::Bmc).path(from, to);
    assert_eq!(found.err().as_deref(), Some(expected), "{from} to {to}");
}

const LADDER: &[&str] = &["2.00 >= 1.80", "1.60", "1.80 >= 1.60", "1.70 >= 1.60"];

#[test]
fn a_path_climbs_by_what_each_image_requires() {
    check(LADDER, "1.50", "2.00", &["1.60", "1.80", "2.00"]);
    check(LADDER, "1.60", "2.00", &["1.80", "2.00"]);
    check(LADDER, "1.65", "2.00", &["1.80", "2.00"]);
    check(LADDER, "1.90", "2.00", &["2.00"]);
    check(LADDER, "1.50", "1.70", &["1.60", "1.70"]);
}

#[test]
fn what_requires_nothing_is_one_hop_away_and_nothing_is_flashed_in_passing() {
    check(&["1.60", "1.80", "2.00"], "1.50", "2.00", &["2.00"]);
}

#[test]
fn of_two_shortest_paths_the_one_over_later_versions_is_taken() {
    let catalogue = ["3.0 >= 2.0", "2.0", "2.5", "2.7 >= 2.0"];
    check(&catalogue, "1.0", "3.0", &["2.5", "3.0"]);
    let windows = ["3.0 < 2.6", "2.0", "2.5", "2.7"];
    check(&windows, "2.3", "3.0", &["3.0"]);
    let exact = ["3.0 = 2.5", "2.5 >= 2.0", "2.0", "2.9"];
    check(&exact, "1.0", "3.0", &["2.0", "2.5", "3.0"]);
}

#[test]
fn a_gap_names_the_requirement_that_no_image_meets() {
    check_gap(
        &["2.00 >= 1.80", "1.60"],
        "1.50",
        "2.00",
        "no path from `1.50` to `2.00`: `2.00` requires `>= 1.80`, and an image of such a version is missing from the \
         catalogue for the bmc of platform `generic`",
    );
    check_gap(
        &["2.00 >= 1.80", "1.80 >= 1.60"],
        "1.50",
        "2.00",
        "no path from `1.50` to `2.00`: `1.80` requires `>= 1.60`, and an image of such a version is missing from the \
         catalogue for the bmc of platform `generic`",
    );
    check_gap(
        &["2.00 < 1.80"],
        "1.90",
        "2.00",
        "no path from `1.90` to `2.00`: `2.00` requires `< 1.80`, and what runs is past that",
    );
    check_gap(
        &["1.80"],
        "1.50",
        "2.00",
        "the catalogue has no image of `2.00` for the bmc of platform `generic`",
    );
}

#[test]
fn an_image_of_another_platform_is_none_and_one_for_this_alone_goes_first() {
    let images = images(&["2.0 >= 1.5", "1.5@dell-idrac9", "1.6", "1.6@hpe-ilo6"]);
    let on = |platform| Atlas::new(&images, Some(platform), Component::Bmc).path("1.0", "2.0");
    let platforms = |platform| {
        let path = on(platform).unwrap_or_else(|gap| panic!("{gap}"));
        let of = path.iter().map(|image| image.platform.clone());
        of.collect::<Vec<_>>()
    };
    assert_eq!(platforms("hpe-ilo6"), [Some("hpe-ilo6".to_owned()), None]);
    assert_eq!(platforms("dell-idrac9"), [None, None]);
}

#[test]
fn only_a_family_is_climbed() {
    let images = images(&["U54_v2.50 >= U54_v2.30", "U60_v2.40", "U54_v2.30"]);
    let atlas = Atlas::new(&images, Some("hpe-ilo6"), Component::Bios);
    let path = atlas
        .path("U54_v2.10", "U54_v2.50")
        .map(|path| versions(&path));
    assert_eq!(path.as_deref(), Ok(["U54_v2.30", "U54_v2.50"].as_slice()));
}

#[test]
fn whatever_a_path_may_need_is_useful_and_nothing_else() {
    let images = images(&[
        "2.00 >= 1.80",
        "1.60",
        "1.80 >= 1.60",
        "1.85",
        "1.20",
        "3.00",
    ]);
    let mut found = versions(&Atlas::new(&images, Some("generic"), Component::Bmc).useful("2.00"));
    found.sort_unstable();
    assert_eq!(found, ["1.60", "1.80", "1.85", "2.00"]);
}

mod property {
    use proptest::prelude::*;

    use super::*;

    /// Small versions that require small versions.
    fn catalogue() -> impl Strategy<Value = Vec<FirmwareImage>> {
        let image = (1_u8..12, proptest::option::of((0_usize..6, 1_u8..12)));
        proptest::collection::vec(image, 1..8).prop_map(|drawn| {
            let text = |(version, requires): (u8, Option<(usize, u8)>)| match requires {
                Some((op, other)) => {
                    format!("1.{version} {} 1.{other}", RequirementOp::ALL[op].as_str())
                }
                None => format!("1.{version}"),
            };
            // A catalogue has one image of a version.
            let by_version: std::collections::BTreeMap<_, _> = drawn.into_iter().collect();
            let texts: Vec<String> = by_version.into_iter().map(text).collect();
            images(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        })
    }

    /// The least number of hops, by trying everything.
    fn least(atlas: &Atlas<'_>, from: &str, to: &str) -> Option<usize> {
        if atlas.compare(from, to) == Comparison::Equal {
            return Some(0);
        }
        let next = atlas.images.iter().filter(|image| atlas.leads(from, image));
        next.filter(|image| atlas.compare(&image.version, to) != Comparison::Greater)
            .filter_map(|image| least(atlas, &image.version, to))
            .min()
            .map(|rest| rest + 1)
    }

    proptest! {
        #[test]
        fn a_path_is_allowed_and_none_is_shorter(images in catalogue(), from in 0_u8..12) {
            let atlas = Atlas::new(&images, Some("generic"), Component::Bmc);
            let (from, to) = (format!("1.{from}"), images[0].version.clone());
            prop_assume!(atlas.compare(&from, &to) == Comparison::Less);
            match atlas.path(&from, &to) {
                Ok(path) => {
                    let mut runs = from.clone();
                    for image in &path {
                        prop_assert!(atlas.leads(&runs, image));
                        runs.clone_from(&image.version);
                    }
                    prop_assert_eq!(&runs, &to);
                    prop_assert_eq!(Some(path.len()), least(&atlas, &from, &to));
                    let useful = atlas.useful(&to);
                    prop_assert!(path.iter().all(|hop| useful.iter().any(|one| std::ptr::eq(*one, *hop))));
                }
                Err(gap) => {
                    prop_assert!(gap.contains("requires"), "{}", gap);
                    prop_assert_eq!(least(&atlas, &from, &to), None);
                }
            }
        }
    }
}
