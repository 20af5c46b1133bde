//! Takes a stream of JSON texts apart, one a line (`application/x-ndjson`), in whatever pieces the bytes arrive.
//!
//! [`Framer::finish`] hands out a last line whose end never came; its reader sees whether it is whole.

/// The most bytes of one line.
pub const MAX_LINE: usize = 8 << 20;

/// A line is larger than [`MAX_LINE`]. The framer stays silent from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Turns bytes into lines that are not blank. The law: any cutting of the same bytes gives the same lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Framer {
    limit: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    too_long: bool,
}

impl Default for Framer {
    fn default() -> Framer {
        Framer::with_limit(MAX_LINE)
    }
}

impl Framer {
    /// A framer whose lines have at most `limit` bytes.
    pub fn with_limit(limit: usize) -> Framer {
        Framer {
            limit,
            line: Vec::new(),
            too_long: false,
        }
    }

    /// Takes the next bytes and hands out each line they complete, without its end. A line that is whole within `bytes`
    /// is not copied.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), TooLong> {
        if self.too_long {
            return Err(TooLong);
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&it| it == b'\n') {
            let piece = &rest[..end];
            rest = &rest[end + 1..];
            if self.line.len() + piece.len() > self.limit {
                return self.give_up();
            }
            if self.line.is_empty() {
                hand_out(piece, &mut each);
            } else {
                self.line.extend_from_slice(piece);
                hand_out(&self.line, &mut each);
                self.line.clear();
            }
        }
        if self.line.len() + rest.len() > self.limit {
            return self.give_up();
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// The stream has ended: hands out the line it ended in, complete or not.
    pub fn finish(&mut self, each: impl FnMut(&[u8])) -> Result<(), TooLong> {
        self.feed(b"\n", each)
    }

    fn give_up(&mut self) -> Result<(), TooLong> {
        *self = Framer {
            too_long: true,
            ..Framer::with_limit(self.limit)
        };
        Err(TooLong)
    }
}

fn hand_out(line: &[u8], each: &mut impl FnMut(&[u8])) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        each(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::rounds;

    fn lines<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, bool) {
        // A small limit, so that short inputs reach it too.
        let mut framer = Framer::with_limit(16);
        let mut lines = Vec::new();
        let mut too_long = false;
        for piece in pieces {
            too_long |= framer.feed(piece, |it| lines.push(it.to_vec())).is_err();
        }
        too_long |= framer.finish(|it| lines.push(it.to_vec())).is_err();
        (lines, too_long)
    }

    #[test]
    fn lines_come_without_their_ends_and_blank_ones_not_at_all() {
        let (got, too_long) = lines([&b"{\"a\":1}\r\n\n  \n{}\n{\"b\""[..]].into_iter());
        assert_eq!(got, [&b"{\"a\":1}"[..], b"{}", b"{\"b\""]);
        assert!(!too_long);
    }

    #[test]
    fn a_line_that_is_too_long_ends_it() {
        let (got, too_long) = lines([&b"ok\n01234567890123456\nnever\n"[..]].into_iter());
        assert_eq!((got, too_long), (vec![b"ok".to_vec()], true));
    }

    #[test]
    fn any_cutting_gives_the_same_lines() {
        const BYTES: &[u8] = b"\n\n\r {}a\xc3\xa9";
        for (_, mut rng) in rounds(5, 500) {
            let n = rng.usize(..60);
            let bytes: Vec<u8> = (0..n).map(|_| BYTES[rng.usize(..BYTES.len())]).collect();
            let whole = lines(std::iter::once(bytes.as_slice()));
            assert_eq!(lines(bytes.chunks(1)), whole, "{bytes:?}");
            let size = rng.usize(1..9);
            assert_eq!(lines(bytes.chunks(size)), whole, "{bytes:?} by {size}");
        }
    }
}
