//! Names, selectors and bodies of stages.

use super::{Case, check_pipelines};

#[test]
fn every_finding_about_stages_is_as_written() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "names may not hold what run names are built with",
        text: r#"name = "a/b"
[selector]
match_labels = {}
[[stage]]
name = "s t"
kind = "bios-settings"
settings = { A = 1 }
[[stage]]
name = ""
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:1:8 error: name of a pipeline has a `/` in it | not a name | use letters, digits, `-`, `_` and `.`",
            "p.toml:5:8 error: name of a stage has a space in it | not a name | use letters, digits, `-`, `_` and `.`",
            "p.toml:9:8 error: name of a stage is empty | not a name | use letters, digits, `-`, `_` and `.`",
        ],
    },
    Case {
        claim: "two stages with one name are refused",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
[[stage]]
name = "s"
kind = "bios-version"
version = "1.60"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:9:8 error: stage `s` is there twice | again here | give one of them another name | p.toml:5:8 first here",
        ],
    },
    Case {
        claim: "two flow items with one name are refused",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
[[stage.flow]]
name = "f"
settings = { A = 1 }
[[stage.flow]]
name = "f"
settings = { B = 1 }
"#,
        findings: &[
            "p.toml:11:8 error: flow item `f` is there twice | again here | give one of them another name | p.toml:8:8 first here",
        ],
    },
    Case {
        claim: "a selector that says nothing is refused",
        text: r#"name = "p"
[selector]
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:2:1 error: `selector` selects nothing | neither `match_labels` nor `match_expressions` | write `match_labels = {}` to select every server",
        ],
    },
    Case {
        claim: "operators take the values they need",
        text: r#"name = "p"
[selector]
match_expressions = [
 { key = "a", operator = "In" },
 { key = "b", operator = "Exists", values = ["x"] },
 { key = "c", operator = "NotIn", values = [] },
]
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            r#"p.toml:4:26 error: `In` needs `values` | no values | add `values = [".."]`"#,
            "p.toml:5:36 error: `Exists` takes no `values` | not used | remove it, or use `In`",
            r#"p.toml:6:26 error: `NotIn` needs `values` | no values | add `values = [".."]`"#,
        ],
    },
    Case {
        claim: "a bmc-settings stage without a body names stage and section",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
"#,
        findings: &[
            r#"p.toml:4:1 error: stage `s` of kind `bmc-settings` has neither `settings` nor `[[stage.flow]]` | sets nothing | add `settings = { NAME = "value" }`"#,
        ],
    },
    Case {
        claim: "a bios-settings stage without a body names stage and section",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
version = "1"
"#,
        findings: &[
            r#"p.toml:4:1 error: stage `s` of kind `bios-settings` has neither `settings` nor `[[stage.flow]]` | sets nothing | add `settings = { NAME = "value" }`"#,
        ],
    },
    Case {
        claim: "a bmc-version stage without a body names stage and sections",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
"#,
        findings: &[
            "p.toml:4:1 error: stage `s` of kind `bmc-version` has no `version` | incomplete | add `version` as the BMC will state it after the update",
            r#"p.toml:4:1 error: stage `s` of kind `bmc-version` has no `image` | incomplete | add `image = { uri = ".." }` or `{ file = ".." }`"#,
        ],
    },
    Case {
        claim: "a bios-version stage without an image names stage and section",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-version"
version = "1"
"#,
        findings: &[
            r#"p.toml:4:1 error: stage `s` of kind `bios-version` has no `image` | incomplete | add `image = { uri = ".." }` or `{ file = ".." }`"#,
        ],
    },
    Case {
        claim: "a settings stage cannot have what belongs to a version stage",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
settings = { A = 1 }
image = { uri = "http://h/i" }
requires = ">= 1"
method = "auto"
targets = ["/a"]
allow_downgrade = true
"#,
        findings: &[
            "p.toml:8:1 error: stage `s` of kind `bmc-settings` cannot have `image` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-version` or `bios-version`",
            "p.toml:9:1 error: stage `s` of kind `bmc-settings` cannot have `requires` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-version` or `bios-version`",
            "p.toml:10:1 error: stage `s` of kind `bmc-settings` cannot have `method` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-version` or `bios-version`",
            "p.toml:11:1 error: stage `s` of kind `bmc-settings` cannot have `targets` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-version` or `bios-version`",
            "p.toml:12:1 error: stage `s` of kind `bmc-settings` cannot have `allow_downgrade` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-version` or `bios-version`",
        ],
    },
    Case {
        claim: "a version stage cannot have what belongs to a settings stage",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-version"
version = "1.60"
image = { uri = "http://h/i" }
settings = { A = 1 }
[[stage.flow]]
name = "f"
settings = { B = 1 }
"#,
        findings: &[
            "p.toml:9:1 error: stage `s` of kind `bios-version` cannot have `settings` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-settings` or `bios-settings`",
            "p.toml:10:9 error: stage `s` of kind `bios-version` cannot have `flow` | does not fit the stage's kind | remove it, or move it to a stage of kind `bmc-settings` or `bios-settings`",
        ],
    },
    Case {
        claim: "settings and flow together are refused",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
[[stage.flow]]
name = "f"
settings = { B = 1 }
"#,
        findings: &[
            "p.toml:7:1 error: stage `s` has both `settings` and `flow` | short for one flow item | move it into a `[[stage.flow]]` item | p.toml:8:1 the flow is here",
        ],
    },
    Case {
        claim: "empty bodies are refused",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = {}
[[stage]]
name = "t"
kind = "bios-settings"
[[stage.flow]]
name = "f"
[[stage.flow]]
name = "g"
resources = [{ uri = "{system}", set = {} }]
[[stage]]
name = "u"
kind = "bios-settings"
flow = []
"#,
        findings: &[
            "p.toml:7:12 error: stage `s` of kind `bios-settings` sets nothing | nothing in it | add an attribute, or remove the stage",
            "p.toml:11:1 error: flow item of stage `t` has no `settings`, `resources` or `actions` | sets nothing | add one, or remove the item",
            "p.toml:15:40 error: `set` is empty | sets nothing | add a property, or remove the entry",
            "p.toml:19:8 error: `stage.flow` is empty | nothing in it | give at least one",
        ],
    },
    Case {
        claim: "one attribute set twice in one stage is refused",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
[[stage.flow]]
name = "f"
settings = { A = 1 }
[[stage.flow]]
name = "g"
settings = { B = 1, A = 2 }
"#,
        findings: &[
            "p.toml:12:21 error: attribute `A` is set twice in one stage | again here | keep one of them, or move one to a later stage | p.toml:9:14 first here",
        ],
    },
    Case {
        claim: "one member of a resource set twice in one stage is refused, neighbours are not",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
resources = [
 { uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = true }, "a/b" = 1 } },
 { uri = "{manager}/NetworkProtocol", set = { NTP = { NTPServers = [] } } },
 { uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = false } } },
]
"#,
        findings: &[
            "p.toml:12:55 error: `/NTP/ProtocolEnabled` of `{manager}/NetworkProtocol` is set twice in one stage | again here | keep one of them, or move one to a later stage | p.toml:10:55 first here",
        ],
    },
    Case {
        claim: "a whole and its part in one stage are one thing set twice",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
resources = [
 { uri = "{manager}/A/", set = { N = { P = 1 }, NN = 1 } },
 { uri = "{manager}/A", set = { N = {} } },
 { uri = "{manager}/AB", set = { N = {} } },
]
"#,
        findings: &[
            "p.toml:11:33 error: `/N` of `{manager}/A` is set twice in one stage | again here | keep one of them, or move one to a later stage | p.toml:10:40 first here",
        ],
    },
];
