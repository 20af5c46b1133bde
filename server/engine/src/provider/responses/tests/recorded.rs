//! What recorded answers of real providers hold, and that the codec says it.

use serde_json::Value;

use super::ResponsesDecoder;
use crate::provider::recorded::{Recording, hold, recordings, values};
use crate::provider::responses::items;
use crate::provider::{ModelErrorKind, ModelEvent, StopReason};

const FOLDERS: &[&str] = &["openai/responses", "xai/responses"];

/// What the events say against the items as they are in the recording, read without the codec.
fn check(name: &str, output: &[Value], expected: &str, events: &[ModelEvent]) {
    let said =
        |pick: fn(&ModelEvent) -> Option<&str>| events.iter().filter_map(pick).collect::<String>();
    let text = said(|it| match it {
        ModelEvent::Text(text) => Some(text),
        _ => None,
    });
    assert_eq!(text, expected, "{name}");
    let thought = said(|it| match it {
        ModelEvent::Thought(text) => Some(text),
        _ => None,
    });
    let reasoning = output.iter().filter(|it| it["type"] == "reasoning");
    let thoughts: Vec<String> = reasoning
        .map(items::thought)
        .filter(|it| !it.is_empty())
        .collect();
    assert_eq!(thought, thoughts.join("\n\n"), "{name}");
    let calls: Vec<&str> = events
        .iter()
        .filter_map(|it| match it {
            ModelEvent::Call(call) => {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                assert!(arguments.is_object(), "{name}: {call:?}");
                Some(call.id.as_str())
            }
            _ => None,
        })
        .collect();
    let ours = output
        .iter()
        .filter(|it| it["type"] == "function_call" || it["type"] == "apply_patch_call");
    let ours: Vec<&str> = ours.map(|it| it["call_id"].as_str().unwrap()).collect();
    assert_eq!(calls, ours, "{name}");
    let raw = events.iter().find_map(|it| match it {
        ModelEvent::Raw(Value::Array(items)) => Some(items.len()),
        _ => None,
    });
    assert_eq!(raw.unwrap_or(0), output.len(), "{name}");
    assert!(
        events.iter().any(|it| matches!(it, ModelEvent::Usage(_))),
        "{name}"
    );
    let Some(ModelEvent::Ended(reason)) = events.last() else {
        panic!("{name}: {:?}", events.last())
    };
    assert_eq!(calls.is_empty(), *reason != StopReason::ToolCalls, "{name}");
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
fn answers(recording: &Recording) -> Vec<Vec<&str>> {
    let mut answers: Vec<Vec<&str>> = Vec::new();
    for line in recording.lines() {
        let payload: Value = serde_json::from_str(line).unwrap();
        if payload["type"] == "response.created" || answers.is_empty() {
            answers.push(Vec::new());
        }
        answers.last_mut().unwrap().push(line);
    }
    answers
}

#[test]
fn recorded_streams_say_what_their_items_say() {
    for recording in recordings(FOLDERS, ".chunks.txt") {
        for lines in answers(&recording) {
            check_stream(&recording.name, &lines);
        }
    }
}

fn check_stream(name: &str, lines: &[&str]) {
    let body: String = lines.iter().map(|it| format!("data: {it}\n\n")).collect();
    let payloads = values(lines);
    let events = hold::<ResponsesDecoder>(name, body.as_bytes());
    if name.contains("openai-error") {
        let Some(ModelEvent::Failed(error)) = events.last() else {
            panic!("{events:?}")
        };
        assert_eq!(error.kind, ModelErrorKind::Quota);
        return;
    }
    let output: Vec<Value> = payloads
        .iter()
        .filter(|it| it["type"] == "response.output_item.done")
        .map(|it| it["item"].clone())
        .collect();
    check(name, &output, &shown(&payloads), &events);
}

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for recording in recordings(FOLDERS, ".json") {
        let payload: Value = serde_json::from_str(&recording.text).unwrap();
        if let Some(output) = payload["output"].as_array() {
            let expected = items::all_said(output);
            let events = hold::<ResponsesDecoder>(&recording.name, recording.text.as_bytes());
            check(&recording.name, output, &expected, &events);
        }
    }
}
