//! One session's log: append-only, written ahead, readable after any death.
//!
//! Appends go straight to the file, so that a killed server loses nothing it acted on; the file is
//! synced at each turn's end against power loss. A torn last line is cut off at the next open
//! (spec 13.2a). A lock on the file says who writes it.

use super::lines::{self, At};
use super::snapshot;
use crate::regular;
use engine::redact::redact_record;
use nix::fcntl::{Flock, FlockArg};
use protocol::record::{Line, Record, VERSION};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
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
    /// What the last write was to add, if it failed.
    torn: Option<Vec<u8>>,
    /// The log that another process spoiled, until somebody was told of it.
    left: Option<PathBuf>,
    /// Lines that a snapshot covers, and the records that it has.
    covered: (u64, u64),
    /// It was over the cap when it was opened.
    is_large: bool,
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
            torn: None,
            left: None,
            covered: (0, 0),
            is_large: false,
            voucher,
        }
    }

    /// Opens an existing log for writing and cuts a torn last line off: its writer is dead, for the lock is ours. Answers
    /// its records, condensed: they fold into the same session. What its snapshot covers is not read, if there is one.
    pub fn open(path: PathBuf, snapshot: Option<&Path>) -> Result<(Self, Vec<Record>), LogError> {
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
        let bytes = file.metadata().map_err(fail)?.len();
        let opened = snapshot::open(&path, snapshot, bytes)?;
        let At { bytes: whole, seq } = opened.end;
        file.set_len(whole).map_err(fail)?;
        let log = Self {
            file: Some(file),
            seq,
            whole,
            covered: (opened.covered.seq, opened.n_condensed),
            is_large: opened.is_large(),
            ..Self::new(path, None)
        };
        Ok((log, opened.fold.into_records()))
    }

    /// Over the cap: it was opened from its snapshot, and could not be without it.
    pub fn is_large(&self) -> bool {
        self.is_large
    }

    /// The end of what was written.
    pub fn end(&self) -> At {
        At {
            bytes: self.whole,
            seq: self.seq,
        }
    }

    /// Whether so much was written since the last snapshot that it is time for another: `every` so many records, and less often
    /// where snapshots are long, so that a log of any length is not condensed more than a few times over. 0: never.
    pub fn wants_snapshot(&mut self, every: u64) -> bool {
        let (seq, n_condensed) = self.covered;
        let is_due = every > 0 && self.seq - seq.min(self.seq) >= every.max(n_condensed / 4);
        if is_due {
            // The next one is about as long as what it is made of, at most.
            self.covered = (self.seq, n_condensed + self.seq - seq);
        }
        is_due
    }

    /// Whether something was written since the last snapshot.
    pub fn is_behind(&self) -> bool {
        self.file.is_some() && self.seq > self.covered.0
    }

    /// Where the session's log was, if another process has written into it since this was last asked: the session goes on in a log of its
    /// own (spec 13.3).
    pub fn take_conflict(&mut self) -> Option<PathBuf> {
        self.left.take()
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
        self.make_whole()?;
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
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(&bytes)
        {
            self.torn = Some(bytes);
            return Err(error);
        }
        self.whole += bytes.len() as u64;
        self.held.clear();
        self.seq = seq;
        Ok(())
    }

    /// Sees that the file ends where this process left it. What a full disk left of the last write is taken away, so that a torn line can
    /// only be the last. What is not ours is not touched: somebody writes this log in spite of the lock.
    fn make_whole(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let torn = self.torn.take();
        let len = file.metadata()?.len();
        if len == self.whole {
            return Ok(());
        }
        if let Some(torn) = torn {
            let mut behind = Vec::new();
            let mut reader = regular::open(&self.path)?;
            reader.seek(SeekFrom::Start(self.whole))?;
            reader
                .take(torn.len() as u64 + 1)
                .read_to_end(&mut behind)?;
            if len > self.whole && torn.starts_with(&behind) {
                return file.set_len(self.whole);
            }
        }
        self.go_on_elsewhere()
    }

    /// Goes on in a new log that has all that this process knows to be whole.
    fn go_on_elsewhere(&mut self) -> io::Result<()> {
        let stem = self.path.with_extension("");
        let mut n = 1;
        let (path, file) = loop {
            let name = format!("{}.{}.{n}.conflict.jsonl", stem.display(), process::id());
            let path = PathBuf::from(name);
            match create(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(error) => return Err(error),
            }
        };
        let mut to: &File = &file;
        let mut end = At::default();
        let copied = lines::raw(&self.path, end, self.whole, |_, line| {
            to.write_all(line).map_err(|error| LogError::Io {
                path: path.clone(),
                error,
            })?;
            Ok(true)
        });
        end = copied.map_err(|it| io::Error::other(it.to_string()))?;
        self.whole = end.bytes;
        self.seq = end.seq;
        self.covered = (0, 0);
        self.file = Some(file);
        self.left = Some(std::mem::replace(&mut self.path, path));
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

/// Reads a log's records, and how many of its bytes are whole lines. All of them: for a log of which only a part or the present state
/// is needed, there are [`lines`] and [`snapshot`].
pub fn read(path: &Path) -> Result<(Vec<Record>, u64), LogError> {
    let bytes = lines::len(path)?;
    if bytes > MAX_BYTES {
        return Err(LogError::TooLarge(path.to_path_buf()));
    }
    let mut records = Vec::new();
    let end = lines::records(path, At::default(), bytes, |it| records.push(it))?;
    Ok((records, end.bytes))
}

pub fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::session::condense;
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
        let (log, records) = Log::open(path.clone(), None).unwrap();
        assert_eq!(records, condense(&[started(), user("one\ntwo")]));
        assert!(
            matches!(Log::open(path.clone(), None), Err(LogError::Busy(_))),
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
        log.torn = Some(b"{\"v\":1,\"seq\":2}\n".to_vec());
        log.append(user("b")).unwrap();
        assert_eq!(read(&path).unwrap().0, [started(), user("a"), user("b")]);
        drop(log);
        let (mut log, _) = Log::open(path.clone(), None).unwrap();
        log.append(user("c")).unwrap();
        assert_eq!(read(&path).unwrap().0.len(), 4);
    }

    #[test]
    fn what_another_process_wrote_is_left_alone_and_the_session_goes_on_in_a_log_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("20250101_000000_000.jsonl");
        let mut log = Log::new(path.clone(), None);
        log.append(started()).unwrap();
        log.append(user("a")).unwrap();
        assert_eq!(log.take_conflict(), None);
        let mut other = OpenOptions::new().append(true).open(&path).unwrap();
        other.write_all(b"{\"v\":1,\"of\":\"another\"}\n").unwrap();
        let both = fs::read(&path).unwrap();
        log.append(user("b")).unwrap();
        log.append(user("c")).unwrap();
        assert_eq!(log.take_conflict(), Some(path.clone()));
        assert_eq!(log.take_conflict(), None);
        assert_eq!(fs::read(&path).unwrap(), both);
        let name = log.path().file_name().unwrap().to_str().unwrap();
        let pid = process::id();
        assert_eq!(name, format!("20250101_000000_000.{pid}.1.conflict.jsonl"));
        let records = read(log.path()).unwrap().0;
        assert_eq!(records, [started(), user("a"), user("b"), user("c")]);
        let listed = crate::store::list(folder.path());
        assert_eq!(listed.len(), 1, "{listed:?}");
    }

    #[test]
    fn a_snapshot_is_due_ever_more_seldom_as_it_grows() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::new(folder.path().join("x.jsonl"), None);
        let mut n_due = 0;
        for at in 0..4_000 {
            log.append(user("a")).unwrap();
            let is_due = log.wants_snapshot(100);
            assert!(at > 100 || is_due == (at == 99), "{at}");
            n_due += u32::from(is_due);
        }
        assert!((8..24).contains(&n_due), "{n_due}");
        assert!(!log.wants_snapshot(0));
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
            let (mut log, records) = Log::open(path.clone(), None).unwrap();
            assert_eq!(records, condense(&read(&path).unwrap().0));
            let n = whole[..cut].iter().filter(|it| **it == b'\n').count();
            assert_eq!(log.end().seq, n as u64);
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
