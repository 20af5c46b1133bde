//! The review store: the ledger of each file in which the agent has changes that the person has not judged.
//!
//! Belongs to the main loop. A file that is not in it has nothing to review.

use engine::review::Ledger;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct Reviews {
    files: BTreeMap<PathBuf, Ledger>,
}

impl Reviews {
    pub fn get(&mut self, path: &Path) -> Option<&mut Ledger> {
        self.files.get_mut(path)
    }

    /// All files, sorted by path.
    pub fn iter(&mut self) -> impl Iterator<Item = (&Path, &mut Ledger)> {
        self.files.iter_mut().map(|(path, it)| (path.as_path(), it))
    }
}
