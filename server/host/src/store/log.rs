//! One session's log: append-only, written ahead, readable after any death.
//!
//! Appends go straight to the file, so that a killed server loses nothing it acted on; the file is
//! synced at each turn's end against power loss. A torn last line is cut off at the next open
//! (spec 13.2a). A lock on the file says who writes it.

use crate::regular;
use engine::redact::redact_record;
use nix::fcntl::{Flock, FlockArg};
use protocol::record::{Line, Record, VERSION};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The most bytes of a log that are read (spec 13.2c).
pub(super) const MAX_BYTES: u64 = 128 << 20;

/// Why a log could not be opened. Each is one sentence for the person.
#[derive(Debug)]
pub enum LogError {
    Missing(String),
    Busy(PathBuf),
    Newer { path: PathBuf, version: u32 },
    Broken { path: PathBuf, line: usize },
    TooLarge(PathBuf),
    Io { path: PathBuf, error: io::Error },
}

impl std::fmt::Display for LogError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(id) => write!(
                f,
                "There is no session {id}; list the sessions to see which there are."
            ),
            Self::Busy(path) => write!(
                f,
                "Another Undine writes {}; close the session there first.",
                path.display()
            ),
            Self::Newer { path, version } => {
                write!(
                    f,
                    "{} was written by a newer Undine (format {version}); update this one.",
                    path.display()
                )
            }
            Self::Broken { path, line } => {
                write!(
                    f,
                    "Line {line} of {} is damaged; restore the file or start a new session.",
                    path.display()
                )
            }
            Self::TooLarge(path) => write!(
                f,
                "{} is over {} MiB; start a new session.",
                path.display(),
                MAX_BYTES >> 20
            ),
            Self::Io { path, error } => {
                write!(f, "{} cannot be read or written ({error}).", path.display())
            }
        }
    }
}

impl std::error::Error for LogError {}

/// A session's log, open for writing.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// Missing until the first prompt: empty sessions are not kept (spec 13.4).
    file: Option<Flock<File>>,
    /// Records before the first prompt.
    held: Vec<Record>,
    seq: u64,
    /// Bytes of whole lines. A write that failed may have left a part of one behind them.
    whole: u64,
    /// Made when the log is, so that it is known for one of ours (`Folders::vouches`).
    voucher: Option<Voucher>,
}

/// What says that a log is ours, and what of the session is kept outside of the project.
#[derive(Clone, Debug)]
pub struct Voucher {
    pub path: PathBuf,
    /// Its scratchpad's name; empty without one.
    pub scratchpad: String,
}

impl Log {
    /// A new log; nothing is on disk yet.
    pub fn new(path: PathBuf, voucher: Option<Voucher>) -> Self {
        Self {
            path,
            file: None,
            held: Vec::new(),
            seq: 0,
            whole: 0,
            voucher,
        }
    }

    /// Opens an existing log for writing, cuts a torn last line off, and reads it.
    pub fn open(path: PathBuf) -> Result<(Self, Vec<Record>), LogError> {
        let fail = |error| LogError::Io {
            path: path.clone(),
            error,
        };
        // Before it is opened for writing, which would wait for a pipe's other end.
        regular::open(&path).map_err(fail)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(&path)
            .map_err(fail)?;
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .map_err(|_| LogError::Busy(path.clone()))?;
        let (records, whole) = read(&path)?;
        file.set_len(whole).map_err(fail)?;
        let seq = records.len() as u64;
        Ok((
            Self {
                path,
                file: Some(file),
                held: Vec::new(),
                seq,
                whole,
                voucher: None,
            },
            records,
        ))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a fact. It is with the operating system when this returns.
    /// Secrets are taken out first (spec 13.3): nothing that is read from a log is ever executed.
    pub fn append(&mut self, mut record: Record) -> io::Result<()> {
        redact_record(&mut record);
        if self.file.is_none() && !matches!(record, Record::User { .. }) {
            self.held.push(record);
            return Ok(());
        }
        let mut bytes = Vec::new();
        let mut seq = self.seq;
        for record in self.held.iter().chain([&record]) {
            let line = Line {
                v: VERSION,
                seq,
                time: now_ms(),
                record: record.clone(),
            };
            serde_json::to_writer(&mut bytes, &line)?;
            bytes.push(b'\n');
            seq += 1;
        }
        if self.file.is_none() {
            self.file = Some(create(&self.path)?);
            if let Some(voucher) = &self.voucher {
                vouch(voucher)?;
            }
        }
        if let Some(file) = &mut self.file {
            // What a full disk left of the last write is taken away, so that a torn line can only be the last.
            if file.metadata()?.len() > self.whole {
                file.set_len(self.whole)?;
            }
            file.write_all(&bytes)?;
        }
        self.whole += bytes.len() as u64;
        self.held.clear();
        self.seq = seq;
        Ok(())
    }

    /// A handle that can be synced elsewhere; syncing may take long.
    pub fn syncable(&self) -> Option<File> {
        self.file.as_ref()?.try_clone().ok()
    }
}

fn create(path: &Path) -> io::Result<Flock<File>> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            fs::write(ignore, "*\n")?;
        }
    }
    let file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

