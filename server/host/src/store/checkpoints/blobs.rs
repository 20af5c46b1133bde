//! The bytes of files, each once, named after their SHA-256.

use super::unsynced::Unsynced;
use crate::regular;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Keeps bytes; answers their name and how many bytes that took.
pub(super) fn put(
    folder: &Path,
    bytes: &[u8],
    unsynced: &mut Unsynced,
) -> io::Result<(String, u64)> {
    let name = name(bytes);
    let path = folder.join(&name);
    // Compared, since a loss of power may have left something else there.
    if fs::metadata(&path).is_ok_and(|it| it.len() == bytes.len() as u64)
        && regular::read_capped(&path, bytes.len() as u64)
            .is_ok_and(|it| it.as_deref() == Some(bytes))
    {
        // Another may have written it a moment ago, or died before it was on the disk. What is there costs
        // nothing to sync.
        unsynced.add(regular::open(&path)?)?;
        return Ok((name, 0));
    }
    let mut beside = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(folder)?;
    beside.write_all(bytes)?;
    // Named before it is synced, so that one wait serves for both. Half of it after a loss of power is not taken
    // for the whole: its hash says so.
    unsynced.add(beside.persist(&path)?)?;
    Ok((name, bytes.len() as u64))
}

/// Bytes by their name. What has not that hash is an error.
pub(super) fn get(folder: &Path, wanted: &str) -> io::Result<Vec<u8>> {
    if !is_name(wanted) {
        return Err(io::Error::other("its name is no hash"));
    }
    let bytes = regular::read_capped(&folder.join(wanted), MAX_BYTES)?
        .ok_or_else(|| io::Error::other("it is larger than any that was kept"))?;
    match name(&bytes) == wanted {
        true => Ok(bytes),
        false => Err(io::Error::other("its bytes are not those that were kept")),
    }
}

/// How the names of files begin that are being written.
pub(super) const TEMPORARY: &str = ".new-";

/// Far above what can be edited; only what others put there is larger.
const MAX_BYTES: u64 = 1 << 32;

fn name(bytes: &[u8]) -> String {
    super::manifest::hex(&Sha256::digest(bytes))
}

/// A path must not be smuggled in.
fn is_name(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}
