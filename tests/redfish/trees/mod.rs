//! What the client reads from each recorded tree, against what a person counted in its files.

mod finding;
mod warm;

use std::collections::BTreeSet;
use std::sync::Arc;

use redpipe::model::inventory::Pace;
use redpipe::model::{BmcName, Look, LookRequest, Seen, ServerName, Target};
use redpipe::redfish::{Client, Links, ServerRef};

use crate::facts::conversation;
use crate::recorded::{Recorded, mockups};

/// One system as counted: id, BIOS version, attributes and pending ones (`None` = no BIOS), attributes described by the
/// registry (`None` = no registry).
type System = (
    &'static str,
    Option<&'static str>,
    Option<(usize, usize)>,
    Option<usize>,
);

struct Tree {
    name: &'static str,
    platform: &'static str,
    bmc_version: Option<&'static str>,
    systems: &'static [System],
    software: usize,
}

const TREES: &[Tree] = &[
    Tree {
        name: "cray-ex425-2nodes",
        platform: "cray",
        bmc_version: Some("nc.1.6.19-5-shasta-release.arm.2022-02-25T01:38:09+00:00.d20b426"),
        systems: &[
            ("Node0", Some("ex425.bios-1.6.3"), Some((18, 0)), None),
            ("Node1", Some("ex425.bios-1.6.3"), Some((18, 0)), None),
        ],
        software: 11,
    },
    Tree {
        name: "dell-r630-idrac8-2.81",
        platform: "dell-idrac8",
        bmc_version: Some("2.81.81.81"),
        systems: &[(
            "System.Embedded.1",
            Some("2.13.0"),
            Some((249, 0)),
            Some(249),
        )],
        software: 17,
    },
    Tree {
        name: "dell-r750-idrac9-6.00",
        platform: "dell-idrac9",
        bmc_version: Some("6.00.30.00"),
        systems: &[(
            "System.Embedded.1",
            Some("1.8.2"),
            Some((455, 0)),
            Some(682),
        )],
        software: 29,
    },
    Tree {
        name: "dmtf-public-rackmount1",
        platform: "generic",
        bmc_version: Some("1.45.455b66-rev4"),
        systems: &[(
            "437XR1138R2",
            Some("P79 v1.45 (12/06/2017)"),
            Some((10, 4)),
            None,
        )],
        // A fourth document lies there; the collection does not list it.
        software: 3,
    },
    Tree {
        name: "gigabyte-h262-ami",
        platform: "ami-gigabyte",
        bmc_version: Some("12.84.13"),
        systems: &[("Self", Some("C27"), Some((550, 0)), Some(549))],
        software: 3,
    },
    Tree {
        name: "google-2hosts",
        platform: "generic",
        bmc_version: None,
        systems: &[("system1", None, None, None), ("system2", None, None, None)],
        software: 0,
    },
    Tree {
        name: "hpe-dl360gen12-ilo7-1.14",
        platform: "hpe-ilo7",
        bmc_version: Some("1.14.00 May 28 2025"),
        systems: &[(
            "1",
            Some("U68 v1.40 (05/22/2025)"),
            Some((256, 0)),
            Some(617),
        )],
        software: 16,
    },
    Tree {
        name: "hpe-dl380agen11-ilo6-1.66",
        platform: "hpe-ilo6",
        bmc_version: Some("iLO 6 v1.66"),
        systems: &[(
            "1",
            Some("U58 v2.44 (01/17/2025)"),
            Some((300, 0)),
            Some(648),
        )],
        software: 34,
    },
    Tree {
        name: "hpe-dl385gen10plusv2-ilo5-2.72",
        platform: "hpe-ilo5",
        bmc_version: Some("iLO 5 v2.72"),
        systems: &[(
            "1",
            Some("A42 v2.60 (08/11/2022)"),
            Some((277, 0)),
            Some(402),
        )],
        software: 48,
    },
    Tree {
        name: "lenovo-sr670v2-xcc-2.83",
        platform: "lenovo-xcc",
        bmc_version: Some("TGBT42S 2.83 2023-07-05"),
        // Its registry has 353 entries; five names stand there twice.
        systems: &[("1", Some("U8E122J"), Some((348, 0)), Some(348))],
        software: 43,
    },
    Tree {
        name: "nvidia-bluefield3",
        platform: "nvidia-bluefield",
        bmc_version: Some("BF-24.10-10"),
        systems: &[(
            "Bluefield",
            Some("4.9.0-46-g7e3911bd4d"),
            Some((28, 0)),
            Some(28),
        )],
        software: 14,
    },
    Tree {
        name: "nvidia-dgxh100-ami",
        platform: "ami-dgx",
        bmc_version: Some("23.11.20"),
        systems: &[
            ("DGX", Some("1.1.3"), Some((223, 0)), Some(223)),
            ("HGX_Baseboard_0", None, None, None),
        ],
        software: 66,
    },
    Tree {
        name: "nvidia-gb200",
        platform: "nvidia-gb200",
        bmc_version: Some("GB200Nvl-24.12-8"),
        systems: &[
            ("HGX_Baseboard_0", None, None, None),
            ("System_0", None, Some((403, 0)), Some(403)),
        ],
        software: 30,
    },
    Tree {
        name: "openbmc-2.15",
        platform: "openbmc",
        bmc_version: Some("2.15.0-dev-686-g100c36de90"),
        systems: &[("system", None, Some((0, 0)), None)],
        software: 1,
    },
    Tree {
        name: "supermicro-821ge-x13",
        platform: "supermicro-x13",
        bmc_version: Some("11.01.01"),
        systems: &[("1", Some("1.4"), Some((379, 0)), Some(495))],
        software: 106,
    },
];

