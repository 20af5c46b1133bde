//! Reviews on the disk: a folder of the data directory that survives the server.
//!
//! Each file under review has a folder, named after the file's path, and in it each server that reviews the file one
//! of its own: with the record, and the accepted text beside it under its hash, so that the text is written only when
//! it is another. So two servers in one project never write over each other's work. What a server has left behind
//! belongs to whoever renames it first; what one that lives has written is its own. Files are written beside and
//! renamed over, for the person's eyes only. What cannot be read is left where it is and counts as nothing.

mod owner;

use super::News;
use crate::apply::Exact;
use crate::regular;
use crate::store::hash;
use engine::review::{Damaged, Ledger};
use owner::Owner;
use protocol::review::LedgerRecord;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// The most bytes of one file here.
const MAX_BYTES: u64 = 256 << 20;
const RECORD: &str = "record.json";

#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
    /// Who we are, once there is something to keep.
    owner: Arc<OnceLock<Owner>>,
}

/// A record, and how its accepted text lay on the disk.
pub type Found = (LedgerRecord, Option<Exact>);

/// Parts the name of what was taken over from our own.
const FROM: char = '+';

/// A record as it lies on the disk: the accepted text is kept apart.
#[derive(Serialize, Deserialize)]
struct Kept {
    path: PathBuf,
    record: LedgerRecord,
    /// How the accepted text lay on the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<Exact>,
}

