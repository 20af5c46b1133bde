//! Servers that keep reviews, so that each can tell whether another lives.
//!
//! A server holds the lock of a file of its own as long as it lives, however it ends.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// This server.
#[derive(Debug)]
pub struct Owner {
    name: String,
    /// Held until the process ends.
    _lock: Flock<File>,
}

impl Owner {
    /// Makes this server known in a folder.
    pub fn new(folder: &Path) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        loop {
            let file = tempfile::Builder::new().prefix("s").tempfile_in(folder)?;
            let (file, path) = file.keep().map_err(|it| it.error)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock);
            // Somebody may have taken it for one that was left behind, in the moment before it was locked.
            if let (Ok(lock), true) = (lock, path.exists()) {
                return Ok(Self {
                    name: name.into_owned(),
                    _lock: lock,
                });
            }
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the server of this name lives. The file of one that does not is removed: no name comes twice.
    pub fn lives(folder: &Path, name: &str) -> bool {
        let path = folder.join(name);
        let Ok(file) = OpenOptions::new().write(true).open(&path) else {
            return false;
        };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(_lock) => {
                let _ = fs::remove_file(&path);
                false
            }
            Err(_) => true,
        }
    }
}
