//! The body of an answer of the formats that stream server-sent events, from servers that may not stream at all.

use serde_json::Value;

use super::broken::too_long;
use super::sse::{Event, Framer, MAX_EVENT, TooLong};
use super::{Decoder, ModelError, ModelEvent};

/// What an answer in one of these formats has said so far. Once it has failed or is complete, it says nothing more.
pub trait Reply: Send {
    /// What a whole body of the format begins with: braces or brackets.
    const WHOLE: &[u8] = b"{";

    /// The next event of the stream.
    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>);

    /// The body of a server that does not stream: its value, and its text.
    fn whole(&mut self, value: Value, text: &str, out: &mut Vec<ModelEvent>);

    /// The transport has closed: the event that comes now may have lost its end.
    fn at_end(&mut self);

    /// Nothing more comes. What is not complete by now is cut.
    fn close(&mut self, out: &mut Vec<ModelEvent>);

    fn fail(&mut self, error: ModelError, out: &mut Vec<ModelEvent>);

    /// What a body that is not of the format is told as.
    fn not_ours() -> ModelError;
}

/// The decoder of one answer.
#[derive(Clone, Default, PartialEq)]
pub struct Answer<R> {
    body: Body,
    reply: R,
}

impl<R: Reply> Decoder for Answer<R> {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) {
        let fits = self
            .body
            .feed(R::WHOLE, bytes, |it| self.reply.event(it, out));
        if let Err(TooLong) = fits {
            self.reply.fail(too_long(MAX_EVENT, "event"), out);
        }
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        self.reply.at_end();
        match std::mem::take(&mut self.body).end(|it| self.reply.event(it, out)) {
            Err(TooLong) => self.reply.fail(too_long(MAX_EVENT, "event"), out),
            Ok(None) => {}
            Ok(Some(body)) => match serde_json::from_slice(&body) {
                Ok(value) => self
                    .reply
                    .whole(value, &String::from_utf8_lossy(&body), out),
                Err(error) if error.is_eof() => {}
                Err(_) => self.reply.fail(R::not_ours(), out),
            },
        }
        self.reply.close(out);
    }
}

/// What kind of body it is, which its first character tells: no field of an event stream begins with a brace or
/// a bracket.
#[derive(Clone, Default, PartialEq)]
enum Body {
    #[default]
    Unknown,
    Stream(Framer),
    Whole(Vec<u8>),
}

impl Body {
    /// Takes the next bytes and hands out each event they complete. A whole body begins with one of `whole`.
    fn feed(
        &mut self,
        whole: &[u8],
        mut bytes: &[u8],
        each: impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        if let Body::Unknown = self {
            // White space and the byte order mark come before either kind.
            let blank = |it: &u8| it.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(it);
            let Some(start) = bytes.iter().position(|it| !blank(it)) else {
                return Ok(());
            };
            bytes = &bytes[start..];
            *self = match whole.contains(&bytes[0]) {
                true => Body::Whole(Vec::new()),
                false => Body::Stream(Framer::default()),
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
    fn end(self, each: impl FnMut(Event<'_>)) -> Result<Option<Vec<u8>>, TooLong> {
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
