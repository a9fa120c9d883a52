//! Dell iDRAC 9 and 10.

use std::sync::Arc;
use std::time::Duration;

use redpipe::run::RunPhase;
use serde_json::{Value, json};

use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody};
use crate::support::world::status;
use crate::walk::{BMC, Walk, bodies, hop, pipeline, stage, story};

pub(crate) const IDRAC9: Walk = Walk {
    mock: "idrac9",
    platform: "dell-idrac9",
    bmc_settings: "settings = { NtpEnable = \"Enabled\", SyslogPort = 1514, \"ServerPwr.1.PowerCapValue\" = 900 }",
    bmc: ["6.10.30.00", "6.10.80.00"],
    bios: ["1.13.2", "1.15.0"],
};

pub(crate) const IDRAC10: Walk = Walk {
    mock: "idrac10",
    platform: "dell-idrac10",
    bmc: ["1.20.60.50", "1.30.07.10"],
    bios: ["1.6.5", "1.8.2"],
    ..IDRAC9
};

/// The requests of the walk, by URI of what they are about.
fn requests() -> Vec<String> {
    let manager = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes";
    let system = "/redfish/v1/Systems/System.Embedded.1";
    let push = "POST /redfish/v1/UpdateService/MultipartUpload 202";
    let restart = [
        format!("reset {system} GracefulShutdown"),
        format!("reset {system} On"),
    ];
    let settings = [
        format!("PATCH {system}/Bios/Settings 202"),
        format!("reset {system} GracefulRestart"),
        format!("PATCH {manager}/iDRAC.Embedded.1 200"),
        format!("PATCH {manager}/System.Embedded.1 200"),
    ];
    let hop = || std::iter::once(push.to_owned()).chain(restart.clone());
    let bmc_hops = [push.to_owned(), push.to_owned()];
    settings
        .into_iter()
        .chain(bmc_hops)
        .chain(hop())
        .chain(hop())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn idrac9_gets_jobs_for_bios_settings_and_images_that_wait_for_our_reset() {
    let world = IDRAC9.take().await;
    assert_eq!(story(&world), requests());
    let settings = "/redfish/v1/Systems/System.Embedded.1/Bios/Settings";
    let patch = &bodies(&world, settings)[0];
    assert_eq!(
        patch["Attributes"],
        json!({"BootRetryCount": 5, "QuietBoot": false})
    );
    assert_eq!(patch["@Redfish.SettingsApplyTime"]["ApplyTime"], "OnReset");
    assert_eq!(world.caused(BMC, "job created").len(), 1);
    let pushes = bodies(&world, "/redfish/v1/UpdateService/MultipartUpload");
    let parameters: Vec<&Value> = pushes
        .iter()
        .map(|push| &push["parts"][0]["json"])
        .collect();
    let now = json!({"Targets": [], "Oem": {}});
    let on_reset = json!({"Targets": [], "Oem": {}, "@Redfish.OperationApplyTime": "OnReset"});
    assert_eq!(parameters, [&now, &now, &on_reset, &on_reset]);
    assert_eq!(pushes[2]["parts"][1]["file_name"], "bios-1.13.2.exe");
}

/// Scenario 51 with it: its attributes name no settings object, and are written themselves.
#[tokio::test(start_paused = true)]
async fn idrac10_is_walked_alike() {
    let world = IDRAC10.take().await;
    assert_eq!(story(&world), requests());
}

/// Scenario 44: attributes in three resources, one of which refuses.
#[tokio::test(start_paused = true)]
async fn a_refused_part_of_the_attributes_names_what_was_applied_and_a_retry_writes_the_rest() {
    let fault = "[[fault]]\nmethod = \"PATCH\"\npath = \"*/DellAttributes/System.Embedded.1\"\ncount = 1\nstatus = 400\nmessage_id = \"IDRAC.2.8.SYS410\"\nmessage = \"Unable to modify the attribute.\"\n";
    let world = IDRAC9.world(fault);
    let text = pipeline(&stage(IDRAC9.bmc_settings));
    let report = world.apply(&[&text]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    assert!(
        run.reason
            .contains("iDRAC.Embedded.1` (NtpEnable, SyslogPort)"),
        "{}",
        run.reason
    );
    let report = world.apply(&[&text]).await;
    assert_eq!(status(&report, "p", BMC).phase, RunPhase::Completed);
    let base = "PATCH /redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes";
    assert_eq!(
        story(&world),
        [
            format!("{base}/iDRAC.Embedded.1 200"),
            format!("{base}/System.Embedded.1 400"),
            format!("{base}/System.Embedded.1 200"),
        ]
    );
    let state = world.bmc(BMC, |bmc| bmc.state());
    // Scenario 41: a number stays one.
    assert_eq!(state.bmc_attributes["SyslogPort"], json!(1514));
    assert_eq!(
        state.bmc_attributes["ServerPwr.1.PowerCapValue"],
        json!(900)
    );
}

/// Scenario 110: the job that was to set the attributes fails with the boot; the run says so then, not when its time is up.
#[tokio::test(start_paused = true)]
async fn a_job_that_fails_is_told_at_once_with_its_own_words() {
    let world = IDRAC9.world("[bios_settings]\ndropped = true\n");
    let text = pipeline(
        "\n[[stage]]\nname = \"bios\"\nkind = \"bios-settings\"\nsettings = { QuietBoot = false }\n",
    );
    let report = world.apply(&[&text]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    assert!(
        world.elapsed() < Duration::from_mins(20),
        "{:?}: {}",
        world.elapsed(),
        run.reason
    );
    assert_eq!(world.caused(BMC, "job created").len(), 1);
}

/// Scenario 119: wherever the answer names the task, it is followed; where it names none, the version alone decides.
#[tokio::test(start_paused = true)]
async fn the_task_is_found_wherever_the_answer_names_it() {
    for handle in ["location", "body", "annotations", "message", "none"] {
        let world = IDRAC9.world(&format!("[update]\nhandle = \"{handle}\"\n"));
        let report = world
            .apply(&[&pipeline(&hop(&world, "bmc", "6.10.30.00"))])
            .await;
        assert_eq!(
            status(&report, "p", BMC).phase,
            RunPhase::Completed,
            "{handle}"
        );
        let pushes = ["POST /redfish/v1/UpdateService/MultipartUpload 202"];
        assert_eq!(story(&world), pushes, "{handle}");
    }
}

/// Scenario 118 and S5: an action with `If-Match` is refused by iDRAC 10, and never sent.
#[tokio::test(start_paused = true)]
async fn a_pull_carries_no_if_match() {
    let world = IDRAC10.world("");
    let image = world.uri_image("bmc", "1.20.60.50");
    let stage = format!(
        "\n[[stage]]\nname = \"b\"\nkind = \"bmc-version\"\nversion = \"1.20.60.50\"\nimage = {image}\n"
    );
    let report = world.apply(&[&pipeline(&stage)]).await;
    assert_eq!(status(&report, "p", BMC).phase, RunPhase::Completed);
    let pull = "POST /redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate 202";
    assert_eq!(story(&world), [pull]);
}

/// S3: an iDRAC that offers no apply time makes no job by itself; one is ordered, once, after the values were taken.
#[tokio::test(start_paused = true)]
async fn where_no_apply_time_is_offered_the_job_is_ordered() {
    let world = IDRAC9.world("");
    let bios = "/redfish/v1/Systems/System.Embedded.1/Bios";
    world.bmc(BMC, |bmc| {
        bmc.set_member(bios, "/@Redfish.Settings/SupportedApplyTimes", json!([]));
    });
    let text = pipeline(
        "\n[[stage]]\nname = \"bios\"\nkind = \"bios-settings\"\nsettings = { QuietBoot = false }\n",
    );
    let report = world.apply(&[&text]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(
        run.phase,
        RunPhase::Completed,
        "{run:#?} {:#?}",
        story(&world)
    );
    assert_eq!(
        story(&world),
        [
            format!("PATCH {bios}/Settings 200"),
            "POST /redfish/v1/JobService/Jobs 202".to_owned(),
            "reset /redfish/v1/Systems/System.Embedded.1 GracefulRestart".to_owned(),
        ]
    );
    let order = &bodies(&world, "/redfish/v1/JobService/Jobs")[0];
    assert_eq!(
        order,
        &json!({"TargetSettingsURI": format!("{bios}/Settings")})
    );
}

/// Whoever dies between the values and the order of their job leaves values that no restart applies. The BIOS shows them as
/// if they were in effect; the next process says that they are not.
#[tokio::test(start_paused = true)]
async fn values_that_wait_without_a_job_are_never_claimed_though_the_bios_shows_them() {
    let world = IDRAC9.world("");
    let bios = "/redfish/v1/Systems/System.Embedded.1/Bios";
    world.bmc(BMC, |bmc| {
        bmc.set_member(bios, "/@Redfish.Settings/SupportedApplyTimes", json!([]));
    });
    let text = pipeline(
        "\n[[stage]]\nname = \"bios\"\nkind = \"bios-settings\"\nsettings = { QuietBoot = false }\n",
    );
    let lives = Lives::new();
    let one = lives.start(&world, 1, Death::AfterSend(1), Arc::new(Nobody));
    assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
    drop(one);
    let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
    let report = other.apply(&world, &[&text]).await.unwrap();
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    let why = "`QuietBoot` still waits for a reset or a job";
    assert!(run.reason.contains(why), "{}", run.reason);
    let shown = world.bmc(BMC, |bmc| bmc.member(bios, "/Attributes/QuietBoot"));
    assert_eq!(shown, Some(json!(false)));
    let state = world.bmc(BMC, |bmc| bmc.state());
    assert_eq!(state.systems[0].attributes["QuietBoot"], true);
}
