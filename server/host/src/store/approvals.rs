//! Actions that wait for the person's approval, because nobody could be asked when they were due (spec 3.7).
//!
//! One owner-only file each, `approvals/<id>.json` in the data folder, where no tool may write. A file is only ever
//! replaced whole, and whoever changes its state holds the lock beside it: so two cannot run one action, and what
//! was denied or done stays so. What runs is marked as done only afterwards. A death in between leaves it marked
//! as running with its lock free, and the next who approves finds out how far it came.

use super::beside;
use crate::regular;
use nix::fcntl::{Flock, FlockArg};
use protocol::record::EditedFile;
use protocol::session::{CallId, Mode};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The format that this build writes. A file with a greater one is left alone.
pub const VERSION: u32 = 1;

/// The most bytes of one file: a call's arguments are the most of it.
const MAX_BYTES: u64 = 64 << 20;

/// A stored action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub v: u32,
    pub id: String,
    /// When it was stored, in milliseconds since the Unix epoch.
    pub time: u64,
    /// The project's folder, resolved.
    pub project: PathBuf,
    pub session: String,
    pub call: CallId,
    pub tool: String,
    /// Exact, secrets included: they are executed when the person approves. All else here is shown, and has none.
    pub arguments: serde_json::Value,
    /// The session's mode when it was stored.
    pub mode: Mode,
    /// Why it waits, where it is not that nobody could be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    #[serde(flatten)]
    pub offer: Offer,
    pub state: State,
}

impl Approval {
    /// Whether the last word on it has not been said.
    pub fn waits(&self) -> bool {
        match self.state {
            State::Pending | State::Running { .. } => true,
            State::Approved { .. } | State::Denied { .. } | State::Failed { .. } => false,
        }
    }
}

/// What the person approves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    pub title: String,
    /// The hash of what is shown: the approval is good for this and nothing else.
    pub shown: String,
    /// What is shown, as text.
    pub preview: String,
    /// The files it changes. Empty for a command.
    pub files: Vec<EditedFile>,
}

/// Times are milliseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    Pending,
    /// Someone runs it, or died over it.
    Running {
        since: u64,
    },
    /// It was done. The last word.
    Approved {
        at: u64,
    },
    /// The last word.
    Denied {
        at: u64,
    },
    /// It was begun and ended with an error. The last word.
    Failed {
        at: u64,
        why: String,
    },
}

/// Why an approval cannot be had. Each is one sentence for the person.
#[derive(Debug, Error)]
pub enum ApprovalError {
    #[error(
        "There is no approval {0:?}; `/approvals` in a chat and `undine approvals --all` in a terminal list them."
    )]
    Missing(String),
    #[error("{prefix} begins the ids of {count} approvals; write more of it.")]
    Ambiguous { prefix: String, count: usize },
    #[error("The approval {0} is in use by another Undine at this moment.")]
    Busy(String),
    #[error("The approval {0} was denied, which is for good; ask for the action anew.")]
    Denied(String),
    #[error("The approval {0} was approved and done before; it is done once.")]
    Done(String),
    #[error(
        "The approval {0} was approved before and ended with an error; ask for the action anew."
    )]
    Failed(String),
    #[error("The approval {0} was stored by a newer Undine; update this one.")]
    Newer(String),
    #[error("{} cannot be read or written ({error}).", .path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// The queue.
#[derive(Clone, Debug)]
pub struct Approvals {
    folder: PathBuf,
}

impl Approvals {
    /// The queue of a data folder. Nothing is made before there is something to keep.
    pub fn new(data: &Path) -> Self {
        Self {
            folder: data.join("approvals"),
        }
    }

