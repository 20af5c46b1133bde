//! Removing a session with all that belongs to it (spec 13.2e).

use super::log::{self, LogError};
use super::{Folders, Pictures};
use crate::{regular, scratchpad};
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Removes the session of a log: the log last, so that what is left after a death can be removed again. Pictures go that no other
/// session has, and the scratchpad that no process holds.
///
/// # Errors
/// Where another process has it open, or something cannot be removed.
pub fn remove(folders: &Folders, log: &Path) -> Result<(), LogError> {
    let fail = |error| LogError::Io {
        path: log.to_path_buf(),
        error,
    };
    // Before it is opened for writing, which would wait for a pipe's other end.
    regular::open(log).map_err(fail)?;
    let file = OpenOptions::new().append(true).open(log).map_err(fail)?;
    let held = Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|_| LogError::Busy(log.to_path_buf()))?;
    let pictures = Pictures::beside(log);
    for hash in hashes_of_it_alone(log) {
        gone(pictures.remove(&hash)).map_err(fail)?;
    }
    if let Some(name) = folders.scratchpad_of(log) {
        scratchpad::discard(&std::env::temp_dir(), &name);
    }
    for path in files_beside(log) {
        gone(fs::remove_file(&path)).map_err(|error| LogError::Io { path, error })?;
    }
    gone(fs::remove_file(folders.snapshot(log))).map_err(fail)?;
    gone(fs::remove_file(folders.voucher(log))).map_err(fail)?;
    gone(fs::remove_file(log)).map_err(fail)?;
    drop(held);
    Ok(())
}

/// What is not there need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The files that bear the session's id, the log aside: what is known of it, the log of a conflict.
fn files_beside(log: &Path) -> Vec<std::path::PathBuf> {
    let id = log.file_stem().unwrap_or_default().to_string_lossy();
    let start = format!("{id}.");
    let entries = log.parent().and_then(|it| fs::read_dir(it).ok());
    let entries = entries.into_iter().flatten().flatten();
    let is_its = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path != log && name.starts_with(&start) && !path.is_dir()
    };
    entries.map(|it| it.path()).filter(is_its).collect()
}

/// The hashes of pictures that a log names and no other log of its folder.
fn hashes_of_it_alone(log: &Path) -> BTreeSet<String> {
    let mut alone = hashes(log);
    let entries = log.parent().and_then(|it| fs::read_dir(it).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let path = entry.path();
        if alone.is_empty() {
            break;
        }
        if path != log && path.extension().is_some_and(|it| it == "jsonl") {
            for hash in hashes(&path) {
                alone.remove(&hash);
            }
        }
    }
    alone
}

/// All that may be a picture's hash in a log.
fn hashes(log: &Path) -> BTreeSet<String> {
    const KEY: &[u8] = br#""sha256":""#;
    const DIGITS: usize = 64;
    let bytes = regular::read_capped(log, log::MAX_BYTES).ok().flatten();
    let bytes = bytes.unwrap_or_default();
    let mut found = BTreeSet::new();
    for at in memchr_all(&bytes, KEY) {
        let digits = bytes.get(at + KEY.len()..at + KEY.len() + DIGITS);
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        if let Some(hash) = digits.filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit())) {
            found.insert(hash.to_owned());
        }
    }
    found
}

/// Where a word stands.
fn memchr_all<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let windows = bytes.windows(word.len()).enumerate();
    windows.filter(move |(_, it)| *it == word).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Log;
    use protocol::record::Record;
    use protocol::session::TurnId;

    #[test]
    fn all_that_belongs_to_a_session_goes_and_what_others_have_stays() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders {
            config: folder.path().join("config"),
            data: folder.path().join("data"),
        };
        let at = |name: &str| folder.path().join(name);
        let pictures = Pictures::beside(&at("a.jsonl"));
        let image = |bytes: &[u8]| Pictures::image("p".into(), "image/png", bytes);
        let (own, shared) = (image(b"own"), image(b"shared"));
        pictures.save(&own).unwrap();
        pictures.save(&shared).unwrap();
        let write = |name: &str, images: &[&engine::provider::Image]| {
            let mut log = Log::new(at(name), None);
            log.append(Record::User {
                turn: TurnId(0),
                text: "x".into(),
                pictures: images.iter().map(|it| it.picture.clone()).collect(),
            })
            .unwrap();
            log
        };
        let held = write("a.jsonl", &[&own, &shared]);
        drop(write("b.jsonl", &[&shared]));
        for name in ["a.json", "a.meta", "ab.meta"] {
            fs::write(at(name), "x").unwrap();
        }
        let log = at("a.jsonl");
        assert!(matches!(remove(&folders, &log), Err(LogError::Busy(_))));
        assert!(at("a.meta").exists());
        drop(held);
        remove(&folders, &log).unwrap();
        for name in ["a.jsonl", "a.json", "a.meta"] {
            assert!(!at(name).exists(), "{name}");
        }
        assert!(at("b.jsonl").exists() && at("ab.meta").exists());
        assert_eq!(pictures.load(&own.picture), None);
        assert_eq!(pictures.load(&shared.picture), Some(shared.data));
    }
}
