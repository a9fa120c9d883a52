//! Keys, types and choices of a file: everything wrong is found at once.

use super::{Case, check_pipelines};

#[test]
fn every_finding_about_structure_is_as_written() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "a syntax error ends its file alone",
        text: r#"name = "p
[selector]
match_labels = {}
x = 1
"#,
        findings: &[
            r#"p.toml:1:10 error: not TOML: invalid basic string, expected `"` | here | the rest of this file is checked once this is mended"#,
        ],
    },
    Case {
        claim: "a key written twice is TOML's own error",
        text: r#"name = "p"
name = "q"
"#,
        findings: &[
            "p.toml:2:1 error: not TOML: duplicate key | here | the rest of this file is checked once this is mended",
        ],
    },
    Case {
        claim: "every unknown key is found, with the nearest known one",
        text: r#"nmae = "p"
drift-policy = "observe"
[selector]
matchLabels = {}
[rollout]
waves = 3
max_concurent = 2
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
colour = "red"
"#,
        findings: &[
            "p.toml:1:1 error: unknown key `nmae` | not known here | did you mean `name`?",
            "p.toml:2:1 error: unknown key `drift-policy` | not known here | did you mean `drift_policy`?",
            "p.toml:4:1 error: unknown key `matchLabels` in `selector` | not known here | did you mean `match_labels`?",
            "p.toml:6:1 error: unknown key `waves` in `rollout` | not known here | known keys here: `canary`, `max_concurrent`, `max_failures`",
            "p.toml:7:1 error: unknown key `max_concurent` in `rollout` | not known here | did you mean `max_concurrent`?",
            "p.toml:12:1 error: unknown key `colour` in `stage` | not known here | known keys here: `actions`, `allow_downgrade`, `apply_time`, `attempts`, `flow`, `image`, `kind`, `match`, `method`, `name`, `path`, `preserve`, `requires`, `reset`, `settings`, `severs`, `targets`, `timeout`, `tls_change`, `transient`, `version`",
        ],
    },
    Case {
        claim: "every wrong type is found",
        text: r#"name = 7
drift_policy = true
selector = "all"
[rollout]
max_concurrent = "3"
max_failures = 1.5
[[stage]]
name = "s"
kind = "bios-settings"
settings = "A"
transient = "yes"
timeout = 90
targets = "/x"
"#,
        findings: &[
            "p.toml:1:8 error: `name` must be text | found a whole number | put it in quotes",
            "p.toml:2:16 error: `drift_policy` must be text | found true or false | put it in quotes",
            "p.toml:3:12 error: `selector` must be a table | found text | write a table with `match_expressions`, `match_labels`",
            "p.toml:5:18 error: `rollout.max_concurrent` must be a whole number | found text | leave out the quotes",
            "p.toml:6:16 error: `rollout.max_failures` must be a whole number | found a number | write a whole number",
            "p.toml:10:12 error: `stage.settings` must be a table | found text | write a table",
            "p.toml:11:13 error: `stage.transient` must be `true` or `false` | found text | leave out the quotes",
            "p.toml:12:11 error: `stage.timeout` must be text | found a whole number | put it in quotes",
            "p.toml:13:11 error: `stage.targets` must be a list | found text | put it in `[` and `]`",
        ],
    },
    Case {
        claim: "numbers have bounds",
        text: r#"name = "p"
[selector]
match_labels = {}
[rollout]
max_concurrent = 0
max_failures = -1
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
attempts = 99999999999
"#,
        findings: &[
            "p.toml:5:18 error: `rollout.max_concurrent` is too small | too small | use 1 or more",
            "p.toml:6:16 error: `rollout.max_failures` is too small | too small | use 0 or more",
            "p.toml:11:12 error: `stage.attempts` is too big | too big | use 4294967295 or less",
        ],
    },
    Case {
        claim: "every word that is not a choice is found",
        text: r#"name = "p"
drift_policy = "reconcil"
[selector]
match_expressions = [{ key = "a", operator = "in", values = ["b"] }]
[[stage]]
name = "s"
kind = "bios-setting"
settings = { A = 1 }
reset = "never"
method = "push"
match = "exactly"
"#,
        findings: &[
            "p.toml:2:16 error: `drift_policy` cannot be `reconcil` | not one of its values | did you mean `reconcile`? it can be `observe`, `reconcile`",
            "p.toml:4:46 error: `selector.match_expressions.operator` cannot be `in` | not one of its values | did you mean `In`? it can be `In`, `NotIn`, `Exists`, `DoesNotExist`",
            "p.toml:7:8 error: `stage.kind` cannot be `bios-setting` | not one of its values | did you mean `bios-settings`? it can be `bmc-settings`, `bmc-version`, `bios-settings`, `bios-version`",
            "p.toml:9:9 error: `stage.reset` cannot be `never` | not one of its values | it can be `graceful-then-force`, `graceful`, `force`, `none`",
            "p.toml:10:10 error: `stage.method` cannot be `push` | not one of its values | it can be `auto`, `simple-update`, `multipart-push`, `http-push`",
            "p.toml:11:9 error: `stage.match` cannot be `exactly` | not one of its values | did you mean `exact`? it can be `at-least`, `exact`",
        ],
    },
    Case {
        claim: "what must be there is named",
        text: r#"drift_policy = "observe"
"#,
        findings: &[
            "p.toml:1:1 error: missing key `name` | in this file | `name`: Unique name",
            "p.toml:1:1 error: missing key `selector` | in this file | `selector`: Which servers; `match_labels = {}` selects all",
            "p.toml:1:1 error: missing key `stage` | in this file | `stage`: The steps, in order",
        ],
    },
    Case {
        claim: "a stage, a flow item, a resource and an expression need their keys",
        text: r#"name = "p"
[selector]
match_expressions = [{}]
[[stage]]
kind = "bios-settings"
[[stage.flow]]
resources = [{ }]
[[stage]]
name = "t"
"#,
        findings: &[
            "p.toml:3:22 error: missing key `key` in `selector.match_expressions` | in this table | `key`: Label name",
            "p.toml:3:22 error: missing key `operator` in `selector.match_expressions` | in this table | `operator`: What must hold",
            "p.toml:4:1 error: missing key `name` in `stage` | in this table | `name`: Unique in this file",
            "p.toml:6:1 error: missing key `name` in `stage.flow` | in this table | `name`: Unique in the stage",
            "p.toml:7:14 error: missing key `set` in `stage.flow.resources` | in this table | `set`: The properties wanted",
            "p.toml:7:14 error: missing key `uri` in `stage.flow.resources` | in this table | `uri`: Starts with `{manager}`, `{system}`, `{chassis}` or `{root}`",
            "p.toml:8:1 error: missing key `kind` in `stage` | in this table | `kind`: What it does",
        ],
    },
    Case {
        claim: "a file without stages is no pipeline",
        text: r#"name = "p"
stage = []
[selector]
match_labels = {}
"#,
        findings: &["p.toml:2:9 error: `stage` is empty | nothing in it | give at least one"],
    },
    Case {
        claim: "dates and numbers beyond JSON are refused wherever any value may stand",
        text: r#"name = "p"
[selector]
match_labels = {}
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 2026-01-01, B = inf, C = 99999999999999999999, D = [1, nan], E = { F = 07:00:00 } }
"#,
        findings: &[
            "p.toml:7:18 error: `stage.settings.A` is a date, which JSON does not have | found a date | put it in quotes",
            "p.toml:7:34 error: `stage.settings.B` is not a number that can be written | not finite, or more than 64 bits | use a smaller number",
            "p.toml:7:43 error: `stage.settings.C` is not a number that can be written | not finite, or more than 64 bits | use a smaller number",
            "p.toml:7:73 error: `stage.settings.D` is not a number that can be written | not finite, or more than 64 bits | use a smaller number",
            "p.toml:7:89 error: `stage.settings.E.F` is a date, which JSON does not have | found a date | put it in quotes",
        ],
    },
];
