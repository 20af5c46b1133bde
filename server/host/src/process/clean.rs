//! Turns what a terminal would have shown into plain text for a model.
//!
//! Pure. Works over a whole capture at once, so that a sequence which arrived in two reads is still
//! seen as one. Spec 5.5; what counts as a sequence follows ECMA-48.

const ESCAPE: char = '\x1b';
const BELL: char = '\x07';
const BACKSPACE: char = '\x08';

/// Removes escape sequences and control characters that only move or colour.
///
/// - CSI (`ESC [`), strings with their payload (OSC `ESC ]`, DCS `ESC P`, SOS `ESC X`, PM `ESC ^`,
///   APC `ESC _`) and all shorter escapes go; so does BEL.
/// - Backspace erases the character before it, but never a line's end.
/// - CRLF and a lone CR become LF, also where an escape stood between CR and LF.
///
/// The result has no ESC, BEL, backspace or CR, so cleaning twice changes nothing. A string that is
/// never closed loses its payload only if that is a single line: a program which forgot to close its
/// title must not hide the errors printed after it. Takes linear time on any input.
pub fn clean(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut after_cr = false;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        match char {
            ESCAPE => rest = &rest[escape_len(rest)..],
            BELL => {}
            BACKSPACE => {
                if plain.chars().next_back().is_some_and(|it| it != '\n') {
                    plain.pop();
                }
            }
            '\r' => {
                plain.push('\n');
                after_cr = true;
            }
            // The line has already ended at the CR.
            '\n' if after_cr => after_cr = false,
            other => {
                plain.push(other);
                after_cr = false;
            }
        }
    }
    plain
}

/// How many bytes after an ESC belong to its sequence.
fn escape_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    match bytes.first() {
        Some(b'[') => 1 + control_len(&bytes[1..]),
        Some(b']') => 1 + string_len(&bytes[1..], true),
        Some(b'P' | b'X' | b'^' | b'_') => 1 + string_len(&bytes[1..], false),
        // Two bytes, or more when intermediates stand between (`ESC ( B` picks a character set).
        _ => {
            let n_intermediates = bytes
                .iter()
                .take_while(|it| (0x20..=0x2f).contains(*it))
                .count();
            match bytes.get(n_intermediates) {
                Some(0x30..=0x7e) => n_intermediates + 1,
                // No escape at all: the ESC alone goes, the text stays.
                Some(_) | None => 0,
            }
        }
    }
}

/// Length of a CSI after its `[`: parameters, intermediates, one final byte. Anything else ends it
/// early and is text again.
fn control_len(bytes: &[u8]) -> usize {
    let n_inner = bytes
        .iter()
        .take_while(|it| (0x20..=0x3f).contains(*it))
        .count();
    match bytes.get(n_inner) {
        Some(0x40..=0x7e) => n_inner + 1,
        Some(_) | None => n_inner,
    }
}

/// Length of a string's payload with its terminator: ST (`ESC \`), or BEL where that is allowed.
///
/// Any other ESC, CAN, SUB or the end of the text breaks the string off; looking no further than the
/// next ESC is what keeps the whole linear.
fn string_len(bytes: &[u8], bell_ends: bool) -> usize {
    let end = bytes
        .iter()
        .position(|it| matches!(it, 0x1b | 0x18 | 0x1a) || (bell_ends && *it == 0x07))
        .unwrap_or(bytes.len());
    match bytes.get(end..) {
        Some([0x07, ..]) => end + 1,
        Some([0x1b, b'\\', ..]) => end + 2,
        Some(_) | None => {
            if bytes[..end].contains(&b'\n') {
                0
            } else {
                end
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[track_caller]
    fn check(text: &str, plain: &str) {
        assert_eq!(clean(text), plain, "cleaning {text:?}");
    }

    #[test]
    fn colours_and_cursor_moves_go() {
        check("\x1b[1;31merror\x1b[0m: no\x1b[K\x1b[2;3H", "error: no");
        check("\x1b[?25lhidden\x1b[?25h\x1b[38:5:1mred", "hiddenred");
    }

    #[test]
    fn strings_go_with_their_payload() {
        check("a\x1b]0;title\x07b", "ab");
        check("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
        check("a\x1bPq#0;2;0\nmore sixel\x1b\\b", "ab");
        check("a\x1bXsos\x1b\\b\x1b^pm\x1b\\c\x1b_apc\x1b\\d", "abcd");
    }

    #[test]
    fn only_osc_ends_at_a_bell() {
        check("a\x1bPpay\x07load\x1b\\b", "ab");
    }

    #[test]
    fn short_escapes_go() {
        check("\x1bca\x1b(Bb\x1b7c\x1b8\x1b=d\x1b>", "abcd");
    }

    #[test]
    fn a_tmux_passthrough_leaves_nothing() {
        check("a\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\b", "ab");
    }

    #[test]
    fn an_unclosed_string_does_not_hide_the_lines_after_it() {
        check("a\x1b]0;title\nerror: 1", "a0;title\nerror: 1");
        check("a\x1b]0;title", "a");
        check("a\x1b]0;title\x1b[31m\nerror", "a\nerror");
    }

    #[test]
    fn a_sequence_that_is_no_sequence_leaves_the_text() {
        check("a\x1b[3\nb", "a\nb");
        check("a\x1b\u{e9}b\x1b", "a\u{e9}b");
        check("a\x1b[", "a");
    }

    #[test]
    fn backspace_erases_but_not_across_lines() {
        check("abc\x08\x08d", "ad");
        check("a\n\x08\x08b", "a\nb");
        check("\x08a\u{e9}\x08", "a");
        check("b\x08bo\x08ol\x08ld\x08d", "bold");
    }

    #[test]
    fn line_ends_become_lf() {
        check("a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd");
        check("10%\r\x1b[K\nend", "10%\nend");
    }

    #[test]
    fn bells_go() {
        check("a\x07b", "ab");
    }

    #[test]
    fn no_input_leaves_a_control_that_was_to_go() {
        let seed = 0x5eed_c1ea;
        let mut random = fastrand::Rng::with_seed(seed);
        let pieces = [
            "\x1b",
            "[",
            "]",
            "P",
            "X",
            "\\",
            "\x07",
            "\x08",
            "\r",
            "\n",
            "m",
            "1;2",
            "(",
            "B",
            "text",
            "\u{e9}",
            "\u{1f600}",
            "\x18",
        ];
        for round in 0..20_000 {
            let text: String = (0..random.usize(0..14))
                .map(|_| pieces[random.usize(0..pieces.len())])
                .collect();
            let plain = clean(&text);
            assert!(
                !plain.contains(['\x1b', '\x07', '\x08', '\r']),
                "seed {seed:#x}, round {round}: {text:?} -> {plain:?}"
            );
            assert_eq!(clean(&plain), plain, "seed {seed:#x}, round {round}");
        }
    }
}
