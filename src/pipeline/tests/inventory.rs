//! Everything that can be wrong with an inventory file.

use super::{Case, check_inventories};

#[test]
fn every_finding_about_inventories_is_as_written() {
    check_inventories(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "every unknown key and wrong type is found",
        text: r#"[default]
[defaults]
tls = 3
auth = "digest"
[defaults.pace]
burst = 0
rps = 3
settle_for = 60
[[bmc]]
name = "a"
adress = "h"
labels = { rack = 4 }
[[bmc.server]]
system = 1
"#,
        findings: &[
            "i.toml:1:2 error: unknown key `default` | not known here | did you mean `defaults`?",
            "i.toml:3:7 error: `defaults.tls` must be text or a table | found a whole number | write text or a table",
            "i.toml:4:8 error: `defaults.auth` cannot be `digest` | not one of its values | it can be `auto`, `session`, `basic`, `none`",
            "i.toml:6:9 error: `defaults.pace.burst` is too small | too small | use 1 or more",
            "i.toml:7:1 error: unknown key `rps` in `defaults.pace` | not known here | known keys here: `burst`, `in_flight`, `lost_update`, `probe_for`, `requests_per_second`, `settle_for`, `settle_reads`, `task_poll`",
            "i.toml:8:14 error: `defaults.pace.settle_for` must be text | found a whole number | put it in quotes",
            r#"i.toml:9:1 error: bmc `a` has no credentials | nobody to log in as | add `credentials = "NAME"` here or in `[defaults]`, or `auth = "none"`"#,
            "i.toml:11:1 error: unknown key `adress` in `bmc` | not known here | did you mean `address`?",
            "i.toml:12:19 error: `bmc.labels.rack` must be text | found a whole number | put it in quotes",
            "i.toml:13:1 error: missing key `name` in `bmc.server` | in this table | `name`: Unique name",
            "i.toml:14:10 error: `bmc.server.system` must be text | found a whole number | put it in quotes",
        ],
    },
    Case {
        claim: "what must be there is named",
        text: r#"[credentials.lab]
[[bmc]]
credentials = "lab"
[[bmc.server]]
"#,
        findings: &[
            r#"i.toml:1:1 error: missing key `password` in `credentials.lab` | in this table | `password`: Where the password is, such as `{ env = "BMC_PASSWORD" }`"#,
            "i.toml:1:1 error: missing key `username` in `credentials.lab` | in this table | `username`: Account name",
            "i.toml:2:1 error: missing key `address` in `bmc` | in this table | `address`: Host, `host:port` or URL; HTTPS unless it says `http://`",
            "i.toml:2:1 error: missing key `name` in `bmc` | in this table | `name`: Unique name",
            "i.toml:4:1 error: missing key `name` in `bmc.server` | in this table | `name`: Unique name",
        ],
    },
    Case {
        claim: "credentials say one thing",
        text: r#"[credentials.a]
username = ""
password = { env = "A", file = "b" }
[credentials.b]
username = "b"
password = {}
[credentials.c]
username = "c"
password = { command = [] }
[credentials.d]
username = "d"
password = { env = "" }
[credentials.e]
username = "e"
password = "hunter2"
"#,
        findings: &[
            "i.toml:2:12 error: `username` of credentials `a` is empty | no account | write the account's name",
            "i.toml:3:12 error: `credentials.a.password` says more than one thing | too many keys | keep one of `command`, `env`, `file`, `plain`",
            "i.toml:6:12 error: `credentials.b.password` is empty | nothing in it | give one of `command`, `env`, `file`, `plain`",
            r#"i.toml:9:24 error: `command` of credentials `c` names no program | nothing to run | write `command = ["pass", "show", "bmc/lab"]`"#,
            "i.toml:12:20 error: `env` is empty | names nothing | name the env",
            "i.toml:15:12 error: `credentials.e.password` must be a table | found text | write a table with `command`, `env`, `file`, `plain`",
        ],
    },
    Case {
        claim: "a literal password is a warning",
        text: r#"[credentials.lab]
username = "admin"
password = { plain = "hunter2" }
"#,
        findings: &[
            r#"i.toml:3:14 warning: the password of credentials `lab` is written in the file | everybody who reads the file knows it | use `{ env = ".." }`, `{ file = ".." }` or `{ command = [..] }`"#,
        ],
    },
    Case {
        claim: "dangling credentials are found",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[defaults]
credentials = "lba"
[[bmc]]
name = "a"
address = "h"
credentials = "office"
"#,
        findings: &[
            "i.toml:5:15 error: credentials `lba` are not defined | no such `[credentials.NAME]` | did you mean `lab`?",
            "i.toml:9:15 error: credentials `office` are not defined | no such `[credentials.NAME]` | add `[credentials.office]` to an inventory file",
        ],
    },
    Case {
        claim: "a BMC without credentials is found",
        text: r#"[[bmc]]
name = "a"
address = "h"
[[bmc]]
name = "b"
address = "i"
auth = "none"
"#,
        findings: &[
            r#"i.toml:1:1 error: bmc `a` has no credentials | nobody to log in as | add `credentials = "NAME"` here or in `[defaults]`, or `auth = "none"`"#,
        ],
    },
    Case {
        claim: "names and addresses are there once",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "10.0.0.1"
credentials = "lab"
[[bmc.server]]
name = "s"
[[bmc]]
name = "a"
address = "https://10.0.0.1:443/"
credentials = "lab"
[[bmc.server]]
name = "s"
[[bmc]]
name = "b c"
address = "h"
credentials = "lab"
"#,
        findings: &[
            "i.toml:11:8 error: bmc `a` is there twice | again here | give one of them another name | i.toml:5:8 first here",
            "i.toml:12:11 error: bmc `a` has the address of bmc `a` | again here | list each BMC once, with all its servers | i.toml:6:11 first here",
            "i.toml:15:8 error: server `s` is there twice | again here | give one of them another name | i.toml:9:8 first here",
            "i.toml:17:8 error: name of a bmc has a space in it | not a name | use letters, digits, `-`, `_` and `.`",
        ],
    },
    Case {
        claim: "broken addresses are found",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "ftp://h"
credentials = "lab"
[[bmc]]
name = "b"
address = "https://u:hunter2@h"
credentials = "lab"
[[bmc]]
name = "c"
address = "h/redfish/v1"
credentials = "lab"
[[bmc]]
name = "d"
address = "h:99999"
credentials = "lab"
"#,
        findings: &[
            "i.toml:6:11 error: `address` has a scheme other than `https` and `http` | not an address | write `HOST`, `HOST:PORT` or `https://HOST:PORT`",
            "i.toml:10:11 error: `address` has user info, which belongs into `[credentials.NAME]` | not an address | write `HOST`, `HOST:PORT` or `https://HOST:PORT`",
            "i.toml:14:11 error: `address` has a path, which redpipe finds by itself | not an address | write `HOST`, `HOST:PORT` or `https://HOST:PORT`",
            "i.toml:18:11 error: `address` has a port that is not a number from 1 to 65535 | not an address | write `HOST`, `HOST:PORT` or `https://HOST:PORT`",
        ],
    },
    Case {
        claim: "several servers say which system they are, each another",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "h"
credentials = "lab"
[[bmc.server]]
name = "s"
system = "1"
[[bmc.server]]
name = "t"
[[bmc.server]]
name = "u"
system = "/redfish/v1/Systems/1"
[[bmc.server]]
name = "v"
system = ""
"#,
        findings: &[
            r#"i.toml:11:1 error: server `t` has no `system`, and its BMC has 4 servers | which ComputerSystem? | add `system = "ID"`, such as "1""#,
            "i.toml:15:10 error: system `/redfish/v1/Systems/1` is listed twice behind one BMC | again here | list each ComputerSystem once | i.toml:10:10 first here",
            "i.toml:18:10 error: `system` of server `v` is empty | names nothing | write the member id or URI of its ComputerSystem",
        ],
    },
    Case {
        claim: "facts from hardware have labels of their own",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "h"
credentials = "lab"
labels = { "redfish.model" = "x", "a b" = "y" }
[[bmc.server]]
name = "s"
labels = { "redfish.vendor" = "z" }
expect = {}
"#,
        findings: &[
            "i.toml:8:12 error: label `redfish.model` is reserved | read from hardware | use a name that does not begin with `redfish.`",
            "i.toml:8:35 error: label `a b` cannot be selected | not a label name | use letters, digits, `-`, `_`, `.` and `/`",
            "i.toml:11:12 error: label `redfish.vendor` is reserved | read from hardware | use a name that does not begin with `redfish.`",
            "i.toml:12:10 error: `bmc.server.expect` is empty | nothing in it | give one of `model`, `serial`",
        ],
    },
    Case {
        claim: "paces and intervals mean something",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "h"
credentials = "lab"
poll_interval = "0s"
pace = { requests_per_second = 0, task_poll = "0s", settle_for = "long", lost_update = "20" }
"#,
        findings: &[
            "i.toml:8:17 error: `poll_interval` is zero | asks without a pause | use a minute or more",
            "i.toml:9:32 error: `requests_per_second` must be above zero | no request at all | use a fraction for less than one, such as 0.5",
            "i.toml:9:47 error: `task_poll` is zero | asks without a pause | use a second or more",
            r#"i.toml:9:66 error: `settle_for` is not a duration | not a duration | write a number and `ms`, `s`, `m`, `h` or `d`, such as "90s" or "45m""#,
            r#"i.toml:9:88 error: `lost_update` is not a duration | not a duration | write a number and `ms`, `s`, `m`, `h` or `d`, such as "90s" or "45m""#,
        ],
    },
    Case {
        claim: "tls modes are one thing",
        text: r#"[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "h"
credentials = "lab"
tls = "first_use"
[[bmc]]
name = "b"
address = "i"
credentials = "lab"
tls = { ca = "a", pin = "b" }
[[bmc]]
name = "c"
address = "j"
credentials = "lab"
tls = { pin = "12ab" }
[[bmc]]
name = "d"
address = "k"
credentials = "lab"
tls = { ca = "" }
[[bmc]]
name = "e"
address = "l"
credentials = "lab"
tls = { file = "x" }
"#,
        findings: &[
            "i.toml:8:7 error: `bmc.tls` cannot be `first_use` | not one of its values | did you mean `first-use`? it can be `verify`, `first-use`, `insecure`",
            "i.toml:13:7 error: `bmc.tls` says more than one thing | too many keys | keep one of `ca`, `pin`",
            "i.toml:18:15 error: `pin` is not a certificate's SHA-256 | not `sha256:` and 64 hexadecimal digits | `redpipe trust BMC` shows the digest of the certificate a BMC presents",
            "i.toml:23:14 error: `ca` is empty | names nothing | name a PEM file, relative to this one",
            "i.toml:28:9 error: unknown key `file` in `bmc.tls` | not known here | known keys here: `ca`, `pin`",
        ],
    },
    Case {
        claim: "what is not supported yet is refused",
        text: r#"[defaults]
recovery_credentials = "old"
tls_change = "accept-in-outages"
[credentials.lab]
username = "admin"
password = { env = "X" }
[[bmc]]
name = "a"
address = "h"
credentials = "lab"
tls_change = "hold"
recovery_credentials = "old"
"#,
        findings: &[
            "i.toml:2:1 error: `recovery_credentials` is not supported yet | would be used once after a factory reset | remove it; change `credentials` by hand after a factory reset",
            "i.toml:3:14 error: `defaults.tls_change` cannot be `accept-in-outages` | not one of its values | did you mean `accept-in-outage`? it can be `hold`, `accept-in-outage`",
            "i.toml:12:1 error: `recovery_credentials` is not supported yet | would be used once after a factory reset | remove it; change `credentials` by hand after a factory reset",
        ],
    },
];
