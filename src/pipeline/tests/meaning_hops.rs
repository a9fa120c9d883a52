//! Versions inside stages: hops, guards and what a hop requires.

use super::{Case, check_pipelines};

#[test]
fn every_finding_about_versions_is_as_written() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "guards are versions",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
version = ""
[[stage]]
name = "t"
kind = "bios-settings"
settings = { A = 1 }
match = "exact"
[[stage]]
name = "u"
kind = "bios-settings"
settings = { A = 1 }
version = "${label.v}"
"#,
        findings: &[
            "p.toml:8:11 error: `version` of stage `s` is not a version | no version | write it as the BMC states it, without variables",
            r#"p.toml:13:9 error: stage `t` has `match = "exact"` and no `version` | matches what? | add `version`, or remove `match`"#,
            "p.toml:18:11 error: `version` of stage `u` is not a version | no version | write it as the BMC states it, without variables",
        ],
    },
    Case {
        claim: "a hop cannot require its own version or a later one",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1.60"
requires = ">= 1.70"
image = { uri = "http://h/i" }
[[stage]]
name = "t"
kind = "bmc-version"
version = "1.80"
requires = "< 1.90"
image = { uri = "http://h/i" }
[[stage]]
name = "u"
kind = "bmc-version"
version = "2.00"
requires = "= v2.00"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:8:12 error: stage `s` requires what is not below its hop | never met before the hop | require a version that is older than the hop, such as the hop before it | p.toml:7:11 the hop",
            "p.toml:20:12 error: stage `u` requires what is not below its hop | never met before the hop | require a version that is older than the hop, such as the hop before it | p.toml:19:11 the hop",
        ],
    },
    Case {
        claim: "requires is a comparison",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "v1"
kind = "bmc-version"
version = "1"
image = { uri = "http://h/i" }
requires = "1.60"
[[stage]]
name = "v2"
kind = "bmc-version"
version = "2"
image = { uri = "http://h/i" }
requires = ">= "
[[stage]]
name = "v3"
kind = "bmc-version"
version = "3"
image = { uri = "http://h/i" }
requires = "=> 1"
[[stage]]
name = "v4"
kind = "bmc-version"
version = "4"
image = { uri = "http://h/i" }
requires = ">== 1"
[[stage]]
name = "v5"
kind = "bmc-version"
version = "5"
image = { uri = "http://h/i" }
requires = ">= ${label.v}"
[[stage]]
name = "v6"
kind = "bmc-version"
version = "6"
image = { uri = "http://h/i" }
requires = "> N/A"
"#,
        findings: &[
            "p.toml:9:12 error: `requires` cannot be `1.60` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
            "p.toml:15:12 error: `requires` cannot be `>=` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
            "p.toml:21:12 error: `requires` cannot be `=> 1` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
            "p.toml:27:12 error: `requires` cannot be `>== 1` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
            "p.toml:33:12 error: `requires` cannot be `>= ${label.v}` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
            "p.toml:39:12 error: `requires` cannot be `> N/A` | not a comparison with a version | write `>= VERSION`; `>`, `=`, `<=`, `<` and `!=` work too",
        ],
    },
    Case {
        claim: "descending hops of one component are refused, whatever stands between them",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "v1.80"
kind = "bmc-version"
version = "1.80"
image = { uri = "http://h/i" }
[[stage]]
name = "x"
kind = "bios-version"
version = "U54 v2.50"
image = { uri = "http://h/i" }
[[stage]]
name = "any"
kind = "bmc-version"
version = "${label.v}"
image = { uri = "http://h/i" }
[[stage]]
name = "v1.60"
kind = "bmc-version"
version = "1.60"
image = { uri = "http://h/i" }
[[stage]]
name = "again"
kind = "bmc-version"
version = "1.60 "
image = { uri = "http://h/i" }
[[stage]]
name = "y"
kind = "bios-version"
version = "U54 v2.10"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:22:11 error: hop to `1.60` comes after the later version `1.80` | goes down | put the hops of a component in ascending order | p.toml:7:11 the later version is here",
            "p.toml:27:11 error: hop to `1.60 ` comes after the later version `1.80` | goes down | put the hops of a component in ascending order | p.toml:7:11 the later version is here",
            "p.toml:32:11 error: hop to `U54 v2.10` comes after the later version `U54 v2.50` | goes down | put the hops of a component in ascending order | p.toml:12:11 the later version is here",
        ],
    },
    Case {
        claim: "hops that cannot be compared are a warning",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "a"
kind = "bmc-version"
version = "iLO 5 v2.72"
image = { uri = "http://h/i" }
[[stage]]
name = "b"
kind = "bmc-version"
version = "iLO 6 v1.60"
image = { uri = "http://h/i" }
[[stage]]
name = "c"
kind = "bmc-version"
version = "iLO 5 v2.50"
image = { uri = "http://h/i" }
"#,
        findings: &[
            "p.toml:12:11 warning: hops `iLO 5 v2.72` and `iLO 6 v1.60` cannot be compared | their order is not known | `redpipe versions 'iLO 5 v2.72' 'iLO 6 v1.60'` shows why; the stage will be blocked | p.toml:7:11 the hop before it",
            "p.toml:17:11 error: hop to `iLO 5 v2.50` comes after the later version `iLO 5 v2.72` | goes down | put the hops of a component in ascending order | p.toml:7:11 the later version is here",
        ],
    },
    Case {
        claim: "absent versions are none",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "a"
kind = "bmc-version"
version = "N/A"
image = { uri = "http://h/i" }
[[stage]]
name = "b"
kind = "bios-settings"
settings = { A = 1 }
version = "unknown"
"#,
        findings: &[
            "p.toml:7:11 error: `version` of stage `a` is not a version | no version | write it as the BMC will state it",
            "p.toml:13:11 error: `version` of stage `b` is not a version | no version | write it as the BMC states it, without variables",
        ],
    },
    Case {
        claim: "exact and allow_downgrade stand on the last hop of a component only",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "a"
kind = "bmc-version"
version = "1.60"
image = { uri = "http://h/i" }
match = "exact"
allow_downgrade = true
[[stage]]
name = "b"
kind = "bios-version"
version = "2.10"
image = { uri = "http://h/i" }
match = "exact"
[[stage]]
name = "c"
kind = "bmc-version"
version = "1.80"
image = { uri = "http://h/i" }
match = "exact"
allow_downgrade = true
"#,
        findings: &[
            r#"p.toml:9:1 error: `match = "exact"` on stage `a`, which is not its component's last hop | counts only on the last hop | remove it, or move it to the component's last version stage"#,
            "p.toml:10:1 error: `allow_downgrade` on stage `a`, which is not its component's last hop | counts only on the last hop | remove it, or move it to the component's last version stage",
        ],
    },
    Case {
        claim: "exact and allow_downgrade never come from defaults",
        text: r#"name = "p"
[selector]
match_labels = {}
[defaults]
match = "exact"
allow_downgrade = true
[[stage]]
name = "v1.60"
kind = "bmc-version"
version = "1.60"
image = { uri = "http://h/i" }
"#,
        findings: &[
            r#"p.toml:5:1 error: `match = "exact"` in `[defaults]` would hold for every hop | counts only on a component's last hop | move it to the last version stage of the component that needs it"#,
            "p.toml:6:1 error: `allow_downgrade` in `[defaults]` would hold for every hop | counts only on a component's last hop | move it to the last version stage of the component that needs it",
        ],
    },
];
