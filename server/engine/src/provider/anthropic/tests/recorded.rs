//! What recorded answers of the real provider hold, and that the codec says it.

use serde_json::Value;

use super::{MessagesDecoder, frame};
use crate::provider::recorded::{hold, recordings, values};
use crate::provider::{ModelEvent, StopReason};
use crate::redact::redact_strings;

const FOLDERS: &[&str] = &["anthropic"];

/// What an answer says, read without the codec.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    thought: String,
    /// Names and inputs.
    calls: Vec<(String, Value)>,
    kinds: Vec<String>,
    output: u64,
}

fn packed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn of_blocks(blocks: &[Value], said: &mut Said) {
    for block in blocks {
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str().unwrap() {
            "text" => said.text += &text("text"),
            "thinking" => said.thought += &text("thinking"),
            "tool_use" => said.calls.push((text("name"), block["input"].clone())),
            _ => {}
        }
        let is_blank = block["type"] == "text" && text("text").trim().is_empty();
        if !is_blank {
            said.kinds.push(text("type"));
        }
    }
}

fn of_stream(payloads: &[Value]) -> Said {
    let mut said = Said::default();
    let mut blocks: Vec<Value> = Vec::new();
    let mut json = String::new();
    for payload in payloads {
        let delta = &payload["delta"];
        match payload["type"].as_str().unwrap() {
            "message_start" => blocks.clear(),
            "content_block_start" => {
                blocks.push(payload["content_block"].clone());
                json.clear();
            }
            "content_block_delta" => {
                let block = blocks.last_mut().unwrap();
                for (of, to) in [("text", "text"), ("thinking", "thinking")] {
                    if let Some(piece) = delta[of].as_str() {
                        let before = block[to].as_str().unwrap_or_default();
                        block[to] = Value::from(format!("{before}{piece}"));
                    }
                }
                json += delta["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" if !json.is_empty() => {
                blocks.last_mut().unwrap()["input"] = serde_json::from_str(&json).unwrap();
            }
            "message_delta" => said.output = payload["usage"]["output_tokens"].as_u64().unwrap(),
            _ => {}
        }
        if let Some(content) = payload["message"]["content"].as_array() {
            blocks.extend(content.iter().cloned());
            if let Some(n) = payload["message"]["usage"]["output_tokens"].as_u64() {
                said.output = n;
            }
        }
    }
    of_blocks(&blocks, &mut said);
    said
}

fn of_events(events: &[ModelEvent]) -> Said {
    let mut said = Said::default();
    for event in events {
        match event {
            ModelEvent::Text(text) => said.text += text,
            ModelEvent::Thought(thought) => said.thought += thought,
            ModelEvent::Call(call) => {
                let input = match call.arguments.as_str() {
                    "" => serde_json::json!({}),
                    text => serde_json::from_str(text).unwrap(),
                };
                said.calls.push((call.name.clone(), input));
            }
            ModelEvent::Usage(usage) => said.output = usage.output + usage.reasoning,
            ModelEvent::Raw(raw) => {
                let kind = |it: &Value| it["type"].as_str().unwrap().to_owned();
                said.kinds = raw.as_array().unwrap().iter().map(kind).collect();
            }
            ModelEvent::Ended(_) | ModelEvent::Failed(_) => {}
        }
    }
    said
}

/// Whatever looks like a secret to the log, what the provider has signed stays.
fn check_signed(events: &[ModelEvent], name: &str) {
    for event in events {
        let ModelEvent::Raw(raw) = event else {
            continue;
        };
        let mut kept = raw.clone();
        redact_strings(&mut kept);
        for (before, after) in std::iter::zip(raw.as_array().unwrap(), kept.as_array().unwrap()) {
            for field in ["signature", "data", "encrypted_content"] {
                assert_eq!(before.get(field), after.get(field), "{name}");
            }
        }
    }
}

#[test]
fn recorded_streams_say_what_their_events_say_however_they_are_cut() {
    for recording in recordings(FOLDERS, ".chunks.txt") {
        let name = recording.name.as_str();
        // Some files have several answers, one behind the other.
        let lines = recording.lines();
        for lines in lines.split_inclusive(|it| it.contains(r#""type":"message_stop""#)) {
            let payloads = values(lines);
            let body = frame(lines.iter().copied());
            let events = hold::<MessagesDecoder>(name, body.as_bytes());
            assert!(
                matches!(events.last(), Some(ModelEvent::Ended(_))),
                "{name}: {events:?}"
            );
            let (mut got, mut expected) = (of_events(&events), of_stream(&payloads));
            if events.last() == Some(&ModelEvent::Ended(StopReason::Refusal)) {
                assert!(got.text.contains("blocked under"), "{name}");
                expected.text.clone_from(&got.text);
                expected.kinds.clone_from(&got.kinds);
            }
            if name.contains("spliced") {
                // The thought of the answer that was lost was told by then.
                expected.thought = format!("I will call the tool.{}", expected.thought);
            }
            for said in [&mut got, &mut expected] {
                said.text = packed(&said.text);
                said.thought = packed(&said.thought);
            }
            assert_eq!(got, expected, "{name}");
            check_signed(&events, name);
        }
    }
}

#[test]
fn recorded_whole_answers_say_what_they_say() {
    for recording in recordings(FOLDERS, ".json") {
        let name = recording.name.as_str();
        let message: Value = serde_json::from_str(&recording.text).unwrap();
        let events = hold::<MessagesDecoder>(name, recording.text.as_bytes());
        assert!(
            matches!(events.last(), Some(ModelEvent::Ended(_))),
            "{name}: {events:?}"
        );
        let mut expected = Said {
            output: message["usage"]["output_tokens"].as_u64().unwrap(),
            ..Said::default()
        };
        of_blocks(message["content"].as_array().unwrap(), &mut expected);
        let mut got = of_events(&events);
        if events.last() == Some(&ModelEvent::Ended(StopReason::Refusal)) {
            assert!(got.text.contains("blocked under"), "{name}");
            expected.text.clone_from(&got.text);
            expected.kinds.clone_from(&got.kinds);
        }
        for said in [&mut got, &mut expected] {
            said.text = packed(&said.text);
            said.thought = packed(&said.thought);
        }
        assert_eq!(got, expected, "{name}");
        check_signed(&events, name);
    }
}
