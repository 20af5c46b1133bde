//! Recorded answers of the real provider, where a folder of them stands beside the project.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads its recordings from files"
)]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{assert_one_end, decode};
use crate::provider::{ModelErrorKind, ModelEvent, StopReason};
use crate::redact::redact_strings;

/// The recordings' names and their payloads, or nothing, with a word about it.
fn recordings() -> Vec<(String, Vec<Value>)> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let folder = root.join("../../../shared/fixtures/provider-streams/google");
    let files = fs::read_dir(&folder).into_iter().flatten();
    let files = files.map(|it| it.unwrap().path());
    let found: Vec<(String, Vec<Value>)> = files
        .filter(|it| it.to_string_lossy().ends_with(".chunks.txt"))
        .map(|it| {
            let text = fs::read_to_string(&it).unwrap();
            let lines = text.lines().filter(|it| it.starts_with('{'));
            let payloads = lines.map(|it| serde_json::from_str(it).unwrap());
            (it.display().to_string(), payloads.collect())
        })
        .collect();
    if found.is_empty() {
        eprintln!("skipped: no recordings in {}", folder.display());
    }
    found
}

fn body_of(payloads: &[Value]) -> String {
    let events = payloads.iter().map(|it| format!("data: {it}\n\n"));
    events.collect()
}

/// The parts of a recording, read without the codec.
fn parts(payloads: &[Value]) -> Vec<&Value> {
    let lists = payloads
        .iter()
        .filter_map(|it| it["candidates"][0]["content"]["parts"].as_array());
    lists.flatten().collect()
}

fn joined(parts: &[&Value], is_thought: bool) -> String {
    let parts = parts
        .iter()
        .filter(|it| it["thought"].as_bool().unwrap_or(false) == is_thought);
    parts.filter_map(|it| it["text"].as_str()).collect()
}

fn signatures<'a>(parts: impl IntoIterator<Item = &'a Value>) -> Vec<&'a Value> {
    let parts = parts.into_iter();
    parts.filter_map(|it| it.get("thoughtSignature")).collect()
}

#[test]
fn recorded_streams_say_what_their_chunks_say() {
    for (name, payloads) in recordings() {
        let body = body_of(&payloads);
        let events = decode(std::iter::once(body.as_bytes()));
        assert_one_end(&events);
        let (mut text, mut thought, mut calls, mut raw) = (String::new(), String::new(), 0, None);
        for event in &events {
            match event {
                ModelEvent::Text(it) => text += it,
                ModelEvent::Thought(it) => thought += it,
                ModelEvent::Call(call) => {
                    calls += 1;
                    let arguments = call.arguments.as_str();
                    let arguments: Value = serde_json::from_str(if arguments.is_empty() {
                        "{}"
                    } else {
                        arguments
                    })
                    .unwrap();
                    assert!(arguments.is_object(), "{name}: {call:?}");
                }
                ModelEvent::Raw(it) => raw = Some(it),
                ModelEvent::Usage(_) | ModelEvent::Ended(_) | ModelEvent::Failed(_) => {}
            }
        }
        let theirs = parts(&payloads);
        assert_eq!(text, joined(&theirs, false), "{name}");
        assert_eq!(thought, joined(&theirs, true), "{name}");
        let n_begun = theirs
            .iter()
            .filter(|it| it["functionCall"]["name"].is_string());
        assert_eq!(calls, n_begun.count(), "{name}");
        let reason = match calls {
            0 => StopReason::EndTurn,
            _ => StopReason::ToolCalls,
        };
        assert_eq!(events.last(), Some(&ModelEvent::Ended(reason)), "{name}");
        assert!(
            events.iter().any(|it| matches!(it, ModelEvent::Usage(_))),
            "{name}"
        );
        // Every signature stays, in its order and on a part of its kind.
        let raw = raw.unwrap_or_else(|| panic!("{name}: nothing is kept"));
        let kept = raw["parts"].as_array().unwrap();
        assert_eq!(
            signatures(kept),
            signatures(theirs.iter().copied()),
            "{name}"
        );
        // And the log does not take one for a secret.
        let mut logged = raw.clone();
        redact_strings(&mut logged);
        assert_eq!(
            signatures(logged["parts"].as_array().unwrap()),
            signatures(kept),
            "{name}"
        );
    }
}

#[test]
fn recorded_streams_say_the_same_however_they_are_cut() {
    for (name, payloads) in recordings() {
        // Signatures are long, and one byte of them is like the next: shortened, every cut can be tried.
        let mut payloads = payloads;
        shorten(&mut payloads);
        let body = body_of(&payloads);
        let body = body.as_bytes();
        let events = decode(std::iter::once(body));
        let step = 1 + body.len() / 8_000;
        for at in (0..=body.len()).step_by(step) {
            let (head, tail) = body.split_at(at);
            assert_eq!(
                decode([head, tail].into_iter()),
                events,
                "{name} cut at {at}"
            );
        }
        assert_eq!(decode(body.chunks(1)), events, "{name} byte by byte");
    }
}

#[test]
fn bug_073_a_recorded_stream_that_ends_early_is_cut_and_never_an_answer() {
    for (name, mut payloads) in recordings() {
        shorten(&mut payloads);
        let body = body_of(&payloads);
        let end = body.rfind("finishReason").unwrap();
        for at in (0..end).step_by(1 + end / 2_000) {
            let events = decode(std::iter::once(&body.as_bytes()[..at]));
            assert_one_end(&events);
            let Some(ModelEvent::Failed(error)) = events.last() else {
                panic!("{name}, its first {at} bytes: {events:?}")
            };
            assert_eq!(
                error.kind,
                ModelErrorKind::Cut,
                "{name}, its first {at} bytes"
            );
        }
    }
}

fn shorten(payloads: &mut [Value]) {
    for payload in payloads {
        let parts = payload.pointer_mut("/candidates/0/content/parts");
        for part in parts.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(signature) = part.get_mut("thoughtSignature") {
                *signature = json!("signed");
            }
        }
    }
}
