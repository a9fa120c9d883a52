//! This room writes the ledger of a whole fleet to one file, line by line as things happen.
//!
//! It deliberately buffers nothing: who watches the file sees a line as soon as it exists, whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::ledger::LedgerLine;

/// The file, or nothing where no ledger was asked for.
#[derive(Debug, Default)]
pub(crate) struct LedgerFile(Option<Mutex<File>>);

impl LedgerFile {
    /// Begins a new ledger: the file is emptied, because line numbers start again with each fleet.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(File::create).transpose()?;
        Ok(Self(file.map(Mutex::new)))
    }

    /// Appends lines, each in one write.
    pub(crate) fn write(&self, lines: &[LedgerLine]) -> io::Result<()> {
        let Some(file) = &self.0 else { return Ok(()) };
        for line in lines {
            let mut bytes = serde_json::to_vec(line)?;
            bytes.push(b'\n');
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(&bytes)?;
            file.flush()?;
        }
        Ok(())
    }
}
