//! `actions` of flow items: what is refused, where, and what to write instead.

use super::{Case, check_pipelines};

#[test]
fn actions_need_a_place_a_probe_and_a_harmless_name() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "an action without a probe, and one right in a stage",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
actions = [{ uri = "{manager}/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia" }]
[[stage]]
name = "t"
kind = "bmc-settings"
actions = []
"#,
        findings: &[
            "p.toml:9:12 error: missing key `satisfied_when` in `stage.flow.actions` | in this table | `satisfied_when`: What is read before and after: the action is sent only where this does not hold",
            "p.toml:13:1 error: `actions` right in stage `t` | belongs in a flow item | move it into a `[[stage.flow]]` item",
        ],
    },
    Case {
        claim: "an action in a stage that acts on servers",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
[[stage.flow]]
name = "f"
actions = [
 { uri = "{system}/Actions/Oem.X", satisfied_when = { uri = "{system}", set = { A = 1 } } },
]
"#,
        findings: &[
            "p.toml:10:2 error: `actions` in stage `s` of kind `bios-settings` | acts on the BMC | move it to a stage of kind `bmc-settings`",
        ],
    },
    Case {
        claim: "actions that flash, reset or cut the connection",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
actions = [
 { uri = "{manager}/Actions/Manager.ResetToDefaults", satisfied_when = { uri = "{manager}", set = { A = 1 } } },
 { uri = "{root}/UpdateService/Actions/Oem/X.Go", satisfied_when = { uri = "{manager}", set = { B = 1 } } },
 { uri = "{root}/AccountService/Accounts", satisfied_when = { uri = "{manager}", set = { C = 1 } } },
 { uri = "{root}/CertificateService/Actions/CertificateService.ReplaceCertificate", satisfied_when = { uri = "{manager}", set = { D = 1 } } },
 { uri = "{chassis}/Actions/Oem/NvidiaChassis.AuxPowerReset", satisfied_when = { uri = "{manager}", set = { E = 1 } } },
 { uri = "{manager}/Actions/Oem/X.VirtualPowerCycle", satisfied_when = { uri = "{manager}", set = { F = 1 } } },
]
"#,
        findings: &[
            "p.toml:10:10 error: `{manager}/Actions/Manager.ResetToDefaults` resets, which no setting may do | not a setting | redpipe makes the resets that its stages need, after looking; make any other by hand",
            "p.toml:11:10 error: `{root}/UpdateService/Actions/Oem/X.Go` flashes, which no setting may do | not a setting | write a stage of kind `bmc-version` or `bios-version`",
            "p.toml:12:10 error: an account can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:13:10 error: the certificate can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:14:10 error: `{chassis}/Actions/Oem/NvidiaChassis.AuxPowerReset` resets, which no setting may do | not a setting | redpipe makes the resets that its stages need, after looking; make any other by hand",
            "p.toml:15:10 error: `{manager}/Actions/Oem/X.VirtualPowerCycle` cuts power, which no setting may do | not a setting | redpipe makes the resets that its stages need, after looking; make any other by hand",
        ],
    },
    Case {
        claim: "a probe that cannot be read, one that starts nowhere, and one that is set in the same stage",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
resources = [{ uri = "{manager}/NetworkProtocol", set = { SNMP = { Port = 1 } } }]
actions = [
 { uri = "{manager}/Actions/X.A", satisfied_when = { uri = "{manager}", set = { Password = "x" } } },
 { uri = "{manager}/Actions/X.B", satisfied_when = { uri = "/redfish/v1", set = { A = 1 } } },
 { uri = "{manager}/Actions/X.C", satisfied_when = { uri = "{manager}/NetworkProtocol", set = { SNMP = { Port = 2 } } } },
 { uri = "{manager}/Actions/X.D", satisfied_when = { uri = "{manager}", set = {} } },
]
"#,
        findings: &[
            "p.toml:11:81 error: `Password` in `satisfied_when` is never shown | reads back as nothing | name a property that shows that the action was done",
            "p.toml:12:60 error: resource URI `/redfish/v1` starts at no link | a guessed path | start it with `{manager}`, `{system}`, `{chassis}` or `{root}`, such as `{manager}/NetworkProtocol`",
            "p.toml:13:106 error: `/SNMP/Port` of `{manager}/NetworkProtocol` is set twice in one stage | again here | keep one of them, or move one to a later stage | p.toml:9:68 first here",
            "p.toml:14:79 error: `set` is empty | sets nothing | add a property, or remove the entry",
        ],
    },
];