    /// Stores an action under a new id, which is answered. It is on the disk when this returns.
    pub fn add(&self, mut approval: Approval) -> io::Result<String> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        loop {
            approval.id = new_id()?;
            let path = self.path(&approval.id);
            match self.write(&approval)?.persist_noclobber(path) {
                Ok(_) => break,
                Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(it) => return Err(it.error),
            }
        }
        self.sync()?;
        Ok(approval.id)
    }

    /// All that can be read, oldest first.
    pub fn list(&self) -> Vec<Approval> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let names = entries.flatten().map(|it| it.file_name());
        let mut all: Vec<Approval> = names
            .filter_map(|it| self.read(it.to_str()?.strip_suffix(".json")?).ok())
            .collect();
        all.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        all
    }

    /// The approval whose id begins so.
    pub fn find(&self, prefix: &str) -> Result<Approval, ApprovalError> {
        let fits = |it: &Approval| !prefix.is_empty() && it.id.starts_with(prefix);
        let mut found: Vec<Approval> = self.list().into_iter().filter(fits).collect();
        match (found.pop(), found.len()) {
            (Some(one), 0) => Ok(one),
            (Some(_), more) => Err(ApprovalError::Ambiguous {
                prefix: prefix.to_owned(),
                count: more + 1,
            }),
            (None, _) => Err(ApprovalError::Missing(prefix.to_owned())),
        }
    }

    /// Takes an approval, so that no other process can: until the claim is dropped. What was denied or done is
    /// refused.
    pub fn claim(&self, id: &str) -> Result<Claim, ApprovalError> {
        let path = self.path(id).with_extension("lock");
        let fail = |error| ApprovalError::Io {
            path: path.clone(),
            error,
        };
        // Before the lock is made, which would be left behind.
        self.read(id)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(fail)?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
            .map_err(|_| ApprovalError::Busy(id.to_owned()))?;
        // Only now: until the lock was ours, another could change it.
        let approval = self.read(id)?;
        match &approval.state {
            State::Pending | State::Running { .. } => Ok(Claim {
                queue: self.clone(),
                approval,
                _lock: lock,
            }),
            State::Approved { .. } => Err(ApprovalError::Done(id.to_owned())),
            State::Denied { .. } => Err(ApprovalError::Denied(id.to_owned())),
            State::Failed { .. } => Err(ApprovalError::Failed(id.to_owned())),
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn read(&self, id: &str) -> Result<Approval, ApprovalError> {
        if !is_id(id) {
            return Err(ApprovalError::Missing(id.to_owned()));
        }
        let path = self.path(id);
        let fail = |error| ApprovalError::Io {
            path: path.clone(),
            error,
        };
        let bytes = match regular::read_capped(&path, MAX_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(fail(io::Error::other("it is too large"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ApprovalError::Missing(id.to_owned()));
            }
            Err(error) => return Err(fail(error)),
        };
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|error| fail(error.into()))?;
        if value["v"].as_u64() > Some(u64::from(VERSION)) {
            return Err(ApprovalError::Newer(id.to_owned()));
        }
        let approval: Approval =
            serde_json::from_value(value).map_err(|error| fail(error.into()))?;
        match approval.id == id {
            true => Ok(approval),
            false => Err(fail(io::Error::other("it holds another approval"))),
        }
    }

    /// The file beside its place, synced. Such a file is its owner's only.
    fn write(&self, approval: &Approval) -> io::Result<tempfile::NamedTempFile> {
        let mut text = serde_json::to_vec_pretty(approval)?;
        text.push(b'\n');
        beside(&self.folder, ".new-", &text)
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

/// An approval that is this process's to change, as long as this lives.
#[derive(Debug)]
pub struct Claim {
    queue: Approvals,
    approval: Approval,
    _lock: Flock<File>,
}

impl Claim {
    pub fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Changes the state. It is on the disk when this returns.
    pub fn set(&mut self, state: State) -> io::Result<()> {
        self.approval.state = state;
        self.save()
    }

    /// What the action would do by now, and what an approval is good for from now on.
    pub fn offer(&mut self, offer: Offer) -> io::Result<()> {
        self.approval.offer = offer;
        self.set(State::Pending)
    }

    fn save(&self) -> io::Result<()> {
        let path = self.queue.path(&self.approval.id);
        self.queue.write(&self.approval)?.persist(path)?;
        self.queue.sync()
    }
}

/// What ids are made of: nothing that is easily taken for something else.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

const ID_LETTERS: usize = 8;

/// Forty bits from the system, so that no clock and no other process matters (spec 3.8).
fn new_id() -> io::Result<String> {
    let mut bytes = [0; ID_LETTERS];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let letters = bytes.iter().map(|it| LETTERS[usize::from(it % 32)]);
    Ok(letters.map(char::from).collect())
}

/// No other name is read, so that no path can be smuggled in.
fn is_id(text: &str) -> bool {
    text.len() == ID_LETTERS && text.bytes().all(|it| LETTERS.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn approval() -> Approval {
        Approval {
            v: VERSION,
            id: String::new(),
            time: 1,
            project: "/p".into(),
            session: "s".into(),
            call: CallId(3),
            tool: "edit_file".into(),
            arguments: serde_json::json!({"path": "a"}),
            risk: None,
            mode: Mode::Ask,
            offer: Offer {
                title: "Edit a".into(),
                shown: "h".into(),
                preview: "-a\n+b".into(),
                files: vec![EditedFile {
                    path: "/p/a".into(),
                    before: Some("0".into()),
                    after: None,
                }],
            },
            state: State::Pending,
        }
    }

    fn queue() -> (tempfile::TempDir, Approvals) {
        let folder = tempfile::tempdir().unwrap();
        let queue = Approvals::new(folder.path());
        (folder, queue)
    }

    #[test]
    fn what_is_stored_is_its_owners_only_and_is_read_back() {
        let (folder, queue) = queue();
        assert!(queue.list().is_empty());
        let id = queue.add(approval()).unwrap();
        let stored = Approval {
            id: id.clone(),
            ..approval()
        };
        assert_eq!(queue.find(&id[..5]).unwrap(), stored);
        assert_eq!(queue.list(), [stored]);
        drop(queue.claim(&id).unwrap());
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = folder.path().join("approvals");
        assert_eq!(mode(folder.clone()), 0o700);
        for entry in fs::read_dir(folder).unwrap() {
            assert_eq!(mode(entry.unwrap().path()), 0o600);
        }
    }

    #[test]
    fn bug_019_two_cannot_have_one_approval_and_a_last_word_is_the_last() {
        let (_folder, queue) = queue();
        let id = queue.add(approval()).unwrap();
        let mut claim = queue.claim(&id).unwrap();
        assert!(matches!(queue.claim(&id), Err(ApprovalError::Busy(_))));
        claim.set(State::Running { since: 2 }).unwrap();
        drop(claim);
        // Its owner has died over it.
        let mut claim = queue.claim(&id).unwrap();
        assert_eq!(claim.approval().state, State::Running { since: 2 });
        claim.set(State::Denied { at: 3 }).unwrap();
        drop(claim);
        assert!(matches!(queue.claim(&id), Err(ApprovalError::Denied(_))));
    }

    #[test]
    fn an_id_is_found_by_its_beginning_if_no_other_begins_so() {
        let (_folder, queue) = queue();
        let ids: Vec<String> = (0..40).map(|_| queue.add(approval()).unwrap()).collect();
        for id in &ids {
            assert_eq!(queue.find(id).unwrap().id, *id);
            let n_alike = ids.iter().filter(|it| it[..1] == id[..1]).count();
            match queue.find(&id[..1]) {
                Ok(_) => assert_eq!(n_alike, 1),
                Err(ApprovalError::Ambiguous { count, .. }) => assert_eq!(n_alike, count),
                Err(other) => panic!("{other}"),
            }
        }
        for none in ["", "0", "../x", &format!("{}a", ids[0])] {
            assert!(matches!(queue.find(none), Err(ApprovalError::Missing(_))));
            assert!(matches!(queue.claim(none), Err(ApprovalError::Missing(_))));
        }
    }

    #[test]
    fn a_newer_file_is_left_alone_and_a_damaged_one_is_no_approval() {
        let (folder, queue) = queue();
        let id = queue.add(approval()).unwrap();
        let path = folder.path().join("approvals").join(format!("{id}.json"));
        fs::write(&path, "{\"v\": 2, \"hologram\": true}").unwrap();
        assert!(matches!(queue.claim(&id), Err(ApprovalError::Newer(_))));
        fs::write(&path, "{").unwrap();
        assert!(matches!(queue.claim(&id), Err(ApprovalError::Io { .. })));
        assert!(queue.list().is_empty());
    }
}
