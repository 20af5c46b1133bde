//! Takes a stream of server-sent events apart, as the WHATWG HTML standard says (section 9.2.6), in whatever pieces
//! the bytes arrive.
//!
//! Ids and `retry` are left out: nobody here reconnects. Unlike a browser, [`Framer::finish`] hands out an event whose
//! closing blank line never came, because servers forget it after the last one; its reader sees whether it is whole.

use std::borrow::Cow;

/// The most bytes one event's data, or one line, may have.
pub const MAX_EVENT: usize = 8 << 20;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field, empty if there was none.
    pub name: &'a str,
    /// The `data` lines, joined by line feeds. What is not UTF-8 is U+FFFD.
    pub data: &'a str,
}

/// A line or an event is larger than [`MAX_EVENT`]. The framer stays silent from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Turns bytes into events. The law: any cutting of the same bytes gives the same events.
#[derive(Clone, Debug, PartialEq)]
pub struct Framer {
    limit: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    name: Vec<u8>,
    /// The data lines of the event so far, if there was one.
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return, which has ended its line; a line feed now belongs to it.
    after_cr: bool,
    first_line: bool,
    too_long: bool,
}

impl Default for Framer {
    fn default() -> Framer {
        Framer::with_limit(MAX_EVENT)
    }
}

impl Framer {
    /// A framer whose events and lines have at most `limit` bytes.
    pub fn with_limit(limit: usize) -> Framer {
        Framer {
            limit,
            line: Vec::new(),
            name: Vec::new(),
            data: None,
            after_cr: false,
            first_line: true,
            too_long: false,
        }
    }

    /// Takes the next bytes and hands out each event they complete. An event of one `data` line that is whole within
    /// `bytes` is not copied.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if self.too_long {
            return Err(TooLong);
        }
        // The event's first data line, as long as it can be borrowed from `bytes`.
        let mut held: Option<&[u8]> = None;
        let mut rest = bytes;
        loop {
            if self.after_cr && !rest.is_empty() {
                self.after_cr = false;
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            let Some(end) = rest.iter().position(|&it| it == b'\n' || it == b'\r') else {
                break;
            };
            let piece = &rest[..end];
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if self.line.len() + piece.len() > self.limit {
                return self.give_up();
            }
            if self.line.is_empty() {
                self.take_line(piece, Some(&mut held), &mut each)?;
            } else {
                // Only the first line of `bytes` can have begun earlier, so nothing is held yet.
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                self.take_line(&line, None, &mut each)?;
                line.clear();
                self.line = line;
            }
        }
        if self.line.len() + rest.len() > self.limit {
            return self.give_up();
        }
        self.line.extend_from_slice(rest);
        if let Some(data) = held {
            self.data = Some(data.to_vec());
        }
        Ok(())
    }

    /// The stream has ended: hands out the event it ended in, if that has data, complete or not.
    pub fn finish(&mut self, mut each: impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        // Two line ends: the first closes a line that is open, the second the event.
        self.feed(b"\n", &mut each)?;
        self.feed(b"\n", &mut each)
    }

    /// Takes one line without its end. `held`, if given, may keep a part of `line`.
    fn take_line<'a>(
        &mut self,
        line: &'a [u8],
        mut held: Option<&mut Option<&'a [u8]>>,
        each: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        let line = match std::mem::take(&mut self.first_line) {
            true => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            let kept = self.data.take();
            let data = held.and_then(Option::take).or(kept.as_deref());
            if let Some(data) = data {
                each(Event {
                    name: &text(&self.name),
                    data: &text(data),
                });
            }
            self.name.clear();
            return Ok(());
        }
        // A comment begins with a colon, so its field has no name and nobody wants it.
        let (field, value) = match line.iter().position(|&it| it == b':') {
            None => (line, &line[line.len()..]),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if field == b"event" {
            self.name.clear();
            self.name.extend_from_slice(value);
        } else if field == b"data" {
            let earlier = held.as_mut().and_then(|it| it.take());
            if let Some(earlier) = earlier {
                self.data = Some(earlier.to_vec());
            }
            match (&mut self.data, held) {
                (None, Some(held)) => *held = Some(value),
                (None, None) => self.data = Some(value.to_vec()),
                (Some(data), _) => {
                    if data.len() + 1 + value.len() > self.limit {
                        return self.give_up();
                    }
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            }
        }
        Ok(())
    }

    fn give_up(&mut self) -> Result<(), TooLong> {
        *self = Framer {
            too_long: true,
            ..Framer::with_limit(self.limit)
        };
        Err(TooLong)
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    // Looks at several bytes at a time, where the other looks at each.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A fuzz target: the bytes, whole and cut at places their own values choose, must give the same events.
#[cfg(any(test, fuzzing))]
pub fn fuzz_sse(bytes: &[u8]) {
    // A small limit, so that short inputs reach it too.
    let events = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut framer = Framer::with_limit(64);
        let mut events = Vec::new();
        let mut too_long = false;
        for piece in pieces {
            too_long |= framer
                .feed(piece, |it| {
                    events.push((it.name.to_owned(), it.data.to_owned()))
                })
                .is_err();
        }
        too_long |= framer
            .finish(|it| events.push((it.name.to_owned(), it.data.to_owned())))
            .is_err();
        (events, too_long)
    };
    let whole = events(&mut std::iter::once(bytes));
    let bytewise = events(&mut bytes.chunks(1));
    let cut = events(&mut bytes.chunk_by(|a, b| (a ^ b) & 3 != 0));
    assert_eq!(whole, bytewise);
    assert_eq!(whole, cut);
}

#[cfg(test)]
mod tests;
