//! This room finds firmware images on this host: hashes local files, and downloads those that are named by URI with a
//! digest, before any BMC hears of them.
//!
//! It never looks into an image, and talks to no BMC. An image named by a URI alone is left to the BMC.

mod cache;
mod fetch;
mod gather;
mod hash;
mod uri;

pub use cache::{ImageCache, default_folder};
pub use gather::{Image, ImageRef, gather};
pub use uri::masked;
