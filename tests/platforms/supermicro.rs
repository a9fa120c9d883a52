//! Supermicro X12 and X13.

use std::sync::Arc;

use redpipe::run::RunPhase;
use serde_json::json;

use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody};
use crate::support::world::status;
use crate::walk::{BMC, NTP, Walk, bodies, hop, pipeline, story};

pub(crate) const X12: Walk = Walk {
    mock: "smc-x12",
    platform: "supermicro-x12",
    bmc_settings: NTP,
    bmc: ["1.05.09", "1.23.06"],
    bios: ["1.5", "1.6"],
};

pub(crate) const X13: Walk = Walk {
    mock: "smc-x13",
    platform: "supermicro-x13",
    bmc: ["01.03.10", "01.04.02"],
    ..X12
};

const PUSH: &str = "POST /redfish/v1/UpdateService/upload 202";
const START: &str = "POST /redfish/v1/UpdateService/Actions/UpdateService.StartUpdate 202";

#[tokio::test(start_paused = true)]
async fn supermicro_verifies_first_then_is_started_and_its_bios_is_written_itself() {
    for walk in [X12, X13] {
        let world = walk.take().await;
        let hop = [
            PUSH,
            START,
            "reset /redfish/v1/Systems/1 GracefulShutdown",
            "reset /redfish/v1/Systems/1 On",
        ];
        let settings = [
            "PATCH /redfish/v1/Systems/1/Bios 200",
            "reset /redfish/v1/Systems/1 GracefulRestart",
            "PATCH /redfish/v1/Managers/1/NetworkProtocol 200",
            PUSH,
            START,
            PUSH,
            START,
        ];
        assert_eq!(story(&world), [&settings[..], &hop, &hop].concat());
        let pushes = bodies(&world, "/redfish/v1/UpdateService/upload");
        let bmc = json!({"Targets": ["/redfish/v1/Managers/1"], "@Redfish.OperationApplyTime": "OnStartUpdateRequest",
            "Oem": {"Supermicro": {"BMC": {"PreserveCfg": true, "PreserveSdr": true, "PreserveSsl": true}}}});
        let bios = json!({"Targets": ["/redfish/v1/Systems/1/Bios"], "@Redfish.OperationApplyTime": "OnStartUpdateRequest",
            "Oem": {"Supermicro": {"BIOS": {"PreserveME": true, "PreserveNVRAM": true, "PreserveSMBIOS": true}}}});
        assert_eq!(
            [
                &pushes[0]["parts"][0]["json"],
                &pushes[2]["parts"][0]["json"]
            ],
            [&bmc, &bios]
        );
    }
}

/// What an update is to keep is the author's word, in the vendor's own names; all of the rest is wiped, and the plan says so.
#[tokio::test(start_paused = true)]
async fn what_is_not_to_be_kept_is_wiped_and_the_plan_says_so() {
    let mut world = X12.world("");
    world.defaults =
        "credentials = \"mock\"\ntls = \"first-use\"\ntls_change = \"accept-in-outage\"\n"
            .to_owned();
    let changed = "\n[[stage]]\nname = \"quiet\"\nkind = \"bios-settings\"\ntransient = true\nsettings = { QuietBoot = false }\n";
    let mut stages = changed.to_owned();
    stages += &hop(&world, "bmc", "1.05.09");
    stages += "preserve = [\"PreserveCfg\", \"PreserveSdr\"]\n";
    stages += &hop(&world, "bios", "1.5");
    stages += "preserve = \"none\"\n";
    let text = pipeline(&stages);

    let planned = world.plan(&[&text]).await;
    let (report, _) = planned[0].report.as_ref().expect("it is read");
    let reason = |stage: usize| report.stages[stage].targets[0].reason.clone().unwrap();
    let words = "wipes BMC configuration, but for PreserveCfg, PreserveSdr";
    assert!(reason(1).contains(words), "{}", reason(1));
    assert!(
        reason(2).contains("wipes BIOS configuration"),
        "{}",
        reason(2)
    );

    let report = world.apply(&[&text]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Completed, "{run:#?}");
    let pushes = bodies(&world, "/redfish/v1/UpdateService/upload");
    let kept = |push: usize| &pushes[push]["parts"][0]["json"]["Oem"]["Supermicro"];
    let bmc = json!({"BMC": {"PreserveCfg": true, "PreserveSdr": true, "PreserveSsl": false}});
    let bios =
        json!({"BIOS": {"PreserveME": false, "PreserveNVRAM": false, "PreserveSMBIOS": false}});
    assert_eq!([kept(0), kept(1)], [&bmc, &bios]);
    let state = world.bmc(BMC, |bmc| bmc.state());
    assert_eq!(
        state.systems[0].attributes["QuietBoot"], true,
        "back at its default"
    );
}

