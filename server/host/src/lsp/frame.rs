//! Cuts a byte stream into messages (LSP 3.18, "Base Protocol": header part, blank line, content part).
//!
//! Strict in what it needs, the length, and lenient in everything else: any case, any number of headers,
//! LF or CRLF, the last `Content-Length` wins. Bytes that are no header are reported once and skipped up
//! to the next header, so one bad message costs one message. Memory stays bounded whatever arrives: a
//! header line keeps its last 8 KiB, and a body over the limit is skipped unread.

use std::io::{self, Read};

/// What [`Frames::next`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// The content of one message. May be empty, may be anything.
    Body(Vec<u8>),
    /// Bytes that belong to no message; says what was wrong. Comes once for each stretch of such bytes.
    Garbage(String),
    /// A message over the limit. Its content is skipped by the next call if it is at most
    /// [`SKIP_FACTOR`] times the limit; a longer one leaves nothing to carry on with.
    TooBig {
        /// The announced length.
        bytes: u64,
        /// Whether the stream can be read on.
        skipped: bool,
    },
    /// The stream has ended, at a message's end or within one.
    End,
}

/// How many times the limit a message may have to be skipped. Beyond that the number is no length but
/// nonsense, and skipping it would mean to wait for ever.
pub const SKIP_FACTOR: u64 = 4;

/// Reads frames from `input`.
pub struct Frames<R> {
    input: R,
    limit: u64,
    /// Bytes read and not yet used: `buffer[start..end]`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    line: Vec<u8>,
    /// Whether the header part of the current message has begun, and the length it gave so far.
    in_header: bool,
    length: Option<u64>,
    /// Set from the first garbage on until the next whole message, so that it is reported once.
    lost: bool,
    skip: u64,
}

impl<R: Read> Frames<R> {
    /// `limit` is the largest body, in bytes.
    pub fn new(input: R, limit: u64) -> Frames<R> {
        Frames {
            input,
            limit,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            line: Vec::new(),
            in_header: false,
            length: None,
            lost: false,
            skip: 0,
        }
    }

