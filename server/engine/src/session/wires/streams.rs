//! The law of streams: whatever a server sends, an answer has one end, and says the same however the bytes arrive.
//!
//! Good answers are spoilt: fields get another type, null or go; events come twice, in another order or not at all; lines
//! end in other ways, with comments between; bytes are changed or lost.

use super::rules::House;
use super::speak;
use crate::provider::{ModelErrorKind, ModelEvent, Wire};
use crate::rounds::rounds;
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Another value in the place of one within.
fn spoil(value: &mut Value, rng: &mut Rng) {
    let n = match value {
        Value::Object(fields) => fields.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if n > 0 && rng.u8(0..5) > 0 {
        let at = rng.usize(0..n);
        match value {
            Value::Object(fields) => {
                if rng.u8(0..9) == 0 {
                    let key = fields.keys().nth(at).cloned().unwrap_or_default();
                    fields.remove(&key);
                } else if let Some(inner) = fields.values_mut().nth(at) {
                    spoil(inner, rng);
                }
            }
            Value::Array(items) => spoil(&mut items[at], rng),
            _ => {}
        }
        return;
    }
    let others = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("x\u{0}\u{2028}"),
        json!([]),
        json!([null, 3, "y", {}]),
        json!({}),
        json!({"type": "text", "text": {"a": 1}}),
    ];
    *value = others[rng.usize(0..others.len())].clone();
}

fn spoilt(wire: Wire, house: House, rng: &mut Rng) -> Vec<u8> {
    let nth = rng.u64(0..99);
    let whole = String::from_utf8(speak::answer(wire, house, rng, nth)).expect("it is text");
    let (between, start) = match wire {
        Wire::Ollama => ("\n", ""),
        _ => ("\n\n", "data: "),
    };
    let mut events: Vec<String> = whole.split_terminator(between).map(str::to_owned).collect();
    for _ in 0..rng.usize(0..4) {
        if events.is_empty() {
            break;
        }
        let at = rng.usize(0..events.len());
        match rng.u8(0..12) {
            0 => drop(events.remove(at)),
            1 => events.insert(at, events[rng.usize(0..events.len())].clone()),
            2 => {
                let with = rng.usize(0..events.len());
                events.swap(at, with);
            }
            3 if wire != Wire::Ollama => events.insert(at, ": a comment".to_owned()),
            4 => {
                // In the middle of a character, too.
                let mut bytes = events[at].clone().into_bytes();
                if !bytes.is_empty() {
                    let place = rng.usize(0..bytes.len());
                    bytes[place] = rng.u8(b' '..b'~');
                }
                events[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => {
                let data = events[at].strip_prefix(start).unwrap_or_default();
                if let Ok(mut value) = serde_json::from_str::<Value>(data) {
                    spoil(&mut value, rng);
                    events[at] = format!("{start}{value}");
                }
            }
        }
    }
    let between = match (wire, rng.u8(0..4)) {
        (Wire::Ollama, 0) => "\r\n",
        (Wire::Ollama, _) => "\n",
        (_, 0) => "\r\n\r\n",
        (_, 1) => "\r\r",
        (_, _) => "\n\n",
    };
    let mut bytes: Vec<u8> = match rng.u8(0..6) {
        0 => b"\xEF\xBB\xBF".to_vec(),
        _ => Vec::new(),
    };
    for event in events {
        bytes.extend_from_slice(event.as_bytes());
        bytes.extend_from_slice(between.as_bytes());
    }
    if rng.u8(0..6) == 0 {
        bytes.truncate(rng.usize(0..=bytes.len()));
    }
    bytes
}

/// What a decoder makes of bytes in pieces of at most so many.
fn read(wire: Wire, bytes: &[u8], most: usize, rng: &mut Rng) -> Vec<ModelEvent> {
    let mut decoder = wire.provider().decoder();
    let mut events = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rng.usize(1..=most.min(rest.len())));
        decoder.feed(piece, &mut events);
        rest = behind;
    }
    decoder.end(&mut events);
    // A server or a host that goes on behind the end.
    decoder.feed(bytes, &mut events);
    decoder.end(&mut events);
    events
}

