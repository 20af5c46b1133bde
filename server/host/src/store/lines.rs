//! A log's lines, one after the other: what is held is one line, however long the log is.

use super::log::{LogError, MAX_BYTES};
use crate::regular;
use protocol::record::{Line, Record, VERSION};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// A place between two lines of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Bytes before it.
    pub bytes: u64,
    /// Lines before it, which is the next line's `seq`.
    pub seq: u64,
}

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// Hands on each whole line between two places as bytes, with the place before it; `until` counts bytes. Stops where `take` answers
/// false. Answers the place behind the last whole line that was handed on: a line without its end was being written when its writer
/// died.
pub fn raw(
    path: &Path,
    from: At,
    until: u64,
    mut take: impl FnMut(At, &[u8]) -> Result<bool, LogError>,
) -> Result<At, LogError> {
    let fail = |error| LogError::Io {
        path: path.to_path_buf(),
        error,
    };
    let mut file = regular::open(path).map_err(fail)?;
    file.seek(SeekFrom::Start(from.bytes)).map_err(fail)?;
    let rest = until.saturating_sub(from.bytes);
    let mut reader = BufReader::with_capacity(CHUNK, file.take(rest));
    let (mut at, mut line) = (from, Vec::new());
    loop {
        line.clear();
        // One line is never larger than what a log may have in all.
        let mut piece = reader.by_ref().take(MAX_BYTES);
        let n = piece.read_until(b'\n', &mut line).map_err(fail)?;
        if n == 0 || line.last() != Some(&b'\n') {
            return Ok(at);
        }
        if !take(at, &line)? {
            return Ok(at);
        }
        at.bytes += n as u64;
        at.seq += 1;
    }
}

/// The same, each line read. A line that is damaged, or of a newer build, is an error.
pub fn records(
    path: &Path,
    from: At,
    until: u64,
    mut take: impl FnMut(Record),
) -> Result<At, LogError> {
    raw(path, from, until, |at, line| {
        take(record(path, at, line)?);
        Ok(true)
    })
}

/// The record of a line.
pub fn record(path: &Path, at: At, line: &[u8]) -> Result<Record, LogError> {
    let version = match serde_json::from_slice::<Line>(line) {
        Ok(line) if line.v <= VERSION => return Ok(line.record),
        Ok(line) => Some(line.v),
        Err(_) => newer(line),
    };
    let path = path.to_path_buf();
    Err(match version {
        Some(version) => LogError::Newer { path, version },
        None => LogError::Broken {
            path,
            line: usize::try_from(at.seq)
                .unwrap_or(usize::MAX)
                .saturating_add(1),
        },
    })
}

/// The version of a line that this build cannot read, if it says one that is newer.
fn newer(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let version = u32::try_from(value.get("v")?.as_u64()?).ok()?;
    (version > VERSION).then_some(version)
}

/// Bytes of a log now.
pub fn len(path: &Path) -> Result<u64, LogError> {
    let file = regular::open(path).and_then(|it| it.metadata());
    file.map(|it| it.len()).map_err(|error| LogError::Io {
        path: path.to_path_buf(),
        error,
    })
}
