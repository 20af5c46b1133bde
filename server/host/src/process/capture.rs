//! Keeps the two ends of a stream of any length, and decodes it as it arrives.
//!
//! The start of a command's output says what it did and the end says how it failed, so the middle
//! is what goes. Spec 0.6 and 0.7.

use crate::process::clean::clean;

/// What was kept of a command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Plain text, escape sequences removed. If something was left out, a line in the middle says how
    /// much; that line is for readers, [`Captured::is_truncated`] is for code.
    pub text: String,
    /// Bytes the command wrote.
    pub n_bytes: u64,
    /// Bytes of these that are not in `text`.
    pub n_left_out: u64,
}

impl Captured {
    /// True when the bounded read dropped something.
    pub fn is_truncated(&self) -> bool {
        self.n_left_out > 0
    }
}

/// A bounded buffer for raw bytes: the first half of the limit from the head, the second half from
/// the tail.
#[derive(Debug)]
pub struct Capture {
    half: usize,
    head: Vec<u8>,
    /// Grows to twice the half before its front is cut, so that a byte is moved once at most.
    tail: Vec<u8>,
    n_bytes: u64,
}

impl Capture {
    /// `limit` is in bytes; memory stays below 1.5 times it plus one chunk.
    pub fn new(limit: usize) -> Self {
        Self {
            half: limit / 2,
            head: Vec::new(),
            tail: Vec::new(),
            n_bytes: 0,
        }
    }

    pub fn push(&mut self, chunk: &[u8]) {
        self.n_bytes += chunk.len() as u64;
        let room = self.half - self.head.len();
        let (head, tail) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(head);
        // Of a chunk longer than the tail only its end can stay.
        let tail = &tail[tail.len().saturating_sub(self.half)..];
        self.tail.extend_from_slice(tail);
        if self.tail.len() > 2 * self.half {
            self.cut_tail();
        }
    }

    /// The newest bytes, as many as are at hand.
    pub fn last(&self, most: usize) -> Vec<u8> {
        let n_left_out = self.n_bytes - (self.head.len() + self.tail.len()) as u64;
        let mut last = Vec::new();
        if n_left_out == 0 && self.tail.len() < most {
            let n_wanted = most - self.tail.len();
            last.extend_from_slice(&self.head[self.head.len().saturating_sub(n_wanted)..]);
        }
        last.extend_from_slice(&self.tail[self.tail.len().saturating_sub(most)..]);
        last
    }

    /// The bytes that were kept, in order, for whoever goes on with them elsewhere. Where some are left out, a line
    /// says so.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.cut_tail();
        let n_left_out = self.n_bytes - (self.head.len() + self.tail.len()) as u64;
        if n_left_out > 0 {
            let line = format!("\n[... {n_left_out} bytes left out here ...]\n");
            self.head.extend_from_slice(line.as_bytes());
        }
        self.head.append(&mut self.tail);
        self.head
    }

    /// Cleans and joins what was kept.
    pub fn finish(mut self) -> Captured {
        self.cut_tail();
        if self.n_bytes == (self.head.len() + self.tail.len()) as u64 {
            // Nothing is missing: one text, so that a character or an escape sequence across the two
            // halves stays whole.
            self.head.append(&mut self.tail);
            let text = clean(&String::from_utf8_lossy(&self.head));
            return Captured {
                text,
                n_bytes: self.n_bytes,
                n_left_out: 0,
            };
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(&self.tail);
        let n_left_out = self.n_bytes - (head.len() + tail.len()) as u64;
        // Cleaned apart: a sequence cut in the head must not swallow the marker and the tail.
        let mut text = clean(&String::from_utf8_lossy(head));
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[... {n_left_out} bytes left out here ...]\n"));
        text.push_str(&clean(&String::from_utf8_lossy(tail)));
        Captured {
            text,
            n_bytes: self.n_bytes,
            n_left_out,
        }
    }

    fn cut_tail(&mut self) {
        let n_extra = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..n_extra);
    }
}

/// Drops the first bytes of a character whose rest is missing.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(chunk) if is_unfinished(chunk.invalid()) => {
            &bytes[..bytes.len() - chunk.invalid().len()]
        }
        Some(_) | None => bytes,
    }
}

/// Drops the last bytes of a character whose start is missing: at most three continuation bytes.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let n_stray = bytes
        .iter()
        .take(3)
        .take_while(|it| **it & 0xc0 == 0x80)
        .count();
    &bytes[n_stray..]
}

