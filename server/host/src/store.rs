//! What Undine keeps on disk: sessions, their logs and their list; checkpoints; what waits for an approval, what
//! was approved for always, and what models refuse.

pub mod answers;
pub mod approvals;
pub mod checkpoints;
mod find;
mod heading;
pub mod journal;
pub mod learned;
pub mod lines;
mod list;
mod log;
pub mod pages;
pub mod permissions;
pub mod pictures;
mod remove;
mod search;
pub mod snapshot;
pub mod trust;

pub use find::{prompts, search};
pub use list::{Listed, list, new_id, newest_valid, page, path, title_of};
pub use log::{Log, LogError, Voucher, now_ms, read};
pub use pictures::Pictures;
pub use remove::remove;

use crate::regular;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Undine's own folders. `UNDINE_CONFIG_DIR` and `UNDINE_DATA_DIR` move them; empty means unset.
#[derive(Clone, Debug, PartialEq)]
pub struct Folders {
    pub config: PathBuf,
    pub data: PathBuf,
}

impl Folders {
    pub fn from_environment() -> Self {
        let named = |name: &str| {
            std::env::var_os(name)
                .filter(|it| !it.is_empty())
                .map(PathBuf::from)
        };
        let platform = directories::ProjectDirs::from("", "", "undine");
        let platform = platform.as_ref();
        let fallback = || std::env::temp_dir().join("undine");
        Self {
            config: named("UNDINE_CONFIG_DIR")
                .or_else(|| platform.map(|it| it.config_dir().to_path_buf()))
                .unwrap_or_else(fallback),
            data: named("UNDINE_DATA_DIR")
                .or_else(|| platform.map(|it| it.data_dir().to_path_buf()))
                .unwrap_or_else(fallback),
        }
    }

    /// Where a project's sessions lie: in the project, or in the data folder where that cannot be
    /// written. `root` is resolved.
    pub fn conversations(&self, root: &Path) -> PathBuf {
        let own = root.join(".undine").join("conversations");
        match usable(&own) {
            Ok(()) => own,
            Err(_) => self.data.join("sessions").join(hash(root)),
        }
    }
}

impl Folders {
    /// Where the log of a subagent lies: never in the project, and in no list of sessions. `root` is resolved.
    pub fn agent_log(&self, root: &Path, key: &str) -> PathBuf {
        let folder = self.data.join("agents").join(hash(root));
        folder.join(format!("{key}.jsonl"))
    }
}

impl Folders {
    /// What says that a log was made by this person's Undine, and did not come with the project: a file
    /// outside of it, named after the log.
    pub fn voucher(&self, log: &Path) -> PathBuf {
        self.data.join("known").join(hash(log))
    }

    /// Whether a log counts as our own. Only then are its mode and its remembered answers what the person
    /// chose.
    pub fn vouches(&self, log: &Path) -> bool {
        log.starts_with(&self.data) || self.voucher(log).is_file()
    }
}

impl Folders {
    /// The name of the scratchpad that the session of a log had, if it is known.
    pub fn scratchpad_of(&self, log: &Path) -> Option<String> {
        /// The most bytes of a name.
        const MOST: u64 = 255;
        let kept = regular::read_capped(&self.voucher(log), MOST)
            .ok()
            .flatten()?;
        String::from_utf8(kept).ok().filter(|it| !it.is_empty())
    }
}

impl Folders {
    /// Where checkouts of the project lie in which subagents work. Beside the data folder and not in it, because what
    /// is in that no tool may write.
    pub fn worktrees(&self) -> PathBuf {
        let mut name = self.data.file_name().unwrap_or_default().to_owned();
        name.push("-worktrees");
        self.data.with_file_name(name)
    }
}

/// Sixteen hexadecimal digits that stand for a path.
pub fn hash(path: &Path) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|it| format!("{it:02x}")).collect()
}

/// Whether a project's folder for sessions can be used. Nothing is made before there is something to keep.
fn usable(folder: &Path) -> io::Result<()> {
    // The folder itself, or the nearest above it that exists.
    let nearest = folder
        .ancestors()
        .find(|it| it.symlink_metadata().is_ok())
        .unwrap_or(folder);
    // A link comes with the project and can lead anywhere, to where files of ours would do harm.
    if nearest.canonicalize()? != nearest {
        return Err(io::Error::other("it is a link"));
    }
    let meta = fs::metadata(nearest)?;
    if !meta.is_dir() || meta.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(nix::unistd::access(
        nearest,
        nix::unistd::AccessFlags::W_OK,
    )?)
}

/// A file with these bytes in a folder, synced, that is to take another's place whole. Until then it is its owner's only.
fn beside(folder: &Path, prefix: &str, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(prefix)
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Keeps other servers from writing, as long as the lock lives. The folder itself is locked, so that no file of ours lies about in it.
pub fn lock(folder: &Path, patience: Duration) -> Result<Flock<File>, String> {
    let failed = |error: io::Error| format!("{} cannot be locked ({error}).", folder.display());
    let until = Instant::now() + patience;
    let mut file = File::open(folder).map_err(failed)?;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((back, nix::errno::Errno::EWOULDBLOCK)) if Instant::now() < until => file = back,
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
                return Err(
                    "another Undine has been writing it all the while; try again.".to_owned(),
                );
            }
            Err((_, error)) => return Err(failed(error.into())),
        }
        // There is no lock that waits for a time only.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Puts such a file into its place.
fn put(file: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    let folder = path.parent().unwrap_or(path);
    File::open(folder)?.sync_all()
}
