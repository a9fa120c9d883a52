//! The client against a live mock BMC in this process: what it starts takes time, and the manager is really gone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use mock_bmc::bmc::Bmc;
use mock_bmc::fleet::Fleet;
use mock_bmc::image::{self, Component};
use mock_bmc::tree::Tree;
use redpipe::model::action::{AttributePatch, ImageSource, UpdateAction};
use redpipe::model::inventory::Pace;
use redpipe::model::look::{Followed, Power};
use redpipe::model::{
    Action, BmcName, Look, LookRequest, Outcome, Seen, ServerName, Target, TaskHandle, UpdateMethod,
};
use redpipe::redfish::{Client, Shelf};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::facts::conversation;
use crate::fake::{look, state, work};
use crate::memory::{Images, MemoryTransport};
use crate::recorded::mockups;

const IMAGE: &str = "http://images.test/firmware";

pub(crate) struct World {
    bmc: Arc<Mutex<Bmc>>,
    images: Images,
    pub(crate) client: Client,
}

pub(crate) fn world(fleet: Fleet) -> World {
    let member = fleet.bmcs.into_iter().next().unwrap();
    let bmc = Arc::new(Mutex::new(member.bmc));
    let images = Images::default();
    let wire = MemoryTransport::new(
        bmc.clone(),
        images.clone(),
        "https://bmc.test",
        Instant::now(),
        None,
    );
    let talk = conversation(Arc::new(wire), Pace::default(), Some(("root", "secret")));
    World {
        bmc,
        images,
        client: Client::new(talk, Vec::new(), BmcName::from("b"), None, None),
    }
}

fn generic(systems: usize) -> World {
    world(Fleet::builder().platform("generic", 1, systems).build())
}

impl World {
    pub(crate) fn serve(&self, component: Component, version: &str) {
        let image = image_of(component, version);
        self.images.lock().unwrap().insert(IMAGE.to_owned(), image);
    }

    pub(crate) fn caused(&self) -> Vec<String> {
        let bmc = self.bmc.lock().unwrap();
        bmc.ledger()
            .iter()
            .flat_map(|line| line.caused.clone())
            .collect()
    }
}

fn image_of(component: Component, version: &str) -> Bytes {
    image::build(component, version, None, 4096).into()
}

pub(crate) fn pull(target: Target, targets: &[&str]) -> Action {
    Action::Update(UpdateAction {
        target,
        image: ImageSource::Uri(IMAGE.to_owned()),
        method: UpdateMethod::SimpleUpdate,
        targets: targets.iter().map(|uri| (*uri).to_owned()).collect(),
        apply_time: None,
        keep: None,
    })
}

async fn accepted(client: &Client, action: &Action) -> Option<TaskHandle> {
    match client.act(action).await {
        Outcome::Accepted { task, .. } => task,
        other @ (Outcome::NotSent { .. } | Outcome::Refused { .. } | Outcome::Lost { .. }) => {
            panic!("{other:?}")
        }
    }
}

/// Looks every ten seconds until the BMC is seen as wanted.
async fn until(
    client: &Client,
    request: &LookRequest,
    mut wanted: impl FnMut(&Seen) -> bool,
) -> Seen {
    for _ in 0..360 {
        let seen = client.look(request).await;
        if wanted(&seen) {
            return seen;
        }
        sleep(Duration::from_secs(10)).await;
    }
    panic!("an hour has passed");
}

fn looked(seen: Seen) -> Look {
    match seen {
        Seen::Looked(look) => *look,
        Seen::Failed(fault) => panic!("{fault}"),
    }
}

/// A fleet of one model keeps one copy of what all its BMCs publish.
#[tokio::test(start_paused = true)]
async fn bmcs_that_publish_one_registry_share_one_copy() {
    let shelf = Shelf::default();
    let request = LookRequest {
        settings: [Target::Server(ServerName::from("b/1"))].into(),
        ..state()
    };
    let mut registries = Vec::new();
    for _ in 0..2 {
        let client = generic(1).client.sharing(&shelf);
        let seen = look(&client, &request).await;
        let views = seen.settings.into_values();
        registries.extend(views.filter_map(|view| view.registry));
    }
    assert_eq!(registries.len(), 2);
    assert!(!registries[0].attributes.is_empty());
    assert!(Arc::ptr_eq(&registries[0], &registries[1]));
}

