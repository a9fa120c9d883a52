//! The stories that are swept: every kind of stage, method, activation, reset, doubt, hold and order that redpipe knows.

use crate::support::world::World;

/// One story.
pub(crate) struct Story {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where not every moment is tried, so many times fewer than of other stories: it is a long one.
    pub(crate) stride: usize,
    /// What every BMC is, as `mock-bmc platforms` lists it.
    pub(crate) platform: &'static str,
    /// Systems behind each BMC.
    pub(crate) systems: &'static [usize],
    /// How the mocks deviate.
    pub(crate) script: &'static str,
    /// How certificates are judged, as `[defaults]` of the inventory says it.
    pub(crate) tls: &'static str,
    /// Lines of `[maintenance]`, divided by `;`.
    pub(crate) maintenance: &'static str,
    /// Stages of the pipeline, each a line of this file's own short form; see [`stage`].
    pub(crate) stages: &'static [&'static str],
    /// The stages that all processes but the first one read; empty = the same.
    pub(crate) edited: &'static [&'static str],
    /// What a person orders, one after the other.
    pub(crate) orders: &'static [(When, Word)],
    /// How many processes it takes when none of them dies.
    pub(crate) lives: u32,
    /// Whether it is told once more on a file that each process opens anew.
    pub(crate) on_file: bool,
}

/// When a person gives an order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    /// The BMC has had a request, and nobody knows yet what it says to it.
    Arrived,
    /// A request is known to be accepted, by its answer or by its effect.
    Accepted,
    /// Another process takes the run up.
    Resumed,
    /// Servers are asked for.
    Asked,
    /// The run is held, and its reason says so.
    Held(&'static str),
}

/// What a person orders.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Word {
    /// Approves what was asked for last.
    Approve,
    /// Looks again.
    Retry,
    /// Begins nothing more.
    Cancel,
    /// Stops the whole pipeline.
    Pause,
    /// Lets it go on.
    Resume,
    /// Leaves what is left.
    Leave,
}

/// What most stories have in common.
const PLAIN: Story = Story {
    name: "",
    stride: 1,
    platform: "generic",
    systems: &[1],
    script: "",
    tls: "tls = \"insecure\"",
    maintenance: "",
    stages: &[],
    edited: &[],
    orders: &[],
    lives: 1,
    on_file: false,
};

/// All of them, divided so that each part takes about as long as the others.
pub(crate) const ALL: [&[Story]; 5] = [FIRMWARE, TROUBLE, SETTINGS, PEOPLE, MACHINES];

/// The pipeline of a story.
pub(crate) fn pipeline(world: &World, story: &Story, stages: &[&str]) -> String {
    let mut text =
        "name = \"p\"\n[selector]\nmatch_labels = {}\n[rollout]\nmax_concurrent = 4\n".to_owned();
    if !story.maintenance.is_empty() {
        text.push_str("[maintenance]\n");
        text.push_str(&story.maintenance.replace(';', "\n"));
    }
    for (index, line) in stages.iter().enumerate() {
        text.push_str(&stage(world, index, line));
    }
    text
}

/// `bmc 1.60 push|pull [more]`, `bios 2.20 push|pull [more]`, or `KIND-settings BODY`; `more` and `BODY` are lines of TOML,
/// divided by `;`.
fn stage(world: &World, index: usize, line: &str) -> String {
    let mut words = line.splitn(2, ' ');
    let (kind, rest) = (words.next().unwrap(), words.next().unwrap());
    if kind.ends_with("-settings") {
        let body = rest.replace(';', "\n");
        return format!("\n[[stage]]\nname = \"s{index}\"\nkind = \"{kind}\"\n{body}\n");
    }
    let mut words = rest.splitn(3, ' ');
    let (version, way) = (words.next().unwrap(), words.next().unwrap());
    let more = words.next().unwrap_or_default().replace(';', "\n");
    let image = match way {
        "pull" => world.uri_image(kind, version),
        // Dell's machines take no file of another name.
        _ => world.image_named(kind, version, ".exe"),
    };
    format!(
        "\n[[stage]]\nname = \"s{index}\"\nkind = \"{kind}-version\"\nversion = \"{version}\"\nimage = {image}\n{more}\n"
    )
}

