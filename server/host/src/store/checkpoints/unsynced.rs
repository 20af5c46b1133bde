//! What a checkpoint has written and the disk may not have yet.

use std::fs::File;
use std::io;
use std::path::Path;

/// Files and folders that outlast the process already, and a loss of power once they are synced.
///
/// They are synced after the last of them is written, and best at the same time: one wait of the disk serves all,
/// where each after the other would wait as long as the first.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    pub(super) files: Vec<File>,
}

impl Unsynced {
    /// A process may have only so many files open.
    const MOST: usize = 64;

    pub(super) fn add(&mut self, file: File) -> io::Result<()> {
        if self.files.len() >= Self::MOST {
            self.sync(0, 1)?;
            self.files.clear();
        }
        self.files.push(file);
        Ok(())
    }

    /// So that new names in it outlast a loss of power.
    pub(super) fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        self.add(File::open(folder)?)
    }

    /// Waits for one of `n_parts` parts.
    pub(super) fn sync(&self, part: usize, n_parts: usize) -> io::Result<()> {
        let mut files = self.files.iter().skip(part).step_by(n_parts);
        files.try_for_each(File::sync_all)
    }
}
