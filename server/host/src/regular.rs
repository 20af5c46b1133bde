//! Reads files that others may have put there, and nothing else that has a name.
//!
//! A project can bring a link to a device, an archive a pipe: those would be waited for, or read, without
//! end. Whatever the server reads in a project is opened here.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// At most `limit` bytes; `None` when there are more. Never reads further than that.
pub fn read_capped(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    capped(open(path)?, limit)
}

/// As [`read_capped`], of a file that is open.
pub fn capped(file: File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    // Room for all of it and the end, so that it is read at once; it may grow all the same.
    let expected = file.metadata()?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0).saturating_add(1));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Opens a regular file for reading; anything else is an error, at once.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe waits for its other end, if it is not told not to.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("it is a pipe, a device or a socket"));
    }
    Ok(file)
}
