//! Values inside stages: resources, variables, images and what may cut redpipe off.

use super::{Case, check_pipelines};

#[test]
fn every_finding_about_values_is_as_written() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "a resource starts at a link",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
resources = [
 { uri = "/redfish/v1/Managers/1", set = { A = 1 } },
 { uri = "{managers}/X", set = { A = 1 } },
 { uri = "{system}/Bios", set = { A = 1 } },
 { uri = "{root}", set = { A = 1 } },
 { uri = "{chassis}/Power", set = { A = 1 } },
]
"#,
        findings: &[
            "p.toml:10:10 error: resource URI `/redfish/v1/Managers/1` starts at no link | a guessed path | start it with `{manager}`, `{system}`, `{chassis}` or `{root}`, such as `{manager}/NetworkProtocol`",
            "p.toml:11:10 error: resource URI `{managers}/X` starts at no link | a guessed path | start it with `{manager}`, `{system}`, `{chassis}` or `{root}`, such as `{manager}/NetworkProtocol`",
            "p.toml:12:11 error: `{system}` in stage `s` of kind `bmc-settings` | the stage acts on the BMC, not on one server | move the entry to a stage of kind `bios-settings`",
        ],
    },
    Case {
        claim: "a faulty variable is underlined where it stands",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
settings = { A = "x ${bmc.nmae}", B = "${server.name}", C = "${env.X", D = "$$${label.rack}", E = ["${x.y}"] }
"#,
        findings: &[
            "p.toml:7:21 error: variable `${bmc.nmae}` is not known | not a variable | use `${bmc.name}`, `${server.name}`, `${label.NAME}`, `${env.NAME}` or `${file.PATH}`; `$$` is a plain `$`",
            "p.toml:7:40 error: `${server.name}` in stage `s` of kind `bmc-settings` | the stage acts on the BMC, not on one server | use `${bmc.name}`, or a label of the BMC as `${label.NAME}`",
            "p.toml:7:62 error: variable is not closed | not a variable | close it with `}`, or write `$$` for a plain `$`",
            "p.toml:7:101 error: variable `${x.y}` is not known | not a variable | use `${bmc.name}`, `${server.name}`, `${label.NAME}`, `${env.NAME}` or `${file.PATH}`; `$$` is a plain `$`",
        ],
    },
    Case {
        claim: "durations have a unit",
        text: r#"name = "p"
[selector]
match_labels = {}
[defaults]
timeout = "soon"
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
timeout = "90"
[[stage]]
name = "t"
kind = "bios-settings"
settings = { A = 1 }
timeout = "0s"
"#,
        findings: &[
            r#"p.toml:5:11 error: `timeout` is not a duration | not a duration | write a number and `ms`, `s`, `m`, `h` or `d`, such as "90s" or "45m""#,
            r#"p.toml:10:11 error: `timeout` is not a duration | not a duration | write a number and `ms`, `s`, `m`, `h` or `d`, such as "90s" or "45m""#,
            "p.toml:15:11 error: `timeout` is zero | no time at all | leave it out for the usual time",
        ],
    },
    Case {
        claim: "a digest has 64 hexadecimal digits",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1"
image = { uri = "http://h/i", sha256 = "..." }
"#,
        findings: &[
            "p.toml:8:40 error: `sha256` is not a SHA-256 | 3 characters, not 64 hexadecimal digits | `sha256sum FILE` prints the 64 hexadecimal digits",
        ],
    },
    Case {
        claim: "an image is one thing",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-version"
version = "1"
image = { uri = "http://h/i", file = "a" }
[[stage]]
name = "t"
kind = "bmc-version"
version = "2"
image = { }
[[stage]]
name = "u"
kind = "bmc-version"
version = "3"
image = { uri = "images/a" }
[[stage]]
name = "v"
kind = "bmc-version"
version = "4"
image = { file = "${env.X}" }
"#,
        findings: &[
            "p.toml:8:31 error: image of stage `s` has both `uri` and `file` | one too many | keep one of them",
            r#"p.toml:13:9 error: image of stage `t` has neither `uri` nor `file` | no image | add `uri = "http://.."` or `file = ".."`"#,
            r#"p.toml:18:17 error: image URI of stage `u` has no scheme | not a URI | write `http://HOST/PATH`, or `file = ".."` for a file of your own"#,
            "p.toml:23:18 error: `file` is not a path | a path without variables stands here | name a file, relative to this one; variables work in `uri`",
        ],
    },
    Case {
        claim: "a stage whose only value is bad is not also said to set nothing",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 2026-01-01 }
"#,
        findings: &[
            "p.toml:7:18 error: `stage.settings.A` is a date, which JSON does not have | found a date | put it in quotes",
        ],
    },
    Case {
        claim: "targets name something",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "v1"
kind = "bmc-version"
version = "1"
image = { uri = "http://h/i" }
targets = []
"#,
        findings: &[
            "p.toml:9:11 error: `targets` is empty | names nothing | name URIs, or leave it out so that redpipe finds them",
        ],
    },
    Case {
        claim: "settings that can cut redpipe off need severs",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bmc-settings"
[[stage.flow]]
name = "f"
resources = [
 { uri = "{manager}/EthernetInterfaces/1", set = { IPv4StaticAddresses = [] } },
 { uri = "{manager}/EthernetInterfaces/1", set = { VLAN = { VLANEnable = true } } },
 { uri = "{manager}/NetworkProtocol", set = { HTTPS = { Port = 444 } } },
 { uri = "{manager}/NetworkProtocol", set = { HostName = "a", SSH = { Port = 22 } } },
 { uri = "{manager}/NetworkProtocol", set = { FQDN = "a" } },
 { uri = "{root}/AccountService/Accounts/1", set = { Password = "hunter2" } },
 { uri = "{root}/AccountService", set = { AccountLockoutThreshold = 0 } },
 { uri = "{root}/SessionService", set = { SessionTimeout = 60 } },
]
"#,
        findings: &[
            "p.toml:10:52 error: an address can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:11:52 error: a VLAN can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:12:47 error: HTTPS can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:13:47 error: a host name can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:14:47 error: a host name can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:15:10 error: an account can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:16:43 error: an account lockout can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
            "p.toml:17:10 error: the session service can cut redpipe's own connection | needs `severs = true` | set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then",
        ],
    },
];
