//! The text in a file's bytes, and the bytes of a text, exactly.
//!
//! A file is UTF-8, UTF-8 with a byte order mark, or UTF-16 with one. In any other, each byte that is not part
//! of UTF-8 becomes a character of its own, so that the text around it can be edited and every byte is written
//! back as it was. What is shown of such a place is U+FFFD; that is never written there.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// What a file holds, without its byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    pub text: String,
    pub form: Form,
}

/// How a text lies in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    #[default]
    Utf8,
    /// With a byte order mark.
    Utf8Mark,
    /// With a byte order mark, little end first.
    Utf16Le,
    /// With a byte order mark, big end first.
    Utf16Be,
    /// Not text throughout: bytes that are no UTF-8 stand as characters from U+10FF80 to U+10FFFF.
    Bytes,
}

impl FileText {
    /// Of any bytes. `form.encode(&text)` gives them again.
    pub fn decode(bytes: Vec<u8>) -> FileText {
        let utf_16 = match bytes[..] {
            [0xff, 0xfe, ..] => Some((Form::Utf16Le, u16::from_le_bytes as fn([u8; 2]) -> u16)),
            [0xfe, 0xff, ..] => Some((Form::Utf16Be, u16::from_be_bytes as fn([u8; 2]) -> u16)),
            [..] => None,
        };
        if let Some((form, unit)) = utf_16
            && let Some(text) = decode_utf_16(&bytes[2..], unit)
        {
            return FileText { text, form };
        }
        match String::from_utf8(bytes) {
            Ok(text) => match text.strip_prefix(MARK) {
                Some(rest) => FileText {
                    text: rest.to_owned(),
                    form: Form::Utf8Mark,
                },
                None => FileText {
                    text,
                    form: Form::Utf8,
                },
            },
            Err(error) => FileText {
                text: decode_bytes(error.as_bytes()),
                form: Form::Bytes,
            },
        }
    }
}

/// Whether a text has characters that stand for bytes, as one of [`Form::Bytes`] does.
pub fn has_bytes(text: &str) -> bool {
    // The first byte of all that stand for one; few texts have it at all.
    text.as_bytes().contains(&0xf4) && text.chars().any(|it| byte(it).is_some())
}

impl Form {
    /// The bytes of a file that holds this text.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Form::Utf8 => text.as_bytes().to_vec(),
            Form::Utf8Mark => format!("{MARK}{text}").into_bytes(),
            Form::Utf16Le => encode_utf_16(text, u16::to_le_bytes),
            Form::Utf16Be => encode_utf_16(text, u16::to_be_bytes),
            Form::Bytes => encode_bytes(text),
        }
    }

    /// Whether a file that held `old` may hold `new`: a place that is no text must not be written as U+FFFD, nor
    /// must a character be taken for such a place.
    pub fn check(self, old: &str, new: &str) -> Result<(), NoText> {
        match self {
            Form::Utf8 | Form::Utf8Mark | Form::Utf16Le | Form::Utf16Be => Ok(()),
            Form::Bytes => {
                let is_odd = |it: &char| *it == char::REPLACEMENT_CHARACTER || byte(*it).is_some();
                let mut left = old.chars().filter(is_odd);
                // Those of the new text are the old ones, in order, or fewer.
                match new
                    .chars()
                    .filter(is_odd)
                    .all(|it| left.any(|old| old == it))
                {
                    true => Ok(()),
                    false => Err(NoText),
                }
            }
        }
    }
}

/// Whether an editor that shows `text` has these bytes open in another encoding and nothing else changed: in
/// Latin-1 or in Windows' form of it, one character a byte.
pub fn is_latin(bytes: &[u8], text: &str) -> bool {
    let mut chars = text.chars();
    let all = bytes.iter().all(|byte| {
        chars.next().is_some_and(|it| {
            it == char::from(*byte) || matches!(byte, 0x80..=0x9f) && it == windows(*byte)
        })
    });
    all && chars.next().is_none()
}

/// A text of any form as it can be shown: U+FFFD for each byte that is no text.
pub fn shown(text: &str) -> Cow<'_, str> {
    // The first byte of all that stand for one; few texts have it at all.
    if !text.as_bytes().contains(&0xf4) {
        return Cow::Borrowed(text);
    }
    let shown = |it: char| byte(it).map_or(it, |_| char::REPLACEMENT_CHARACTER);
    Cow::Owned(text.chars().map(shown).collect())
}

/// The new text has U+FFFD, or a character that stands for a byte, where the old one has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoText;

impl std::error::Error for NoText {}

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the file has bytes that are not UTF-8, shown as U+FFFD, and U+FFFD must not be written; \
             give smaller pieces of text, without those characters, or use a command that knows the encoding",
        )
    }
}

const MARK: char = '\u{feff}';

/// The first of the 128 characters that stand for the bytes from 0x80.
const FIRST: u32 = 0x10_ff80;

/// The byte that a character stands for in a file of [`Form::Bytes`].
fn byte(it: char) -> Option<u8> {
    let at = u32::from(it).checked_sub(FIRST)?;
    // The last character of all is the last of them.
    Some(0x80 + at as u8)
}

fn decode_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 64);
    // No byte below 0x80 is ever in one of these.
    let stand_ins = |bytes: &[u8]| -> String {
        let chars = bytes.iter().map(|it| FIRST + u32::from(it & 0x7f));
        chars.filter_map(char::from_u32).collect()
    };
    for chunk in bytes.utf8_chunks() {
        for it in chunk.valid().chars() {
            match byte(it) {
                // Such a character in the file itself is four bytes like any others.
                Some(_) => text.push_str(&stand_ins(it.encode_utf8(&mut [0; 4]).as_bytes())),
                None => text.push(it),
            }
        }
        text.push_str(&stand_ins(chunk.invalid()));
    }
    text
}

fn encode_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for it in text.chars() {
        match byte(it) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn decode_utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|it| unit(*it));
    match rest {
        [] => char::decode_utf16(units).collect::<Result<_, _>>().ok(),
        [..] => None,
    }
}

fn encode_utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mark = std::iter::once(0xfeff);
    mark.chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// A byte from 0x80 to 0x9f in Windows-1252; five of them have no character.
fn windows(byte: u8) -> char {
    const TABLE: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    TABLE[usize::from(byte & 0x1f)]
}
