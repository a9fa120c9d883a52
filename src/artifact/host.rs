//! Images that BMCs fetch from this process: what may be asked of whoever serves them.

use std::path::PathBuf;
use std::pin::Pin;

use crate::model::fault::Fault;

/// What is to be served, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Host of the BMC, as the inventory has it: nobody else gets the image.
    pub host: String,
    /// Its port: only to find the address of this host that faces it.
    pub port: u16,
    /// Path below which the image is found, without a slash in front; nobody can guess it.
    pub path: String,
    /// Where the bytes lie.
    pub file: PathBuf,
    /// How many there are.
    pub bytes: u64,
}

/// What has come of an offer so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Served {
    /// Whether the BMC has asked for the image.
    pub fetched: bool,
    /// Whether as many bytes as it has were sent.
    pub whole: bool,
    /// Transfers that are open now.
    pub open: u32,
}

/// An image that is served; it is gone when this is dropped, transfers that are open end by themselves.
pub trait Offer: Send + Sync {
    /// Where the BMC finds it.
    fn uri(&self) -> &str;

    /// What has come of it.
    fn served(&self) -> Served;
}

/// What becomes of an offer to be.
pub type Offering<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Offer>, Fault>> + Send + 'a>>;

/// Serves images.
pub trait ImageHost: Send + Sync {
    /// Serves an image from now on; a fault where this host cannot.
    fn offer<'a>(&'a self, wanted: &'a Wanted) -> Offering<'a>;
}