/// An answer has one end, and each thing in it that may be there once is.
fn holds(events: &[ModelEvent]) -> Result<(), String> {
    let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    let (mut ids, mut n_raw, mut n_usage) = (HashSet::new(), 0, 0);
    for (at, event) in events.iter().enumerate() {
        let is_last = at + 1 == events.len();
        match event {
            ModelEvent::Text(text) | ModelEvent::Thought(text) => {
                must(!text.is_empty(), "an empty piece")?;
            }
            ModelEvent::Call(call) => {
                must(!call.id.is_empty(), "a call without an id")?;
                must(ids.insert(call.id.clone()), "two calls with one id")?;
            }
            ModelEvent::Usage(_) => {
                n_usage += 1;
                must(at + 2 == events.len(), "usage comes right before the end")?;
            }
            ModelEvent::Raw(_) => n_raw += 1,
            ModelEvent::Ended(_) => must(is_last, "something behind the end")?,
            ModelEvent::Failed(error) => {
                must(is_last, "something behind the failure")?;
                must(!error.message.is_empty(), "an error without a word")?;
            }
        }
    }
    must(n_raw <= 1 && n_usage <= 1, "what may come once came twice")?;
    let has_end = matches!(
        events.last(),
        Some(ModelEvent::Ended(_) | ModelEvent::Failed(_))
    );
    must(has_end, "no end")
}

#[test]
fn whatever_a_server_sends_an_answer_has_one_end_and_cuts_change_nothing() {
    let formats = [
        (Wire::Messages, House::Plain),
        (Wire::Responses, House::Plain),
        (Wire::ChatCompletions, House::Plain),
        (Wire::GenerateContent, House::Signed),
        (Wire::Ollama, House::Plain),
    ];
    let mut n_ended = 0;
    let mut n_failed = 0;
    for (_, mut rng) in rounds(0, 600) {
        for (wire, house) in formats {
            let bytes = spoilt(wire, house, &mut rng);
            let whole = read(wire, &bytes, usize::MAX, &mut rng);
            let show = || String::from_utf8_lossy(&bytes).into_owned();
            if let Err(fault) = holds(&whole) {
                panic!("{wire:?}: {fault}\n{}\n{whole:#?}", show());
            }
            match whole.last() {
                Some(ModelEvent::Ended(_)) => n_ended += 1,
                _ => n_failed += 1,
            }
            for most in [1, 7] {
                let cut = read(wire, &bytes, most, &mut rng);
                assert_eq!(cut, whole, "{wire:?}, in pieces of {most}:\n{}", show());
            }
        }
    }
    assert!(
        n_ended > 500 && n_failed > 500,
        "{n_ended} ended, {n_failed} failed"
    );
}

#[test]
fn an_answer_that_the_transport_cuts_anywhere_is_cut_and_no_other_fault() {
    let formats = [
        Wire::Messages,
        Wire::Responses,
        Wire::ChatCompletions,
        Wire::GenerateContent,
        Wire::Ollama,
    ];
    for (_, mut rng) in rounds(0, 100) {
        for wire in formats {
            let mut bytes = speak::answer(wire, House::Plain, &mut rng, 1);
            bytes.truncate(rng.usize(0..=bytes.len()));
            let events = read(wire, &bytes, usize::MAX, &mut Rng::with_seed(0));
            let fault = match events.last() {
                Some(ModelEvent::Failed(error)) => Some(error.kind),
                _ => None,
            };
            let expected = [
                None,
                Some(ModelErrorKind::Cut),
                Some(ModelErrorKind::Overloaded),
            ];
            let text = String::from_utf8_lossy(&bytes);
            assert!(expected.contains(&fault), "{wire:?}: {fault:?}\n{text}");
        }
    }
}