/// Firmware.
const FIRMWARE: &[Story] = &[
    // Scenarios 15, 27.
    Story {
        name: "two BMC hops by multipart push",
        stages: &["bmc 1.60 push", "bmc 1.80 push"],
        on_file: true,
        ..PLAIN
    },
    Story {
        name: "a BMC hop that is pulled, past the end of another",
        script: "[versions]\nbios = \"2.30\"\n",
        stages: &["bmc 1.60 pull", "bios 2.20 pull"],
        ..PLAIN
    },
    // Scenario 134.
    Story {
        name: "a BMC that comes back from its hop with another certificate",
        script: "[update]\nnew_certificate = true\n",
        tls: "tls = \"first-use\"\ntls_change = \"accept-in-outage\"",
        stages: &["bmc 1.60 push"],
        on_file: true,
        ..PLAIN
    },
    Story {
        name: "a bare push, and tasks that do not survive the flash",
        script: "[update]\nmultipart = false\nsimple_update = false\ntasks_survive = false\n",
        stages: &["bmc 1.60 push"],
        ..PLAIN
    },
    Story {
        name: "two servers of one BMC, one of them off",
        systems: &[2],
        script: "[[system]]\nid = \"2\"\npower = \"Off\"\n",
        stages: &["bios 2.20 push", "bios 2.50 push"],
        ..PLAIN
    },
    Story {
        name: "a host that ignores its shutdown, and a task that waits for the boot",
        script: "[power]\nignored_graceful = true\n[update]\nstaged_task = \"pending\"\n",
        stages: &["bios 2.20 push"],
        ..PLAIN
    },
    Story {
        name: "a flash that restarts its host by itself",
        script: "[update]\nactivation = \"self-reboot\"\n",
        stages: &["bios 2.20 pull"],
        ..PLAIN
    },
    Story {
        name: "accepted without a task",
        script: "[update]\nhandle = \"none\"\n",
        stages: &["bmc 1.60 pull", "bios 2.20 push"],
        ..PLAIN
    },
    Story {
        name: "two BMCs at once",
        systems: &[1, 2],
        stages: &["bmc 1.60 push", "bios 2.20 pull"],
        ..PLAIN
    },
];

/// Firmware that goes wrong.
const TROUBLE: &[Story] = &[
    // Scenario 26.
    Story {
        name: "an update whose answer is lost",
        script: "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nanswer = \"drop-after\"\n",
        stages: &["bmc 1.60 pull", "bios 2.20 pull"],
        ..PLAIN
    },
    Story {
        name: "an update that never arrives",
        script: "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nanswer = \"drop-before\"\nuntil = \"10m\"\n",
        stages: &["bmc 1.60 push"],
        ..PLAIN
    },
    Story {
        name: "an update that is asked to come later",
        script: "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nstatus = 503\nmessage_id = \"Base.1.18.ServiceTemporarilyUnavailable\"\nretry_after = \"30s\"\ncount = 3\n",
        stages: &["bmc 1.60 push"],
        ..PLAIN
    },
    Story {
        name: "a flash that fails, twice",
        script: "[update]\nbmc_outcome = \"failed\"\n",
        stages: &["bmc 1.60 push attempts = 2", "bios 2.20 push"],
        ..PLAIN
    },
    Story {
        name: "a flash after which nothing has changed",
        script: "[update]\nbios_outcome = \"unchanged\"\n",
        stages: &["bios 2.20 push"],
        ..PLAIN
    },
    Story {
        name: "a task that vanishes while it runs",
        script: "[[task_fault]]\nvanish = \"running\"\nvanish_after = \"30s\"\n",
        stages: &["bmc 1.60 push", "bios 2.20 push"],
        ..PLAIN
    },
    Story {
        name: "ahead of the last hop",
        script: "[versions]\nbmc = \"1.90\"\n",
        stages: &["bmc 1.80 push", "bios 2.20 push"],
        ..PLAIN
    },
    Story {
        name: "resets whose answers are lost",
        script: "[[fault]]\nmethod = \"POST\"\npath = \"*.Reset\"\ncount = 2\nanswer = \"drop-after\"\n[[fault]]\nmethod = \"POST\"\npath = \"*.Reset\"\nanswer = \"refuse\"\n",
        stages: &[
            "bios 2.20 push",
            "bmc-settings settings = { SshMaxSessions = 4 }",
        ],
        ..PLAIN
    },
];

