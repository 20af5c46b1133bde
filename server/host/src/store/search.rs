//! Words in logs. A log is gone through as bytes, in pieces and by two threads; only a line in which a word stands is read as a record. So
//! it takes about as long as reading the file, and no memory to speak of.

use crate::regular;
use engine::archive;
use protocol::record::{Line, Record};
use regex::bytes::{Regex, RegexBuilder};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that are looked at at once.
const CHUNK: usize = 1 << 20;
/// The most bytes of a line: a longer one is passed over.
const MOST_LINE: usize = 64 << 20;
/// The part of a log, from its end on, that is looked at before what is older.
const WINDOW: u64 = 8 << 20;

/// What messages are looked for.
pub struct Pattern {
    /// What stands in each line that can be of one.
    raw: Regex,
    /// Words that its text must have, all of them, case ignored.
    all: Vec<Regex>,
    is_prompt: bool,
}

/// A record of a message that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Bytes of the log before its line.
    pub at: u64,
    pub text: String,
}

impl Pattern {
    /// Messages that have these words. None without a word.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<&str> = words.into_iter().collect();
        let longest = words.iter().max_by_key(|it| it.len())?;
        // The log writes quotation marks and control characters in JSON's way, and all others as they are.
        let escaped = serde_json::to_string(longest).ok()?;
        let inner = escaped.get(1..escaped.len() - 1)?;
        Some(Self {
            raw: regex(inner)?,
            all: words.iter().map(|it| regex(it)).collect::<Option<_>>()?,
            is_prompt: false,
        })
    }

    /// What the person wrote that has these words; all of it without a word.
    pub fn of_prompts<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        Some(Self {
            raw: regex(r#""type":"user""#)?,
            all: words.into_iter().map(regex).collect::<Option<_>>()?,
            is_prompt: true,
        })
    }

    /// What a line has to say of them.
    fn hit(&self, at: u64, line: &[u8]) -> Option<Hit> {
        let record = serde_json::from_slice::<Line>(line).ok()?.record;
        if self.is_prompt && !matches!(record, Record::User { .. }) {
            return None;
        }
        let text = archive::text_of(record)?;
        let has_all = self.all.iter().all(|it| it.is_match(text.as_bytes()));
        has_all.then_some(Hit { at, text })
    }
}

fn regex(word: &str) -> Option<Regex> {
    let mut builder = RegexBuilder::new(&regex::escape(word));
    builder.case_insensitive(true).build().ok()
}

/// All hits of a log, the oldest first.
pub fn all(log: &Path, pattern: &Pattern) -> io::Result<Vec<Hit>> {
    let file = regular::open(log)?;
    let len = file.metadata()?.len();
    between(&file, 0, len, pattern)
}

/// The newest hit of a log. What is older than it is not looked at.
pub fn newest(log: &Path, pattern: &Pattern) -> io::Result<Option<Hit>> {
    let file = regular::open(log)?;
    let mut end = file.metadata()?.len();
    let mut window = WINDOW;
    while end > 0 {
        let start = match end.checked_sub(window) {
            None | Some(0) => 0,
            Some(middle) => line_start(&file, middle, end)?,
        };
        if start == end {
            // One line is longer than that.
            window *= 2;
            continue;
        }
        let mut hits = between(&file, start, end, pattern)?;
        if let Some(hit) = hits.pop() {
            return Ok(Some(hit));
        }
        end = start;
        window = WINDOW;
    }
    Ok(None)
}

/// The hits between two lines' starts.
fn between(file: &File, from: u64, to: u64, pattern: &Pattern) -> io::Result<Vec<Hit>> {
    let half = line_start(file, from + (to - from) / 2, to)?;
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| part(file, half, to, pattern));
        let first = part(file, from, half, pattern);
        (first, second.join())
    });
    let mut hits = first?;
    hits.extend(second.unwrap_or_else(|_| Err(io::Error::other("the search has failed")))?);
    Ok(hits)
}

/// The first line's start at or behind a place.
fn line_start(file: &File, mut at: u64, len: u64) -> io::Result<u64> {
    let mut chunk = vec![0; 1 << 16];
    while at < len {
        let n = file.read_at(&mut chunk, at)?;
        if n == 0 {
            break;
        }
        if let Some(end) = memchr::memchr(b'\n', &chunk[..n]) {
            return Ok(at + end as u64 + 1);
        }
        at += n as u64;
    }
    Ok(len)
}

/// The hits of whole lines from one line's start to another's.
fn part(file: &File, from: u64, to: u64, pattern: &Pattern) -> io::Result<Vec<Hit>> {
    let mut hits = Vec::new();
    // What is held begins with a line's start.
    let (mut held, mut at, mut read): (Vec<u8>, u64, u64) = (Vec::new(), from, from);
    while read < to {
        let old = held.len();
        let wanted = usize::try_from(to - read).unwrap_or(CHUNK).min(CHUNK);
        held.resize(old + wanted, 0);
        let n = file.read_at(&mut held[old..], read)?;
        held.truncate(old + n);
        read += n as u64;
        if n == 0 {
            break;
        }
        let Some(end) = memchr::memrchr(b'\n', &held[old..]).map(|it| old + it + 1) else {
            if held.len() > MOST_LINE {
                held.clear();
                read = line_start(file, read, to)?;
                at = read;
            }
            continue;
        };
        look(&held[..end], at, pattern, &mut hits);
        held.drain(..end);
        at += end as u64;
    }
    Ok(hits)
}

/// The hits of whole lines.
fn look(lines: &[u8], at: u64, pattern: &Pattern, hits: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(found) = pattern.raw.find_at(lines, from) {
        let start = memchr::memrchr(b'\n', &lines[..found.start()]).map_or(0, |it| it + 1);
        let end = memchr::memchr(b'\n', &lines[found.start()..]);
        let end = end.map_or(lines.len(), |it| found.start() + it + 1);
        hits.extend(pattern.hit(at + start as u64, &lines[start..end]));
        from = end;
    }
}

#[cfg(test)]
mod tests;
