//! Private keys in PEM, whole, cut at either end, with a number or a mark before each line, or as one line with `\n`.

use super::scan::{Found, Text};
use std::ops::Range;

const BEGIN: &[u8] = b"-----begin ";
const END: &[u8] = b"-----end ";
const TAIL: &[u8] = b"private key-----";
const BLOCK: &[u8] = b"private key block-----";

/// The shortest line that is taken for a key's.
const LEAST: usize = 16;

/// The shortest line that is taken for a key's where only the key's end is known. PEM has 64 a line, a few have 76.
const SURE: usize = 40;

/// `at` is the first dash of a run.
pub(super) fn key(text: &Text<'_>, at: usize, floor: usize) -> Found {
    if let Some(end) = marker(text, at, BEGIN) {
        return behind(text, end);
    }
    if marker(text, at, END).is_some() {
        return before(text, at, floor);
    }
    Found::Nothing
}

/// The end of `-----BEGIN … PRIVATE KEY-----`.
fn marker(text: &Text<'_>, at: usize, head: &[u8]) -> Option<usize> {
    if !text.says(at, head) {
        return None;
    }
    let words = at + head.len();
    let end = text.skip(words, 40, |it| it.is_ascii_alphanumeric() || it == b' ');
    let is = |tail: &[u8]| {
        let letters = tail.len() - 5;
        let begin = end.checked_sub(letters)?;
        (begin >= words && text.says(begin, tail)).then_some(end + 5)
    };
    is(TAIL).or_else(|| is(BLOCK))
}

/// What follows the first line, as far as it looks like a key.
fn behind(text: &Text<'_>, begin: usize) -> Found {
    let mut end = begin;
    let mut n_sure = 0;
    let mut at = begin;
    loop {
        let line = line_from(text, at);
        let next = (line.end + break_len(text, line.end)).max(line.end);
        match look(&text.bytes[line.clone()]) {
            Look::Key(len) => {
                if len >= LEAST || n_sure > 0 {
                    n_sure += len;
                    end = line.end;
                } else if line.end < text.bytes.len() {
                    break;
                }
            }
            Look::Header => {}
            Look::Other => break,
        }
        if next <= line.end {
            // The text's end.
            if text.is_open(line.end) {
                return Found::Open(begin);
            }
            break;
        }
        at = next;
    }
    match n_sure >= LEAST {
        true => Found::Secret(begin + break_len(text, begin)..end),
        false => Found::Nothing,
    }
}

/// The lines before a last line whose first was cut off.
fn before(text: &Text<'_>, at: usize, floor: usize) -> Found {
    let mut begin = None;
    let mut is_last = true;
    // Whatever stands before the dashes in their own line: a mark, a number.
    let own = text.bytes[floor..at].iter().rposition(|it| *it == b'\n');
    let mut end = own.map_or(floor, |it| floor + it);
    if !text.bytes[end..at].iter().all(is_mark) {
        return Found::Nothing;
    }
    let last = end;
    while end > floor {
        let start = text.bytes[floor..end].iter().rposition(|it| *it == b'\n');
        let start = start.map_or(floor, |it| floor + it + 1);
        match look(&text.bytes[start..end]) {
            // The last line of a key may be short, and so may be the first one here, which was cut.
            Look::Key(len) if len >= SURE || is_last || start == floor => begin = Some(start),
            Look::Key(_) | Look::Header | Look::Other => break,
        }
        is_last = false;
        if start == floor {
            break;
        }
        end = start - 1;
    }
    match begin {
        Some(begin) if last - begin >= SURE => Found::Secret(begin..last),
        Some(_) | None => Found::Nothing,
    }
}

enum Look {
    /// So many characters of Base64, and nothing else but what may stand before each line.
    Key(usize),
    /// Nothing, or a header of an encrypted key.
    Header,
    Other,
}

fn look(line: &[u8]) -> Look {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"Proc-Type:") || line.starts_with(b"DEK-Info:") {
        return Look::Header;
    }
    let is_code = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'=');
    // From the end, because a mark or a number before the key may be of the same characters.
    let tail = line
        .iter()
        .rposition(|it| !matches!(it, b'"' | b'\'' | b',' | b'+' | b'\\' | b' '));
    let line = &line[..tail.map_or(0, |it| it + 1)];
    let code = line
        .iter()
        .rposition(|it| !is_code(it))
        .map_or(0, |it| it + 1);
    match line[..code].iter().all(is_mark) && code < line.len() {
        true => Look::Key(line.len() - code),
        false => match line.iter().all(is_mark) {
            true => Look::Header,
            false => Look::Other,
        },
    }
}

/// What may stand before a line: its number, a sign of a change or a comment.
fn is_mark(it: &u8) -> bool {
    it.is_ascii_digit() || it.is_ascii_whitespace() || b"|:>#+-/\"'".contains(it)
}

/// A line, whether it ends with a break or with the letters `\n`.
fn line_from(text: &Text<'_>, at: usize) -> Range<usize> {
    let end = text.skip(at, usize::MAX, |it| !matches!(it, b'\n' | b'\\'));
    at..end
}

/// How long a line's break is, if there is one: also written as letters, and that once more escaped.
fn break_len(text: &Text<'_>, at: usize) -> usize {
    match text.at(at) {
        b'\n' => 1,
        b'\r' if text.at(at + 1) == b'\n' => 2,
        b'\\' => {
            let letter = text.skip(at, 4, |it| it == b'\\');
            match text.at(letter) {
                b'n' | b'r' => letter + 1 - at,
                _ => 0,
            }
        }
        _ => 0,
    }
}
