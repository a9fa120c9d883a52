//! What holds for any two texts, also for such as no BMC ever sent.

use proptest::prelude::*;

use crate::model::component::Component;
use crate::model::version::{Comparison, FirmwareVersion, compare, is_absent};

const PLATFORMS: [&str; 8] = [
    "generic",
    "hpe-ilo5",
    "dell-idrac9",
    "lenovo-xcc",
    "supermicro",
    "nvidia",
    "openbmc",
    "cisco",
];

/// Texts made of the pieces of real ones, so that rules and near misses of rules are hit.
fn version() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "iLO 5 ",
        "iLO 6 ",
        "U54 ",
        "A42 ",
        "v",
        "1",
        "2",
        "02",
        "10",
        "2.72",
        "1.60",
        ".",
        ".",
        ".",
        "-",
        "_",
        " ",
        "(",
        ")",
        "~",
        "rc",
        "rc1",
        "dev",
        "a",
        "b",
        "1A",
        "b6",
        "CDI3",
        "64M",
        "A4A",
        "22J-1.51",
        "U8E1",
        "GB200Nvl-24.12-",
        "E",
        "8",
        "0x",
        "0f",
        "(12/04/2023)",
        " Sep 04 2022",
        "2023-07-05",
        "g12d8072e6b",
        "HGX-22.10-1",
        "-rc34",
        "BF",
        "N/A",
        "00.02.0134.0000_n0",
        "3.30.30.30",
        "BMC_X12AST2600-F201MS_20220627_",
        "2.0(13e)",
        "\u{0}",
        "é",
        "٣",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => version(), 2 => "[0-9]{1,3}(\\.[0-9]{1,4}){0,4}[a-z]?", 1 => ".{0,40}", 1 => "\\PC{0,300}"]
}

/// Texts so alike that three of them often have an order.
fn alike() -> impl Strategy<Value = String> {
    prop_oneof![
        "[01]\\.[0-2][0-2AbBf]?(\\.[0-2][Ab]?)?([-~]rc[12]|-[12])?",
        "0[0-1]\\.[01][0-9A-F]\\.[01][0-9A-F]",
        "(iLO [56] v|v|)[12]\\.0[12]( Sep 0[12] 2022)?",
        "(U54 v|A42 v|v|)[12]\\.0[12]( \\(0[12]/01/2022\\))?",
        "[1-3]\\.[01]0\\.[01]0\\.[01]0",
        "(CDI3|TGBT|)(1|2|A)[12A]M([- ][12]\\.00)?",
    ]
}

fn platform() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(PLATFORMS.to_vec()))
}

fn component() -> impl Strategy<Value = Option<Component>> {
    prop::option::of(prop::sample::select(vec![Component::Bmc, Component::Bios]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_version_equals_itself_and_nothing_absent_does(text in any_text(), p in platform(), c in component()) {
        let wanted = if is_absent(&text) { Comparison::Incomparable } else { Comparison::Equal };
        prop_assert_eq!(compare(&text, &text, p, c).comparison, wanted);
    }

    #[test]
    fn exchanged_sides_give_the_reversed_answer_by_the_same_rule(
        a in any_text(), b in any_text(), p in platform(), c in component(),
    ) {
        let (there, back) = (compare(&a, &b, p, c), compare(&b, &a, p, c));
        prop_assert_eq!(there.comparison, back.comparison.reversed(), "{:?} {:?}", there, back);
    }

    #[test]
    fn decoration_changes_no_answer(a in version(), b in version(), p in platform(), c in component()) {
        prop_assume!(!a.starts_with(['v', 'V']));
        let dressed = format!("  {a}\u{0} ");
        prop_assert_eq!(compare(&a, &b, p, c).comparison, compare(&dressed, &b, p, c).comparison);
    }

    #[test]
    fn plain_numbers_have_a_total_order(
        a in prop::collection::vec(0_u32..30, 1..4), b in prop::collection::vec(0_u32..30, 1..4),
        c in prop::collection::vec(0_u32..30, 1..4),
    ) {
        let text = |v: &[u32]| v.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        let sign = |x: &[u32], y: &[u32]| FirmwareVersion::new(text(x)).compare(&text(y).into(), None, None).comparison;
        let (ab, bc, ac) = (sign(&a, &b), sign(&b, &c), sign(&a, &c));
        prop_assert!(ab != Comparison::Incomparable);
        if ab == bc {
            prop_assert_eq!(ac, ab);
        }
    }

    #[test]
    fn no_three_versions_run_in_a_circle(
        a in alike(), b in alike(), c in alike(), p in platform(), component in component(),
    ) {
        let sign = |x: &str, y: &str| compare(x, y, p, component).comparison;
        if sign(&a, &b) == Comparison::Less && sign(&b, &c) == Comparison::Less {
            let ends = sign(&a, &c);
            prop_assert!(
                matches!(ends, Comparison::Less | Comparison::Incomparable),
                "{a:?} < {b:?} < {c:?}, and yet {ends:?}"
            );
        }
    }

    #[test]
    fn later_and_same_carry_over_within_one_rule(
        numbers in prop::collection::vec((1_u8..4, 0_u8..3, prop::bool::ANY, 0_u8..3), 3..=3),
    ) {
        let texts: Vec<String> = numbers
            .iter()
            .map(|(major, minor, has_v, date)| {
                let date = ["", " (01/02/2023)", " (01/03/2023)"].get(usize::from(*date)).copied().unwrap_or("");
                format!("U54 {}{major}.{minor:02}{date}", if *has_v { "v" } else { "" })
            })
            .collect();
        if let [a, b, c] = texts.as_slice() {
            let sign = |x: &str, y: &str| compare(x, y, None, None).comparison;
            // Sameness carries over only where dates do not tell the outer two apart through an undated middle.
            if sign(a, b) == sign(b, c) && sign(a, b) != Comparison::Equal {
                prop_assert_eq!(sign(a, c), sign(a, b));
            }
        }
    }
}
