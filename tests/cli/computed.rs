//! Hops that are computed: `plan` shows them as text and as JSON, and a file of images is found beside the pipeline.

use serde_json::{Value, json};

use crate::lab::{Lab, Setup};

const STAGE: &str = r#"
[[stage]]
name = "fw"
kind = "bmc-version"
version = "1.80"
path = "auto"
"#;

const IMAGES: &str = r#"
[[firmware]]
component = "bmc"
version = "1.80"
requires = ">= 1.60"
image = { file = "bmc-1.80.img" }
[[firmware]]
component = "bmc"
version = "1.60"
image = { file = "bmc-1.60.img" }
"#;

fn lab(images: &str) -> Lab {
    let lab = Lab::start(Setup {
        stages: STAGE,
        ..Setup::default()
    });
    std::fs::write(lab.path("pipelines/firmware.toml"), images).unwrap();
    lab
}

fn planned(lab: &Lab, exit: i32) -> Value {
    let planned = lab.redpipe(&["--output", "json", "plan"]).exits(exit);
    planned.document()["runs"][0]["stages"].clone()
}

#[test]
fn the_plan_shows_computed_hops_like_hand_written_ones_and_apply_makes_them() {
    let lab = lab(IMAGES);
    lab.redpipe(&["validate"]).exits(0);
    let text = lab.redpipe(&["plan"]).exits(3).stdout;
    for shown in [
        "  fw/1.60  (bmc-version)\n    bmc  update  `1.50` -> `1.60`",
        "  fw/1.80  (bmc-version)\n    bmc  update  `1.60` -> `1.80`",
    ] {
        assert!(text.contains(shown), "{text}");
    }
    let stages = planned(&lab, 3);
    let hop = |index: usize| {
        let stage = &stages[index];
        let target = &stage["targets"][0];
        json!([
            stage["name"],
            target["action"],
            target["from"],
            target["to"]
        ])
    };
    assert_eq!(hop(0), json!(["fw/1.60", "update", "1.50", "1.60"]));
    assert_eq!(hop(1), json!(["fw/1.80", "update", "1.60", "1.80"]));
    lab.redpipe(&["apply", "--yes"]).exits(0);
    lab.check_hops("mock-1");
    let status = lab
        .redpipe(&["--output", "json", "status", "p/mock-1"])
        .exits(0);
    let stages = &status.document()["runs"][0]["stages"];
    assert_eq!(
        [&stages[0]["name"], &stages[1]["name"]],
        ["fw/1.60", "fw/1.80"]
    );
    lab.redpipe(&["plan"]).exits(0);
    lab.redpipe(&["drift"]).exits(0);
}

#[test]
fn a_plan_without_a_path_names_the_missing_image_and_is_held() {
    let all = IMAGES.split_once("[[firmware]]\ncomponent = \"bmc\"\nversion = \"1.60\"");
    let lab = lab(all.unwrap().0);
    let stages = planned(&lab, 5);
    let target = &stages[0]["targets"][0];
    assert_eq!(
        (&stages[0]["name"], &target["action"]),
        (&json!("fw/1.80"), &json!("blocked"))
    );
    assert_eq!(
        target["reason"],
        "no path from `1.50` to `1.80`: `1.80` requires `>= 1.60`, and an image of such a version is missing from the \
         catalogue for the bmc of platform `generic`"
    );
}

#[test]
fn a_pipeline_named_without_its_catalogue_is_told_what_to_read_with_it() {
    let lab = lab(IMAGES);
    let told = lab
        .redpipe(&["validate", "pipelines/p.toml"])
        .exits(2)
        .stderr;
    for shown in [
        "stage `fw` has no catalogue to compute hops from",
        "in a file that is read beside this one",
        "pipelines/p.toml:11:1",
    ] {
        assert!(told.contains(shown), "{told}");
    }
    lab.redpipe(&["validate", "pipelines/p.toml", "pipelines/firmware.toml"])
        .exits(0);
}
