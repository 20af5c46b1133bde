//! What is being written at this moment, so that a server that dies over it leaves word.
//!
//! A file for each change of files that is under way, in the data directory: it is made before the first of
//! them is touched, locked as long as its server lives, and removed when all is done or taken back. One that
//! is there without a lock was left by a server that died.

use super::log::now_ms;
use crate::folder::Folder;
use crate::regular;
use nix::fcntl::{Flock, FlockArg};
use protocol::record::{EditedFile, Stands};
use protocol::session::CallId;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// All journals of this person.
#[derive(Clone, Debug)]
pub struct Journals {
    folder: PathBuf,
}

/// What a journal says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub session: String,
    /// Missing: no call's, but the person's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// What is done, in one line.
    pub title: String,
    /// The session's first folder.
    pub root: PathBuf,
    /// What takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    pub files: Vec<EditedFile>,
    /// Files beside them that may be left.
    pub beside: Vec<Beside>,
}

/// A file of ours beside one that is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    pub path: PathBuf,
    /// The file that it was made for.
    pub of: PathBuf,
}

/// How the names of files beside others begin. Nothing else is ever removed.
pub const BESIDE: &str = ".undine-";

/// A journal that is kept while files are changed.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Flock<File>,
}

/// A journal whose server has died.
#[derive(Debug)]
pub struct Orphan {
    pub entry: Entry,
    path: PathBuf,
    /// Nobody else reports it meanwhile.
    _file: Flock<File>,
}

/// The most bytes of a journal that are read.
const MAX_BYTES: u64 = 16 << 20;

impl Journals {
    /// Those in a data directory.
    pub fn new(data: &Path) -> Self {
        Self {
            folder: data.join("journal"),
        }
    }

    /// A name that no other change has, of this server or another.
    pub fn new_id() -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{:x}-{n:x}", now_ms(), std::process::id())
    }

    /// Writes a journal. It is with the operating system when this returns, and outlasts the process; see
    /// [`Journal::sync`].
    pub fn begin(&self, id: &str, entry: &Entry) -> io::Result<Journal> {
        if !self.folder.is_dir() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(&self.folder)?;
        }
        // Under another name until it is locked and whole, so that nobody takes it for an orphan.
        let new = self.folder.join(format!("{id}.new"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&new)?;
        let mut file = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .map_err(|(_, error)| io::Error::from(error))?;
        let path = self.folder.join(format!("{id}.json"));
        let written = serde_json::to_vec(entry)
            .map_err(io::Error::from)
            .and_then(|it| file.write_all(&it))
            .and_then(|()| fs::rename(&new, &path));
        match written {
            Ok(()) => Ok(Journal { path, file }),
            Err(error) => {
                // Half a journal is none.
                let _ = fs::remove_file(&new);
                Err(error)
            }
        }
    }

    /// Journals of dead servers about a project. `root` is resolved.
    pub fn orphans(&self, root: &Path) -> Vec<Orphan> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let (mut paths, rest): (Vec<PathBuf>, Vec<PathBuf>) = entries
            .map(|it| it.path())
            .partition(|it| it.extension().is_some_and(|it| it == "json"));
        paths.sort();
        rest.iter().for_each(|it| sweep(it));
        let orphans = paths.into_iter().filter_map(|path| orphan(path, root));
        orphans.collect()
    }
}

fn orphan(path: PathBuf, root: &Path) -> Option<Orphan> {
    let mut options = OpenOptions::new();
    // Whoever put something else there must not keep a session from opening.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = options.read(true).custom_flags(flags).open(&path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    let bytes = regular::read_capped(&path, MAX_BYTES).ok()??;
    let Ok(entry) = serde_json::from_slice::<Entry>(&bytes) else {
        // The power went before it was on the disk, and so before anything was changed.
        tracing::warn!(path = %path.display(), "a journal that cannot be read is removed");
        let _ = fs::remove_file(&path);
        return None;
    };
    (entry.root == root).then_some(Orphan {
        entry,
        path,
        _file: file,
    })
}

/// Removes what a server left that died over the making of a journal, and so before it changed anything.
/// Not at once: another may be making one at this moment.
fn sweep(path: &Path) {
    const OLD: Duration = Duration::from_secs(60 * 60);
    let made = path.metadata().and_then(|it| it.modified());
    if made.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > OLD)) {
        // The next server tries again.
        let _ = fs::remove_file(path);
    }
}

