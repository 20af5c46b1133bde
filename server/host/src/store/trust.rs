//! Which hooks of which project the person has trusted: the hash of the very file, outside of the project (spec 21.5).

use super::{beside, hash, put};
use crate::regular;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with a file for each project.
#[derive(Clone, Debug)]
pub struct Trust {
    folder: PathBuf,
}

/// Digits of a hash.
const LEN: u64 = 64;

impl Trust {
    /// In Undine's own folder for configuration.
    pub fn new(config: &Path) -> Self {
        Self {
            folder: config.join("trusted-hooks"),
        }
    }

    /// The id of a content.
    pub fn id(content: &[u8]) -> String {
        let digest = Sha256::digest(content);
        digest.iter().map(|it| format!("{it:02x}")).collect()
    }

    /// Whether the person has trusted exactly this in a project.
    pub fn has(&self, root: &Path, content: &[u8]) -> bool {
        let kept = regular::read_capped(&self.path(root), LEN).ok().flatten();
        kept.is_some_and(|it| it == Self::id(content).as_bytes())
    }

    /// Trusts it instead of what was trusted there before.
    pub fn add(&self, root: &Path, content: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let file = beside(&self.folder, ".trust-", Self::id(content).as_bytes())?;
        put(file, &self.path(root))
    }

    /// Trusts nothing in a project any more.
    pub fn remove(&self, root: &Path) -> io::Result<()> {
        match fs::remove_file(self.path(root)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn path(&self, root: &Path) -> PathBuf {
        self.folder.join(hash(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_content_is_trusted_and_only_in_its_project() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust::new(folder.path());
        let (here, there) = (Path::new("/p"), Path::new("/q"));
        assert!(!trust.has(here, b"a"));
        trust.add(here, b"a").unwrap();
        assert!(trust.has(here, b"a") && !trust.has(here, b"a ") && !trust.has(there, b"a"));
        trust.add(here, b"b").unwrap();
        assert!(trust.has(here, b"b") && !trust.has(here, b"a"));
        trust.remove(here).unwrap();
        trust.remove(here).unwrap();
        assert!(!trust.has(here, b"b"));
    }
}
