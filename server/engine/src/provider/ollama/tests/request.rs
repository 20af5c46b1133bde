//! What is asked: the whole request, compared.

use std::sync::Arc;

use expect_test::{Expect, expect};
use protocol::config::Reasoning;
use protocol::tool::Picture;
use serde_json::{Value, json};

use crate::provider::{
    Content, Endpoint, Feature, Image, Load, Message, ModelRequest, Secret, ToolCall, ToolResult,
    ToolSpec, Wire,
};

const KEY: &str = "hunter2-hunter2";

fn endpoint(base_url: &str, key: Option<&str>) -> Endpoint {
    Endpoint {
        base_url: base_url.to_owned(),
        key: key.map(Secret::new),
        extra_headers: Vec::new(),
    }
}

fn question(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "qwen3:8b".to_owned(),
        messages,
        ..ModelRequest::default()
    }
}

fn body(request: &ModelRequest) -> Value {
    let endpoint = endpoint("http://localhost:11434", None);
    let http = Wire::Ollama.provider().request(&endpoint, request);
    serde_json::from_slice(&http.body).unwrap()
}

fn check(request: &ModelRequest, expected: Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(&body(request)).unwrap());
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::Text(text.to_owned())])
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        native: None,
    }
}

fn result(id: &str, text: &str) -> ToolResult {
    ToolResult {
        id: id.to_owned(),
        text: text.to_owned(),
        is_error: false,
        images: Vec::new(),
    }
}

fn conversation() -> Vec<Message> {
    let mut seen = result("call_1", "[image/png, 3 bytes]");
    seen.images.push(Image {
        picture: Picture {
            name: "b.png".to_owned(),
            media_type: "image/png".to_owned(),
            bytes: 3,
            sha256: String::new(),
        },
        data: Arc::from("AAAA"),
    });
    vec![
        user("go"),
        Message::Assistant {
            text: "Reading".to_owned(),
            thought: "hm".to_owned(),
            calls: vec![
                call("call_0", "read", r#"{"path": "a"}"#),
                call("call_1", "read", "not JSON"),
            ],
            raw: Some(json!({"thinking": "hm"})),
        },
        Message::Results(vec![result("call_0", "alpha"), seen]),
        user("and now?"),
        Message::Assistant {
            text: "done".to_owned(),
            thought: "never sent".to_owned(),
            calls: Vec::new(),
            raw: None,
        },
        user("thanks"),
    ]
}

#[test]
fn a_conversation_is_sent_whole_with_its_pictures_behind_the_results() {
    let mut request = question(conversation());
    request.system = "Be brief.".to_owned();
    check(
        &request,
        expect![[r#"
        {
          "model": "qwen3:8b",
          "messages": [
            {
              "role": "system",
              "content": "Be brief."
            },
            {
              "role": "user",
              "content": "go"
            },
            {
              "role": "assistant",
              "content": "Reading",
              "thinking": "hm",
              "tool_calls": [
                {
                  "function": {
                    "name": "read",
                    "arguments": {
                      "path": "a"
                    }
                  }
                },
                {
                  "function": {
                    "name": "read",
                    "arguments": {
                      "invalid_json": "not JSON"
                    }
                  }
                }
              ]
            },
            {
              "role": "tool",
              "content": "alpha",
              "tool_name": "read"
            },
            {
              "role": "tool",
              "content": "[image/png, 3 bytes]",
              "tool_name": "read"
            },
            {
              "role": "user",
              "content": "Of tool call call_1: b.png [image/png, 3 bytes]\n\nand now?",
              "images": [
                "AAAA"
              ]
            },
            {
              "role": "assistant",
              "content": "done"
            },
            {
              "role": "user",
              "content": "thanks"
            }
          ],
          "stream": true,
          "truncate": false,
          "options": {
            "num_ctx": 65536
          }
        }"#]],
    );
}

#[test]
fn each_conversation_begins_with_the_one_before_it() {
    let mut messages = conversation();
    // What the person says next stands in one message with the pictures before it.
    messages.remove(3);
    let whole = body(&question(messages.clone()));
    let whole = whole["messages"].as_array().unwrap();
    while messages.pop().is_some() {
        let before = body(&question(messages.clone()));
        let before = before["messages"].as_array().unwrap();
        assert_eq!(before.as_slice(), &whole[..before.len()]);
    }
}

#[test]
fn everything_that_can_be_set_is_sent_and_what_was_refused_is_not() {
    let mut request = question(vec![user("go")]);
    request.tools = vec![ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object"}),
    }];
    request.max_tokens = Some(900);
    request.temperature = Some(0.5);
    request.reasoning = Some(Reasoning::High);
    request.window = Some(40_960);
    request.load = Load {
        num_gpu: Some(0),
        num_thread: Some(4),
    };
    check(
        &request,
        expect![[r#"
        {
          "model": "qwen3:8b",
          "messages": [
            {
              "role": "user",
              "content": "go"
            }
          ],
          "tools": [
            {
              "type": "function",
              "function": {
                "name": "read",
                "description": "Reads.",
                "parameters": {
                  "type": "object"
                }
              }
            }
          ],
          "stream": true,
          "truncate": false,
          "think": "high",
          "options": {
            "num_ctx": 40960,
            "num_predict": 900,
            "temperature": 0.5,
            "num_gpu": 0,
            "num_thread": 4
          }
        }"#]],
    );
    for feature in [
        Feature::Temperature,
        Feature::MaxTokens,
        Feature::Thinking,
        Feature::Tools,
    ] {
        request.learned.refused.insert(feature);
    }
    check(
        &request,
        expect![[r#"
        {
          "model": "qwen3:8b",
          "messages": [
            {
              "role": "user",
              "content": "go"
            }
          ],
          "stream": true,
          "truncate": false,
          "options": {
            "num_ctx": 40960,
            "num_gpu": 0,
            "num_thread": 4
          }
        }"#]],
    );
}

#[test]
fn the_size_of_the_context_is_always_sent() {
    assert_eq!(
        body(&question(vec![user("go")]))["options"]["num_ctx"],
        65_536
    );
}

#[test]
fn a_level_is_sent_only_if_one_is_set() {
    let think = |reasoning| {
        let request = ModelRequest {
            reasoning,
            ..question(vec![user("go")])
        };
        body(&request)["think"].clone()
    };
    assert_eq!(think(None), Value::Null);
    let levels = Reasoning::ALL.map(|it| think(Some(it)));
    assert_eq!(
        json!(levels),
        json!([false, "low", "low", "medium", "high", "max", "max"])
    );
}

#[test]
fn the_address_is_ollamas_own_whichever_side_is_named() {
    let url = |base_url: &str| {
        let request = question(vec![user("go")]);
        let endpoint = endpoint(base_url, Some(KEY));
        let http = Wire::Ollama.provider().request(&endpoint, &request);
        let key = ("authorization".to_owned(), format!("Bearer {KEY}"));
        assert!(http.headers.contains(&key));
        http.url
    };
    for base_url in [
        "http://localhost:1",
        "http://localhost:1/",
        "http://localhost:1/v1",
        "http://localhost:1/v1/",
        "http://localhost:1/api",
    ] {
        assert_eq!(url(base_url), "http://localhost:1/api/chat");
    }
    assert_eq!(
        url("https://o.test/sub/v1?k=1"),
        "https://o.test/sub/api/chat?k=1"
    );
}
