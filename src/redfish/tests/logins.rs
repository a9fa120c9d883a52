//! Refused logins: bounded per BMC, over processes, and over all BMCs that share credentials.

use http::Method;
use tokio::time::Instant;

use super::support::{FakeBmc, SESSIONS, SYSTEM, TestMemory, secs, source, talk, talk_as};
use crate::model::inventory::AuthMode;
use crate::model::{FaultKind, Retry};
use crate::redfish::{LoginEnd, LoginLeave, LoginRecord, LoginRule};

const WRONG: &str = "wrong";

#[tokio::test(start_paused = true)]
async fn a_wrong_password_is_refused_three_times_a_minute_apart_and_never_tried_again() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |parts| {
        parts.credentials = Some(source(&[WRONG]));
    });
    let start = Instant::now();
    let fault = talk.get(SYSTEM).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.retry),
        (FaultKind::LoginRefused, Retry::Operator)
    );
    assert!(
        fault.message.contains("r04-c1")
            && fault
                .hint
                .unwrap()
                .contains("redpipe trust --credentials r04-c1")
    );
    let logins = bmc.arrived(&Method::POST, SESSIONS);
    assert_eq!(logins.len(), 3);
    assert!(
        logins
            .windows(2)
            .all(|pair| pair[1].at - pair[0].at >= secs(60))
    );
    assert!(start.elapsed() < secs(125));
    assert_eq!(
        talk.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::CredentialsBad
    );
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 3);
}

#[tokio::test(start_paused = true)]
async fn the_next_process_sends_no_login_until_the_credentials_change_or_are_trusted() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let wrong = || source(&[WRONG]);
    talk(&bmc, &memory, |parts| parts.credentials = Some(wrong()))
        .get(SYSTEM)
        .await
        .unwrap_err();
    let sent = bmc.count(&Method::POST, SESSIONS);
    let next = talk(&bmc, &memory, |parts| parts.credentials = Some(wrong()));
    assert_eq!(
        next.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::CredentialsBad
    );
    assert_eq!(bmc.count(&Method::POST, SESSIONS), sent);
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    assert_eq!(
        bmc.count(&Method::POST, SESSIONS),
        sent + 1,
        "another value is another credential"
    );

    bmc.with(|state| state.password = WRONG.to_owned());
    memory.with(|disk| {
        disk.logins
            .values_mut()
            .for_each(|record| record.forgive("r04-c1"));
    });
    talk(&bmc, &memory, |parts| parts.credentials = Some(wrong()))
        .get(SYSTEM)
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_processes_share_one_bound() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let one = talk(&bmc, &memory, |parts| {
        parts.credentials = Some(source(&[WRONG]));
    });
    let two = talk(&bmc, &memory, |parts| {
        parts.credentials = Some(source(&[WRONG]));
    });
    let (a, b) = tokio::join!(one.get(SYSTEM), two.get(SYSTEM));
    assert!(a.is_err() && b.is_err());
    let logins = bmc.arrived(&Method::POST, SESSIONS);
    assert_eq!(logins.len(), 3);
    assert!(
        logins
            .windows(2)
            .all(|pair| pair[1].at - pair[0].at >= secs(60))
    );
}

#[tokio::test(start_paused = true)]
async fn a_lockout_threshold_lowers_the_bound() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    memory.with(|disk| disk.threshold = Some(2));
    talk(&bmc, &memory, |parts| {
        parts.credentials = Some(source(&[WRONG]));
    })
    .get(SYSTEM)
    .await
    .unwrap_err();
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 1);
}

#[tokio::test(start_paused = true)]
async fn the_threshold_is_learned_at_first_contact() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    assert_eq!(memory.with(|disk| disk.threshold), Some(5));
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    assert_eq!(bmc.count(&Method::GET, "/redfish/v1/AccountService"), 1);
}

#[tokio::test(start_paused = true)]
async fn refused_basic_credentials_are_counted_alike() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let basic = |password: &'static str| {
        talk(&bmc, &memory, |parts| {
            parts.auth = AuthMode::Basic;
            parts.credentials = Some(source(&[password]));
        })
    };
    assert_eq!(
        basic(WRONG).get(SYSTEM).await.unwrap_err().kind,
        FaultKind::LoginRefused
    );
    assert_eq!(
        basic(WRONG).get(SYSTEM).await.unwrap_err().kind,
        FaultKind::CredentialsBad
    );
    let refused = bmc.with(|s| {
        s.arrived
            .iter()
            .filter(|r| r.headers.contains_key("authorization"))
            .count()
    });
    assert_eq!(refused, 3);
    assert_eq!(
        bmc.count(&Method::GET, SYSTEM),
        0,
        "no resource that was asked for met a wrong password"
    );
}

