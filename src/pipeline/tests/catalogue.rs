//! `[[firmware]]` and `path = "auto"`.

use super::{Case, check_pipelines, findings, loaded, try_load};
use crate::pipeline::Pipeline;

/// A pipeline that wants BMC 2.00 by computed hops.
const WANTS: &str = r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "fw"
kind = "bmc-version"
version = "2.00"
path = "auto"
"#;

const IMAGES: &str = r#"
[[firmware]]
component = "bmc"
version = "2.00"
requires = ">= 1.80"
image = { uri = "http://h/200" }
[[firmware]]
component = "bmc"
version = "v1.80"   # written otherwise than required
image = { uri = "http://h/180" }
[[firmware]]
component = "bmc"
version = "3.00"
image = { uri = "http://h/300" }
[[firmware]]
component = "bios"
version = "1.00"
image = { uri = "http://h/bios" }
"#;

/// Versions of the images that the one stage may be made of.
fn versions(pipeline: &Pipeline) -> Vec<&str> {
    let body = pipeline.stages[0].kind.version();
    let images = body.and_then(|body| body.catalogue());
    let images = images.into_iter().flatten();
    images.map(|image| image.version.as_str()).collect()
}

#[test]
fn a_catalogue_may_stand_in_the_pipeline_or_in_a_file_beside_it() {
    let own = loaded(&[], &[("p.toml", &format!("{WANTS}{IMAGES}"))]);
    let beside = loaded(&[], &[("firmware.toml", IMAGES), ("p.toml", WANTS)]);
    for found in [&own, &beside] {
        assert_eq!(found.pipelines.len(), 1);
        assert_eq!(versions(&found.pipelines[0]), ["2.00", "v1.80"]);
        assert!(found.pipelines[0].computes_hops());
    }
    let (own, beside) = (&own.pipelines[0], &beside.pipelines[0]);
    assert_eq!(
        own.generation, beside.generation,
        "where it stands is no difference"
    );
}

#[test]
fn only_images_that_hops_may_be_made_of_make_another_generation() {
    let generation = |images: &str| {
        let found = loaded(&[], &[("firmware.toml", images), ("p.toml", WANTS)]);
        found.pipelines[0].generation.clone()
    };
    let known = generation(IMAGES);
    assert_eq!(generation(&IMAGES.replace("h/300", "h/other")), known);
    assert_eq!(generation(&IMAGES.replace("  # written", " # said")), known);
    assert_ne!(generation(&IMAGES.replace("h/180", "h/other")), known);
    assert_ne!(generation(&IMAGES.replace(">= 1.80", ">= 1.70")), known);
}

