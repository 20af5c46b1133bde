//! What changed, line by line, for people to judge: hunks and the hash that binds an approval to them.

use std::{fmt::Write, ops::Range, path::Path};

use sha2::{Digest, Sha256};

use super::{
    diff::{Change, changes},
    lines::lines,
};

/// Neighbouring lines that were changed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text, from 0, the end not included. Empty for an insertion: before which line.
    pub old: Range<u32>,
    /// Lines of the new text, likewise.
    pub new: Range<u32>,
    /// The old lines with their endings.
    pub removed: Vec<String>,
    /// The new lines with their endings.
    pub added: Vec<String>,
}

/// What is done to a file; part of what a person approves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'a> {
    Create,
    Modify,
    Delete,
    /// Moved, and perhaps changed as well.
    Rename {
        to: &'a Path,
    },
}

/// The hunks that make `new` of `old`, in order. Lines are LSP's, so the ranges fit code lenses and positions.
/// About linear in time and bounded by both texts in size.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let old_lines: Vec<&str> = lines(old).collect();
    let new_lines: Vec<&str> = lines(new).collect();
    let owned = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect();
    changes(old_lines.iter().copied(), new_lines.iter().copied())
        .into_iter()
        .map(|Change { old, new }| Hunk {
            removed: owned(&old_lines[old.clone()]),
            added: owned(&new_lines[new.clone()]),
            old: line_numbers(old),
            new: line_numbers(new),
        })
        .collect()
}

/// Hex SHA-256 of what a person was shown: the canonical path, the operation, and each hunk's removed and added
/// lines. Where the hunks stand is left out, so an approval outlives changes elsewhere in the file.
pub fn shown_hash(path: &Path, operation: Operation<'_>, hunks: &[Hunk]) -> String {
    let mut hash = Sha256::new();
    feed(&mut hash, path.as_os_str().as_encoded_bytes());
    match operation {
        Operation::Create => feed(&mut hash, b"create"),
        Operation::Modify => feed(&mut hash, b"modify"),
        Operation::Delete => feed(&mut hash, b"delete"),
        Operation::Rename { to } => {
            feed(&mut hash, b"rename");
            feed(&mut hash, to.as_os_str().as_encoded_bytes());
        }
    }
    for hunk in hunks {
        for side in [&hunk.removed, &hunk.added] {
            hash.update((side.len() as u64).to_be_bytes());
            for line in side {
                feed(&mut hash, line.as_bytes());
            }
        }
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}").expect("writing to a String has no error");
    }
    hex
}

/// Each part goes in behind its length, so that no two lists of parts look the same.
fn feed(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_be_bytes());
    hash.update(part);
}

/// The diff takes fewer than 2^31 lines.
fn line_numbers(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}
