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
use crate::provider::responses::items;
use crate::provider::{ModelErrorKind, ModelEvent, StopReason};

const FOLDERS: [&str; 2] = ["openai/responses", "xai/responses"];

/// The recordings whose name ends with `suffix`, or nothing, with a word about it.
fn recordings(suffix: &str) -> Vec<PathBuf> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = root.join("../../../shared/fixtures/provider-streams");
    let folders = FOLDERS
        .iter()
        .filter_map(|it| fs::read_dir(root.join(it)).ok());
    let files = folders.flatten().map(|it| it.unwrap().path());
    let mut found: Vec<PathBuf> = files
        .filter(|it| it.to_string_lossy().ends_with(suffix))
        .collect();
    found.sort();
    if found.is_empty() {
        eprintln!("skipped: no recordings in {}", root.display());
    }
    found
}

/// What the events say against the items as they are in the recording, read without the codec.
fn check(path: &Path, output: &[Value], events: &[ModelEvent]) {
    let path = path.display();
    let said =
        |pick: fn(&ModelEvent) -> Option<&str>| events.iter().filter_map(pick).collect::<String>();
    let text = said(|it| match it {
        ModelEvent::Text(text) => Some(text),
        _ => None,
    });
    assert_eq!(text, items::all_said(output), "{path}");
    let thought = said(|it| match it {
        ModelEvent::Thought(text) => Some(text),
        _ => None,
    });
    let reasoning = output.iter().filter(|it| it["type"] == "reasoning");
    let thoughts: Vec<String> = reasoning
        .map(items::thought)
        .filter(|it| !it.is_empty())
        .collect();
    assert_eq!(thought, thoughts.join("\n\n"), "{path}");
    let calls: Vec<&str> = events
        .iter()
        .filter_map(|it| match it {
            ModelEvent::Call(call) => {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                assert!(arguments.is_object(), "{path}: {call:?}");
                Some(call.id.as_str())
            }
            _ => None,
        })
        .collect();
    let ours = output
        .iter()
        .filter(|it| it["type"] == "function_call" || it["type"] == "apply_patch_call");
    let ours: Vec<&str> = ours.map(|it| it["call_id"].as_str().unwrap()).collect();
    assert_eq!(calls, ours, "{path}");
    let raw = events.iter().find_map(|it| match it {
        ModelEvent::Raw(Value::Array(items)) => Some(items.len()),
        _ => None,
    });
    assert_eq!(raw.unwrap_or(0), output.len(), "{path}");
    assert!(
        events.iter().any(|it| matches!(it, ModelEvent::Usage(_))),
        "{path}"
    );
    let Some(ModelEvent::Ended(reason)) = events.last() else {
        panic!("{path}: {:?}", events.last())
    };
    assert_eq!(calls.is_empty(), *reason != StopReason::ToolCalls, "{path}");
}

#[test]
fn recorded_streams_say_what_their_items_say() {
    for path in recordings(".chunks.txt") {
        let lines = fs::read_to_string(&path).unwrap();
        let lines = lines.lines().filter(|it| it.starts_with('{'));
        let body: String = lines.clone().map(|it| format!("data: {it}\n\n")).collect();
        let payloads: Vec<Value> = lines.map(|it| serde_json::from_str(it).unwrap()).collect();
        let events = decode(std::iter::once(body.as_bytes()));
        if path.to_string_lossy().contains("openai-error") {
            let Some(ModelEvent::Failed(error)) = events.last() else {
                panic!("{events:?}")
            };
            assert_eq!(error.kind, ModelErrorKind::Quota);
        } else {
            let output: Vec<Value> = payloads
                .iter()
                .filter(|it| it["type"] == "response.output_item.done")
                .map(|it| it["item"].clone())
                .collect();
            check(&path, &output, &events);
        }
        for size in [1, 7, 1000] {
            assert_eq!(
                decode(body.as_bytes().chunks(size)),
                events,
                "{} in pieces of {size}",
                path.display()
            );
        }
        // Cut off anywhere, it is an error or the same, and never an answer without its end.
        let step = (body.len() / 20).max(1);
        for at in (0..body.len()).step_by(step) {
            let cut = decode(std::iter::once(&body.as_bytes()[..at]));
            assert!(
                matches!(cut.last(), Some(ModelEvent::Failed(_))) || cut == events,
                "{} cut off at {at}: {:?}",
                path.display(),
                cut.last()
            );
        }
    }
}

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for path in recordings(".json") {
        let body = fs::read(&path).unwrap();
        let payload: Value = serde_json::from_slice(&body).unwrap();
        if let Some(output) = payload["output"].as_array() {
            let output = output.clone();
            check(&path, &output, &decode(body.chunks(1000)));
        }
    }
}
