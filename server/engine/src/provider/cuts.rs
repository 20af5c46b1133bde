//! The law of every decoder, for tests: however a body is cut in two, it says the same; and where it ends before its
//! answer does, that is an error behind what had arrived, and never an answer.
//!
//! Every byte of a long recording is tried at a price that grows with its length and not with the square of it: a cut
//! within a line is decided by the state before that line and the one behind it, so only the line is read again. That
//! the states are the same means that all which follows is.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Decoder, ModelErrorKind, ModelEvent};

/// What a format says of an answer's end.
const ENDS: &[&str] = &[
    r#""finish_reason":""#,
    r#""finishReason":""#,
    r#""blockReason":""#,
    "message_stop",
    "response.completed",
    "response.incomplete",
    "response.done",
    r#""done":true"#,
    "[DONE]",
];

/// A decoder whose state can be kept and compared.
pub trait Steady: Decoder + Clone + Default + PartialEq {}

impl<D: Decoder + Clone + Default + PartialEq> Steady for D {}

/// Decodes `pieces` as they come. Texts that follow each other are kept apart: the law is about single events.
pub fn decode<'a, D: Steady>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<ModelEvent> {
    let mut decoder = D::default();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut events);
    }
    decoder.end(&mut events);
    events
}

/// Holds the law at every byte of `body`; answers what it says whole.
pub fn everywhere<D: Steady>(body: &[u8]) -> Vec<ModelEvent> {
    every::<D>(1, body)
}

/// As [`everywhere`], at every `step`th byte and at both ends of each line.
pub fn every<D: Steady>(step: usize, body: &[u8]) -> Vec<ModelEvent> {
    let whole = decode::<D>([body]);
    assert_one_end(&whole);
    for size in [1, 7, 1000] {
        let cut = decode::<D>(body.chunks(size));
        assert_same(&cut, &whole, &format_args!("in pieces of {size}"));
    }
    let mut told = Told::new(&whole, body);
    let mut before = D::default();
    let mut said = Vec::new();
    let (mut begin, mut next) = (0, 0);
    for line in body.split_inclusive(|it| *it == b'\n') {
        let mut behind = before.clone();
        let mut events = Vec::new();
        behind.feed(line, &mut events);
        let end = begin + line.len();
        if step == 1 {
            // Many lines in one piece, and the rest in another.
            let (head, tail) = body.split_at(begin);
            let cut = decode::<D>([head, tail]);
            assert_same(&cut, &whole, &format_args!("cut at byte {begin}"));
        }
        while next < end {
            let (head, tail) = line.split_at(next - begin);
            let mut cut = before.clone();
            let mut pieces = Vec::new();
            cut.feed(head, &mut pieces);
            told.check_end(cut.clone(), &pieces, next);
            cut.feed(tail, &mut pieces);
            assert_same(&pieces, &events, &format_args!("cut at byte {next}"));
            assert!(cut == behind, "cut at byte {next}: what it knows differs");
            let last = end - 1;
            next = match next < last {
                true => (next + step).min(last),
                false => end,
            };
        }
        told.take(&events);
        said.append(&mut events);
        (before, begin) = (behind, end);
    }
    told.check_end(before.clone(), &[], body.len());
    before.end(&mut said);
    assert_same(&said, &whole, &"line by line");
    whole
}

/// Every answer has one last event, and nothing behind it.
pub fn assert_one_end(events: &[ModelEvent]) {
    assert_eq!(
        events.iter().position(is_last),
        events.len().checked_sub(1),
        "one last event: {events:?}"
    );
}

/// Whether nothing comes behind it.
pub fn is_last(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::Ended(_) | ModelEvent::Failed(_))
}

fn assert_same(got: &[ModelEvent], whole: &[ModelEvent], how: &dyn std::fmt::Display) {
    let same = got.iter().zip(whole).take_while(|(a, b)| a == b).count();
    if same < got.len().max(whole.len()) {
        let (got, whole) = (got.get(same), whole.get(same));
        panic!("{how}, event {same} is {got:?}, and whole {whole:?}");
    }
}

/// What was said up to a place, beside what is said in all.
struct Told<'a> {
    whole: &'a [ModelEvent],
    all: Said,
    so_far: Said,
    is_over: bool,
    /// Before this byte nothing says that the answer ends.
    end_said: usize,
}

/// What cannot be taken back.
#[derive(Default)]
struct Said {
    text: String,
    thought: String,
    calls: String,
}

impl Said {
    fn take(&mut self, events: &[ModelEvent]) {
        for event in events {
            match event {
                ModelEvent::Text(text) => self.text += text,
                ModelEvent::Thought(thought) => self.thought += thought,
                ModelEvent::Call(call) => writeln!(self.calls, "{call:?}").unwrap(),
                ModelEvent::Usage(_)
                | ModelEvent::Raw(_)
                | ModelEvent::Ended(_)
                | ModelEvent::Failed(_) => {}
            }
        }
    }
}

impl<'a> Told<'a> {
    fn new(whole: &'a [ModelEvent], body: &[u8]) -> Told<'a> {
        let mut all = Said::default();
        all.take(whole);
        let text = String::from_utf8_lossy(body);
        let is_value = text.trim_start().starts_with(['{', '[']);
        let ends = ENDS.iter().filter_map(|it| text.find(it));
        let end_said = match is_value && serde_json::from_str::<Value>(&text).is_ok() {
            true => text.trim_end().len(),
            false => ends.min().unwrap_or(text.len()),
        };
        Told {
            whole,
            all,
            so_far: Said::default(),
            is_over: false,
            end_said,
        }
    }

    fn take(&mut self, events: &[ModelEvent]) {
        self.so_far.take(events);
        self.is_over |= events.iter().any(is_last);
    }

    /// The body ends at `at`, where `decoder` has said `pieces` since the last line.
    fn check_end(&self, mut decoder: impl Decoder, pieces: &[ModelEvent], at: usize) {
        let mut events = pieces.to_vec();
        decoder.end(&mut events);
        if self.is_over {
            assert!(
                events.is_empty(),
                "cut off at {at}, after its end: {events:?}"
            );
            return;
        }
        assert_one_end(&events);
        let mut more = Said::default();
        more.take(&events);
        for (all, so_far, more) in [
            (&self.all.text, &self.so_far.text, &more.text),
            (&self.all.thought, &self.so_far.thought, &more.thought),
            (&self.all.calls, &self.so_far.calls, &more.calls),
        ] {
            let rest = &all[so_far.len()..];
            assert!(
                rest.starts_with(more.as_str()),
                "cut off at {at}, it goes on with {more:?} and not with {rest:?}"
            );
        }
        match (events.last(), self.whole.last()) {
            (Some(ModelEvent::Failed(error)), _) if error.kind == ModelErrorKind::Cut => {}
            (Some(ModelEvent::Failed(error)), Some(ModelEvent::Failed(whole)))
                if error == whole => {}
            // It had said by then that it ends, if not everything about it.
            (Some(ModelEvent::Ended(_)), Some(ModelEvent::Ended(_))) if at >= self.end_said => {}
            (end, whole) => panic!("cut off at {at}, it ends with {end:?}, and whole {whole:?}"),
        }
    }
}
