//! What files may say one day is refused for now, never ignored.

use super::{Case, check_pipelines};

#[test]
fn everything_unsupported_is_refused_by_name() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "maintenance beyond enforced",
        text: r#"name = "p"
[selector]
match_labels = {}
[maintenance]
policy = "owner-approval"
window = { days = ["Sat"] }
before = ["a"]
after = ["b"]
held_for = "72h"
approval_ttl = "7d"
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            r#"p.toml:5:10 error: `maintenance.policy = "owner-approval"` is not supported yet | would wait for a person to approve each run | write `policy = "enforced"` and run `redpipe apply` when the owner agrees"#,
            "p.toml:6:1 error: `maintenance.window` is not supported yet | would run disruptive steps only inside the window | remove it and run `redpipe apply` inside the window",
            "p.toml:7:1 error: `maintenance.before` is not supported yet | would run a hook before the first disruptive step | remove it and drain the servers before `redpipe apply`",
            "p.toml:8:1 error: `maintenance.after` is not supported yet | would run a hook at the end of a run | remove it and undrain the servers after `redpipe apply`",
            "p.toml:9:1 error: `held_for` is not supported yet | would end a held run as failed after this time | remove it; a held run waits for a person",
            "p.toml:10:1 error: `approval_ttl` is not supported yet | would let an approval run out | remove it; there are no approvals yet",
        ],
    },
    Case {
        claim: "held_for and approval_ttl of a file",
        text: r#"held_for = "72h"
approval_ttl = "7d"
name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:1:1 error: `held_for` is not supported yet | would end a held run as failed after this time | remove it; a held run waits for a person",
            "p.toml:2:1 error: `approval_ttl` is not supported yet | would let an approval run out | remove it; there are no approvals yet",
        ],
    },
    Case {
        claim: "a firmware catalogue and computed hops",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1"
path = "auto"
[[firmware]]
component = "bmc"
"#,
        findings: &[
            "p.toml:8:1 error: `path` is not supported yet | would compute the hops to this version from a catalogue | remove it and write each hop as a `[[stage]]` of its own",
            "p.toml:9:3 error: `[[firmware]]` is not supported yet | would be a catalogue from which hops are computed | remove it and write each hop as a `[[stage]]` of its own",
        ],
    },
    Case {
        claim: "actions",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
actions = [{ uri = "x" }]
[[stage]]
name = "t"
kind = "bmc-settings"
actions = []
"#,
        findings: &[
            "p.toml:9:1 error: `actions` is not supported yet | would call Redfish actions | remove it; `settings` and `resources` set values",
            "p.toml:13:1 error: `actions` is not supported yet | would call Redfish actions | remove it; `settings` and `resources` set values",
        ],
    },
    Case {
        claim: "severs",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
resources = [
 { uri = "{manager}/NetworkProtocol", set = { HostName = "a" }, severs = true },
 { uri = "{manager}/NetworkProtocol", set = { SSH = { Port = 22 } }, severs = false },
]
"#,
        findings: &[
            "p.toml:10:65 error: `severs = true` is not supported yet | would agree that redpipe may cut its own connection to the BMC | remove the entry and make this change by hand",
        ],
    },
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
            r#"p.toml:9:14 error: `tls_change = "accept-in-outage"` is not supported yet | would trust a certificate that changes inside an outage | write `tls_change = "hold"` and run `redpipe trust BMC` after the change"#,
        ],
    },
    Case {
        claim: "http-push and anything but keeping everything",
        text: r#"name = "p"
[selector]
match_labels = {}
[defaults]
method = "http-push"
[[stage]]
name = "s"
kind = "bmc-version"
version = "1.60"
image = { uri = "http://h/i" }
method = "http-push"
preserve = "none"
[[stage]]
name = "t"
kind = "bios-version"
version = "1.60"
image = { uri = "http://h/i" }
preserve = "all"
"#,
        findings: &[
            r#"p.toml:5:10 error: `method = "http-push"` is not supported yet | would push the bytes of the image alone to `HttpPushUri` | write `method = "auto"`, `"multipart-push"` or `"simple-update"`"#,
            r#"p.toml:11:10 error: `method = "http-push"` is not supported yet | would push the bytes of the image alone to `HttpPushUri` | write `method = "auto"`, `"multipart-push"` or `"simple-update"`"#,
            "p.toml:12:1 error: `preserve` is not supported yet | would let an update wipe a part of the configuration | remove it; an update keeps everything that the platform can keep",
        ],
    },
];
