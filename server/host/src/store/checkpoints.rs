//! What files were before something changed them.
//!
//! Each project has a store of its own in the data directory, outside of the project: its git repository
//! is never touched (BUG-22). A file's bytes lie there once, named after their SHA-256, however many checkpoints
//! hold them; a checkpoint is a manifest that names them. Servers share the store: whatever is written is renamed
//! into its place, and what nobody names any more is removed only while nobody writes.
//!
//! What is read back is trusted in nothing (spec 3.5): bytes must have their hash, and a seal says whether a
//! manifest is as we wrote it. Which of its files may be given back is judged where that is done.

mod blobs;
mod manifest;
mod sweep;
mod unsynced;

#[cfg(test)]
mod tests;

pub use manifest::{Action, Entry, Manifest};

use super::hash;
use manifest::Seal;
use nix::fcntl::{Flock, FlockArg};
use protocol::config::Limits;
use protocol::review::Author;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use sweep::Room;
use unsynced::Unsynced;

/// The checkpoints of all projects. Everything here waits for the disk: not for the loop.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// Holds the key, and a folder for each project.
    folder: PathBuf,
    max_bytes: u64,
    max_age: Duration,
    /// How much room each project's store takes. A lock and no message, because checkpoints are made by tasks
    /// that must not hold the loop up, several at the same time.
    rooms: Arc<Mutex<HashMap<PathBuf, Room>>>,
}

/// A file as it is before a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    /// Resolved.
    pub path: PathBuf,
    /// What the person sees as its content: of a document with unsaved work its text, else what is on the disk.
    /// `None`: there is no such file.
    pub bytes: Option<Vec<u8>>,
    /// Permission bits.
    pub mode: Option<u32>,
    /// Whether it lies outside the project.
    pub is_external: bool,
}

/// Why a checkpoint is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// What is about to happen, in one line.
    pub title: String,
    /// The call that it is made for.
    pub author: Option<Author>,
    /// What the call asked for, whole, so that it can be offered again.
    pub action: Option<Action>,
}

/// A checkpoint with the bytes of its files, in the order of its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub manifest: Manifest,
    pub bytes: Vec<Option<Vec<u8>>>,
}

/// A checkpoint that a death of this process does not harm, and a loss of power perhaps.
#[derive(Debug)]
pub struct Begun {
    id: String,
    store: PathBuf,
    /// What it took.
    n_bytes: u64,
    unsynced: Unsynced,
}

impl Begun {
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits until one of `n_parts` parts is on the disk. The error is a whole sentence that says that nothing was
    /// changed.
    pub fn sync(&self, part: usize, n_parts: usize) -> Result<(), String> {
        self.unsynced
            .sync(part, n_parts)
            .map_err(|it| not_made(&self.store, &it))
    }
}

impl Checkpoints {
    /// The store in a data directory, with the default limits.
    pub fn new(data: &Path) -> Self {
        Self {
            folder: data.join("checkpoints"),
            max_bytes: 0,
            max_age: Duration::ZERO,
            rooms: Arc::default(),
        }
        .with_limits(&Limits::default())
    }

    /// The same store with other limits.
    pub fn with_limits(&self, limits: &Limits) -> Self {
        Self {
            max_bytes: limits.checkpoint_bytes,
            max_age: Duration::from_secs(limits.checkpoint_days.saturating_mul(24 * 60 * 60)),
            ..self.clone()
        }
    }

    /// Makes a checkpoint of files; answers its id. `project` is resolved. All of it is on the disk when this
    /// returns. The error is a whole sentence that says that nothing was changed.
    pub fn make(&self, project: &Path, cause: &Cause, files: &[Before]) -> Result<String, String> {
        let begun = self.begin(project, cause, files)?;
        begun.sync(0, 1)?;
        self.make_room(&begun);
        Ok(begun.id)
    }

