//! The body of an answer of the formats that stream server-sent events, from servers that may not stream at all.

use super::sse::{Event, Framer, MAX_EVENT, TooLong};

/// What kind of body it is, which its first character tells: no field of an event stream begins with a brace.
#[derive(Clone, Default, PartialEq)]
pub enum Body {
    #[default]
    Unknown,
    Stream(Framer),
    Whole(Vec<u8>),
}

impl Body {
    /// Takes the next bytes and hands out each event they complete.
    pub fn feed(&mut self, mut bytes: &[u8], each: impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if let Body::Unknown = self {
            // White space and the byte order mark come before either kind.
            let blank = |it: &u8| it.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(it);
            let Some(start) = bytes.iter().position(|it| !blank(it)) else {
                return Ok(());
            };
            bytes = &bytes[start..];
            *self = match bytes[0] {
                b'{' => Body::Whole(Vec::new()),
                _ => Body::Stream(Framer::default()),
            };
        }
        match self {
            Body::Unknown => Ok(()),
            Body::Stream(framer) => framer.feed(bytes, each),
            Body::Whole(body) if body.len() + bytes.len() > MAX_EVENT => Err(TooLong),
            Body::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// The transport has closed: hands out the event it ended in, or gives the body of a server that does not stream.
    pub fn end(self, each: impl FnMut(Event<'_>)) -> Result<Option<Vec<u8>>, TooLong> {
        match self {
            Body::Unknown => Ok(None),
            Body::Stream(mut framer) => framer.finish(each).map(|()| None),
            Body::Whole(body) => Ok(Some(body)),
        }
    }
}

/// Whether an error says that its text, the last of a body, ends too early. What is skipped unread has no word of its own
/// for the end of the text: of `0.` it says that this is no number.
pub fn is_cut(error: &serde_json::Error, text: &str) -> bool {
    let is_at_end = || {
        let last = text.lines().last().unwrap_or_default();
        error.line() == text.lines().count() && error.column() >= last.len()
    };
    error.is_eof() || is_at_end()
}
