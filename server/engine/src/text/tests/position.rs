//! Positions of the editor and offsets in the rope say the same place.

use ropey::Rope;

use super::random_text;
use crate::rounds::rounds;
use crate::text::position::{Encoding, Position, apply_change, offset, position};

const SEED: u64 = 0x5eed_0002;
const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// The rules of the specification, written for clarity over a plain string.
mod naive {
    use super::{Encoding, Position};

    /// Start of each line and end of its content.
    pub(super) fn lines(text: &str) -> Vec<(usize, usize)> {
        let bytes = text.as_bytes();
        let (mut out, mut start, mut at) = (Vec::new(), 0, 0);
        while at < bytes.len() {
            let ending = match (bytes[at], bytes.get(at + 1)) {
                (b'\r', Some(b'\n')) => 2,
                (b'\r' | b'\n', _) => 1,
                _ => 0,
            };
            if ending > 0 {
                out.push((start, at));
                start = at + ending;
            }
            at += ending.max(1);
        }
        out.push((start, text.len()));
        out
    }

    pub(super) fn offset(text: &str, (line, character): Position, encoding: Encoding) -> usize {
        let lines = lines(text);
        let Some((start, end)) = lines.get(line as usize) else {
            return text.len();
        };
        let mut units = 0;
        for (at, c) in text[*start..*end].char_indices() {
            units += match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
                Encoding::Utf32 => 1,
            };
            if units > character as usize {
                return start + at;
            }
        }
        *end
    }
}

fn random_position(random: &mut fastrand::Rng, text: &str) -> Position {
    let n_lines = naive::lines(text).len() as u32;
    match random.u8(..20) {
        0 => (n_lines + random.u32(..3), random.u32(..3)),
        1 => (random.u32(..n_lines), u32::MAX),
        2 => (u32::MAX, u32::MAX),
        _ => (random.u32(..n_lines), random.u32(..12)),
    }
}

#[test]
fn random_edits_give_what_a_plain_string_gives() {
    let mut n_edits = 0;
    for (round, mut random) in rounds(SEED, 900) {
        let mut text = random_text(&mut random, 30);
        // Some texts are larger than a leaf of the rope, so that endings fall between two leaves.
        if round % 10 == 0 {
            text = text.repeat(random.usize(1..60));
        }
        let mut rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            for _ in 0..10 {
                let new = random_text(&mut random, 4);
                let range = (random.u8(..50) > 0)
                    .then(|| [(); 2].map(|()| random_position(&mut random, &text)))
                    .map(|[a, b]| (a, b));
                apply_change(&mut rope, range, &new, encoding);
                let before = text.clone();
                match range {
                    None => text = new.clone(),
                    Some((a, b)) => {
                        let a = naive::offset(&text, a, encoding);
                        let b = naive::offset(&text, b, encoding);
                        text.replace_range(a.min(b)..a.max(b), &new);
                    }
                }
                assert!(
                    rope == text,
                    "round {round}, {encoding:?}: {range:?} to {new:?} in {before:?} gave {rope:?}"
                );
                n_edits += 1;
            }
        }
    }
    assert!(n_edits >= 20_000, "{n_edits}");
}

#[test]
fn a_position_of_a_byte_leads_back_to_it() {
    for (round, mut random) in rounds(SEED, 150) {
        let text = random_text(&mut random, 30);
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            for byte in 0..=text.len() + 2 {
                let (line, character) = position(&rope, byte, encoding);
                let back = offset(&rope, line, character, encoding);
                let mut expected = text.floor_char_boundary(byte);
                if text[..expected].ends_with('\r') && text[expected..].starts_with('\n') {
                    expected -= 1;
                }
                assert_eq!(
                    back, expected,
                    "round {round}, {encoding:?}, byte {byte} of {text:?}"
                );
                assert_eq!(back, naive::offset(&text, (line, character), encoding));
                let (start, end) = naive::lines(&text)[line as usize];
                assert!((start..=end).contains(&back), "round {round}: {text:?}");
            }
        }
    }
}

#[test]
fn a_column_is_clamped_to_its_line_and_rounded_down_to_a_character() {
    let rope = Rope::from_str("a😀b\r\nc\rd\u{2028}e\n");
    let at = |line, character| ENCODINGS.map(|it| offset(&rope, line, character, it));
    assert_eq!(at(0, 2), [1, 1, 5]);
    assert_eq!(at(0, 3), [1, 5, 6]);
    assert_eq!(at(0, 99), [6, 6, 6]);
    assert_eq!(at(1, 1), [9, 9, 9]);
    assert_eq!(at(2, 99), [15, 15, 15]);
    assert_eq!(at(3, 0), [16, 16, 16]);
    assert_eq!(at(9, 9), [16, 16, 16]);
}

#[test]
fn between_cr_and_lf_is_the_end_of_the_line() {
    let rope = Rope::from_str("é😀\r\nb");
    let at = |byte| ENCODINGS.map(|it| position(&rope, byte, it));
    assert_eq!(at(6), [(0, 6), (0, 3), (0, 2)]);
    assert_eq!(at(7), at(6));
    // Inside the emoji, and past the end.
    assert_eq!(at(4), [(0, 2), (0, 1), (0, 1)]);
    assert_eq!(at(99), [(1, 1); 3]);
}

#[test]
fn a_reversed_range_is_taken_the_other_way_round() {
    let mut rope = Rope::from_str("one two");
    apply_change(&mut rope, Some(((0, 3), (0, 0))), "1", Encoding::Utf16);
    assert_eq!(rope.to_string(), "1 two");
}
