//! What a file begins with. However large it is, no more is read than was asked for and one byte.

use crate::regular;
use crate::store::pictures::{MAX_PICTURE, kind_of};
use engine::text::FileText;
use ropey::Rope;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tokio_util::sync::CancellationToken;

pub(super) enum Head {
    /// `total`: the file's bytes, if there are more than these.
    Text {
        text: String,
        total: Option<u64>,
    },
    /// Told by its first bytes, whatever its name (spec 18.1). `kind` is a media type.
    Picture {
        kind: &'static str,
        bytes: Vec<u8>,
    },
    /// A picture of more bytes than may be looked at.
    LargePicture {
        total: u64,
    },
    Pdf {
        total: u64,
    },
}

/// Reads at most `most` bytes of a text, and a picture whole. Ends early, with whatever it has, when nobody waits
/// any more.
pub(super) fn of_file(path: &Path, most: u64, token: &CancellationToken) -> io::Result<Head> {
    let mut file = regular::open(path)?;
    let total = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(MAGIC).read_to_end(&mut bytes)?;
    match magic(&bytes) {
        Some(Magic::Pdf) => return Ok(Head::Pdf { total }),
        // One that grows meanwhile has its last word below.
        Some(Magic::Picture(_)) if total > MAX_PICTURE => return Ok(Head::LargePicture { total }),
        Some(Magic::Picture(kind)) => {
            let is_cut = read_on(&mut file, &mut bytes, MAX_PICTURE, token)?;
            return Ok(match is_cut {
                true => Head::LargePicture {
                    total: MAX_PICTURE + 1,
                },
                false => Head::Picture { kind, bytes },
            });
        }
        None => {}
    }
    let is_cut = read_on(&mut file, &mut bytes, most, token)?;
    if is_cut {
        // Less than what was read, which is a `usize`.
        bytes.truncate(most as usize);
        let whole = whole_characters(&bytes);
        bytes.truncate(whole);
    }
    Ok(Head::Text {
        text: FileText::decode(bytes).text,
        // A file that grows has had fewer a moment ago.
        total: is_cut.then(|| total.max(most + 1)),
    })
}

/// Whether a file is no text, told by its first bytes, whatever an editor takes it for.
pub(super) fn is_no_text(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = regular::open(path).and_then(|it| it.take(MAGIC).read_to_end(&mut bytes));
    read.is_ok() && magic(&bytes).is_some()
}

/// Reads until there are `most` bytes and one; whether there are.
fn read_on(
    file: &mut File,
    bytes: &mut Vec<u8>,
    most: u64,
    token: &CancellationToken,
) -> io::Result<bool> {
    loop {
        let before = bytes.len() as u64;
        let room = most.saturating_add(1).saturating_sub(before).min(CHUNK);
        file.by_ref().take(room).read_to_end(bytes)?;
        if bytes.len() as u64 == before || token.is_cancelled() {
            return Ok(bytes.len() as u64 > most);
        }
    }
}

/// Of a document that is open in the editor.
pub(super) fn of_rope(rope: &Rope, most: u64) -> Head {
    let total = rope.len_bytes() as u64;
    if total <= most {
        return Head::Text {
            text: rope.to_string(),
            total: None,
        };
    }
    // Less than the rope's own length, which is a `usize`.
    let end = rope.byte_to_char(most as usize);
    Head::Text {
        text: rope.slice(..end).to_string(),
        total: Some(total),
    }
}

/// Bytes between two looks at whether anybody still waits.
const CHUNK: u64 = 256 << 10;

/// As many first bytes as tell what a file is.
const MAGIC: u64 = 16;

enum Magic {
    Picture(&'static str),
    Pdf,
}

/// What is no text.
fn magic(bytes: &[u8]) -> Option<Magic> {
    match bytes {
        [b'%', b'P', b'D', b'F', b'-', ..] => Some(Magic::Pdf),
        bytes => kind_of(bytes).map(Magic::Picture),
    }
}

/// How many of the first bytes of a file are whole characters, where it was cut.
fn whole_characters(bytes: &[u8]) -> usize {
    let unit = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [..] => return whole_utf_8(bytes),
    };
    let even = bytes.len() & !1;
    match bytes[..even].last_chunk::<2>() {
        Some(last) if (0xd800..0xdc00).contains(&unit(*last)) => even - 2,
        Some(_) | None => even,
    }
}

fn whole_utf_8(bytes: &[u8]) -> usize {
    let end = bytes.len();
    for back in 1..=end.min(3) {
        let length = match bytes[end - back] {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if length > back { end - back } else { end };
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_no_half_of_a_character() {
        let whole = |text: &str, at: usize| whole_characters(&text.as_bytes()[..at]);
        assert_eq!([1, 2, 3].map(|it| whole("aé", it)), [1, 1, 3]);
        assert_eq!([1, 2, 3, 4].map(|it| whole("😀", it)), [0, 0, 0, 4]);
        assert_eq!(whole_characters(b"a\xff"), 2);
        assert_eq!(whole_characters(b"\x80\x80\x80\x80"), 4);
        let utf_16 = b"\xff\xfea\0\x3d\xd8\x00\xde";
        assert_eq!(
            [3, 4, 5, 6, 7, 8].map(|it| whole_characters(&utf_16[..it])),
            [2, 4, 4, 4, 4, 8]
        );
    }
}