fn quick() -> Pace {
    Pace {
        requests_per_second: 100_000.0,
        burst: 100_000,
        ..Pace::default()
    }
}

fn everything(servers: &[ServerName]) -> LookRequest {
    let mut settings: BTreeSet<Target> = servers.iter().cloned().map(Target::Server).collect();
    settings.insert(Target::Bmc);
    LookRequest {
        state: true,
        software: true,
        work: true,
        settings,
        ..LookRequest::default()
    }
}

struct World {
    recorded: Arc<Recorded>,
    client: Client,
}

fn world(tree: &str, servers: Vec<ServerRef>, remembered: Option<Links>) -> Option<World> {
    let recorded = Arc::new(Recorded::open(&mockups()?.join(tree)));
    let talk = conversation(recorded.clone(), quick(), None);
    let client = Client::new(talk, servers, BmcName::from("b"), None, remembered);
    Some(World { recorded, client })
}

async fn look(world: &World, request: &LookRequest) -> Look {
    match world.client.look(request).await {
        Seen::Looked(look) => *look,
        Seen::Failed(fault) => panic!("{fault}"),
    }
}

fn named(tree: &Tree) -> Vec<ServerName> {
    tree.systems
        .iter()
        .map(|(id, ..)| ServerName::from(format!("b/{id}")))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn every_tree_is_read_as_a_person_counts_it() {
    for tree in TREES {
        let Some(world) = world(tree.name, Vec::new(), None) else {
            return;
        };
        let names = named(tree);
        let look = look(&world, &everything(&names)).await;
        let name = tree.name;
        assert_eq!(look.bmc_version(), tree.bmc_version, "{name}");
        assert_eq!(look.capability.platform, tree.platform, "{name}");
        let members: BTreeSet<&str> = look.software.iter().map(|s| s.uri.as_str()).collect();
        assert_eq!(members.len(), tree.software, "{name}: {:?}", look.problems);
        assert_eq!(
            look.systems.keys().cloned().collect::<Vec<_>>(),
            names,
            "{name}"
        );
        for ((id, version, attributes, registry), server) in tree.systems.iter().zip(&names) {
            assert_eq!(look.bios_version(server), *version, "{name} {id}");
            let view = look.settings.get(&Target::Server(server.clone()));
            let counts = view.map(|view| {
                let resources = &view.resources;
                (
                    resources.iter().map(|r| r.current.len()).sum(),
                    resources.iter().map(|r| r.pending.len()).sum(),
                )
            });
            assert_eq!(counts, *attributes, "{name} {id}");
            let described = view
                .and_then(|view| view.registry.as_ref())
                .map(|r| r.attributes.len());
            assert_eq!(described, *registry, "{name} {id}: {:?}", look.problems);
            assert_eq!(
                look.systems[server].pending.len(),
                counts.map_or(0, |(_, pending)| pending),
                "{name} {id}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_tree_is_asked_for_a_path_that_it_does_not_link() {
    let Some(folder) = mockups() else {
        return;
    };
    for tree in TREES {
        let world = world(tree.name, Vec::new(), None).unwrap();
        look(&world, &everything(&named(tree))).await;
        let mut linked = String::new();
        for file in std::fs::read_dir(folder.join(tree.name)).unwrap() {
            gather(&file.unwrap().path(), &mut linked);
        }
        for asked in world.recorded.take_asked() {
            let path = asked
                .split('?')
                .next()
                .unwrap()
                .trim_end_matches('/')
                .to_ascii_lowercase();
            let known = path == "/redfish/v1"
                || linked.contains(&format!("\"{path}\""))
                || linked.contains(&format!("\"{path}/\""));
            // `settings_object_unlinked`: the one path that a deviation names, on the one tree that has it.
            let is_unlinked = tree.name == "gigabyte-h262-ami" && path.ends_with("/bios/sd");
            assert!(
                known || is_unlinked,
                "{} is asked for `{asked}`, which nothing there links",
                tree.name
            );
        }
    }
}

fn gather(path: &std::path::Path, text: &mut String) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            gather(&entry.unwrap().path(), text);
        }
    } else if path.extension().is_some_and(|kind| kind == "json") {
        let content = std::fs::read_to_string(path).unwrap().to_ascii_lowercase();
        text.push_str(&content.replace("\\/", "/"));
    }
}

#[tokio::test(start_paused = true)]
async fn attributes_of_a_bmc_are_found_over_all_its_resources() {
    let Some(world) = world("dell-r750-idrac9-6.00", Vec::new(), None) else {
        return;
    };
    let request = LookRequest {
        settings: BTreeSet::from([Target::Bmc]),
        ..LookRequest::default()
    };
    let look = look(&world, &request).await;
    let view = &look.settings[&Target::Bmc];
    let sizes: Vec<usize> = view.resources.iter().map(|r| r.current.len()).collect();
    assert_eq!(sizes, [1109, 574, 22]);
    assert!(
        view.resources
            .iter()
            .all(|r| r.write_uri.ends_with("/Settings"))
    );
    assert_eq!(view.registry, None, "this tree's registry links a cut file");
}