/// What a BMC cannot be told is not flashed in the hope of the best.
#[tokio::test(start_paused = true)]
async fn what_a_bmc_cannot_be_told_to_wipe_is_blocked_and_not_sent() {
    for (walk, preserve, words) in [
        (X12, "[\"PreserveNVRAM\"]", "called `PreserveNVRAM`"),
        (
            crate::lenovo::XCC,
            "\"none\"",
            "cannot be told what to keep",
        ),
    ] {
        let world = walk.world("");
        let hop = hop(&world, "bmc", walk.bmc[0]);
        let stage = format!("{hop}preserve = {preserve}\n");
        let report = world.apply(&[&pipeline(&stage)]).await;
        let run = status(&report, "p", BMC);
        assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
        assert!(run.reason.contains("blocked:"), "{}", run.reason);
        assert!(run.reason.contains(words), "{}", run.reason);
        assert_eq!(story(&world), [""; 0]);
    }
}

/// Scenario 130: the boot mode is set where the BMC exposes it, and where it does not, nothing is written.
#[tokio::test(start_paused = true)]
async fn the_boot_mode_is_set_only_where_the_bmc_exposes_it() {
    const SYSTEM: &str = "/redfish/v1/Systems/1";
    for is_exposed in [true, false] {
        let world = X12.world("");
        if !is_exposed {
            let boot = json!({"BootSourceOverrideEnabled": "Disabled"});
            world.bmc(BMC, |bmc| bmc.set_member(SYSTEM, "/Boot", boot));
        }
        let set =
            "[{ uri = \"{system}\", set = { Boot = { BootSourceOverrideMode = \"Legacy\" } } }]";
        let stage = format!(
            "\n[[stage]]\nname = \"boot\"\nkind = \"bios-settings\"\n[[stage.flow]]\nname = \"mode\"\nresources = {set}\n"
        );

        let report = world.apply(&[&pipeline(&stage)]).await;

        let run = status(&report, "p", BMC);
        if is_exposed {
            assert_eq!(run.phase, RunPhase::Completed, "{run:#?}");
            assert_eq!(story(&world), [format!("PATCH {SYSTEM} 200")]);
        } else {
            assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
            assert!(
                run.reason.contains("BootSourceOverrideMode"),
                "{}",
                run.reason
            );
            assert_eq!(story(&world), [""; 0]);
        }
    }
}

/// S9, the variant without a licence.
#[tokio::test(start_paused = true)]
async fn a_missing_licence_is_told_by_the_bmcs_own_words() {
    let fault = "[[fault]]\nmethod = \"POST\"\npath = \"*/upload\"\nstatus = 403\nmessage_id = \"SMC.1.0.OemLicenseNotPassed\"\nmessage = \"Not licensed to perform this request: SFT-OOB-LIC.\"\n";
    let world = X13.world(fault);
    let report = world
        .apply(&[&pipeline(&hop(&world, "bmc", "01.03.10"))])
        .await;
    let run = status(&report, "p", BMC);
    assert_ne!(run.phase, RunPhase::Completed, "{run:#?}");
    assert!(run.reason.contains("SFT-OOB-LIC"), "{}", run.reason);
    assert_eq!(story(&world), ["POST /redfish/v1/UpdateService/upload 403"]);
}

/// An image that is not the BMC's kind of image is not started.
#[tokio::test(start_paused = true)]
async fn what_is_not_verified_is_not_started() {
    let world = X13.world("");
    let path = world.folder.path().join("rubbish.bin");
    std::fs::write(&path, [0_u8; 4096]).unwrap();
    let stage = format!(
        "\n[[stage]]\nname = \"b\"\nkind = \"bmc-version\"\nversion = \"01.03.10\"\nimage = {{ file = \"{}\" }}\n",
        path.display()
    );
    let report = world.apply(&[&pipeline(&stage)]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    assert!(run.reason.contains("did not verify"), "{}", run.reason);
    assert_eq!(story(&world), [PUSH]);
}

/// Whoever dies between the two steps, or after the second, has begun one flash at most; the next process begins none, and
/// leaves it to a person, because this BMC's tasks do not say whose they are.
#[tokio::test(start_paused = true)]
async fn a_process_that_dies_between_verification_and_start_flashes_nothing_twice() {
    for death in 1..=2_u32 {
        let world = X12.world("");
        let text = pipeline(&hop(&world, "bmc", "1.05.09"));
        let lives = Lives::new();
        let one = lives.start(&world, 1, Death::AfterSend(death), Arc::new(Nobody));
        assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
        drop(one);
        let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
        let report = other.apply(&world, &[&text]).await.unwrap();
        let run = status(&report, "p", BMC);
        assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
        assert!(
            run.reason.contains("nothing ties it to our request"),
            "{}",
            run.reason
        );
        let sent = [PUSH, START];
        assert_eq!(story(&world), sent[..death as usize]);
    }
}
