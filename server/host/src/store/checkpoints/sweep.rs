//! Removes what is too old or too much (`[limits] checkpoint_days`, `checkpoint_bytes`).

use super::blobs::TEMPORARY;
use super::manifest::{self, Manifest};
use super::{blobs, ids, lock, manifests, now_ns};
use crate::regular;
use nix::fcntl::FlockArg;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What is known of the room that a store takes, so that it is not counted each time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// Bytes, at the last sweep and written by us since; `None`: never counted.
    n_bytes: Option<u64>,
    /// Checkpoints since then. Another server's bytes are not known to us.
    n_made: u32,
}

impl Room {
    /// After so many checkpoints the store is counted again.
    const MOST: u32 = 64;

    pub(super) fn swept(n_bytes: u64) -> Self {
        Self {
            n_bytes: Some(n_bytes),
            n_made: 0,
        }
    }

    /// Takes in what a checkpoint took; answers whether it is time to sweep.
    pub(super) fn wrote(&mut self, n_bytes: u64, max_bytes: u64) -> bool {
        self.n_made += 1;
        match &mut self.n_bytes {
            Some(known) => {
                *known += n_bytes;
                *known > max_bytes || self.n_made >= Self::MOST
            }
            None => true,
        }
    }
}

/// Removes checkpoints that are too old, then the oldest until the rest fits, then the bytes that none names;
/// answers how many bytes are left. The newest stays whatever it takes.
pub(super) fn sweep(
    store: &Path,
    max_bytes: u64,
    max_age: Duration,
    newest: &str,
) -> io::Result<u64> {
    let max_age = u64::try_from(max_age.as_nanos()).unwrap_or(u64::MAX);
    let oldest = manifest::time_of(now_ns().saturating_sub(max_age));
    let _alone = lock(store, FlockArg::LockExclusive)?;
    let mut kept = ids(&manifests(store));
    let newest_of_all = kept.last().cloned();
    let is_newest = |id: &str| id == newest || newest_of_all.as_deref() == Some(id);
    let mut n_removed = 0;
    kept.retain(|id| {
        let stays = id.as_str() >= oldest.as_str() || is_newest(id);
        if !stays {
            n_removed += 1;
            remove(&manifest::path(&manifests(store), id));
        }
        stays
    });
    let sizes = sizes(&blobs(store))?;
    remove_unfinished(&manifests(store))?;
    let mut total: u64 = sizes.values().sum();
    for id in &kept {
        total += size(&manifest::path(&manifests(store), id));
    }
    if n_removed == 0 && total <= max_bytes {
        return Ok(total);
    }
    // Which checkpoints name each blob, by their number; the oldest go first.
    let mut named: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    for id in kept {
        let of_it = match blobs_of(store, &id) {
            Ok(of_it) => of_it,
            Err(error) if is_damage(&error) => {
                // Nobody can restore it.
                total -= size(&manifest::path(&manifests(store), &id));
                remove(&manifest::path(&manifests(store), &id));
                continue;
            }
            // A newer Undine's; what it needs is not known.
            Err(error) => return Err(error),
        };
        for blob in &of_it {
            *named.entry(blob.clone()).or_default() += 1;
        }
        names.push((id, of_it));
    }
    for (blob, n_bytes) in &sizes {
        if !named.contains_key(blob) {
            remove(&blobs(store).join(blob));
            total -= n_bytes;
        }
    }
    for (id, of_it) in names {
        if total <= max_bytes {
            break;
        }
        if is_newest(&id) {
            continue;
        }
        let path = manifest::path(&manifests(store), &id);
        total -= size(&path);
        remove(&path);
        for blob in of_it {
            let Some(n_left) = named.get_mut(&blob) else {
                continue;
            };
            *n_left -= 1;
            if *n_left == 0 {
                remove(&blobs(store).join(&blob));
                total -= sizes.get(&blob).copied().unwrap_or_default();
            }
        }
    }
    Ok(total)
}

/// The blobs that a checkpoint names. Its seal is no matter here.
fn blobs_of(store: &Path, id: &str) -> io::Result<HashSet<String>> {
    let manifest: Manifest = manifest::unsealed(&manifests(store), id)?;
    let blobs = manifest.files.into_iter().filter_map(|it| it.blob);
    Ok(blobs.collect())
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}

/// The blobs of a store with their sizes.
fn sizes(folder: &Path) -> io::Result<HashMap<String, u64>> {
    remove_unfinished(folder)?;
    let mut sizes = HashMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let (Ok(name), Ok(meta)) = (entry.file_name().into_string(), entry.metadata()) {
            sizes.insert(name, meta.len());
        }
    }
    Ok(sizes)
}

/// What a server that died was writing.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(TEMPORARY.as_bytes())
        {
            remove(&entry.path());
        }
    }
    Ok(())
}

fn size(path: &Path) -> u64 {
    regular::open(path)
        .and_then(|it| it.metadata())
        .map_or(0, |it| it.len())
}

/// What cannot be removed stays.
fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "an old checkpoint was not removed");
    }
}
