//! Positions of LSP and bytes of a rope, in the encoding that was agreed on.
//!
//! LSP 3.18 "Position": lines and characters count from 0, and a character past the end of a line means its
//! end. Beyond that the rules here are chosen so that no position an editor can send is an error.

use ropey::Rope;

/// What `character` counts: `general.positionEncodings` of LSP 3.17.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

/// Line and character, both from 0, the character in units of the [`Encoding`].
pub type Position = (u32, u32);

/// The byte at a position. A character past the end of its line is the end of the line's content, before the
/// line ending; one inside a code point is the start of that code point; a line past the last is the end.
pub fn offset(rope: &Rope, line: u32, character: u32, encoding: Encoding) -> usize {
    rope.char_to_byte(char_at(rope, (line, character), encoding))
}

/// The position of a byte. One past the end is the end, one inside a code point is the start of that code
/// point, and the one between `\r` and `\n` is the end of its line's content, for LSP has no name for it.
pub fn position(rope: &Rope, byte: usize, encoding: Encoding) -> Position {
    let at = rope.byte_to_char(byte.min(rope.len_bytes()));
    let line = rope.char_to_line(at);
    let (start, end) = content(rope, line);
    let at = at.min(end);
    let character = match encoding {
        Encoding::Utf8 => rope.char_to_byte(at) - rope.char_to_byte(start),
        Encoding::Utf16 => rope.char_to_utf16_cu(at) - rope.char_to_utf16_cu(start),
        Encoding::Utf32 => at - start,
    };
    (saturated(line), saturated(character))
}

/// Applies one entry of `contentChanges` (`textDocument/didChange`); call it once an entry, in their order.
/// `None` replaces the whole text. A range whose end is before its start is taken the other way round.
pub fn apply_change(
    rope: &mut Rope,
    range: Option<(Position, Position)>,
    text: &str,
    encoding: Encoding,
) {
    let Some((start, end)) = range else {
        *rope = Rope::from_str(text);
        return;
    };
    let a = char_at(rope, start, encoding);
    let b = char_at(rope, end, encoding);
    rope.remove(a.min(b)..a.max(b));
    rope.insert(a.min(b), text);
}

fn char_at(rope: &Rope, (line, character): Position, encoding: Encoding) -> usize {
    let (line, character) = (line as usize, character as usize);
    if line >= rope.len_lines() {
        return rope.len_chars();
    }
    let (start, end) = content(rope, line);
    match encoding {
        Encoding::Utf8 => {
            let wanted = rope.char_to_byte(start).saturating_add(character);
            rope.byte_to_char(wanted.min(rope.char_to_byte(end)))
        }
        Encoding::Utf16 => {
            let wanted = rope.char_to_utf16_cu(start).saturating_add(character);
            rope.utf16_cu_to_char(wanted.min(rope.char_to_utf16_cu(end)))
        }
        Encoding::Utf32 => start.saturating_add(character).min(end),
    }
}

/// First and last character index of a line without its ending.
fn content(rope: &Rope, line: usize) -> (usize, usize) {
    let start = rope.line_to_char(line);
    let mut end = rope.line_to_char(line + 1);
    if end > start && rope.char(end - 1) == '\n' {
        end -= 1;
        if end > start && rope.char(end - 1) == '\r' {
            end -= 1;
        }
    } else if end > start && rope.char(end - 1) == '\r' {
        end -= 1;
    }
    (start, end)
}

/// A text of more than 4 Gi lines or columns is beyond LSP's `uinteger`.
fn saturated(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