#[tokio::test(start_paused = true)]
async fn everything_about_a_generic_bmc_is_read() {
    let world = generic(2);
    let request = LookRequest {
        software: true,
        work: true,
        settings: [
            Target::Bmc,
            Target::Server("b/1".into()),
            Target::Server("b/2".into()),
        ]
        .into(),
        ..state()
    };
    let seen = look(&world.client, &request).await;
    assert_eq!(seen.bmc_version(), Some("1.50"));
    assert_eq!(seen.capability.platform, "generic");
    assert_eq!(
        seen.capability.update_methods,
        [
            UpdateMethod::MultipartPush,
            UpdateMethod::SimpleUpdate,
            UpdateMethod::HttpPush
        ]
    );
    assert!(seen.capability.sessions && !seen.capability.manager_reset_types.is_empty());
    for name in ["b/1", "b/2"] {
        let server = ServerName::from(name);
        assert_eq!(seen.bios_version(&server), Some("2.10"));
        let system = &seen.systems[&server];
        assert_eq!((system.power, system.in_post), (Power::On, Some(false)));
        let view = &seen.settings[&Target::Server(server)];
        let registry = view.registry.as_ref().unwrap();
        let resource = &view.resources[0];
        assert!(resource.current.len() >= 12, "{}", resource.current.len());
        assert!(
            resource
                .current
                .keys()
                .all(|name| registry.attributes.contains_key(name))
        );
        assert_ne!(resource.uri, resource.write_uri);
    }
    let view = &seen.settings[&Target::Bmc];
    assert!(view.resources[0].current.len() >= 8);
    assert!(view.registry.is_some());
    assert_eq!(seen.identity.system_uuids.len(), 2);
    assert!(seen.identity.root_uuid.is_some() && !seen.identity.manager_macs.is_empty());
    assert_eq!(seen.problems, []);
}

