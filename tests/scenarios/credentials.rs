//! Passwords that change, logins that are refused, sessions that are left.

use redpipe::daemon::{ApplyReport, Awaited, RunEnd, Stop, check};
use redpipe::model::FaultKind;
use redpipe::run::RunPhase;
use serde_json::json;

use crate::common::{
    PIPELINE, bmc_hop, completed, first, named, pipeline, settings, stage, stages,
};
use crate::support::world::{World, end};

const BMC: &str = "mock-1";

/// A lab whose password is in a file, as it is before anybody changes it.
fn lab(script: &str) -> World {
    let mut world = World::one(1, script);
    let path = world.folder.path().join("password");
    std::fs::write(&path, "secret").unwrap();
    world.password = format!("{{ file = \"{}\" }}", path.display());
    world
}

/// Two steps, so that there is a middle.
fn two_steps(world: &World) -> String {
    pipeline(&[
        settings("ntp", "bmc", "\"NtpServer1\" = \"10.0.0.1\""),
        bmc_hop(world, "1.60"),
    ])
}

/// Applies, and once the first step is written the BMC has another password and knows no session any more.
async fn rotated_meanwhile(world: &World, then: impl Fn(&World)) -> ApplyReport {
    let mut rotated = false;
    let report = world
        .apply_watched(&[&two_steps(world)], |world, _| {
            if !rotated && !world.caused(BMC, "settings accepted").is_empty() {
                let once = json!({ "count": 1, "status": 401, "authorized": true });
                world.bmc(BMC, |bmc| {
                    bmc.set_password("rotated");
                    bmc.add_fault(serde_json::from_value(once).unwrap());
                });
                then(world);
                rotated = true;
            }
            true
        })
        .await
        .unwrap();
    assert!(rotated, "{report:#?}");
    report
}

fn refused(world: &World, bmc: &str) -> usize {
    world.caused(bmc, "login refused").len()
}

/// An account that must change its password first is no refused login, in whatever form the BMC says so: it is named, the
/// account is not locked, no run begins, and all is well once it has another password.
#[tokio::test(start_paused = true)]
async fn an_account_that_must_change_its_password_is_named_and_never_counts_as_refused() {
    for form in ["reads", "login", "unauthorized"] {
        for auth in ["auto", "basic"] {
            let script = format!(
                "[sessions]\nmust_change_password = true\npassword_change = \"{form}\"\nlockout_threshold = 2\n"
            );
            let mut world = World::one(1, &script);
            world
                .extra
                .insert(BMC.to_owned(), format!("auth = \"{auth}\""));
            let text = pipeline(&[bmc_hop(&world, "1.60")]);
            for _ in 0..3 {
                assert_other_password_is_wanted(&world, &text).await;
            }
            assert_eq!(refused(&world, BMC), 0, "{form} {auth}");
            assert_eq!(world.writes(BMC), [""; 0], "{form} {auth}");
            let sessions = |what: &str| world.caused(BMC, what).len();
            let (opened, ended) = (sessions("session created"), sessions("session deleted"));
            assert_eq!(opened, ended, "{form} {auth}: none is left");

            world.bmc(BMC, |bmc| bmc.set_password("secret"));
            completed(&world, &world.apply(&[&text]).await);
        }
    }
}

async fn assert_other_password_is_wanted(world: &World, text: &str) {
    let (engine, stop, awaited) = (world.engine(), Stop::new(), Awaited::default());
    let listed = [world.assignments(&[text]).await[0].bmc.clone()];
    let checked = check(&engine, &listed, &stop, &awaited).await;
    let checked = checked.expect("nobody stops it");
    let problem = &checked[0].problems[0];
    assert_eq!(problem.kind, "password-change-required");
    let account = "`/redfish/v1/AccountService/Accounts/1`";
    assert!(problem.message.contains(account), "{problem:?}");

    let report = world.apply(&[text]).await;
    let kept = end(&report, PIPELINE, BMC);
    let is_it = |kind: FaultKind| kind == FaultKind::PasswordChangeRequired;
    assert!(
        matches!(kept, RunEnd::NotStarted(fault) if is_it(fault.kind)),
        "{kept:?}"
    );
}

/// Scenario 132: a password that is rotated in both places.
#[tokio::test(start_paused = true)]
async fn a_password_that_is_rotated_during_a_run_is_read_once_more_and_the_run_goes_on() {
    let world = lab("");
    let report = rotated_meanwhile(&world, |world| {
        std::fs::write(world.folder.path().join("password"), "rotated").unwrap();
    })
    .await;
    let run = completed(&world, &report);
    assert_eq!(
        stages(run),
        ["ntp Completed applied", "bmc-1.60 Completed applied"]
    );
    assert_eq!(refused(&world, BMC), 1, "only the old one, and once");
}