    /// The next frame. Errors are those of `input`; after one, or after [`Frame::End`], there is no more.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> io::Result<Frame> {
        if !self.skip_body()? {
            return Ok(Frame::End);
        }
        loop {
            let Some(whole) = self.read_line()? else {
                return Ok(Frame::End);
            };
            match header(&self.line, whole) {
                Header::Blank if !self.in_header => {}
                Header::Blank => {
                    self.in_header = false;
                    match self.length.take() {
                        Some(length) => return self.body(length),
                        None if self.lost => {}
                        None => return Ok(self.garbage("a header without Content-Length")),
                    }
                }
                Header::Other => self.in_header = true,
                Header::Length { bytes, stray } => {
                    self.in_header = true;
                    self.length = Some(bytes);
                    if stray && !self.lost {
                        return Ok(self.garbage("stray bytes before a header"));
                    }
                }
                Header::Bad(what) => {
                    self.in_header = true;
                    if !self.lost {
                        return Ok(self.garbage(what));
                    }
                }
            }
        }
    }

    /// Tells that `body` was no JSON. If a header is found inside (the announced length was too long and
    /// swallowed the next message), reading goes on there. A raw header cannot occur in valid JSON, since
    /// a string must escape its line ends.
    pub fn resync(&mut self, body: &[u8]) {
        self.lost = true;
        let Some(header) = find_header(body) else {
            return;
        };
        let mut again = body[header..].to_vec();
        again.extend_from_slice(&self.buffer[self.start..self.end]);
        self.start = 0;
        self.end = again.len();
        self.buffer = again;
    }

    fn garbage(&mut self, what: &str) -> Frame {
        self.lost = true;
        let line = String::from_utf8_lossy(&self.line);
        let shown: String = line.trim_end().chars().take(80).collect();
        Frame::Garbage(format!("{what}: {shown:?}"))
    }

    fn body(&mut self, length: u64) -> io::Result<Frame> {
        if length > self.limit {
            let skipped = length <= self.limit.saturating_mul(SKIP_FACTOR);
            self.skip = if skipped { length } else { 0 };
            return Ok(Frame::TooBig {
                bytes: length,
                skipped,
            });
        }
        // `limit` came from a usize in practice; on a machine where it does not fit, neither does the body.
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let ready = &self.buffer[self.start..self.end];
        let ready = &ready[..ready.len().min(length)];
        // Room for what has been promised only as far as it is cheap; the rest grows with what arrives.
        let mut body = Vec::with_capacity(length.min(1 << 20));
        body.extend_from_slice(ready);
        self.start += ready.len();
        let missing = length - body.len();
        if missing > 0 {
            let read = (&mut self.input)
                .take(missing as u64)
                .read_to_end(&mut body)?;
            if read < missing {
                return Ok(Frame::End);
            }
        }
        self.lost = false;
        Ok(Frame::Body(body))
    }

    /// Passes over the body of a message that was too big. False at the end of the stream.
    fn skip_body(&mut self) -> io::Result<bool> {
        while self.skip > 0 {
            if self.start == self.end && !self.fill()? {
                return Ok(false);
            }
            let ready = self.end - self.start;
            let used = ready.min(usize::try_from(self.skip).unwrap_or(usize::MAX));
            self.start += used;
            self.skip -= used as u64;
        }
        Ok(true)
    }

    /// Puts the next line, without its LF, into `self.line`. `Some(false)` if its front was dropped because
    /// it was too long; `None` at the end of the stream.
    fn read_line(&mut self) -> io::Result<Option<bool>> {
        const LONGEST: usize = 8 * 1024;
        self.line.clear();
        let mut whole = true;
        loop {
            let ready = &self.buffer[self.start..self.end];
            let end = ready.iter().position(|it| *it == b'\n');
            self.line
                .extend_from_slice(&ready[..end.unwrap_or(ready.len())]);
            if self.line.len() > 2 * LONGEST || (end.is_some() && self.line.len() > LONGEST) {
                whole = false;
                self.line.drain(..self.line.len() - LONGEST);
            }
            match end {
                Some(end) => {
                    self.start += end + 1;
                    return Ok(Some(whole));
                }
                None => {
                    self.start = self.end;
                    if !self.fill()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Reads once into the used-up buffer. False at the end of the stream.
    fn fill(&mut self) -> io::Result<bool> {
        const READ: usize = 64 * 1024;
        if self.buffer.len() != READ {
            self.buffer = vec![0; READ];
        }
        (self.start, self.end) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(n) => {
                    self.end = n;
                    return Ok(n > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

enum Header {
    Blank,
    /// A header we have no use for, like `Content-Type`.
    Other,
    Length {
        bytes: u64,
        /// Bytes that are no header stood before it on the line: the end of a body that was longer than
        /// it said.
        stray: bool,
    },
    Bad(&'static str),
}

fn header(line: &[u8], whole: bool) -> Header {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Header::Blank;
    }
    let name = line.split(|it| *it == b':').next().unwrap_or(line);
    let is_header = whole && name.len() < line.len() && is_token(name.trim_ascii());
    if is_header && !name.trim_ascii().eq_ignore_ascii_case(NAME) {
        return Header::Other;
    }
    let Some((at, value)) = last_length(line) else {
        return Header::Bad("not a header");
    };
    let stray = !whole || !line[..at].trim_ascii().is_empty();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Header::Bad("not a length");
    }
    // More digits than fit are a length all the same, and certainly over the limit.
    let bytes = value.iter().fold(0_u64, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    });
    Header::Length { bytes, stray }
}

const NAME: &[u8] = b"content-length";

/// A header's name as RFC 9110 5.1 has it.
fn is_token(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(it))
}

/// Where the line's last `Content-Length:` starts, and what stands after it.
fn last_length(line: &[u8]) -> Option<(usize, &[u8])> {
    let at = line
        .windows(NAME.len())
        .rposition(|it| it.eq_ignore_ascii_case(NAME))?;
    let value = line[at + NAME.len()..].trim_ascii().strip_prefix(b":")?;
    Some((at, value.trim_ascii()))
}

/// Where in `bytes` a line `Content-Length: <digits>` starts or, after stray bytes, continues.
fn find_header(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = bytes[from..]
        .windows(NAME.len())
        .position(|it| it.eq_ignore_ascii_case(NAME))
    {
        let at = from + found;
        from = at + NAME.len();
        // A header cut off by the body's end counts: the buffer holds the rest of its line.
        let line = bytes[at..].split(|it| *it == b'\n').next()?;
        let rest = &line[NAME.len()..].trim_ascii();
        let is_length = match rest.strip_prefix(b":") {
            Some(value) => value.trim_ascii().iter().all(u8::is_ascii_digit),
            None => rest.is_empty() && at + line.len() == bytes.len(),
        };
        if is_length {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{Frame, Frames};

    /// Hands out its bytes in pieces of random size.
    struct Pieces<'a>(&'a [u8], fastrand::Rng);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = self.0.len().min(into.len());
            if most == 0 {
                return Ok(0);
            }
            let piece = self.1.usize(1..=64);
            let n = self.1.usize(1..=most.min(piece));
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn frames(input: &[u8], limit: u64, seed: u64) -> Vec<Frame> {
        let mut frames = Frames::new(Pieces(input, fastrand::Rng::with_seed(seed)), limit);
        let mut all = Vec::new();
        loop {
            match frames.next().unwrap() {
                Frame::End => return all,
                Frame::Body(body)
                    if serde_json::from_slice::<serde_json::Value>(&body).is_err() =>
                {
                    frames.resync(&body);
                    all.push(Frame::Body(body));
                }
                frame => {
                    let is_last = matches!(frame, Frame::TooBig { skipped: false, .. });
                    all.push(frame);
                    if is_last {
                        return all;
                    }
                }
            }
        }
    }

    /// One word a frame; the same for every chunking.
    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        for seed in 0..32 {
            let got: Vec<String> = frames(input.as_bytes(), 20, seed)
                .into_iter()
                .map(|it| match it {
                    Frame::Body(body) => String::from_utf8_lossy(&body).into_owned(),
                    Frame::Garbage(what) => format!("? {what}"),
                    Frame::TooBig { bytes, skipped } => format!("> {bytes} {skipped}"),
                    Frame::End => unreachable!("never collected"),
                })
                .collect();
            assert_eq!(got, expected, "seed {seed}");
        }
    }

    #[test]
    fn headers_are_read_leniently() {
        check(
            "Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n1",
            &["{}", "1"],
        );
        check("content-length:2\r\n\r\n{}", &["{}"]);
        check("CONTENT-LENGTH : 2 \n\n{}", &["{}"]);
        check(
            "X-A: 1\r\nX-B: content-length: 9\r\nContent-Length: 2\r\n\r\n{}",
            &["{}"],
        );
        check(
            "X-Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}",
            &["{}"],
        );
        check(
            "Content-Type: a; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
            &["{}"],
        );
        check("Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}", &["{}"]);
        check(
            "\r\n\n\r\nContent-Length: 2\r\n\r\n{}\r\nContent-Length: 2\r\n\r\n[]",
            &["{}", "[]"],
        );
        check(
            "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}",
            &["", "{}"],
        );
    }

    #[test]
    fn garbage_is_told_once_and_skipped() {
        let good = "Content-Length: 2\r\n\r\n{}";
        let told = |line: &str| format!("? {line}");
        check(
            &format!("hello world\r\nand: more\r\n\r\nof it\r\n{good}{good}"),
            &[&told(r#"not a header: "hello world""#), "{}", "{}"],
        );
        check(
            &format!("Content-Length: -1\r\n\r\n{good}"),
            &[&told(r#"not a length: "Content-Length: -1""#), "{}"],
        );
        check(
            &format!("X-Foo: 1\r\n\r\n[]{good}"),
            &[&told(r#"a header without Content-Length: """#), "{}"],
        );
        check(&"x".repeat(100_000), &[]);
        check(
            &format!("{}{good}", "x ".repeat(100_000)),
            &[
                &told(&format!(
                    "stray bytes before a header: {:?}",
                    "x ".repeat(40)
                )),
                "{}",
            ],
        );
    }

    #[test]
    fn a_wrong_length_costs_one_message() {
        let good = "Content-Length: 2\r\n\r\n{}";
        // Too short: the rest of the body stands before the next header.
        check(
            &format!("Content-Length: 3\r\n\r\n{{\"a\":1}}{good}{good}"),
            &["{\"a", "{}", "{}"],
        );
        // Too long: the body has swallowed the next header, or its beginning.
        check(
            &format!("Content-Length: 20\r\n\r\n{{}}{good}{good}"),
            &["{}Content-Length: 2\r", "{}", "{}"],
        );
        check(
            &format!("Content-Length: 16\r\n\r\n{{}}{good}{good}"),
            &["{}Content-Length", "{}", "{}"],
        );
    }

    #[test]
    fn a_body_over_the_limit_is_skipped_unless_its_length_is_absurd() {
        let good = "Content-Length: 2\r\n\r\n{}";
        check(
            &format!("Content-Length: 80\r\n\r\n{}{good}", "x".repeat(80)),
            &["> 80 true", "{}"],
        );
        check(
            &format!("Content-Length: 81\r\n\r\n{good}"),
            &["> 81 false"],
        );
        check(
            &format!("Content-Length: 99999999999999999999999\r\n\r\n{good}"),
            &["> 18446744073709551615 false"],
        );
    }

    /// Law: whatever is framed comes back, cut as it may be.
    #[test]
    fn any_bodies_come_back_in_any_chunking() {
        let mut random = fastrand::Rng::with_seed(3);
        for round in 0..300 {
            let bodies: Vec<Vec<u8>> = (0..random.usize(0..20))
                .map(|_| {
                    let n = random.usize(0..2_000);
                    let text: String = (0..n).map(|_| random.char('\n'..='\u{1F600}')).collect();
                    serde_json::to_vec(&text).unwrap()
                })
                .collect();
            let mut input = Vec::new();
            for body in &bodies {
                let end = if random.bool() { "\r\n" } else { "\n" };
                input.extend(format!("Content-Length: {}{end}{end}", body.len()).bytes());
                input.extend(body);
            }
            let got = frames(&input, 1 << 20, round);
            let expected: Vec<Frame> = bodies.into_iter().map(Frame::Body).collect();
            assert!(got == expected, "seed 3, round {round}");
        }
    }

    #[test]
    fn random_bytes_never_panic() {
        let mut random = fastrand::Rng::with_seed(5);
        let words = [
            "Content-Length",
            ": ",
            "1",
            "9",
            "\r\n",
            "\n",
            "{}",
            "\u{e9}",
            "\"",
            "\0",
            "x: y",
        ];
        for round in 0..5_000 {
            let mut input = Vec::new();
            for _ in 0..random.usize(0..60) {
                match random.u8(0..8) {
                    0 => input.push(random.u8(..)),
                    _ => input.extend(random.choice(words).unwrap().bytes()),
                }
            }
            frames(&input, 1_000, round);
        }
    }
}
