//! The one redactor: takes secrets out of texts that are kept or shown (spec 27).
//!
//! Principle: what the model reads and what is executed or written to the person's files is never changed. What we
//! keep, log or show is. Whatever has to be executed or compared later stays exact, and lies in files that only their
//! owner can read and that no tool writes.
//!
//! | edge | redacted | stays exact |
//! |---|---|---|
//! | session log | all texts, arguments and titles (`record.rs`); a remembered command that holds a secret is not kept | hashes, paths, the provider's signed items but for their texts |
//! | approvals | title, preview of a command, why it failed | arguments: they are executed when the person approves |
//! | checkpoints, journals, reviews | the checkpoint's title | bytes of files and the action: they are given back |
//! | a process's own log file | nothing: `background_process` reads it for the model | all |
//! | `undine/process/…`, `/logs` | command and output | places in the output |
//! | calls in the editor | title, command, output, `rawInput`, streamed answer and thoughts | diffs and hunks: a person reviews exact text |
//! | questions, messages, code actions | title and command | diffs and hunks |
//! | errors in answers, provider errors | all of the message | |
//! | trace log | each line | |
//!
//! A resumed model reads the redacted log: it knows what it did, and has to ask for a credential again.
//!
//! Source code is what passes through here most, so a name like `token` is not enough: what is assigned to it must
//! look like a literal. An expression, a variable, a type or a call is no secret. Where text and code cannot be told
//! apart (`password = hunter`), code wins.
//!
//! A provider's key that was found is known by its value and masked whatever it looks like (`known.rs`).
//!
//! The scanner is written by hand: the rules look to both sides of a place and need no backtracking, each place is
//! looked at a bounded number of times, and a small text costs less than a regular expression's start.

mod assign;
mod json;
mod known;
mod name;
mod pem;
mod record;
mod scan;
mod stream;
#[cfg(test)]
mod tests;
mod token;
mod value;

pub use json::{redact_json, redact_strings};
pub use known::learn;
pub use record::{holds_secret, redact_record};
pub use stream::Stream;

use scan::{Ends, scan};
use std::borrow::Cow;
use std::ops::Range;

/// What stands in a secret's place.
pub const MASK: &str = "***";

/// The text with [`MASK`] in the place of each secret; borrowed where there is none. Doing it twice changes nothing
/// more. A text that was cut within a secret is masked as far as what is left can be told for one.
pub fn redact(text: &str) -> Cow<'_, str> {
    let spans = secrets(text);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(masked(text, &spans, 0..text.len()))
}

/// As [`redact`], for what somebody decides on: a secret in which a shell would see more than a word stays, because what
/// is masked could be what runs: `PASSWORD="x$(make)"`. Signs, blanks and quotes count alike, wherever they stand.
pub fn redact_inert(text: &str) -> Cow<'_, str> {
    let mut spans = secrets(text);
    spans.retain(|it| is_inert(&text[it.clone()]));
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(masked(text, &spans, 0..text.len()))
}

fn is_inert(secret: &str) -> bool {
    !secret.contains(|it: char| it.is_whitespace() || "`;|&<>()'\"\\".contains(it))
}

/// Redacts in place; leaves the text where it is if there is no secret in it.
pub fn redact_string(text: &mut String) {
    if let Cow::Owned(masked) = redact(text) {
        *text = masked;
    }
}

/// A part of a text, redacted as the whole would be: what begins before the part or ends behind it counts too.
/// `part` is in bytes and must lie on characters.
pub fn redact_part(text: &str, part: Range<usize>) -> Cow<'_, str> {
    let spans = secrets(text);
    if spans.is_empty() {
        return Cow::Borrowed(&text[part]);
    }
    Cow::Owned(masked(text, &spans, part))
}

/// Whether nothing that could follow a text would make a secret of its last line, or of more of it.
pub fn is_decided(text: &str) -> bool {
    scan(text, Ends::Perhaps).open >= text.len()
}

/// How many bytes of a text that goes on can be kept by themselves: up to a line's end, or a blank in a long line,
/// such that no secret and no name of one is cut in two. 0 if none can yet.
pub fn settled(text: &str) -> usize {
    let scan = scan(text, Ends::Perhaps);
    if text.len() - scan.open > stream::MOST_HELD {
        return text.len();
    }
    let inner = |at: usize| scan.spans.iter().find(|it| it.contains(&at));
    let open = stream::floor_char(text, scan.open);
    if let Some(line) = text[..open].rfind('\n')
        && inner(line).is_none()
    {
        return line + 1;
    }
    let most = stream::floor_char(text, open.saturating_sub(stream::CONTEXT));
    let blank = text[..most].rfind([' ', '\t']);
    // A word as long as that is no name.
    let cut = blank.unwrap_or(if most > 4 * stream::CONTEXT { most } else { 0 });
    match inner(cut) {
        None => cut,
        Some(it) if it.start > 0 => it.start,
        Some(it) => it.end.min(open),
    }
}

/// Where the secrets are, in bytes, in order, apart from each other.
fn secrets(text: &str) -> Vec<Range<usize>> {
    scan(text, Ends::Here).spans
}

/// A part of a text with its secrets masked. One that began before the part leaves its mask too.
fn masked(text: &str, spans: &[Range<usize>], part: Range<usize>) -> String {
    let mut out = String::with_capacity(part.len());
    let mut at = part.start;
    for span in spans {
        if span.end <= at || span.start >= part.end {
            continue;
        }
        out.push_str(&text[at..span.start.max(at)]);
        out.push_str(MASK);
        at = span.end.min(part.end);
    }
    out.push_str(&text[at..part.end]);
    out
}