#[test]
fn an_image_file_counts_from_the_folder_of_its_catalogue() {
    let images = IMAGES.replace(r#"uri = "http://h/180""#, r#"file = "180.bin""#);
    let found = loaded(&[], &[("images/firmware.toml", &images), ("p.toml", WANTS)]);
    let files = found.image_files().into_iter();
    let paths: Vec<String> = files.map(|file| file.path.display().to_string()).collect();
    assert_eq!(paths, ["images/180.bin"]);
}

#[test]
fn what_is_wrong_with_an_image_is_told_with_its_place() {
    check_pipelines(CASES);
}

#[test]
fn one_version_twice_is_told_over_files() {
    let twice = "[[firmware]]\ncomponent = \"bmc\"\nversion = \"V1.80\"\nimage = { uri = \"http://h/x\" }\n";
    let of_one = twice.replace("version", "platform = \"hpe-ilo6\"\nversion");
    let files = [("a.toml", IMAGES), ("b.toml", twice), ("p.toml", WANTS)];
    assert_eq!(
        findings(&[], &files),
        [
            "b.toml:3:11 error: bmc firmware `V1.80` is there twice | again here | keep one of them, or give each the \
             `platform` that it is for | a.toml:9:11 first here"
        ]
    );
    let files = [("a.toml", IMAGES), ("b.toml", &of_one), ("p.toml", WANTS)];
    assert!(try_load(&[], &files).is_ok());
}

#[test]
fn a_file_that_only_lists_images_is_no_pipeline_and_is_checked_as_what_it_is() {
    let found = findings(
        &[],
        &[("f.toml", "canary = 1\n[[firmware]]\ncomponent = \"cpld\"\n")],
    );
    assert_eq!(
        found,
        [
            "f.toml:1:1 error: unknown key `canary` | not known here | known keys here: `firmware`",
            "f.toml:2:1 error: missing key `image` in `firmware` | in this table | `image`: What to flash",
            "f.toml:2:1 error: missing key `version` in `firmware` | in this table | `version`: The version it brings, as \
             the BMC will state it",
            "f.toml:3:13 error: `firmware.component` cannot be `cpld` | not one of its values | it can be `bmc`, `bios`",
        ]
    );
}

const CASES: &[Case] = &[
    Case {
        claim: "no catalogue at all",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1"
path = "auto"
[[firmware]]
component = "bios"
version = "1"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:8:1 error: stage `s` has no catalogue to compute hops from | no `[[firmware]]` with `component = \"bmc\"` | list the images in `[[firmware]]`, here or in a file that is read beside this one",
        ],
    },
    Case {
        claim: "a version that no image brings",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "2.10"
path = "auto"
[[firmware]]
component = "bmc"
version = "2.00"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:7:11 error: the catalogue has no bmc image of `2.10` | no image brings it | add it in `[[firmware]]`, or want one of `2.00`",
        ],
    },
    Case {
        claim: "both ways at once, and a version that is not known yet",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "${label.want}"
path = "auto"
requires = ">= 1"
image = { uri = "http://h/i" }
[[stage]]
name = "t"
kind = "bios-settings"
path = "auto"
settings = { A = 1 }
[[stage]]
name = "u"
kind = "bios-version"
version = "1"
path = "shortest"
[[firmware]]
component = "bmc"
version = "2.00"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:7:11 error: `version` of stage `s` has a variable | not known before a BMC is looked at | with `path = \"auto\"` it is a version of the catalogue; write one stage for each",
            "p.toml:9:1 error: stage `s` has both `path` and `requires` | one too many | with `path = \"auto\"` it belongs to an image of the catalogue, in `[[firmware]]` | p.toml:8:1 hops are computed here",
            "p.toml:10:1 error: stage `s` has both `path` and `image` | one too many | with `path = \"auto\"` it belongs to an image of the catalogue, in `[[firmware]]` | p.toml:8:1 hops are computed here",
            "p.toml:14:1 error: stage `t` of kind `bios-settings` cannot have `path` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-version` or `bios-version`",
            "p.toml:20:8 error: `stage.path` cannot be `shortest` | not one of its values | it can be `auto`",
        ],
    },
    Case {
        claim: "images that cannot be used",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
settings = { A = 1 }
[[firmware]]
component = "bmx"
version = "2.00"
image = { uri = "http://h/i" }
[[firmware]]
component = "bmc"
version = "${label.x}"
platform = "HPE iLO 6"
image = { uri = "http://h/i", file = "i" }
[[firmware]]
component = "bmc"
version = "1.80"
requires = ">= 1.90"
image = { uri = "h/${server.name}" }
[[firmware]]
component = "bios"
requires = "1.90"
image = { sha256 = "ab" }
"#,
        findings: &[
            "p.toml:9:13 error: `firmware.component` cannot be `bmx` | not one of its values | did you mean `bmc`? it can be `bmc`, `bios`",
            "p.toml:14:11 error: `version` of firmware `${label.x}` is not a version | no version | write it as the BMC will state it, without variables",
            "p.toml:15:12 error: `platform` cannot be `HPE iLO 6` | not the name of a platform | `redpipe inventory check` names it, such as `hpe-ilo6`; leave it out for any",
            "p.toml:16:31 error: image of firmware `${label.x}` has both `uri` and `file` | one too many | keep one of them",
            "p.toml:20:12 error: firmware `1.80` requires what is not below its hop | never met before the hop | require a version that is older than the hop, such as the hop before it | p.toml:19:11 the hop",
            "p.toml:21:17 error: image URI of firmware `1.80` has no scheme | not a URI | write `http://HOST/PATH`, or `file = \"..\"` for a file of your own",
            "p.toml:21:20 error: `${server.name}` in firmware `1.80` of kind `bmc-version` | the stage acts on the BMC, not on one server | use `${bmc.name}`, or a label of the BMC as `${label.NAME}`",
            "p.toml:22:1 error: missing key `version` in `firmware` | in this table | `version`: The version it brings, as the BMC will state it",
            "p.toml:24:12 error: `requires` cannot be `1.90` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
            "p.toml:25:20 error: `sha256` is not a SHA-256 | 2 characters, not 64 hexadecimal digits | `sha256sum FILE` prints the 64 hexadecimal digits",
        ],
    },
];