/// Settings.
const SETTINGS: &[Story] = &[
    Story {
        name: "settings that cut our own connection to two BMCs",
        systems: &[1, 1],
        script: "[bmc_settings]\nsevers = [\"*/NetworkProtocol\"]\n",
        stages: &[
            "bmc-settings [[stage.flow]];name = \"host\";severs = true;resources = [{ uri = \"{manager}/NetworkProtocol\", set = { HostName = \"node\" } }]",
        ],
        ..PLAIN
    },
    Story {
        name: "a flow of BIOS settings, one of them write-only, on two servers, one of them off",
        systems: &[2],
        script: "[[system]]\nid = \"2\"\npower = \"Off\"\n",
        stages: &[
            "bios-settings [[stage.flow]];name = \"a\";priority = 1;settings = { WorkloadProfile = \"Custom\", AdminPassword = \"swordfish\" };[[stage.flow]];name = \"b\";priority = 2;settings = { PowerRegulator = \"OsControl\" }",
        ],
        ..PLAIN
    },
    // Scenario 102.
    Story {
        name: "BIOS settings by a job, on a host that ignores its restart",
        script: "[bios_settings]\njob = true\n[power]\nignored_graceful = true\n",
        stages: &["bios-settings settings = { QuietBoot = false }"],
        ..PLAIN
    },
    Story {
        name: "BMC attributes, some at once and some by a reset of the BMC",
        script: "[bmc_settings]\nsettings_object = true\n",
        stages: &[
            "bmc-settings [[stage.flow]];name = \"a\";priority = 1;settings = { NtpServer1 = \"10.0.0.1\", OperatorPassword = \"swordfish\" };[[stage.flow]];name = \"b\";priority = 2;settings = { SshMaxSessions = 4 }",
        ],
        on_file: true,
        ..PLAIN
    },
    Story {
        name: "resources and an action, one of which asks for a reset",
        script: "[bmc_settings]\nneeds_reset = [\"*/NetworkProtocol\"]\n",
        stages: &[
            "bmc-settings [[stage.flow]];name = \"a\";priority = 1;resources = [{ uri = \"{manager}/NetworkProtocol\", set = { NTP = { NTPServers = [\"10.0.0.1\"] } } }];actions = [{ uri = \"{manager}/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia\", body = { Image = \"http://images.lab/a.iso\" }, satisfied_when = { uri = \"{manager}/VirtualMedia/CD\", set = { Inserted = true } } }]",
        ],
        ..PLAIN
    },
    Story {
        name: "a hop that undoes an earlier setting",
        script: "[update]\nresets_bios_settings = true\n[bios_settings]\nempty_after_boot = \"3m\"\n",
        stages: &[
            "bios-settings settings = { QuietBoot = false }",
            "bios 2.20 push",
        ],
        ..PLAIN
    },
    Story {
        name: "a setting that is not kept",
        script: "[bios_settings]\nsilently_kept = [\"QuietBoot\"]\n",
        stages: &["bios-settings attempts = 2;settings = { QuietBoot = false }"],
        ..PLAIN
    },
    Story {
        name: "a write whose answer is lost, and one that never arrives",
        script: "[[fault]]\nmethod = \"PATCH\"\nanswer = \"drop-after\"\n[[fault]]\nmethod = \"PATCH\"\nanswer = \"drop-before\"\n",
        stages: &[
            "bios-settings settings = { QuietBoot = false }",
            "bmc-settings settings = { NtpServer1 = \"10.0.0.1\" }",
        ],
        ..PLAIN
    },
    // Scenario 101.
    Story {
        name: "settings of somebody else are pending",
        script: "[[system]]\nid = \"1\"\npending = { AssetNote = \"theirs\" }\n",
        stages: &["bios-settings settings = { QuietBoot = false }"],
        ..PLAIN
    },
    Story {
        name: "everything, on two servers",
        systems: &[2],
        stages: &[
            "bmc-settings settings = { NtpServer1 = \"10.0.0.1\" }",
            "bmc 1.60 push",
            "bios-settings transient = true;settings = { PostLedEnabled = false }",
            "bios 2.20 pull",
            "bios-settings settings = { QuietBoot = false }",
        ],
        ..PLAIN
    },
];

