//! Answers that were given for always: `permissions.toml` in the person's config folder.
//!
//! It is theirs to read and to edit, and what it says widens what the agent may do. So it counts only while nobody
//! else can have written it: a regular file of their own in the config folder itself, where no tool writes, with no
//! second name elsewhere. It is looked at before each decision, so that an edit by hand counts for the next call.
//! It is only ever replaced whole, under a lock, and what the person wrote in it stays as it is.

mod entries;
#[cfg(test)]
mod tests;

pub use entries::Answer;

use super::{beside, lock, put};
use crate::regular;
use protocol::approval::Rule;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The file's name in the config folder.
pub const NAME: &str = "permissions.toml";

/// The most bytes of the file.
const MAX_BYTES: u64 = 1 << 20;

/// A file that was changed this recently can be changed again without its times telling.
const TICK: Duration = Duration::from_millis(100);

/// Tries to write while other programs write it too.
const TRIES: usize = 3;

/// The file, and what it said when it was read last.
#[derive(Debug)]
pub struct Permissions {
    folder: PathBuf,
    /// What the file was when it was read. None: it is to be read.
    read: Option<Stamp>,
    answers: Vec<Answer>,
    /// Those of them about commands that a person has spelled in another way than commands are compared in.
    respelled: Vec<Answer>,
    /// What in it did not count, in words.
    faults: Vec<String>,
}

/// What tells one state of the file from another.
#[derive(Clone, Debug, PartialEq)]
enum Stamp {
    Missing,
    File {
        of: (u64, u64),
        len: u64,
        times: [(i64, i64); 2],
        /// Owner, mode, names.
        trust: (u32, u32, u64),
    },
}

/// The file as it is on the disk.
struct Found {
    /// Where it lies, links resolved.
    path: PathBuf,
    text: String,
    stamp: Stamp,
}