fn vouch(voucher: &Voucher) -> io::Result<()> {
    if let Some(folder) = voucher.path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    fs::write(&voucher.path, &voucher.scratchpad)
}

/// Reads a log's records, and how many of its bytes are whole lines.
pub fn read(path: &Path) -> Result<(Vec<Record>, u64), LogError> {
    let fail = |error| LogError::Io {
        path: path.to_path_buf(),
        error,
    };
    let bytes = regular::read_capped(path, MAX_BYTES)
        .map_err(fail)?
        .ok_or_else(|| LogError::TooLarge(path.to_path_buf()))?;
    let mut records = Vec::new();
    let mut whole = 0;
    for (number, line) in bytes.split_inclusive(|it| *it == b'\n').enumerate() {
        // The last line without its end was being written when its writer died.
        if !line.ends_with(b"\n") {
            break;
        }
        match serde_json::from_slice::<Line>(line) {
            Ok(line) if line.v > VERSION => {
                return Err(LogError::Newer {
                    path: path.to_path_buf(),
                    version: line.v,
                });
            }
            Ok(line) => records.push(line.record),
            Err(_) => {
                if let Some(version) = newer(line) {
                    return Err(LogError::Newer {
                        path: path.to_path_buf(),
                        version,
                    });
                }
                return Err(LogError::Broken {
                    path: path.to_path_buf(),
                    line: number + 1,
                });
            }
        }
        whole += line.len() as u64;
    }
    Ok((records, whole))
}

/// The version of a line that this build cannot read, if it says one that is newer.
fn newer(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let version = u32::try_from(value.get("v")?.as_u64()?).ok()?;
    (version > VERSION).then_some(version)
}

pub fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::session::{Mode, TurnId};

    fn started() -> Record {
        Record::Started {
            session: "s".into(),
            cwd: "/p".into(),
            mode: Mode::Ask,
            model: "m".into(),
        }
    }
    fn user(text: &str) -> Record {
        Record::User {
            turn: TurnId(0),
            text: text.into(),
            pictures: Vec::new(),
        }
    }

    #[test]
    fn what_is_appended_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c/x.jsonl");
        let mut log = Log::new(path.clone(), None);
        log.append(started()).unwrap();
        assert!(!path.exists(), "an empty session is not kept");
        log.append(user("one\ntwo")).unwrap();
        drop(log);
        let (log, records) = Log::open(path.clone()).unwrap();
        assert_eq!(records, [started(), user("one\ntwo")]);
        assert!(
            matches!(Log::open(path.clone()), Err(LogError::Busy(_))),
            "one writer at a time"
        );
        drop(log);
        assert_eq!(
            fs::read_to_string(path.with_file_name(".gitignore")).unwrap(),
            "*\n"
        );
    }

    /// The next line was written behind the torn one, and the session could never be loaded again.
    #[test]
    fn what_a_failed_write_left_does_not_spoil_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut log = Log::new(path.clone(), None);
        log.append(started()).unwrap();
        log.append(user("a")).unwrap();
        let torn = b"{\"v\":1,\"se";
        log.file.as_mut().unwrap().write_all(torn).unwrap();
        log.append(user("b")).unwrap();
        assert_eq!(read(&path).unwrap().0, [started(), user("a"), user("b")]);
        drop(log);
        let (mut log, _) = Log::open(path.clone()).unwrap();
        log.append(user("c")).unwrap();
        assert_eq!(read(&path).unwrap().0.len(), 4);
    }

    #[test]
    fn a_log_cut_at_any_byte_still_opens_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut log = Log::new(path.clone(), None);
        for record in [started(), user("ä"), user("b")] {
            log.append(record).unwrap();
        }
        drop(log);
        let whole = fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let (mut log, records) = Log::open(path.clone()).unwrap();
            assert_eq!(
                records.len(),
                whole[..cut].iter().filter(|it| **it == b'\n').count()
            );
            log.append(user("c")).unwrap();
            drop(log);
            assert_eq!(read(&path).unwrap().0.last(), Some(&user("c")));
        }
    }

    #[test]
    fn a_newer_format_is_refused_and_a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        fs::write(
            &path,
            "{\"v\":9,\"seq\":0,\"time\":0,\"type\":\"hologram\"}\n",
        )
        .unwrap();
        assert!(matches!(
            read(&path),
            Err(LogError::Newer { version: 9, .. })
        ));
        fs::write(&path, "nonsense\n{}\n").unwrap();
        assert!(matches!(read(&path), Err(LogError::Broken { line: 1, .. })));
    }
}
