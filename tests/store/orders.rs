//! Orders of people: numbered over everything, never changed.

use redpipe::model::order::{concerning, pause};
use redpipe::model::{About, RunKey, Verb};
use redpipe::store::{MemoryStore, Orders as _, SqliteStore};

use crate::world::{at, each};

fn key(pipeline: &str, bmc: &str, number: u32) -> RunKey {
    RunKey {
        pipeline: pipeline.into(),
        bmc: bmc.into(),
        number,
    }
}

#[test]
fn orders_come_back_as_they_were_given_in_the_order_in_which_they_were() {
    each(|store| {
        assert_eq!(store.last_order().unwrap(), 0);
        let approve = Verb::Approve {
            digest: "d".to_owned(),
        };
        let run = About::Run(key("p", "b", 2));
        let first = store.place_order(at(1), "ann", &run, &approve).unwrap();
        let other = About::Pipeline("q".into());
        store
            .place_order(at(2), "bob", &other, &Verb::Pause)
            .unwrap();
        let pipeline = About::Pipeline("p".into());
        let third = store
            .place_order(at(0), "cid", &pipeline, &Verb::Resume)
            .unwrap();
        assert!(first.id < third.id);
        assert_eq!((first.about.clone(), first.verb.clone()), (run, approve));
        assert_eq!(store.orders_about(&"p".into()).unwrap(), [first, third]);
        assert_eq!(store.orders().unwrap().len(), 3);
        assert_eq!(store.last_order().unwrap(), 3);
    });
}

#[test]
fn a_run_is_concerned_by_its_own_orders_a_retry_of_the_one_before_and_the_last_word_on_its_pipeline()
 {
    each(|store| {
        let place =
            |about: About, verb: Verb| store.place_order(at(0), "ann", &about, &verb).unwrap();
        place(About::Pipeline("p".into()), Verb::Pause);
        let standing = place(About::Pipeline("p".into()), Verb::Resume);
        place(About::Run(key("p", "b", 1)), Verb::Cancel);
        let retry = place(About::Run(key("p", "b", 1)), Verb::Retry);
        let own = place(About::Run(key("p", "b", 2)), Verb::Cancel);
        place(About::Run(key("p", "c", 2)), Verb::Cancel);
        let orders = store.orders_about(&"p".into()).unwrap();
        let ids: Vec<u64> = concerning(&orders, &key("p", "b", 2))
            .into_iter()
            .map(|order| order.id)
            .collect();
        assert_eq!(ids, [standing.id, retry.id, own.id]);
        assert_eq!(pause(&orders, &"p".into()), None);
        let again = place(About::Pipeline("p".into()), Verb::Pause);
        let orders = store.orders_about(&"p".into()).unwrap();
        assert_eq!(pause(&orders, &"p".into()), Some(&again));
    });
}

#[test]
fn an_order_given_by_one_process_is_seen_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (one, other) = (
        SqliteStore::open(&path).unwrap(),
        SqliteStore::open(&path).unwrap(),
    );
    let about = About::Run(key("p", "b", 1));
    let given = one
        .place_order(at(0), "ann", &about, &Verb::Cancel)
        .unwrap();
    assert_eq!(other.orders().unwrap(), [given]);
    assert!(MemoryStore::new().orders().unwrap().is_empty());
}
