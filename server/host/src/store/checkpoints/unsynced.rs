//! What a checkpoint has written and the disk may not have yet.

use std::fs::File;
use std::io;
use std::path::Path;

/// Files and folders that outlast the process already, and a loss of power once they are synced.
///
/// They are synced together and after the last of them is written, because the first wait brings most of the
/// others to the disk with it; each by itself would wait as long as the first.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    files: Vec<File>,
}

impl Unsynced {
    /// A process may have only so many files open.
    const MOST: usize = 64;

    pub(super) fn add(&mut self, file: File) -> io::Result<()> {
        if self.files.len() >= Self::MOST {
            self.sync()?;
            self.files.clear();
        }
        self.files.push(file);
        Ok(())
    }

    /// So that new names in it outlast a loss of power.
    pub(super) fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        self.add(File::open(folder)?)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.files.iter().try_for_each(File::sync_all)
    }
}