/// Whether more bytes could make these a character.
fn is_unfinished(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Decodes chunks as UTF-8 such that, joined, they are the lossy decoding of the whole.
#[derive(Debug, Default)]
pub struct Decoder {
    /// A character's first bytes, three at most.
    pending: Vec<u8>,
}

impl Decoder {
    /// Hands `show` the text that `chunk` completes; nothing if it completes none.
    pub fn push(&mut self, chunk: &[u8], show: &mut impl FnMut(&str)) {
        let mut bytes = std::mem::take(&mut self.pending);
        bytes.extend_from_slice(chunk);
        let complete = without_cut_end(&bytes);
        if !complete.is_empty() {
            show(&String::from_utf8_lossy(complete));
        }
        self.pending = bytes[complete.len()..].to_vec();
    }

    /// The stream is over: an unfinished character is shown as what it is.
    pub fn finish(self, show: &mut impl FnMut(&str)) {
        if !self.pending.is_empty() {
            show(&String::from_utf8_lossy(&self.pending));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, Captured, Decoder};

    #[track_caller]
    fn check(limit: usize, chunks: &[&[u8]], expected: &str, n_left_out: u64) {
        let mut capture = Capture::new(limit);
        for chunk in chunks {
            capture.push(chunk);
        }
        let n_bytes = chunks.iter().map(|it| it.len() as u64).sum();
        assert_eq!(
            capture.finish(),
            Captured {
                text: expected.into(),
                n_bytes,
                n_left_out
            }
        );
    }

    #[test]
    fn what_fits_is_kept_whole() {
        check(8, &[b"abcd", b"efgh"], "abcdefgh", 0);
        check(8, &[], "", 0);
    }

    #[test]
    fn the_middle_goes_and_is_counted() {
        check(
            8,
            &[b"abcdefghi"],
            "abcd\n[... 1 bytes left out here ...]\nfghi",
            1,
        );
        check(
            8,
            &[b"ab", b"cd", b"------", b"---", b"wx", b"yz"],
            "abcd\n[... 9 bytes left out here ...]\nwxyz",
            9,
        );
    }

    #[test]
    fn a_character_cut_in_two_is_left_out_whole() {
        check(
            8,
            &["abc\u{e9}....\u{e9}xyz".as_bytes()],
            "abc\n[... 8 bytes left out here ...]\nxyz",
            8,
        );
    }

    #[test]
    fn a_sequence_cut_by_the_gap_does_not_swallow_the_tail() {
        let marker = "[... 6 bytes left out here ...]";
        check(
            16,
            &[b"ab\n\x1b]0;t", b"itle\nx\x07 123456"],
            &format!("ab\n{marker}\n 123456"),
            6,
        );
    }

    #[test]
    fn the_marker_in_the_output_itself_is_no_truncation() {
        let text = "[... 5 bytes left out here ...]\n";
        check(64, &[text.as_bytes()], text, 0);
    }

    #[test]
    fn any_chunking_decodes_alike_and_keeps_the_same_ends() {
        let seed = 0xdec0de;
        let mut random = fastrand::Rng::with_seed(seed);
        let pieces: [&[u8]; 8] = [
            b"a",
            b"\n",
            "\u{e9}".as_bytes(),
            "\u{20ac}".as_bytes(),
            "\u{1f600}".as_bytes(),
            b"\xff",
            b"\xe2\x82",
            b"\xf0\x9f",
        ];
        for round in 0..5_000 {
            let bytes: Vec<u8> = (0..random.usize(0..24))
                .flat_map(|_| pieces[random.usize(0..pieces.len())].to_vec())
                .collect();
            let limit = random.usize(0..40);
            let mut whole = Capture::new(limit);
            whole.push(&bytes);
            let (mut capture, mut decoder, mut shown) =
                (Capture::new(limit), Decoder::default(), String::new());
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (chunk, later) = rest.split_at(random.usize(1..=rest.len()));
                rest = later;
                capture.push(chunk);
                decoder.push(chunk, &mut |text| shown.push_str(text));
            }
            decoder.finish(&mut |text| shown.push_str(text));
            assert_eq!(
                shown,
                String::from_utf8_lossy(&bytes),
                "seed {seed:#x}, round {round}, {bytes:x?}"
            );
            assert_eq!(
                capture.finish(),
                whole.finish(),
                "seed {seed:#x}, round {round}, {bytes:x?}"
            );
        }
    }
}