    /// As [`make`](Self::make), but it outlasts only this process yet. Before the first of the files is changed it
    /// must be [synced](Begun::sync), all parts at once and beside whatever else is waited for; some time later room
    /// is to be [made](Self::make_room).
    pub fn begin(&self, project: &Path, cause: &Cause, files: &[Before]) -> Result<Begun, String> {
        let store = self.of(project);
        self.write(project, &store, cause, files)
            .map_err(|it| not_made(&store, &it))
    }

    fn write(
        &self,
        project: &Path,
        store: &Path,
        cause: &Cause,
        files: &[Before],
    ) -> io::Result<Begun> {
        let mut unsynced = Unsynced::default();
        for folder in [&self.folder, store, &blobs(store), &manifests(store)] {
            if private_folder(folder)? {
                unsynced.add_folder(folder.parent().unwrap_or(folder))?;
            }
        }
        let seal = Seal::open(&self.folder)?;
        let writing = lock(store, FlockArg::LockShared)?;
        let mut n_bytes = 0;
        let mut entries = Vec::new();
        for file in files {
            let blob = match &file.bytes {
                Some(bytes) => {
                    let (blob, n_written) = blobs::put(&blobs(store), bytes, &mut unsynced)?;
                    n_bytes += n_written;
                    Some(blob)
                }
                None => None,
            };
            let inside = file.path.strip_prefix(project).ok();
            let inside = inside.filter(|_| !file.is_external);
            entries.push(Entry {
                path: inside.unwrap_or(&file.path).to_path_buf(),
                external: inside.is_none(),
                existed: file.bytes.is_some(),
                mode: file.mode,
                blob,
            });
        }
        let manifest = Manifest {
            v: manifest::VERSION,
            id: String::new(),
            project: project.to_path_buf(),
            time: now_ns(),
            title: cause.title.clone(),
            author: cause.author.clone(),
            action: cause.action.clone(),
            files: entries,
            is_ours: true,
        };
        let (id, n_written) = manifest::create(&manifests(store), manifest, &seal, &mut unsynced)?;
        if !files.is_empty() {
            // Also for a blob that was there: its name may be as young as this checkpoint.
            unsynced.add_folder(&blobs(store))?;
        }
        unsynced.add_folder(&manifests(store))?;
        drop(writing);
        Ok(Begun {
            id,
            store: store.to_path_buf(),
            n_bytes: n_bytes + n_written,
            unsynced,
        })
    }

