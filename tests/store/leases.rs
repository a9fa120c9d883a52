//! Leases, in every store alike.

use std::fs::{self, File};

use redpipe::store::{LeaseError, Owner, Taken};
use tempfile::TempDir;

use crate::world::{TTL, at, each, epoch, lease, owner};

#[test]
fn a_live_lease_is_held_and_says_by_whom() {
    each(|store| {
        lease(store, "b");
        for other in [
            owner(2),
            owner(1),
            Owner {
                host: "elsewhere".to_owned(),
                ..owner(1)
            },
        ] {
            let error = store
                .acquire_lease(&"b".into(), &other, at(29), TTL)
                .unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("process 1 on host `h`") && text.contains("bmc `b`"),
                "{text}"
            );
            assert_eq!(error.retry_at(), Some(at(30)));
        }
    });
}

#[test]
fn a_lease_that_ran_out_goes_to_the_next_and_is_lost_to_the_last() {
    each(|store| {
        let old = lease(store, "b");
        let new = store
            .acquire_lease(&"b".into(), &owner(2), at(30), TTL)
            .unwrap();
        assert_eq!(
            (new.epoch, new.taken.clone()),
            (epoch(2), Taken::FromExpired(owner(1)))
        );
        assert!(matches!(
            store.renew_lease(&old, at(31), TTL),
            Err(LeaseError::Lost { epoch: 1, .. })
        ));
        assert!(matches!(
            store.release_lease(&old),
            Err(LeaseError::Lost { .. })
        ));
        assert_eq!(store.leases().unwrap()[0].owner, owner(2));
        let held = store.lease(&"b".into()).unwrap().unwrap();
        assert_eq!(vec![held], store.leases().unwrap());
    });
}

#[test]
fn a_renewed_lease_is_held_for_longer() {
    each(|store| {
        let lease = lease(store, "b");
        let renewed = store.renew_lease(&lease, at(20), TTL).unwrap();
        assert_eq!(
            (renewed.epoch, renewed.acquired_at, renewed.expires_at),
            (lease.epoch, at(0), at(50))
        );
        assert!(
            store
                .acquire_lease(&"b".into(), &owner(2), at(49), TTL)
                .is_err()
        );
        let late = store.renew_lease(&renewed, at(70), TTL).unwrap();
        assert_eq!(late.expires_at, at(100), "nobody took it in between");
    });
}

#[test]
fn epochs_grow_over_releases() {
    each(|store| {
        for number in 1..=3 {
            let lease = lease(store, "b");
            assert_eq!(
                (lease.epoch, lease.taken.clone()),
                (epoch(number), Taken::Free)
            );
            store.release_lease(&lease).unwrap();
            assert!(store.leases().unwrap().is_empty());
            assert_eq!(store.lease(&"b".into()).unwrap(), None);
        }
    });
}

#[test]
fn a_free_kernel_lock_on_this_host_means_dead_and_a_held_one_alive() {
    each(|store| {
        let folder = TempDir::new().unwrap();
        let lock_file = folder.path().join("1.lock");
        let file = File::create(&lock_file).unwrap();
        file.lock().unwrap();
        let holder = Owner {
            lock_file: lock_file.clone(),
            ..owner(1)
        };
        store
            .acquire_lease(&"b".into(), &holder, at(0), TTL)
            .unwrap();
        assert!(
            store
                .acquire_lease(&"b".into(), &owner(2), at(1), TTL)
                .is_err(),
            "its lock is held"
        );
        drop(file);
        let elsewhere = Owner {
            host: "elsewhere".to_owned(),
            ..owner(3)
        };
        assert!(
            store
                .acquire_lease(&"b".into(), &elsewhere, at(1), TTL)
                .is_err(),
            "another host cannot tell"
        );
        let taken = store
            .acquire_lease(&"b".into(), &owner(2), at(1), TTL)
            .unwrap();
        assert_eq!(taken.taken, Taken::FromDead(holder.clone()));
        fs::remove_file(&lock_file).unwrap();
        store.release_lease(&taken).unwrap();
        store
            .acquire_lease(&"b".into(), &holder, at(2), TTL)
            .unwrap();
        assert!(
            store
                .acquire_lease(&"b".into(), &owner(2), at(3), TTL)
                .is_err(),
            "a missing file proves nothing"
        );
    });
}

#[test]
fn the_same_process_number_is_no_sign_of_the_same_process() {
    each(|store| {
        lease(store, "b");
        let reused = Owner {
            lock_file: "/nonexistent/other.lock".into(),
            ..owner(1)
        };
        assert!(
            store
                .acquire_lease(&"b".into(), &reused, at(1), TTL)
                .is_err()
        );
    });
}
