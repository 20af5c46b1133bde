//! What recorded answers of real providers hold, and that the codec says it.

use serde_json::Value;

use super::ChatDecoder;
use crate::provider::recorded::{hold, recordings, values};
use crate::provider::{ModelEvent, StopReason};

const FOLDERS: &[&str] = &[
    "xai",
    "openai/chat",
    "openai-compatible/chat",
    "groq",
    "deepseek/chat",
    "mistral",
];

/// What the payloads' messages say under `field`, joined, read without the codec.
fn join(payloads: &[Value], place: &str, fields: &[&str]) -> String {
    let parts = payloads.iter().filter_map(|it| it["choices"].get(0));
    parts
        .filter_map(|it| fields.iter().find_map(|field| it[place][*field].as_str()))
        .collect()
}

fn check(name: &str, payloads: &[Value], place: &str, events: &[ModelEvent]) {
    let said =
        |pick: fn(&ModelEvent) -> Option<&str>| events.iter().filter_map(pick).collect::<String>();
    let text = said(|it| match it {
        ModelEvent::Text(text) => Some(text),
        _ => None,
    });
    let thought = said(|it| match it {
        ModelEvent::Thought(text) => Some(text),
        _ => None,
    });
    let n_calls = events
        .iter()
        .filter(|it| matches!(it, ModelEvent::Call(_)))
        .count();
    assert_eq!(text, join(payloads, place, &["content"]), "{}", name);
    assert_eq!(
        thought,
        join(payloads, place, &["reasoning_content", "reasoning"]),
        "{}",
        name
    );
    for event in events {
        if let ModelEvent::Call(call) = event {
            assert!(
                serde_json::from_str::<Value>(&call.arguments)
                    .unwrap()
                    .is_object(),
                "{}: {call:?}",
                name
            );
        }
    }
    let Some(ModelEvent::Ended(reason)) = events.last() else {
        panic!("{}: {:?}", name, events.last())
    };
    assert_eq!(
        n_calls > 0,
        *reason == StopReason::ToolCalls,
        "{}: {reason:?}",
        name
    );
    assert_eq!(n_calls > 0, name.contains("tool-call"), "{}", name);
    assert!(
        events.iter().any(|it| matches!(it, ModelEvent::Usage(_))) || name.ends_with(".sse"),
        "{}",
        name
    );
}

#[test]
fn recorded_streams_say_what_their_chunks_say() {
    let streams = recordings(FOLDERS, ".chunks.txt");
    for recording in streams.iter().chain(&recordings(FOLDERS, ".sse")) {
        let name = recording.name.as_str();
        let lines = recording.lines();
        let body: String = lines.iter().map(|it| format!("data: {it}\n\n")).collect();
        let events = hold::<ChatDecoder>(name, body.as_bytes());
        check(name, &values(&lines), "delta", &events);
    }
}

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for recording in recordings(FOLDERS, ".json") {
        let name = recording.name.as_str();
        let payload: Value = serde_json::from_str(&recording.text).unwrap();
        if payload["choices"].is_array() {
            let events = hold::<ChatDecoder>(name, recording.text.as_bytes());
            check(name, &[payload], "message", &events);
        }
    }
}
