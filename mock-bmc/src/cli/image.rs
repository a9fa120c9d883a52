//! This room is `mock-bmc image`.
//!
//! It deliberately prints nothing on success: the file is the result.

use std::fs;

use mock_bmc::image;

use super::args::ImageArgs;
use super::report::{EXIT_FAILED, Failure};

/// Writes one image file.
pub(crate) fn run(args: &ImageArgs) -> Result<(), Failure> {
    let bytes = image::build(
        args.component,
        &args.version,
        args.requires.as_deref(),
        args.size,
    );
    fs::write(&args.file, bytes).map_err(|error| {
        Failure::usage(format!("cannot write `{}`", args.file.display()))
            .code(EXIT_FAILED)
            .cause(error.to_string())
    })
}
