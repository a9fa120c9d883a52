//! This file tells a living process from a dead one by a lock that the kernel gives back when the process ends.
//!
//! It never looks at process numbers: they are reused, and mean nothing in another container.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::error::StoreError;
use super::lease::Owner;
use super::location;

/// Ending of a lock file in use; a file being made has another, so that no sweep meets it before it is locked.
const LOCK_SUFFIX: &str = "lock";

/// A lock that this process holds until it ends, however it ends.
#[derive(Debug)]
pub struct ProcessLock {
    owner: Owner,
    /// Never read: the kernel's lock lives as long as the open file.
    _file: File,
}

impl ProcessLock {
    /// Locks a new file in the folder beside a database, and removes those of dead processes.
    ///
    /// Files in `keep` stay: a lease or a session still names them, and is judged by them.
    pub fn acquire(
        database: &Path,
        host: &str,
        keep: &BTreeSet<PathBuf>,
    ) -> Result<Self, StoreError> {
        let folder = lock_folder(database);
        location::private_folder(&folder)?;
        sweep(&folder, keep)?;
        let name = Uuid::new_v4().simple().to_string();
        let (young, lock_file) = (
            folder.join(&name),
            folder.join(format!("{name}.{LOCK_SUFFIX}")),
        );
        let file = location::private_file(&young)?;
        file.lock().map_err(|source| StoreError::File {
            doing: "lock",
            path: young.clone(),
            source,
        })?;
        fs::rename(&young, &lock_file).map_err(|source| StoreError::File {
            doing: "rename",
            path: young,
            source,
        })?;
        let owner = Owner {
            host: host.to_owned(),
            pid: std::process::id(),
            lock_file,
        };
        Ok(Self { owner, _file: file })
    }

    /// This process, as leases name it.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }
}

/// A name for the running kernel: host name and boot id, so that no other machine of the same name, and no earlier boot
/// of this one, is taken for it.
///
/// Where the boot id cannot be read the name is one that nobody else has: leases then only run out.
pub fn this_host() -> String {
    let read = |path: &str| {
        fs::read_to_string(path)
            .map(|text| text.trim().to_owned())
            .ok()
    };
    let name = read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned());
    let boot =
        read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| Uuid::new_v4().to_string());
    let boot: String = boot
        .chars()
        .filter(char::is_ascii_hexdigit)
        .take(BOOT_ID_CHARS)
        .collect();
    format!("{name}/{boot}")
}

/// As much of the boot id as is kept: 64 bits tell the boots of a fleet apart and still fit a message.
const BOOT_ID_CHARS: usize = 16;

/// Whether nobody holds the lock of a file. A file that cannot be opened counts as held.
pub(super) fn lock_is_free(lock_file: &Path) -> bool {
    // Shared, so that two who ask at once do not take each other for the owner.
    File::open(lock_file).is_ok_and(|file| file.try_lock_shared().is_ok())
}

fn lock_folder(database: &Path) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_os_string();
    name.push("-owners");
    database.with_file_name(name)
}

fn sweep(folder: &Path, keep: &BTreeSet<PathBuf>) -> Result<(), StoreError> {
    let failed = |source| StoreError::File {
        doing: "list",
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|suffix| suffix != LOCK_SUFFIX) || keep.contains(&path) {
            continue;
        }
        remove_if_free(&path);
    }
    Ok(())
}

/// Litter that cannot be removed is no reason to stop; the next start tries again.
fn remove_if_free(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    match file.try_lock() {
        Ok(()) => {
            if let Err(error) = fs::remove_file(path) {
                tracing::debug!(path = %path.display(), %error, "a dead process's lock file stays");
            }
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
    }
}