#[tokio::test(start_paused = true)]
async fn one_session_serves_all_looks_and_is_deleted_at_the_end() {
    let world = generic(1);
    for _ in 0..3 {
        look(&world.client, &state()).await;
    }
    world.client.close().await;
    let caused = world.caused();
    let count = |words: &str| {
        caused
            .iter()
            .filter(|cause| cause.starts_with(words))
            .count()
    };
    assert_eq!(
        (count("session created"), count("session deleted")),
        (1, 1),
        "{caused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_bmc_is_updated_goes_away_and_comes_back_with_the_new_version() {
    let world = generic(1);
    look(&world.client, &state()).await;
    world.serve(Component::Bmc, "1.60");
    let handle = accepted(&world.client, &pull(Target::Bmc, &[]))
        .await
        .unwrap();
    let follow = LookRequest {
        tasks: vec![handle],
        ..LookRequest::default()
    };
    let seen = look(&world.client, &follow).await;
    let Followed::Task(task) = &seen.followed[0] else {
        panic!("{:?}", seen.followed);
    };
    assert!(!task.is_finished() && task.start_time.is_some());
    assert!(task.payload_body.as_deref().unwrap().contains(IMAGE));
    let busy = look(&world.client, &work()).await;
    assert_eq!(
        busy.tasks.iter().filter(|task| !task.is_finished()).count(),
        1
    );

    world.client.outage(true);
    until(&world.client, &follow, |seen| {
        matches!(seen, Seen::Failed(_))
    })
    .await;
    let back = LookRequest {
        fresh_session: true,
        ..state()
    };
    let seen = looked(until(&world.client, &back, |seen| matches!(seen, Seen::Looked(_))).await);
    world.client.outage(false);
    assert_eq!(seen.bmc_version(), Some("1.60"));
    let updates = world
        .caused()
        .into_iter()
        .filter(|cause| cause.starts_with("update accepted"))
        .count();
    assert_eq!(updates, 1);
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_not_there_ends_in_the_task_and_not_in_the_version() {
    let world = generic(1);
    let handle = accepted(&world.client, &pull(Target::Bmc, &[]))
        .await
        .unwrap();
    let follow = LookRequest {
        tasks: vec![handle],
        ..state()
    };
    let ended = |seen: &Seen| match seen {
        Seen::Looked(look) => {
            matches!(&look.followed[0], Followed::Task(task) if task.is_finished())
        }
        Seen::Failed(_) => false,
    };
    let seen = looked(until(&world.client, &follow, ended).await);
    let Followed::Task(task) = &seen.followed[0] else {
        panic!("{:?}", seen.followed);
    };
    assert!(!task.looks_good() && !task.messages.is_empty(), "{task:?}");
    assert_eq!(seen.bmc_version(), Some("1.50"));
}

#[tokio::test(start_paused = true)]
async fn a_pushed_bios_waits_until_its_host_boots_and_the_other_host_keeps_its_own() {
    let world = generic(2);
    let before = look(
        &world.client,
        &LookRequest {
            software: true,
            ..state()
        },
    )
    .await;
    let bios = before.systems[&ServerName::from("b/1")]
        .bios_uri
        .clone()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bios.bin");
    std::fs::write(&path, image_of(Component::Bios, "2.20")).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    let push = Action::Update(UpdateAction {
        target: Target::Server("b/1".into()),
        image: ImageSource::File {
            path,
            bytes,
            name: "bios.bin".to_owned(),
        },
        method: UpdateMethod::MultipartPush,
        targets: vec![bios],
        apply_time: None,
        keep: None,
    });
    accepted(&world.client, &push).await.unwrap();
    let software = LookRequest {
        software: true,
        ..state()
    };
    let is_staged = |seen: &Seen| match seen {
        Seen::Looked(look) => look.software.iter().any(|view| view.staged),
        Seen::Failed(_) => false,
    };
    let staged = looked(until(&world.client, &software, is_staged).await);
    assert_eq!(staged.bios_version(&"b/1".into()), Some("2.10"));

    for (reset_type, power) in [("GracefulShutdown", Power::Off), ("On", Power::On)] {
        let reset = Action::ResetSystem {
            server: "b/1".into(),
            reset_type: reset_type.to_owned(),
        };
        accepted(&world.client, &reset).await;
        let arrived = |seen: &Seen| match seen {
            Seen::Looked(look) => look.systems[&ServerName::from("b/1")].power == power,
            Seen::Failed(_) => false,
        };
        until(&world.client, &state(), arrived).await;
    }
    let booted = |seen: &Seen| match seen {
        Seen::Looked(look) => look.systems[&ServerName::from("b/1")].in_post == Some(false),
        Seen::Failed(_) => false,
    };
    let seen = looked(until(&world.client, &state(), booted).await);
    assert_eq!(seen.bios_version(&"b/1".into()), Some("2.20"));
    assert_eq!(seen.bios_version(&"b/2".into()), Some("2.10"));
}

#[tokio::test(start_paused = true)]
async fn settings_wait_for_a_reset_and_a_second_request_is_not_needed() {
    let world = generic(1);
    let target = Target::Server("b/1".into());
    let request = LookRequest {
        settings: [target.clone()].into(),
        work: true,
        ..state()
    };
    let seen = look(&world.client, &request).await;
    let view = &seen.settings[&target];
    let resource = &view.resources[0];
    let action = Action::PatchAttributes {
        target: target.clone(),
        parts: vec![AttributePatch {
            uri: resource.write_uri.clone(),
            attributes: [("ProcHyperthreading".to_owned(), json!("Enabled"))].into(),
        }],
        apply_time: None,
    };
    accepted(&world.client, &action).await;
    let seen = look(&world.client, &request).await;
    let view = &seen.settings[&target];
    assert_eq!(view.pending("ProcHyperthreading"), Some(&json!("Enabled")));
    assert_eq!(view.current("ProcHyperthreading"), Some(&json!("Disabled")));
    assert!(
        seen.systems[&ServerName::from("b/1")]
            .pending
            .contains("ProcHyperthreading")
    );

    accepted(&world.client, &action).await;
    let patches = world
        .bmc
        .lock()
        .unwrap()
        .ledger()
        .iter()
        .filter(|line| line.method.as_deref() == Some("PATCH"))
        .count();
    assert_eq!(patches, 1, "what waits already is not sent again");

    let refused = Action::PatchAttributes {
        target,
        parts: vec![AttributePatch {
            uri: view.resources[0].write_uri.clone(),
            attributes: [("ProcHyperthreading".to_owned(), json!("Nonsense"))].into(),
        }],
        apply_time: None,
    };
    let Outcome::Refused {
        fault,
        later: false,
        ..
    } = world.client.act(&refused).await
    else {
        panic!("not refused");
    };
    assert_eq!(fault.messages[0].key(), Some("PropertyValueNotInList"));
}

#[tokio::test(start_paused = true)]
async fn recorded_trees_come_alive_with_their_own_versions() {
    let Some(folder) = mockups() else {
        return;
    };
    for (name, version) in [
        ("dmtf-public-rackmount1", "1.45.455b66-rev4"),
        ("nvidia-bluefield3", "BF-24.10-10"),
    ] {
        let tree = Tree::load(&folder.join(name)).unwrap();
        let world = world(Fleet::builder().tree(tree, 1).build());
        let request = LookRequest {
            software: true,
            work: true,
            ..state()
        };
        let seen = look(&world.client, &request).await;
        assert_eq!(seen.bmc_version(), Some(version), "{name}");
        assert!(!seen.capability.update_methods.is_empty(), "{name}");
        assert_eq!(seen.systems.len(), 1, "{name}");
    }
}
