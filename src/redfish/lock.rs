//! Locks of this room.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A poisoned lock still holds a whole value: each critical section here is one assignment.
pub(in crate::redfish) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
