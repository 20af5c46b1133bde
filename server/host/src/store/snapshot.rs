//! Snapshots: a log up to some place, condensed, so that a session opens without all of its log being read (spec 13.2a).
//!
//! One lies in the data folder and says which bytes of which log it covers. It is nothing but records (`engine::session::condense`) and can
//! be thrown away at any time: the log is the truth.

use super::lines::{self, At};
use super::log::{LogError, MAX_BYTES};
use super::{Folders, beside, hash, put};
use crate::regular;
use engine::session::{Fold, Settings, condense};
use protocol::record::{Record, VERSION};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The most bytes of a snapshot that are read (spec 13.2c).
const MOST: u64 = 64 << 20;

/// Bytes of the log before the covered end that must still be the same.
const CHECKED: u64 = 4_096;

/// A snapshot's first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    /// Format version of the records.
    v: u32,
    /// The log.
    log: PathBuf,
    /// What it covers.
    bytes: u64,
    seq: u64,
    /// SHA-256 of the last [`CHECKED`] bytes of that, in hexadecimal digits.
    check: String,
    /// Lines that follow.
    records: u64,
}

impl Folders {
    /// Where the snapshot of a log lies, if there is one.
    pub fn snapshot(&self, log: &Path) -> PathBuf {
        let name = format!("{}.jsonl", hash(log));
        self.data.join("snapshots").join(name)
    }
}

/// What a log comes to.
pub struct Opened {
    pub fold: Fold,
    /// The end of its whole lines.
    pub end: At,
    /// What of it a snapshot covered; the beginning without one.
    pub covered: At,
    /// The records of that snapshot.
    pub n_condensed: u64,
}

impl Opened {
    /// The log is over the cap, and could not have been read whole.
    pub fn is_large(&self) -> bool {
        self.end.bytes > MAX_BYTES
    }
}

/// Folds a log, from its snapshot on where that is good, up to so many bytes.
pub fn open(log: &Path, snapshot: Option<&Path>, until: u64) -> Result<Opened, LogError> {
    let condensed = snapshot.and_then(|it| read(it, log, until));
    let mut fold = Fold::new(Settings::default());
    let mut covered = At::default();
    let mut n_condensed = 0;
    if let Some((at, records)) = condensed {
        covered = at;
        n_condensed = records.len() as u64;
        records.iter().for_each(|it| fold.take(it));
    }
    if until.saturating_sub(covered.bytes) > MAX_BYTES {
        return Err(LogError::TooLarge(log.to_path_buf()));
    }
    let end = lines::records(log, covered, until, |it| fold.take(&it))?;
    Ok(Opened {
        fold,
        end,
        covered,
        n_condensed,
    })
}

/// The records of a snapshot, and what it covers. None if it is damaged, newer, or not of this log as it is.
pub fn read(snapshot: &Path, log: &Path, most: u64) -> Option<(At, Vec<Record>)> {
    let file = regular::open(snapshot).ok()?;
    let mut reader = BufReader::new(file.take(MOST));
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let header: Header = serde_json::from_str(&line).ok()?;
    let is_it = header.v <= VERSION && header.log == log && header.bytes <= most;
    if !is_it || check(log, header.bytes).ok()? != header.check {
        return None;
    }
    let mut records = Vec::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            break;
        }
        records.push(serde_json::from_str(&line).ok()?);
    }
    let at = At {
        bytes: header.bytes,
        seq: header.seq,
    };
    (records.len() as u64 == header.records).then_some((at, records))
}

/// Writes the snapshot of a log up to so many bytes, from the one before. Answers how many records it has. May take long.
pub fn write(snapshot: &Path, log: &Path, until: u64) -> io::Result<u64> {
    let opened = open(log, Some(snapshot), until).map_err(|it| io::Error::other(it.to_string()))?;
    let end = opened.end;
    let records = opened.fold.into_records();
    let header = Header {
        v: VERSION,
        log: log.to_path_buf(),
        bytes: end.bytes,
        seq: end.seq,
        check: check(log, end.bytes)?,
        records: records.len() as u64,
    };
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.push(b'\n');
    for record in &records {
        serde_json::to_writer(&mut bytes, record)?;
        bytes.push(b'\n');
    }
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other("it would be too large"));
    }
    let folder = snapshot.parent().unwrap_or(snapshot);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    put(beside(folder, ".snapshot-", &bytes)?, snapshot)?;
    Ok(header.records)
}

/// Folds a log twice, and once from its snapshot; an error says in a sentence for the person what differs. Answers how many records
/// the log has, and how many of them a snapshot covers.
pub fn verify(log: &Path, snapshot: &Path) -> Result<(u64, u64), String> {
    let said = |it: LogError| it.to_string();
    let len = lines::len(log).map_err(said)?;
    let whole = open(log, None, len).map_err(said)?;
    let n_records = whole.end.seq;
    let whole = whole.fold.into_records();
    let again = open(log, None, len).map_err(said)?;
    if again.fold.into_records() != whole || condense(&whole) != whole {
        return Err("Reading the log twice gives two different sessions.".to_owned());
    }
    let short = open(log, Some(snapshot), len).map_err(said)?;
    let covered = short.covered.seq;
    if short.fold.into_records() != whole {
        return Err(format!(
            "The snapshot {} is not what the log says; delete it.",
            snapshot.display()
        ));
    }
    Ok((n_records, covered))
}

/// What the log has right before a place.
fn check(log: &Path, bytes: u64) -> io::Result<String> {
    let mut file: File = regular::open(log)?;
    let from = bytes.saturating_sub(CHECKED);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(bytes - from).read_to_end(&mut end)?;
    if end.len() as u64 != bytes - from {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let hash = Sha256::digest(&end);
    Ok(hash.iter().map(|it| format!("{it:02x}")).collect())
}

#[cfg(test)]
mod tests;