#[tokio::test(start_paused = true)]
async fn in_an_outage_one_refusal_is_told_at_once() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |parts| {
        parts.credentials = Some(source(&[WRONG]));
    });
    talk.outage(true);
    talk.get(SYSTEM).await.unwrap_err();
    tokio::time::sleep(secs(61)).await;
    let start = Instant::now();
    assert_eq!(
        talk.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::LoginRefused
    );
    assert_eq!(
        talk.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::LoginRefused
    );
    assert!(start.elapsed() < secs(1));
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 1);
}

#[tokio::test(start_paused = true)]
async fn of_a_thousand_bmcs_at_most_three_see_a_rotated_password() {
    let memory = TestMemory::default();
    let fleet: Vec<FakeBmc> = (0..1000).map(|_| FakeBmc::new()).collect();
    let mut asking = Vec::new();
    for (number, bmc) in fleet.iter().enumerate() {
        let talk = talk_as(&format!("bmc-{number}"), bmc, &memory, |parts| {
            parts.credentials = Some(source(&[WRONG]));
        });
        asking.push(async move { talk.get(SYSTEM).await });
    }
    let answers = futures_util::future::join_all(asking).await;
    assert!(answers.iter().all(Result::is_err));
    let seen = fleet
        .iter()
        .filter(|bmc| bmc.count(&Method::POST, SESSIONS) > 0)
        .count();
    assert!((1..=3).contains(&seen), "{seen}");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_bmcs_with_good_credentials_are_not_queued_for_long() {
    let memory = TestMemory::default();
    let fleet: Vec<FakeBmc> = (0..1000).map(|_| FakeBmc::new()).collect();
    let start = Instant::now();
    let asking = fleet.iter().enumerate().map(|(number, bmc)| {
        let talk = talk_as(&format!("bmc-{number}"), bmc, &memory, |_| {});
        async move { talk.get(SYSTEM).await }
    });
    assert!(
        futures_util::future::join_all(asking)
            .await
            .iter()
            .all(Result::is_ok)
    );
    assert!(start.elapsed() < secs(60), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_login_cut_short_holds_nobody_up() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.fault(Method::POST, SESSIONS, super::support::Fault::Hang);
    let first = talk(&bmc, &memory, |_| {});
    assert!(
        tokio::time::timeout(secs(5), first.get(SYSTEM))
            .await
            .is_err()
    );
    let start = Instant::now();
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    assert!(start.elapsed() < secs(5));
}

proptest::proptest! {
    /// Whatever the order of logins and their ends, no BMC refuses more often than the rule says, no two logins of one
    /// BMC are under way at once, and without any success no more than three BMCs are ever asked.
    #[test]
    fn no_order_of_logins_breaks_the_bounds(steps in proptest::collection::vec((0_u8..6, 0_u8..3, 0_i64..200), 1..200)) {
        let rule = LoginRule::new(None, secs(60), secs(100_000));
        let mut record = LoginRecord::default();
        let mut now: jiff::Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let mut under_way = std::collections::BTreeSet::new();
        let mut refused = std::collections::BTreeMap::<String, u32>::new();
        for (bmc, step, wait) in steps {
            now += jiff::SignedDuration::from_millis(wait);
            let bmc = bmc.to_string();
            if under_way.contains(&bmc) && step > 0 {
                let end = if step == 1 { LoginEnd::Refused } else { LoginEnd::Unknown };
                record.end(&bmc, now, rule, end);
                under_way.remove(&bmc);
                *refused.entry(bmc).or_default() += u32::from(step == 1);
            } else if record.ask(&bmc, now, rule) == LoginLeave::Go {
                proptest::prop_assert!(under_way.insert(bmc), "two logins of one BMC at once");
            }
        }
        proptest::prop_assert!(refused.values().all(|times| *times <= 3));
        proptest::prop_assert!(refused.values().filter(|times| **times > 0).count() <= 3);
    }
}
