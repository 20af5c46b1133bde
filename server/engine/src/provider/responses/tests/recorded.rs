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
fn check(path: &Path, output: &[Value], expected: &str, events: &[ModelEvent]) {
    let path = path.display();
    let said =
        |pick: fn(&ModelEvent) -> Option<&str>| events.iter().filter_map(pick).collect::<String>();
    let text = said(|it| match it {
        ModelEvent::Text(text) => Some(text),
        _ => None,
    });
    assert_eq!(text, expected, "{path}");
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

/// What a stream shows: what its messages say, but for one whose deltas say another thing; those have been shown by then.
fn shown(payloads: &[Value]) -> String {
    let done = payloads
        .iter()
        .filter(|it| it["type"] == "response.output_item.done" && it["item"]["type"] == "message");
    let texts = done.map(|done| {
        let deltas = payloads.iter().filter(|it| {
            it["type"] == "response.output_text.delta" && it["output_index"] == done["output_index"]
        });
        let deltas: String = deltas.filter_map(|it| it["delta"].as_str()).collect();
        let said = items::said(&done["item"]);
        match said.starts_with(&deltas) {
            true => said,
            false => deltas,
        }
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The answers of a recording, each as its payloads: some hold two, one behind the other.
fn answers(path: &Path) -> Vec<Vec<String>> {
    let mut answers: Vec<Vec<String>> = Vec::new();
    let lines = fs::read_to_string(path).unwrap();
    for line in lines.lines().filter(|it| it.starts_with('{')) {
        let payload: Value = serde_json::from_str(line).unwrap();
        if payload["type"] == "response.created" || answers.is_empty() {
            answers.push(Vec::new());
        }
        answers.last_mut().unwrap().push(line.to_owned());
    }
    answers
}

#[test]
fn recorded_streams_say_what_their_items_say() {
    for path in recordings(".chunks.txt") {
        for lines in answers(&path) {
            check_stream(&path, &lines);
        }
    }
}

fn check_stream(path: &Path, lines: &[String]) {
    let body: String = lines.iter().map(|it| format!("data: {it}\n\n")).collect();
    let payloads: Vec<Value> = lines
        .iter()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
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
        check(path, &output, &shown(&payloads), &events);
    }
    for size in [1, 7, 1000] {
        let cut = decode(body.as_bytes().chunks(size));
        assert_eq!(cut, events, "{} in pieces of {size}", path.display());
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

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for path in recordings(".json") {
        let body = fs::read(&path).unwrap();
        let payload: Value = serde_json::from_slice(&body).unwrap();
        if let Some(output) = payload["output"].as_array() {
            let output = output.clone();
            let expected = items::all_said(&output);
            check(&path, &output, &expected, &decode(body.chunks(1000)));
        }
    }
}