impl Permissions {
    /// The answers kept in a config folder. Nothing is read or made yet.
    pub fn new(config: &Path) -> Self {
        Self {
            folder: config.to_path_buf(),
            read: None,
            answers: Vec::new(),
            respelled: Vec::new(),
            faults: Vec::new(),
        }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// Reads the file again if it has changed. Answers what in it does not count and did before, each in a sentence for
    /// the person.
    pub fn refresh(&mut self) -> Vec<String> {
        let stamp = stamp(&self.path());
        if self.read.as_ref() == Some(&stamp) {
            return Vec::new();
        }
        self.read = is_settled(&self.path()).then_some(stamp);
        let (answers, faults) = match self.find() {
            Ok(None) => (Vec::new(), Vec::new()),
            Ok(Some(found)) => match entries::read(&found.text) {
                Ok(all) => {
                    let (good, bad) = all.split();
                    let fault = |it| format!("{}, {it} The rest counts.", self.path().display());
                    (good, bad.into_iter().map(fault).collect())
                }
                Err(fault) => (Vec::new(), vec![self.not_counting(&fault)]),
            },
            Err(fault) => (Vec::new(), vec![self.not_counting(&fault)]),
        };
        self.respelled = answers.iter().filter_map(Answer::respelled).collect();
        self.answers = answers;
        let before = std::mem::replace(&mut self.faults, faults.clone());
        faults
            .into_iter()
            .filter(|it| !before.contains(it))
            .collect()
    }

    fn not_counting(&self, fault: &str) -> String {
        let path = self.path();
        format!("No answer in {} counts: {fault}", path.display())
    }

    /// The answers that count in a project, as they were read last. `project` is resolved.
    pub fn answers<'a>(&'a self, project: &'a Path) -> impl Iterator<Item = &'a Answer> {
        self.answers.iter().filter(|it| it.counts_in(project))
    }

    /// The rules that these answers are.
    pub fn standing(&self, project: &Path) -> Vec<Rule> {
        let respelled = self.respelled.iter().filter(|it| it.counts_in(project));
        let all = self.answers(project).chain(respelled);
        all.map(|it| it.rule.clone()).collect()
    }

    /// Keeps an answer; one that is there already is left alone. It is on the disk when this returns. Waits for
    /// `patience` while another server writes. The error ends a sentence for the person.
    pub fn keep(&mut self, answer: &Answer, patience: Duration) -> Result<(), String> {
        let entry = entries::write(answer)?;
        self.change(patience, |text| {
            let all = entries::read(text)?;
            if all.holds(answer) {
                return Ok(None);
            }
            let longer = entries::append(text, &entry);
            // What cannot be read back is not written.
            match entries::read(&longer)?.holds(answer) {
                true => Ok(Some(longer)),
                false => Err("it would not be read back as it was meant.".to_owned()),
            }
        })
    }

    /// Takes an answer out of the file, wherever it stands in it. The error ends a sentence for the person.
    pub fn forget(&mut self, answer: &Answer, patience: Duration) -> Result<(), String> {
        self.change(patience, |text| entries::without(text, answer))
    }

    /// Changes the file's text, if there is another one to it. A file that is missing is the head alone.
    fn change(
        &mut self,
        patience: Duration,
        work: impl Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<(), String> {
        let failed = |error: io::Error| format!("it cannot be written ({error}).");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(failed)?;
        let _lock = lock(&self.folder, patience)?;
        for _ in 0..TRIES {
            let found = self.find()?;
            let text = found.as_ref().map_or(entries::HEAD, |it| &it.text);
            let Some(changed) = work(text)? else {
                return Ok(());
            };
            let path = found.as_ref().map_or(self.path(), |it| it.path.clone());
            let folder = path.parent().unwrap_or(&path);
            let file = beside(folder, ".permissions-", changed.as_bytes()).map_err(failed)?;
            // An editor knows nothing of the lock.
            let before = found.map_or(Stamp::Missing, |it| it.stamp);
            if stamp(&self.path()) == before {
                self.read = None;
                return put(file, &path).map_err(failed);
            }
        }
        Err("another program writes it all the time; try again.".to_owned())
    }

    /// The file, if there is one. The error says why it does not count.
    fn find(&self) -> Result<Option<Found>, String> {
        let named = self.path();
        let unread = |error: io::Error| format!("it cannot be read ({error}).");
        match named.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unread(error)),
            Ok(_) => {}
        }
        let path = named.canonicalize().map_err(unread)?;
        let home = self.folder.canonicalize().map_err(unread)?;
        if !path.starts_with(&home) {
            return Err(format!(
                "it is a link to {}, where the agent's tools may write; put the file itself here.",
                path.display()
            ));
        }
        let file = regular::open(&path).map_err(unread)?;
        let meta = file.metadata().map_err(unread)?;
        trusted(&meta, &named)?;
        let stamp = stamp_of(&meta);
        let bytes = regular::capped(file, MAX_BYTES).map_err(unread)?;
        let bytes = bytes.ok_or("it is larger than 1 MiB.")?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text.".to_owned())?;
        Ok(Some(Found { path, text, stamp }))
    }
}

/// Whether nobody but the person can have written a file.
fn trusted(meta: &Metadata, path: &Path) -> Result<(), String> {
    let path = path.display();
    if meta.uid() != nix::unistd::geteuid().as_raw() {
        return Err("it belongs to another user; make one of your own.".to_owned());
    }
    if meta.mode() & 0o022 != 0 {
        return Err(format!(
            "others than you may write it; look through it, then run `chmod 600 {path}`."
        ));
    }
    if meta.nlink() != 1 {
        return Err(format!(
            "it has a second name elsewhere (a hard link), through which it could be written; replace {path} by a copy \
             of it."
        ));
    }
    Ok(())
}

fn stamp(path: &Path) -> Stamp {
    path.metadata()
        .map_or(Stamp::Missing, |meta| stamp_of(&meta))
}

fn stamp_of(meta: &Metadata) -> Stamp {
    Stamp::File {
        of: (meta.dev(), meta.ino()),
        len: meta.len(),
        times: [
            (meta.mtime(), meta.mtime_nsec()),
            (meta.ctime(), meta.ctime_nsec()),
        ],
        trust: (meta.uid(), meta.mode(), meta.nlink()),
    }
}

/// Whether a later change would show in the file's times.
fn is_settled(path: &Path) -> bool {
    let Ok(changed) = path.metadata().and_then(|it| it.modified()) else {
        // A file that comes shows in any case.
        return true;
    };
    SystemTime::now()
        .duration_since(changed)
        .is_ok_and(|it| it > TICK)
}
