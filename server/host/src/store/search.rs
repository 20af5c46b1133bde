//! Words in logs. A log is gone through as bytes, in pieces and by two threads; only a line in which a word stands is read as a record. So
//! it takes about as long as reading the file, and no memory to speak of.

use crate::regular;
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
/// Characters that are shown on each side of the first word.
const AROUND: usize = 160;

/// Words that a message must have, all of them, case ignored.
pub struct Words {
    /// The longest one as the log's JSON has it, or another of them.
    raw: Regex,
    all: Vec<Regex>,
}

/// A message that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Bytes of the log before its line.
    pub at: u64,
    /// Who said it: `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// What stands around the first word, in one line.
    pub snippet: String,
}

impl Words {
    /// None without a word.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<&str> = words.into_iter().filter(|it| !it.is_empty()).collect();
        let longest = words.iter().max_by_key(|it| it.len())?;
        // The log writes quotation marks and control characters in JSON's way, and all others as they are.
        let escaped = serde_json::to_string(longest).ok()?;
        let inner = escaped.get(1..escaped.len() - 1)?;
        let all = words.iter().map(|it| pattern(it));
        Some(Self {
            raw: pattern(inner)?,
            all: all.collect::<Option<_>>()?,
        })
    }

    /// What a line has to say of them.
    fn hit(&self, at: u64, line: &[u8]) -> Option<Hit> {
        let record = serde_json::from_slice::<Line>(line).ok()?.record;
        let (role, text) = text_of(&record)?;
        if !self.all.iter().all(|it| it.is_match(text.as_bytes())) {
            return None;
        }
        let first = self.all.first()?.find(text.as_bytes())?;
        Some(Hit {
            at,
            role,
            snippet: snippet(&text, first.start(), first.end()),
        })
    }
}

fn pattern(word: &str) -> Option<Regex> {
    let mut builder = RegexBuilder::new(&regex::escape(word));
    builder.case_insensitive(true).build().ok()
}

/// What can be found of a record, and who said it.
fn text_of(record: &Record) -> Option<(&'static str, String)> {
    Some(match record {
        Record::User { text, .. } => ("user", text.clone()),
        Record::Assistant { text, .. } => ("assistant", text.clone()),
        Record::Call {
            tool, arguments, ..
        } => ("assistant", format!("{tool} {arguments}")),
        Record::Result { text, .. } | Record::Replayed { text, .. } => ("tool", text.clone()),
        Record::Command { text, answer } => ("user", format!("{text}\n{answer}")),
        Record::Compacted { summary, .. } => ("assistant", summary.clone()),
        Record::Started { .. }
        | Record::Forked { .. }
        | Record::Title { .. }
        | Record::Void { .. }
        | Record::Unsigned { .. }
        | Record::Decision { .. }
        | Record::Classified { .. }
        | Record::Remembered { .. }
        | Record::Forgot { .. }
        | Record::Edit { .. }
        | Record::Told { .. }
        | Record::Checklist { .. }
        | Record::Goal { .. }
        | Record::Style { .. }
        | Record::Mode { .. }
        | Record::Model { .. }
        | Record::Reasoning { .. }
        | Record::Usage { .. }
        | Record::Carried(_)
        | Record::Ended { .. } => return None,
    })
}

fn snippet(text: &str, start: usize, end: usize) -> String {
    let before = text.get(..start).unwrap_or_default();
    let from = before.char_indices().rev().take(AROUND).last();
    let from = from.map_or(start, |(at, _)| at);
    let after = text.get(end..).unwrap_or_default();
    let to = after
        .char_indices()
        .nth(AROUND)
        .map_or(text.len(), |(at, _)| end + at);
    let words = text.get(from..to).unwrap_or_default().split_whitespace();
    words.collect::<Vec<&str>>().join(" ")
}

/// The messages of a log that have the words, the oldest first, at most `most`.
pub fn search(log: &Path, words: &Words, most: usize) -> io::Result<Vec<Hit>> {
    let file = regular::open(log)?;
    let len = file.metadata()?.len();
    let half = line_start(&file, len / 2, len)?;
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| part(&file, half, len, words, most));
        let first = part(&file, 0, half, words, most);
        (first, second.join())
    });
    let mut hits = first?;
    hits.extend(second.unwrap_or_else(|_| Err(io::Error::other("the search has failed")))?);
    hits.truncate(most);
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
fn part(file: &File, from: u64, to: u64, words: &Words, most: usize) -> io::Result<Vec<Hit>> {
    let mut hits = Vec::new();
    // What is held begins with a line's start.
    let (mut held, mut at, mut read): (Vec<u8>, u64, u64) = (Vec::new(), from, from);
    while read < to && hits.len() < most {
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
        look(&held[..end], at, words, most, &mut hits);
        held.drain(..end);
        at += end as u64;
    }
    Ok(hits)
}

/// The hits of whole lines.
fn look(lines: &[u8], at: u64, words: &Words, most: usize, hits: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(found) = words.raw.find_at(lines, from) {
        let start = memchr::memrchr(b'\n', &lines[..found.start()]).map_or(0, |it| it + 1);
        let end = memchr::memchr(b'\n', &lines[found.start()..]);
        let end = end.map_or(lines.len(), |it| found.start() + it + 1);
        hits.extend(words.hit(at + start as u64, &lines[start..end]));
        if hits.len() >= most {
            return;
        }
        from = end;
    }
}

#[cfg(test)]
mod tests;