impl Journal {
    /// Waits until it is on the disk, to outlast a loss of power too.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        File::open(folder)?.sync_all()
    }

    /// All is done or taken back. A journal that cannot be removed is reported by the next server, which
    /// finds every file as it should be.
    pub fn end(&self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "a journal was not removed");
        }
    }
}

impl Orphan {
    /// Removes what is left beside the files, and the journal. `stands` is of the entry's files, in order.
    /// Answers what was left there on purpose: the whole new text of a file that was cut off half-written.
    pub fn clear(self, stands: &[Stands]) -> Vec<PathBuf> {
        let mut kept = Vec::new();
        for beside in &self.entry.beside {
            let torn = self
                .entry
                .files
                .iter()
                .zip(stands)
                .any(|(file, stands)| file.path == beside.of && *stands == Stands::AtOther);
            match torn && beside.path.exists() {
                true => kept.push(beside.path.clone()),
                // A journal can have been written by anyone.
                false if beside.path.parent() == beside.of.parent() => remove(&beside.path),
                false => {}
            }
        }
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "a journal was not removed");
        }
        kept
    }
}

/// Removes a file of ours, if it is still there.
fn remove(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    if !name.to_string_lossy().starts_with(BESIDE) {
        return;
    }
    if let Ok(folder) = Folder::open(folder)
        && let Err(error) = folder.remove(name)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "a file beside another was not removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(root: &Path) -> Entry {
        let file = |name: &str| EditedFile {
            path: root.join(name),
            before: Some("1".to_owned()),
            after: Some("2".to_owned()),
        };
        let beside = |name: &str, of: &str| Beside {
            path: root.join(name),
            of: root.join(of),
        };
        Entry {
            session: "s".to_owned(),
            call: Some(CallId(3)),
            title: "Edit".to_owned(),
            root: root.to_path_buf(),
            checkpoint: None,
            files: vec![file("a"), file("b")],
            beside: vec![
                beside(".undine-1", "a"),
                beside(".undine-2", "b"),
                beside("b", "a"),
            ],
        }
    }

    #[test]
    fn a_journal_is_an_orphan_once_its_server_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let journals = Journals::new(&root.join("data"));
        assert!(journals.orphans(&root).is_empty());
        let journal = journals.begin("1", &entry(&root)).unwrap();
        journal.sync().unwrap();
        assert!(journals.orphans(&root).is_empty(), "its server lives");
        drop(journal);
        assert!(journals.orphans(Path::new("/elsewhere")).is_empty());
        let found = journals.orphans(&root);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].entry, entry(&root));
        assert!(journals.orphans(&root).is_empty(), "it is reported once");
        drop(found);
        journals.begin("2", &entry(&root)).unwrap().end();
        assert_eq!(journals.orphans(&root).len(), 1, "one has ended well");
    }

    #[test]
    fn a_pipe_or_a_link_in_the_place_of_a_journal_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let journals = Journals::new(&root.join("data"));
        drop(journals.begin("1", &entry(&root)).unwrap());
        let at = |name: &str| root.join("data/journal").join(name);
        nix::unistd::mkfifo(&at("0.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::write(root.join("kept"), "no journal").unwrap();
        std::os::unix::fs::symlink(root.join("kept"), at("2.json")).unwrap();
        assert_eq!(journals.orphans(&root).len(), 1);
        assert!(root.join("kept").exists());
    }

    #[test]
    fn what_a_strangers_journal_names_elsewhere_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let journals = Journals::new(&root.join("data"));
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("sub/.undine-1"), "").unwrap();
        let mut entry = entry(&root);
        entry.beside[0].path = root.join("sub/.undine-1");
        drop(journals.begin("1", &entry).unwrap());
        journals
            .orphans(&root)
            .remove(0)
            .clear(&[Stands::AtNew, Stands::AtNew]);
        assert!(root.join("sub/.undine-1").exists());
    }

    #[test]
    fn what_is_left_beside_is_removed_but_for_what_a_torn_file_needs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let journals = Journals::new(&root.join("data"));
        for name in [".undine-1", ".undine-2", "b"] {
            fs::write(root.join(name), "").unwrap();
        }
        drop(journals.begin("1", &entry(&root)).unwrap());
        let orphan = journals.orphans(&root).remove(0);
        let kept = orphan.clear(&[Stands::AtNew, Stands::AtOther]);
        assert_eq!(kept, [root.join(".undine-2")]);
        assert!(!root.join(".undine-1").exists(), "it is removed");
        assert!(root.join("b").exists(), "no file of ours");
        assert!(journals.orphans(&root).is_empty());
    }
}