/// Scenario 132: a password that nobody told redpipe of.
#[tokio::test(start_paused = true)]
async fn a_password_that_stays_wrong_blocks_the_run_and_locks_nobody_out() {
    let world = lab("[sessions]\nlockout_threshold = 3");
    let report = rotated_meanwhile(&world, |_| {}).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    let reason = &stage(run, "ntp").reason;
    assert!(reason.starts_with("blocked: "), "{reason}");
    assert!(reason.contains("refused the login"), "{reason}");
    assert!(
        !run.reason.contains("secret"),
        "the password shows: {}",
        run.reason
    );
    let tried = refused(&world, BMC);
    assert!((1..=2).contains(&tried), "{tried} refused logins");
    assert_eq!(world.caused(BMC, "update accepted"), [""; 0]);

    let again = world.apply(&[&two_steps(&world)]).await;
    let run = first(&again);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(
        run.reason.contains("redpipe trust --credentials mock-1"),
        "{}",
        run.reason
    );
    assert_eq!(refused(&world, BMC), tried, "no process logs in any more");
}

/// Scenario 154, in the middle of a run.
#[tokio::test(start_paused = true)]
async fn a_run_on_a_bmc_that_looks_factory_reset_is_held_after_one_refused_login() {
    let world = lab("[sessions]\nlockout_threshold = 5");
    let report = rotated_meanwhile(&world, |world| {
        let other = json!("00000000-1111-2222-3333-444444444444");
        world.bmc(BMC, |bmc| bmc.set_member("/redfish/v1", "/UUID", other));
    })
    .await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("looks factory-reset"), "{}", run.reason);
    let again = world.apply(&[&two_steps(&world)]).await;
    assert_eq!(first(&again).phase, RunPhase::Held, "{again:#?}");
    assert_eq!(refused(&world, BMC), 1, "no process logs in any more");
    assert_eq!(world.caused(BMC, "update accepted"), [""; 0]);
}

/// Scenario 133.
#[tokio::test(start_paused = true)]
async fn twenty_runs_have_a_session_each_at_most_and_leave_none() {
    let world = World::of(&[1; 20], "");
    let table = "[rollout]\nmax_concurrent = 8\n";
    let text = named(PIPELINE, table, &[bmc_hop(&world, "1.60")]);
    let sessions = |world: &World| -> Vec<usize> {
        let names = world.bmcs.keys();
        names
            .map(|name| world.bmc(name, |bmc| bmc.state().sessions.len()))
            .collect()
    };
    let mut most = 0;
    let report = world
        .apply_watched(&[&text], |world, _| {
            let open = sessions(world);
            assert!(open.iter().all(|count| *count <= 1), "{open:?}");
            most = most.max(open.iter().sum());
            true
        })
        .await
        .unwrap();
    assert_eq!(report.ends.len(), 20);
    for run in report.ends.values() {
        let is_completed =
            matches!(run, RunEnd::Over(status) if status.phase == RunPhase::Completed);
        assert!(is_completed, "{run:#?}");
    }
    assert!((1..=20).contains(&most), "{most} sessions at a time");
    assert_eq!(sessions(&world), [0; 20]);
}

/// Scenario 158.
#[tokio::test(start_paused = true)]
async fn a_directory_password_that_was_rotated_is_refused_by_three_of_a_thousand_bmcs_at_most() {
    const BMCS: usize = 1000;
    let world = World::of(&[1; BMCS], "");
    for bmc in world.bmcs.values() {
        bmc.lock().unwrap().set_password("rotated");
    }
    let table = "[rollout]\nmax_concurrent = 100\nmax_failures = 0\n";
    let text = named(PIPELINE, table, &[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    let asked: Vec<&String> = world
        .bmcs
        .keys()
        .filter(|name| refused(&world, name) > 0)
        .collect();
    assert!((1..=3).contains(&asked.len()), "{asked:?}");
    assert_eq!(report.ends.len(), BMCS);
    for name in world.bmcs.keys() {
        let RunEnd::NotStarted(fault) = end(&report, PIPELINE, name) else {
            panic!("{name}: {report:?}");
        };
        let expected = [FaultKind::LoginRefused, FaultKind::CredentialsBad];
        assert!(expected.contains(&fault.kind), "{name}: {fault:?}");
        assert!(refused(&world, name) <= 3, "{name} is locked");
    }
    let report = world.apply(&[&text]).await;
    assert_eq!(report.ends.len(), BMCS);
    let after = world.bmcs.keys().map(|name| refused(&world, name));
    assert!(after.sum::<usize>() <= 9, "the next process tries again");
}

/// A BMC has few sessions, and those of logins whose answers were lost stay until they run out: the next login deletes them,
/// on whatever page of the collection they stand.
#[tokio::test(start_paused = true)]
async fn sessions_of_logins_that_were_never_answered_are_deleted_on_every_page() {
    let script = "[collections]\npage_size = 1\n[[fault]]\nmethod = \"POST\"\npath = \"*/Sessions\"\ncount = 2\nanswer = \"drop-after\"";
    let world = World::one(1, script);
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(world.caused("mock-1", "session created").len(), 3);
    assert_eq!(world.caused("mock-1", "session deleted").len(), 3);
}