impl Shelf {
    /// In this folder, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            owner: Arc::default(),
        }
    }

    fn of_file(&self, path: &Path) -> PathBuf {
        self.folder.join("files").join(hash(path))
    }

    /// Our own name. Makes us known to other servers the first time.
    fn own(&self) -> io::Result<&str> {
        if let Some(owner) = self.owner.get() {
            return Ok(owner.name());
        }
        let new = Owner::new(&self.folder.join("owners"))?;
        Ok(self.owner.get_or_init(|| new).name())
    }

    fn is_own(&self, name: &str) -> bool {
        let own = self.owner.get().map(Owner::name);
        own.is_some_and(|it| name.split(FROM).next() == Some(it))
    }

    /// Whether another server that lives has made this folder of records.
    fn is_others(&self, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let owner = name.split(FROM).next().unwrap_or_default();
        !self.is_own(&name) && Owner::lives(&self.folder.join("owners"), owner)
    }

    /// Whether there may be any record at all. Costs one look.
    pub fn has_any(&self) -> bool {
        self.folder.join("files").is_dir()
    }

    /// Whether there may be a record of a file. Costs one look.
    pub fn may_have(&self, path: &Path) -> bool {
        self.of_file(path).is_dir()
    }

    fn of_session(&self, session: &str) -> PathBuf {
        let name = format!("{}.json", hash(Path::new(session)));
        self.folder.join("untold").join(name)
    }

    pub fn write(&self, path: &Path, ledger: &Ledger, was: Option<Exact>) -> io::Result<()> {
        let all = self.of_file(path);
        let own = self.own()?;
        let folder = all.join(own);
        let mut record = ledger.to_record();
        let base = std::mem::take(&mut record.base);
        let text = record.base_hash.clone();
        if !folder.join(&text).exists() {
            write(&folder.join(&text), base.as_bytes())?;
        }
        let path = path.to_path_buf();
        let kept = serde_json::to_vec(&Kept { path, record, was })?;
        write(&folder.join(RECORD), &kept)?;
        // What was taken over is in it.
        for other in folders(&all).filter(|it| *it != folder) {
            if self.is_own(&other.file_name().unwrap_or_default().to_string_lossy()) {
                fs::remove_dir_all(other)?;
            }
        }
        // Only now are the texts before it of no use.
        for entry in fs::read_dir(&folder)?.flatten() {
            let name = entry.file_name();
            if name != RECORD && name != text.as_str() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes what is ours of a file.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let all = self.of_file(path);
        for folder in folders(&all) {
            if self.is_own(&folder.file_name().unwrap_or_default().to_string_lossy()) {
                fs::remove_dir_all(folder)?;
            }
        }
        // Others may have theirs in it.
        let _ = fs::remove_dir(all);
        Ok(())
    }

    /// Takes over the records of a file that servers have left behind, whole, the latest first. The error is a
    /// sentence for the person.
    pub fn take(&self, path: &Path) -> Result<Vec<Found>, String> {
        let all = self.of_file(path);
        let mut taken: Vec<(SystemTime, Found)> = Vec::new();
        for folder in folders(&all) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if self.is_own(&name) || self.is_others(&folder) {
                continue;
            }
            let written = measured(&folder).map_or(SystemTime::UNIX_EPOCH, |it| it.0);
            let Some(record) = self.read(path, &folder)? else {
                continue;
            };
            let Ok(own) = self.own() else {
                continue;
            };
            // Whoever renames it has it; another server may be faster.
            if fs::rename(&folder, all.join(format!("{own}{FROM}{name}"))).is_ok() {
                taken.push((written, record));
            }
        }
        taken.sort_by_key(|it| std::cmp::Reverse(it.0));
        Ok(taken.into_iter().map(|it| it.1).collect())
    }

    /// A file's record, whole, and how its accepted text lay on the disk. The error is a sentence for the person.
    fn read(&self, path: &Path, folder: &Path) -> Result<Option<Found>, String> {
        let fail = |why: String| {
            format!(
                "The review of {} cannot be read ({why}), so the agent's earlier changes to it stand as accepted. Remove {} to hear no more of it.",
                path.display(),
                folder.display()
            )
        };
        let Some(bytes) = read(&folder.join(RECORD)).map_err(|it| fail(it.to_string()))? else {
            return Ok(None);
        };
        let damaged = || fail(Damaged::Content.to_string());
        let mut kept: Kept = serde_json::from_slice(&bytes).map_err(|_| {
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
            match value["record"]["v"].as_u64().map(u32::try_from) {
                Some(Ok(v)) if v > protocol::review::VERSION => {
                    fail(Damaged::Version(v).to_string())
                }
                Some(_) | None => damaged(),
            }
        })?;
        if kept.path != path {
            return Ok(None);
        }
        // The name of a file is never taken from what is in one.
        if !kept
            .record
            .base_hash
            .bytes()
            .all(|it| it.is_ascii_hexdigit())
        {
            return Err(damaged());
        }
        let base = read(&folder.join(&kept.record.base_hash)).ok().flatten();
        let base = base.and_then(|it| String::from_utf8(it).ok());
        kept.record.base = base.ok_or_else(damaged)?;
        Ok(Some((kept.record, kept.was)))
    }

    /// The files of which servers have left a record behind.
    pub fn paths(&self) -> Vec<PathBuf> {
        /// All that is asked of a record here.
        #[derive(Deserialize)]
        struct Named {
            path: PathBuf,
        }
        let left = self.records().filter(|it| !self.is_others(it));
        let mut named: Vec<PathBuf> = left
            .filter_map(|it| {
                let bytes = read(&it.join(RECORD)).ok().flatten()?;
                Some(serde_json::from_slice::<Named>(&bytes).ok()?.path)
            })
            .collect();
        named.sort();
        named.dedup();
        named
    }

    /// The folders of all records, of whichever server.
    fn records(&self) -> impl Iterator<Item = PathBuf> {
        folders(&self.folder.join("files")).flat_map(|it| folders(&it))
    }

    pub fn write_news(&self, session: &str, news: &[News]) -> io::Result<()> {
        let file = self.of_session(session);
        if !news.is_empty() {
            return write(&file, &serde_json::to_vec(news)?);
        }
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// What cannot be read is not told.
    pub fn read_news(&self, session: &str) -> Vec<News> {
        let bytes = read(&self.of_session(session)).ok().flatten();
        let news = bytes.and_then(|it| serde_json::from_slice(&it).ok());
        news.unwrap_or_default()
    }

    /// Removes the records that were written longest ago until all are within so many bytes. Answers whose they were.
    pub fn sweep(&self, limit: u64) -> Vec<PathBuf> {
        let all = self.records();
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = all
            .filter_map(|it| {
                let (written, n_bytes) = measured(&it)?;
                Some((written, n_bytes, it))
            })
            .collect();
        let mut total: u64 = kept.iter().map(|it| it.1).sum();
        kept.sort();
        let mut dropped = Vec::new();
        for (_, n_bytes, folder) in kept {
            if total <= limit {
                break;
            }
            if self.is_others(&folder) {
                continue;
            }
            let record = read(&folder.join(RECORD)).ok().flatten();
            let kept = record.and_then(|it| serde_json::from_slice::<Kept>(&it).ok());
            if fs::remove_dir_all(&folder).is_ok() {
                total -= n_bytes;
                dropped.extend(kept.map(|it| it.path));
            }
        }
        dropped
    }
}

/// When a record was written, and how many bytes its folder has.
fn measured(folder: &Path) -> Option<(SystemTime, u64)> {
    let written = fs::metadata(folder.join(RECORD)).ok()?.modified().ok()?;
    let files = fs::read_dir(folder).ok()?.flatten();
    let n_bytes = files.filter_map(|it| Some(it.metadata().ok()?.len())).sum();
    Some((written, n_bytes))
}

/// The folders in one; none where it is not there.
fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).filter(|it| it.is_dir())
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match regular::read_capped(path, MAX_BYTES) {
        Ok(Some(bytes)) => Ok(Some(bytes)),
        Ok(None) => Err(io::Error::other("it is too large")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    // Not synced: the server's death costs nothing, and what a power cut leaves is seen by its hash.
    file.persist(path).map_err(|it| it.error)?;
    Ok(())
}
