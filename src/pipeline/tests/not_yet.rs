//! What files may say one day is refused for now, never ignored.

use super::{Case, check_pipelines};

#[test]
fn everything_unsupported_is_refused_by_name() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "a certificate that changes",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1.60"
image = { uri = "http://h/i" }
tls_change = "accept-in-outage"
[[stage]]
name = "t"
kind = "bmc-settings"
settings = { A = 1 }
tls_change = "hold"
"#,
        findings: &[
            r#"p.toml:9:14 error: `tls_change = "accept-in-outage"` is not supported yet | would trust a certificate that changes inside this stage's outage | write it on the BMC in the inventory, or in `[defaults]` there"#,
        ],
    },
    Case {
        claim: "what an update keeps is a word or names",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1.60"
image = { uri = "http://h/i" }
preserve = "some"
[[stage]]
name = "t"
kind = "bios-version"
version = "1.60"
image = { uri = "http://h/i" }
preserve = ["PreserveCfg", 1]
"#,
        findings: &[
            "p.toml:9:12 error: `stage.preserve` cannot be `some` | not one of its values | it can be `all`, `none`",
            "p.toml:15:28 error: `stage.preserve` must be text | found a whole number | put it in quotes",
        ],
    },
];
