//! What recorded answers of the real provider hold, and that the codec says it.

use serde_json::Value;

use super::GeminiDecoder;
use crate::provider::recorded::{hold, recordings, values};
use crate::provider::{ModelEvent, StopReason};
use crate::redact::redact_strings;

const FOLDERS: &[&str] = &["google"];

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
    for recording in recordings(FOLDERS, ".chunks.txt") {
        let payloads = values(&recording.lines());
        check(&recording.name, &payloads, &body_of(&payloads));
    }
}

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for recording in recordings(FOLDERS, ".json") {
        let payload = serde_json::from_str(&recording.text).unwrap();
        check(&recording.name, &[payload], &recording.text);
    }
}

fn check(name: &str, payloads: &[Value], body: &str) {
    let events = hold::<GeminiDecoder>(name, body.as_bytes());
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
    let theirs = parts(payloads);
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
