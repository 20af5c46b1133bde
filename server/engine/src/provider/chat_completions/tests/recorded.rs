//! Recorded answers of real providers, where a folder of them stands beside the project.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads its recordings from files"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::decode;
use crate::provider::{ModelEvent, StopReason};

const FOLDERS: [&str; 6] = [
    "xai",
    "openai/chat",
    "openai-compatible/chat",
    "groq",
    "deepseek/chat",
    "mistral",
];

/// The recordings whose name ends with `suffix`, or nothing, with a word about it.
fn recordings(suffix: &str) -> Vec<PathBuf> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = root.join("../../../shared/fixtures/provider-streams");
    let folders = FOLDERS
        .iter()
        .filter_map(|it| fs::read_dir(root.join(it)).ok());
    let files = folders.flatten().map(|it| it.unwrap().path());
    let found: Vec<PathBuf> = files
        .filter(|it| it.to_string_lossy().ends_with(suffix))
        .collect();
    if found.is_empty() {
        eprintln!("skipped: no recordings in {}", root.display());
    }
    found
}

/// What the payloads' messages say under `field`, joined, read without the codec.
fn join(payloads: &[Value], place: &str, fields: &[&str]) -> String {
    let parts = payloads.iter().filter_map(|it| it["choices"].get(0));
    parts
        .filter_map(|it| fields.iter().find_map(|field| it[place][*field].as_str()))
        .collect()
}

fn check(path: &Path, payloads: &[Value], place: &str, events: &[ModelEvent]) {
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
    assert_eq!(
        text,
        join(payloads, place, &["content"]),
        "{}",
        path.display()
    );
    assert_eq!(
        thought,
        join(payloads, place, &["reasoning_content", "reasoning"]),
        "{}",
        path.display()
    );
    for event in events {
        if let ModelEvent::Call(call) = event {
            assert!(
                serde_json::from_str::<Value>(&call.arguments)
                    .unwrap()
                    .is_object(),
                "{}: {call:?}",
                path.display()
            );
        }
    }
    let Some(ModelEvent::Ended(reason)) = events.last() else {
        panic!("{}: {:?}", path.display(), events.last())
    };
    assert_eq!(
        n_calls > 0,
        *reason == StopReason::ToolCalls,
        "{}: {reason:?}",
        path.display()
    );
    assert_eq!(
        n_calls > 0,
        path.to_string_lossy().contains("tool-call"),
        "{}",
        path.display()
    );
    assert!(
        events.iter().any(|it| matches!(it, ModelEvent::Usage(_)))
            || path.extension().unwrap() == "sse",
        "{}",
        path.display()
    );
}

#[test]
fn recorded_streams_say_what_their_chunks_say() {
    for path in recordings(".chunks.txt")
        .into_iter()
        .chain(recordings(".sse"))
    {
        let lines = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = lines
            .lines()
            .map(|it| it.trim_start_matches("data: "))
            .collect();
        let lines = lines.into_iter().filter(|it| it.starts_with('{'));
        let payloads: Vec<Value> = lines
            .clone()
            .map(|it| serde_json::from_str(it).unwrap())
            .collect();
        let body: String = lines.map(|it| format!("data: {it}\n\n")).collect();

        let events = decode(std::iter::once(body.as_bytes()));
        check(&path, &payloads, "delta", &events);
        for size in [1, 7, 1000] {
            assert_eq!(
                decode(body.as_bytes().chunks(size)),
                events,
                "{} in pieces of {size}",
                path.display()
            );
        }
    }
}

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for path in recordings(".json") {
        let body = fs::read(&path).unwrap();
        let payload: Value = serde_json::from_slice(&body).unwrap();
        if payload["choices"].is_array() {
            check(&path, &[payload], "message", &decode(body.chunks(1000)));
        }
    }
}