/// Somebody has a word in it.
const PEOPLE: &[Story] = &[
    Story {
        name: "a BMC hop that is cancelled and followed to its end",
        stages: &["bmc 1.60 push", "bios 2.20 push"],
        orders: &[(When::Accepted, Word::Cancel)],
        ..PLAIN
    },
    Story {
        name: "a BMC hop that is cancelled while its request is under way",
        stages: &["bmc 1.60 push", "bios 2.20 push"],
        orders: &[(When::Arrived, Word::Cancel)],
        ..PLAIN
    },
    Story {
        name: "a BIOS hop that is cancelled while its request is under way",
        script: "[update]\nstaged_task = \"pending\"\n",
        stages: &["bios 2.20 pull"],
        orders: &[(When::Arrived, Word::Cancel)],
        ..PLAIN
    },
    Story {
        name: "a BIOS hop that is cancelled, and whose staged image is taken back",
        script: "[update]\nstaged_task = \"pending\"\n",
        stages: &["bios 2.20 push"],
        orders: &[(When::Accepted, Word::Cancel)],
        ..PLAIN
    },
    Story {
        name: "a BIOS hop that is cancelled, and whose staged image is left",
        stages: &["bios 2.20 push"],
        orders: &[
            (When::Accepted, Word::Cancel),
            (When::Held("left behind"), Word::Leave),
        ],
        lives: 2,
        ..PLAIN
    },
    Story {
        name: "hooks around a flash that its owner approves",
        systems: &[2],
        maintenance: "policy = \"owner-approval\";before = [\"/bin/true\"];after = [\"/bin/true\"]",
        stages: &["bmc 1.60 push", "bios 2.20 pull"],
        orders: &[(When::Asked, Word::Approve)],
        lives: 2,
        on_file: true,
        ..PLAIN
    },
    Story {
        name: "an approval that is used too late, and another",
        maintenance: "policy = \"owner-approval\";approval_ttl = \"90m\";window = { days = [\"Sun\"], start = \"11:45\", end = \"20:00\", zone = \"UTC\" }",
        stages: &["bmc 1.60 push"],
        orders: &[
            (When::Asked, Word::Approve),
            (When::Held("not used in time"), Word::Approve),
        ],
        lives: 5,
        ..PLAIN
    },
    Story {
        name: "a hook that fails, and fails again",
        maintenance: "before = [\"/bin/false\"]",
        stages: &["bmc 1.60 push"],
        orders: &[(When::Held("failed"), Word::Retry)],
        lives: 2,
        ..PLAIN
    },
    Story {
        name: "a pause between two hops",
        stages: &["bmc 1.60 push", "bmc 1.80 push"],
        orders: &[
            (When::Accepted, Word::Pause),
            (When::Held("paused"), Word::Resume),
        ],
        lives: 2,
        ..PLAIN
    },
    // Scenario 79.
    Story {
        name: "a file that is edited while its run is paused",
        stages: &[
            "bmc 1.60 push",
            "bios-settings settings = { PostLedEnabled = false }",
        ],
        edited: &[
            "bmc 1.60 push",
            "bios-settings settings = { QuietBoot = false }",
            "bmc 1.80 push",
        ],
        orders: &[(When::Accepted, Word::Pause), (When::Resumed, Word::Resume)],
        lives: 2,
        ..PLAIN
    },
];

/// One story for each platform.
macro_rules! machines {
    ($($platform:literal => $stages:expr),+ $(,)?) => {
        &[
            $(Story {
                name: concat!("two hops of each kind and settings, on ", $platform),
                stride: 7,
                platform: $platform,
                script: "[versions]\nbmc = \"1.50\"\nbios = \"2.10\"\n",
                stages: $stages,
                ..PLAIN
            },)+
        ]
    };
}

const BIOS_BETWEEN: &str = "bios-settings settings = { QuietBoot = false }";
const NTP_BETWEEN: &str = "bmc-settings [[stage.flow]];name = \"ntp\";resources = [{ uri = \"{manager}/NetworkProtocol\", set = { NTP = { NTPServers = [\"10.0.0.1\"] } } }]";

const HOPS: &[&str] = &[
    "bmc 1.60 push",
    "bmc 1.80 push",
    BIOS_BETWEEN,
    NTP_BETWEEN,
    "bios 2.20 push",
    "bios 2.50 push",
];

/// A BMC with two managers, where redpipe does not guess which one is meant.
const HOPS_OF_A_NAMED_MANAGER: &[&str] = &[
    "bmc 1.60 push targets = [\"/redfish/v1/UpdateService/FirmwareInventory/FW_BMC_0\"]",
    "bmc 1.80 push targets = [\"/redfish/v1/UpdateService/FirmwareInventory/FW_BMC_0\"]",
    BIOS_BETWEEN,
    NTP_BETWEEN,
    "bios 2.20 push",
    "bios 2.50 push",
];

/// Every vendor's way of the same story.
const MACHINES: &[Story] = machines! {
    "generic" => HOPS,
    "idrac9" => HOPS,
    "idrac10" => HOPS,
    "ilo5" => HOPS,
    "ilo6" => HOPS,
    "ilo7" => HOPS,
    "xcc" => HOPS,
    "xcc3" => HOPS,
    "smc-x12" => HOPS,
    "smc-x13" => HOPS,
    "megarac" => HOPS,
    "openbmc" => HOPS,
    "nvidia-gb200" => HOPS_OF_A_NAMED_MANAGER,
};
