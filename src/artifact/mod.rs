//! This room finds firmware images on this host: hashes local files, and downloads those that are named by URI with a
//! digest, before any BMC hears of them.
//!
//! What only pulls gets them from a server of our own. It never looks into an image, and asks no BMC for anything. An
//! image named by a URI alone is left to the BMC.

mod cache;
mod fetch;
mod gather;
mod hash;
mod host;
mod serve;
mod uri;

pub use cache::{ImageCache, default_folder};
pub use gather::{Image, ImageRef, gather};
pub use host::{ImageHost, Offer, Offering, Served, Wanted};
pub use serve::ImageServer;
pub use uri::masked;