    /// The checkpoints of a project, newest first. What cannot be read is left out.
    pub fn list(&self, project: &Path) -> Vec<Manifest> {
        let store = self.of(project);
        let Ok(seal) = Seal::open(&self.folder) else {
            return Vec::new();
        };
        let mut found: Vec<Manifest> = ids(&manifests(&store))
            .iter()
            .filter_map(|id| manifest::read(&manifests(&store), id, &seal).ok())
            .filter(|it| it.project == project)
            .collect();
        found.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| b.id.cmp(&a.id)));
        found
    }

    /// A checkpoint of a project, without the bytes of its files.
    pub fn get(&self, project: &Path, id: &str) -> Option<Manifest> {
        let seal = Seal::open(&self.folder).ok()?;
        let manifest = manifest::read(&manifests(&self.of(project)), id, &seal).ok()?;
        (manifest.project == project).then_some(manifest)
    }

    /// The id that begins so, or whose part after the time does. The error is for the person.
    pub fn find(&self, project: &Path, start: &str) -> Result<String, String> {
        let all = ids(&manifests(&self.of(project)));
        if all.iter().any(|it| it == start) {
            return Ok(start.to_owned());
        }
        let fits = |it: &&String| {
            it.starts_with(start)
                || it
                    .rsplit('-')
                    .next()
                    .is_some_and(|it| it.starts_with(start))
        };
        let mut fitting = all.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(id), None) if !start.is_empty() => Ok(id.clone()),
            (Some(_), _) => Err(format!(
                "More than one checkpoint begins with \"{start}\"; give more of its id."
            )),
            (None, _) => Err(format!(
                "There is no checkpoint {start}; `/checkpoints` in a chat and `undine checkpoints` in a terminal list them."
            )),
        }
    }

    /// Reads a checkpoint whole. One that is damaged anywhere is refused. The error is for the person.
    pub fn load(&self, project: &Path, id: &str) -> Result<Loaded, String> {
        let store = self.of(project);
        if project.parent().is_none() {
            return Err("A whole file system is no project; nothing is restored in it.".to_owned());
        }
        let damaged = |error: io::Error| {
            format!("The checkpoint {id} is damaged ({error}); nothing was changed.")
        };
        let missing = || {
            format!(
                "There is no checkpoint {id}; `/checkpoints` in a chat and `undine checkpoints` in a terminal list them."
            )
        };
        if !manifest::is_id(id) || !store.is_dir() {
            return Err(missing());
        }
        let seal = Seal::open(&self.folder).map_err(damaged)?;
        // Nothing of it may be swept away meanwhile.
        let _reading = lock(&store, FlockArg::LockShared).map_err(damaged)?;
        let manifest = match manifest::read(&manifests(&store), id, &seal) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            Err(error) => return Err(damaged(error)),
        };
        if manifest.project != project {
            return Err(format!(
                "The checkpoint {id} is of another project ({}); nothing was changed.",
                manifest.project.display()
            ));
        }
        let mut bytes = Vec::new();
        for entry in &manifest.files {
            bytes.push(match &entry.blob {
                Some(blob) if entry.existed => {
                    Some(blobs::get(&blobs(&store), blob).map_err(|error| {
                        let path = entry.path.display();
                        damaged(io::Error::other(format!(
                            "what it holds of {path}: {error}"
                        )))
                    })?)
                }
                Some(_) | None if entry.existed => {
                    return Err(damaged(io::Error::other("a file has no content")));
                }
                Some(_) | None => None,
            });
        }
        Ok(Loaded { manifest, bytes })
    }

    fn of(&self, project: &Path) -> PathBuf {
        self.folder.join(hash(project))
    }

    /// Keeps the store within its limits, now that a checkpoint has come to it. Failing at it harms nobody.
    pub fn make_room(&self, begun: &Begun) {
        let Begun {
            id: newest,
            store,
            n_bytes,
            ..
        } = begun;
        let is_due = {
            // A poisoned map is still a map.
            let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
            let room = rooms.entry(store.clone()).or_default();
            room.wrote(*n_bytes, self.max_bytes)
        };
        if !is_due {
            return;
        }
        match sweep::sweep(store, self.max_bytes, self.max_age, newest) {
            Ok(n_bytes) => {
                let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
                rooms.insert(store.clone(), Room::swept(n_bytes));
            }
            Err(error) => tracing::warn!(%error, "old checkpoints were not removed"),
        }
    }
}

fn not_made(store: &Path, error: &io::Error) -> String {
    format!(
        "No checkpoint could be made in {} ({error}), so nothing was changed. Checkpoints must be possible there \
         before files are changed; ask the person to see to it.",
        store.display()
    )
}

fn blobs(store: &Path) -> PathBuf {
    store.join("blobs")
}

fn manifests(store: &Path) -> PathBuf {
    store.join("manifests")
}

/// Sorted, so the oldest first.
fn ids(manifests: &Path) -> Vec<String> {
    let entries = fs::read_dir(manifests).into_iter().flatten().flatten();
    let names = entries.filter_map(|it| it.file_name().into_string().ok());
    let mut ids: Vec<String> = names
        .filter_map(|it| it.strip_suffix(".json").map(str::to_owned))
        .filter(|it| manifest::is_id(it))
        .collect();
    ids.sort();
    ids
}

/// Shared for whoever writes or reads, exclusive for whoever removes.
fn lock(store: &Path, how: FlockArg) -> io::Result<Flock<File>> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        // Whoever put something else there must not have us wait, or write elsewhere.
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(store.join("lock"))?;
    Flock::lock(file, how).map_err(|(_, error)| error.into())
}

/// Answers whether it had to be made.
fn private_folder(folder: &Path) -> io::Result<bool> {
    if folder.is_dir() {
        return Ok(false);
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    Ok(true)
}

fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX))
}
