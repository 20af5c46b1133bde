//! What diagnostics, lenses and hints say of a hunk, and where.

use engine::review::{HunkState, ReviewHunk};
use engine::text::{Encoding, position::position, visible_line};
use protocol::lsp;
use ropey::Rope;
use std::ops::Range;

/// Whole lines as a range. A last line without an ending ends where the text does.
pub(super) fn line_range(rope: &Rope, lines: &Range<u32>, encoding: Encoding) -> lsp::Range {
    lsp::Range {
        start: line_start(rope, lines.start, encoding),
        end: line_start(rope, lines.end, encoding),
    }
}

/// The same without the last line's ending, so that it touches no line but its own.
pub(super) fn content_range(rope: &Rope, lines: &Range<u32>, encoding: Encoding) -> lsp::Range {
    let start = line_start(rope, lines.start, encoding);
    let end = match lines.is_empty() {
        true => start,
        false => line_end(rope, lines.end - 1, encoding),
    };
    lsp::Range { start, end }
}

/// A line past the last begins at the end of the text.
pub(super) fn line_start(rope: &Rope, line: u32, encoding: Encoding) -> lsp::Position {
    at(rope, start_byte(rope, line), encoding)
}

/// Where a line's content ends.
pub(super) fn line_end(rope: &Rope, line: u32, encoding: Encoding) -> lsp::Position {
    let end = start_byte(rope, line + 1);
    let ends_open = end == 0 || !matches!(rope.byte(end - 1), b'\n' | b'\r');
    // A byte within an ending is the end of its line's content.
    at(rope, if ends_open { end } else { end - 1 }, encoding)
}

fn start_byte(rope: &Rope, line: u32) -> usize {
    let line = line as usize;
    match line < rope.len_lines() {
        true => rope.line_to_byte(line),
        false => rope.len_bytes(),
    }
}

fn at(rope: &Rope, byte: usize, encoding: Encoding) -> lsp::Position {
    let (line, character) = position(rope, byte, encoding);
    lsp::Position { line, character }
}

/// Lines added and removed, as in `+2 -1`.
pub(super) fn counts(hunk: &ReviewHunk) -> String {
    format!("+{} -{}", hunk.lines.len(), n_lines(&hunk.base_text))
}

pub(super) fn is_mixed(hunk: &ReviewHunk) -> bool {
    match hunk.state {
        HunkState::Pending => false,
        HunkState::Mixed => true,
    }
}

/// What was there before, in a few words.
pub(super) fn before(hunk: &ReviewHunk) -> String {
    let n_before = n_lines(&hunk.base_text);
    let first = hunk.base_text.trim_start().split(['\n', '\r']).next();
    let first = visible_line(first.unwrap_or_default(), MOST_BEFORE);
    let more = match n_before {
        0 | 1 => String::new(),
        n => format!(" ({n} lines)"),
    };
    match (n_before, hunk.lines.len()) {
        (0, 1) => "new".to_owned(),
        (0, n) => format!("{n} lines are new"),
        (_, 0) => format!("removed: {first}{more}"),
        (_, _) => format!("was: {first}{more}"),
    }
}

/// Characters of a line in a hint.
const MOST_BEFORE: usize = 40;

/// Lines in LSP's sense; a last one without an ending counts.
fn n_lines(text: &str) -> usize {
    let rope = Rope::from_str(text);
    match text.ends_with(['\n', '\r']) || text.is_empty() {
        true => rope.len_lines() - 1,
        false => rope.len_lines(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::review::{Author, By, Ledger};
    use expect_test::expect;
    use protocol::session::{CallId, TurnId};

    fn hunks(base: &str, live: &str) -> (Rope, Vec<ReviewHunk>) {
        let author = Author {
            session: "s".to_owned(),
            turn: TurnId(1),
            call: CallId(1),
        };
        let mut ledger = Ledger::new(Rope::from_str(base));
        ledger.replaced(live, By::Agent(&author));
        (ledger.live().clone(), ledger.hunks())
    }

    #[test]
    fn a_hunk_is_told_in_a_few_words() {
        let cases = [
            ("a\n  two\nc\n", "a\n  TWO\nc\n"),
            ("a\nb\nc\nd\n", "a\nd\n"),
            ("a\n", "a\nb\nc\n"),
            ("a\n", "a\nb\n"),
            ("a", "a\nb"),
            ("a\n", "\u{202e}\n"),
            ("\u{202e}x\n", "a\n"),
            ("", "x\n"),
            ("x", ""),
            ("a\r\nb\rc", "a\r\nB\rc"),
        ];
        let mut text = String::new();
        for (base, live) in cases {
            let (_, hunks) = hunks(base, live);
            for it in &hunks {
                text.push_str(&format!("{:?} {} {}\n", it.lines, counts(it), before(it)));
            }
        }
        expect![[r#"
            1..2 +1 -1 was: two
            1..1 +0 -2 removed: b (2 lines)
            1..3 +2 -0 2 lines are new
            1..2 +1 -0 new
            0..2 +2 -1 was: a
            0..1 +1 -1 was: a
            0..1 +1 -1 was: \u{202e}x
            0..1 +1 -0 new
            0..0 +0 -1 removed: x
            1..2 +1 -1 was: b
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_range_of_content_touches_no_other_line() {
        let rope = Rope::from_str("ab\r\n\u{1d11e}x\n\nend");
        let shown = |lines: Range<u32>| {
            let it = content_range(&rope, &lines, Encoding::Utf16);
            let (start, end) = (it.start, it.end);
            format!(
                "{}:{}-{}:{}",
                start.line, start.character, end.line, end.character
            )
        };
        let all = [0..1, 0..2, 2..3, 3..4, 2..2, 4..4].map(shown);
        assert_eq!(
            all,
            [
                "0:0-0:2", "0:0-1:3", "2:0-2:0", "3:0-3:3", "2:0-2:0", "3:3-3:3"
            ]
        );
    }
}
