//! The law of the cache: a request begins as the one before it did, but for the marks, which move on.

use serde_json::{Value, json};

use super::{asked, tool};
use crate::provider::{Content, Feature, Message, ModelRequest, NativeTool, ToolCall, ToolResult};

/// Takes the marks out of a body, and counts them.
fn without_marks(value: &mut Value) -> usize {
    match value {
        Value::Array(items) => items.iter_mut().map(without_marks).sum(),
        Value::Object(fields) => {
            let n = usize::from(fields.shift_remove("cache_control").is_some());
            n + fields.values_mut().map(without_marks).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn user(text: String) -> Message {
    Message::User(vec![Content::Text(text)])
}

/// The messages of a session of so many turns, each with two answers, the first of which calls a tool.
fn session(n_turns: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    for turn in 0..n_turns {
        let id = format!("toolu_{turn}");
        messages.push(user(format!("Turn {turn}")));
        messages.push(Message::Assistant {
            text: "I look.".to_owned(),
            thought: "Hm".to_owned(),
            calls: vec![ToolCall {
                id: id.clone(),
                name: "list".to_owned(),
                arguments: format!("{{ \"n\": {turn}.0 }}"),
                native: None,
            }],
            raw: (turn % 2 == 0).then(|| {
                json!([
                    {"type": "thinking", "thinking": "Hm", "signature": format!("sig{turn}")},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": id, "name": "list"},
                ])
            }),
        });
        messages.push(Message::Results(vec![ToolResult {
            id,
            text: "one".to_owned(),
            is_error: turn % 3 == 0,
            images: Vec::new(),
        }]));
        messages.push(Message::Assistant {
            text: "Done.".to_owned(),
            thought: String::new(),
            calls: Vec::new(),
            raw: None,
        });
    }
    messages
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "claude".to_owned(),
        system: "Be brief.".to_owned(),
        tools: vec![tool("list"), tool("execute_command")],
        natives: vec![NativeTool::Bash],
        messages,
        ..ModelRequest::default()
    }
}

#[test]
fn each_request_begins_with_the_bytes_of_the_one_before() {
    let all = session(6);
    // A model is asked behind a prompt and behind results.
    let asked_at = (0..all.len()).filter(|it| it % 2 == 0);
    let bodies: Vec<(String, usize, Value)> = asked_at
        .map(|it| {
            let body = asked(&request(all[..=it].to_vec())).body;
            let mut body: Value = serde_json::from_slice(&body).unwrap();
            let marked = body.clone();
            let n_marks = without_marks(&mut body);
            (body.to_string(), n_marks, marked)
        })
        .collect();
    for pair in bodies.windows(2) {
        let [(before, _, _), (after, n_marks, marked)] = pair else {
            unreachable!("windows of two")
        };
        // Up to the brackets that close the messages and the body.
        let prefix = before.strip_suffix("]}").unwrap();
        assert!(after.starts_with(prefix), "{before}\n{after}");
        assert_eq!(*n_marks, 4);
        assert!(marked["tools"][1].get("cache_control").is_none());
        assert_eq!(marked["tools"][2]["cache_control"]["type"], "ephemeral");
        assert_eq!(marked["system"][0]["cache_control"]["type"], "ephemeral");
        // The last words, and where the request before this one ended.
        let of_person: Vec<&Value> = marked["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["role"] == "user")
            .collect();
        for (behind, it) in of_person.iter().rev().enumerate() {
            let last = it["content"].as_array().unwrap().last().unwrap();
            assert_eq!(last.get("cache_control").is_some(), behind < 2, "{it}");
        }
    }
}

#[test]
fn the_bytes_of_tools_and_system_never_change() {
    let all = session(4);
    let heads: Vec<String> = [1, 5, 13]
        .into_iter()
        .map(|it| {
            let body = String::from_utf8(asked(&request(all[..it].to_vec())).body).unwrap();
            body.split_once(r#""messages":["#).unwrap().0.to_owned()
        })
        .collect();
    assert!(heads.windows(2).all(|it| it[0] == it[1]), "{heads:#?}");
    assert!(heads[0].contains(
        r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]"#
    ));
}

#[test]
fn a_model_without_a_cache_gets_no_marks() {
    let mut request = request(session(2)[..3].to_vec());
    request.learned.refused.insert(Feature::CacheMarkers);
    let body = String::from_utf8(asked(&request).body).unwrap();
    assert!(!body.contains("cache_control"), "{body}");
}
