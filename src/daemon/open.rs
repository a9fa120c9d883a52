//! Putting an engine together: state database, process lock, network, clock; then reading what files name.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use super::board::Board;
use super::connect::Network;
use super::engine::{Engine, EngineParts};
use super::prepare::{Assignment, unresolvable};
use super::secrets::{Env, Secrets};
use crate::artifact::{ImageCache, ImageRef, ImageServer, default_folder, gather};
use crate::model::{Fault, FaultKind, Retry};
use crate::pipeline::{Given, ImageFile, Needs, UnusableImage};
use crate::plan::{CatalogImage, ImageCatalog, ImageOrigin, WantedImage};
use crate::redfish::Clock;
use crate::run::status::whole_milliseconds;
use crate::store::{SqliteStore, StateLocation, default_path, this_host};

/// Where state lies and what it is for.
#[derive(Clone)]
pub struct OpenOptions {
    /// `--state`; `None` = the default under the user's state folder.
    pub state: Option<String>,
    /// Environment, read by the caller.
    pub env: Env,
    /// BMCs in the inventory, for caches that must hold all of them.
    pub fleet: usize,
    /// Where images are served to BMCs that only pull; `None` = a free port on the address that faces each of them.
    pub image_server: Option<SocketAddr>,
}

/// Opens the state and joins it as a process of its own.
pub fn open(options: &OpenOptions) -> Result<Engine, Fault> {
    let path = state_path(options)?;
    let store = SqliteStore::open(&path).map_err(|error| error.fault())?;
    let lock = store
        .lock_process(&this_host())
        .map_err(|error| error.fault())?;
    Ok(Engine::new(EngineParts {
        owner: Arc::new(lock.owner().clone()),
        lock: Some(lock),
        store: Arc::new(store),
        clock: Arc::new(WallClock),
        connect: Arc::new(Network::new(options.fleet)),
        secrets: Arc::new(Secrets::new(options.env.clone())),
        board: Board::new(),
        images: Arc::new(ImageServer::new(options.image_server)),
    }))
}

/// Where the state lies that the options name.
pub fn state_path(options: &OpenOptions) -> Result<PathBuf, Fault> {
    if let Some(text) = &options.state {
        match StateLocation::parse(text).map_err(|error| error.fault())? {
            StateLocation::Sqlite(path) => Ok(path),
        }
    } else {
        let (state, home) = ((options.env)("XDG_STATE_HOME"), (options.env)("HOME"));
        default_path(state.as_deref(), home.as_deref()).map_err(|error| error.fault())
    }
}

/// The only clock of the product.
struct WallClock;

impl Clock for WallClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the time of day"
    )]
    fn now(&self) -> Timestamp {
        whole_milliseconds(Timestamp::now())
    }
}

/// Reads the environment variables and files that templates name, and looks for hooks; what is not there is left out,
/// and the files' own check says where it was asked for.
pub fn read_given(needs: &Needs, env: &Env) -> Given {
    let mut given = Given::default();
    for name in &needs.env {
        if let Some(value) = env(name).and_then(|value| value.into_string().ok()) {
            given.env.insert(name.clone(), value);
        }
    }
    for path in &needs.files {
        if let Ok(text) = std::fs::read_to_string(path) {
            given
                .files
                .insert(path.clone(), text.trim_end_matches(['\r', '\n']).to_owned());
        }
    }
    let can_run = |path: &&PathBuf| {
        std::fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & EXECUTE != 0)
    };
    given.hooks = needs.hooks.iter().filter(can_run).cloned().collect();
    given
}

/// Mode bits of which one makes a file a program.
const EXECUTE: u32 = 0o111;

/// Finds, downloads and hashes every image, before any BMC is contacted; a wrong digest stops everything.
pub async fn prepare_images(assignments: &mut [Assignment], env: &Env) -> Result<(), ImageFaults> {
    let mut wanted: BTreeSet<WantedImage> = BTreeSet::new();
    let mut faults = Vec::new();
    for assignment in assignments.iter() {
        match assignment.wanted_images() {
            Ok(more) => wanted.extend(more),
            Err(errors) => faults.push(unresolvable(&errors)),
        }
    }
    if !faults.is_empty() {
        return Err(ImageFaults {
            others: faults,
            ..ImageFaults::default()
        });
    }
    let (cache, home) = (env("XDG_CACHE_HOME"), env("HOME"));
    let wanted: BTreeSet<ImageRef> = wanted.iter().filter_map(reference).collect();
    let folder = match default_folder(cache.as_deref(), home.as_deref()) {
        Some(folder) => folder,
        None if wanted
            .iter()
            .all(|image| matches!(image, ImageRef::File { .. })) =>
        {
            PathBuf::new()
        }
        None => {
            let message = "downloaded images need a cache folder, and there is no home";
            let hint = "set `XDG_CACHE_HOME` or `HOME` to an absolute path";
            let fault = Fault::new(FaultKind::ImageInvalid, Retry::Operator, message);
            return Err(ImageFaults {
                others: vec![fault.with_hint(hint)],
                ..ImageFaults::default()
            });
        }
    };
    let found = gather(&wanted, &ImageCache::new(folder))
        .await
        .map_err(ImageFaults::of)?;
    let mut catalog = ImageCatalog::default();
    for (reference, image) in found {
        let image = CatalogImage {
            sha256: image.sha256,
            bytes: image.bytes,
            path: image.path,
        };
        match reference {
            ImageRef::File { path, .. } => drop(catalog.files.insert(path, image)),
            ImageRef::Uri { uri, .. } => drop(catalog.uris.insert(uri, image)),
        }
    }
    let catalog = Arc::new(catalog);
    for assignment in assignments {
        assignment.images = Arc::clone(&catalog);
    }
    Ok(())
}

/// Looks at image files alone: all that are unusable.
pub async fn check_image_files(files: &BTreeSet<ImageFile>) -> Vec<UnusableImage> {
    let wanted = files.iter().cloned().map(|image| ImageRef::File {
        path: image.path,
        sha256: image.sha256,
    });
    match gather(&wanted.collect(), &ImageCache::new(PathBuf::new())).await {
        Ok(_) => Vec::new(),
        Err(faults) => ImageFaults::of(faults).files,
    }
}

/// Why images are not there for a run.
#[derive(Debug, Clone, Default)]
pub struct ImageFaults {
    /// Files that pipelines name, each to be told with its place.
    pub files: Vec<UnusableImage>,
    /// Everything else.
    pub others: Vec<Fault>,
}

impl ImageFaults {
    fn of(faults: Vec<(ImageRef, Fault)>) -> Self {
        let mut found = Self::default();
        for (image, fault) in faults {
            match image {
                ImageRef::File { path, sha256 } => found.files.push(UnusableImage {
                    image: ImageFile { path, sha256 },
                    message: fault.message,
                    found: fault.causes.join("; "),
                    hint: fault.hint,
                }),
                ImageRef::Uri { .. } => found.others.push(fault),
            }
        }
        found
    }
}

/// What we look for ourselves; a URI without a digest is left to the BMC.
fn reference(image: &WantedImage) -> Option<ImageRef> {
    match (&image.origin, &image.sha256) {
        (ImageOrigin::File(path), sha256) => Some(ImageRef::File {
            path: path.clone(),
            sha256: sha256.clone(),
        }),
        (ImageOrigin::Uri(uri), Some(sha256)) => Some(ImageRef::Uri {
            uri: uri.clone(),
            sha256: sha256.clone(),
        }),
        (ImageOrigin::Uri(_), None) => None,
    }
}
