//! Programs that tests write and run.

use std::path::Path;
use std::process::Command;

/// Puts a program there.
///
/// Another process writes it: were it this one, a child that another test starts meanwhile would hold the file open for
/// writing for a moment, and the kernel refuses to run such a file ("text file busy").
pub(crate) fn write_program(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).expect("a program is written");
    let copied = Command::new("install")
        .args(["-m", "755"])
        .args([&draft, &path.to_path_buf()])
        .status();
    assert!(
        copied.is_ok_and(|status| status.success()),
        "{}",
        path.display()
    );
    std::fs::remove_file(draft).expect("its draft is removed");
}
