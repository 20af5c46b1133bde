//! What is asked: the whole request, compared.

use expect_test::{Expect, expect};
use protocol::tool::Picture;
use serde_json::{Value, json};

use crate::provider::{
    Content, Endpoint, Image, Message, ModelRequest, Secret, ToolCall, ToolResult, ToolSpec, Wire,
};

fn endpoint(base_url: &str, key: Option<&str>) -> Endpoint {
    Endpoint {
        base_url: base_url.to_owned(),
        key: key.map(Secret::new),
        extra_headers: Vec::new(),
    }
}

fn question(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "tiny".to_owned(),
        messages,
        ..ModelRequest::default()
    }
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: arguments.to_owned(),
        native: None,
    }
}

fn check(request: &ModelRequest, expected: Expect) {
    let http = Wire::ChatCompletions
        .provider()
        .request(&endpoint("http://localhost:1/v1", None), request);
    let body: Value = serde_json::from_slice(&http.body).unwrap();
    expected.assert_eq(&serde_json::to_string_pretty(&body).unwrap());
}

#[test]
fn a_conversation_with_a_call_and_its_result_is_sent_whole() {
    let mut request = question(vec![
        Message::User(vec![Content::Text("Read a.txt".to_owned())]),
        Message::Assistant {
            text: String::new(),
            thought: "I should read it".to_owned(),
            calls: vec![call("a", "{\"path\": \"a.txt\"}"), call("b", "")],
            raw: Some(json!({ "reasoning_content": "I should read it", "other": 1 })),
        },
        Message::Results(vec![
            ToolResult {
                id: "a".to_owned(),
                text: "hello".to_owned(),
                is_error: false,
                images: Vec::new(),
            },
            ToolResult {
                id: "b".to_owned(),
                text: "path is missing".to_owned(),
                is_error: true,
                images: Vec::new(),
            },
        ]),
        Message::Assistant {
            text: "It says hello.".to_owned(),
            thought: String::new(),
            calls: Vec::new(),
            raw: None,
        },
        Message::User(vec![
            Content::Text("And".to_owned()),
            Content::Text("now?".to_owned()),
        ]),
    ]);
    request.system = "Be brief.".to_owned();
    request.max_tokens = Some(1000);
    request.temperature = Some(0.5);
    request.tools = vec![ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file".to_owned(),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    }];
    check(
        &request,
        expect![[r#"
            {
              "model": "tiny",
              "messages": [
                {
                  "role": "system",
                  "content": "Be brief."
                },
                {
                  "role": "user",
                  "content": "Read a.txt"
                },
                {
                  "role": "assistant",
                  "content": null,
                  "tool_calls": [
                    {
                      "id": "a",
                      "type": "function",
                      "function": {
                        "name": "read",
                        "arguments": "{\"path\": \"a.txt\"}"
                      }
                    },
                    {
                      "id": "b",
                      "type": "function",
                      "function": {
                        "name": "read",
                        "arguments": "{}"
                      }
                    }
                  ],
                  "reasoning_content": "I should read it"
                },
                {
                  "role": "tool",
                  "content": "hello",
                  "tool_call_id": "a"
                },
                {
                  "role": "tool",
                  "content": "path is missing",
                  "tool_call_id": "b"
                },
                {
                  "role": "assistant",
                  "content": "It says hello."
                },
                {
                  "role": "user",
                  "content": "And\n\nnow?"
                }
              ],
              "tools": [
                {
                  "type": "function",
                  "function": {
                    "name": "read",
                    "description": "Reads a file",
                    "parameters": {
                      "type": "object",
                      "properties": {
                        "path": {
                          "type": "string"
                        }
                      }
                    }
                  }
                }
              ],
              "max_tokens": 1000,
              "temperature": 0.5,
              "stream": true,
              "stream_options": {
                "include_usage": true
              }
            }"#]],
    );
}

#[test]
fn broken_arguments_go_back_as_good_json() {
    let calls = vec![call("a", "{\"path\": "), call("b", "{\"n\":1}  ")];
    let request = question(vec![Message::Assistant {
        text: "x".to_owned(),
        thought: String::new(),
        calls,
        raw: None,
    }]);
    check(
        &request,
        expect![[r#"
        {
          "model": "tiny",
          "messages": [
            {
              "role": "assistant",
              "content": "x",
              "tool_calls": [
                {
                  "id": "a",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{\"invalid_json\":\"{\\\"path\\\": \"}"
                  }
                },
                {
                  "id": "b",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{\"n\":1}  "
                  }
                }
              ]
            }
          ],
          "stream": true,
          "stream_options": {
            "include_usage": true
          }
        }"#]],
    );
}

#[test]
fn the_url_and_the_headers_are_right_with_and_without_a_key() {
    let ask = |base_url: &str, key| {
        let request = ModelRequest {
            max_tokens: Some(5),
            ..question(Vec::new())
        };
        let http = Wire::ChatCompletions
            .provider()
            .request(&endpoint(base_url, key), &request);
        let body = String::from_utf8(http.body).unwrap();
        format!("{} {}\n{:?}\n{body}\n", http.method, http.url, http.headers)
    };
    expect![[r#"
        POST http://localhost:1/v1/chat/completions
        [("content-type", "application/json"), ("accept", "text/event-stream")]
        {"model":"tiny","messages":[],"max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}
        POST https://api.openai.com/v1/chat/completions
        [("content-type", "application/json"), ("accept", "text/event-stream"), ("authorization", "Bearer k")]
        {"model":"tiny","messages":[],"max_completion_tokens":5,"stream":true,"stream_options":{"include_usage":true}}
    "#]].assert_eq(
        &(ask("http://localhost:1/v1/", None) + &ask("https://api.openai.com/v1", Some("k"))),
    );
}

#[test]
fn a_wire_format_is_found_by_its_name() {
    assert_eq!(
        Wire::from_name("chat_completions"),
        Some(Wire::ChatCompletions)
    );
    assert_eq!(Wire::from_name("telegraph"), None);
    for wire in Wire::ALL {
        assert_eq!(Wire::from_name(wire.name()), Some(*wire));
    }
}

#[test]
fn what_a_model_made_up_never_makes_a_history_that_is_refused_for_ever() {
    let odd = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        native: None,
    };
    let calls = vec![
        odd("a", "multi_tool_use.parallel", "[1]"),
        odd("b", "", "\"text\""),
        odd("c", &"ä".repeat(70), "{\"a\":1}"),
    ];
    let empty = |id: &str| ToolResult {
        id: id.to_owned(),
        text: String::new(),
        is_error: true,
        images: Vec::new(),
    };
    check(
        &question(vec![
            Message::User(vec![Content::Text("Go".to_owned())]),
            Message::Assistant {
                text: " \n".to_owned(),
                thought: String::new(),
                calls,
                raw: None,
            },
            Message::Results(["a", "b", "c"].map(empty).into()),
        ]),
        expect![[r#"
            {
              "model": "tiny",
              "messages": [
                {
                  "role": "user",
                  "content": "Go"
                },
                {
                  "role": "assistant",
                  "content": null,
                  "tool_calls": [
                    {
                      "id": "a",
                      "type": "function",
                      "function": {
                        "name": "multi_tool_use_parallel",
                        "arguments": "{\"invalid_json\":\"[1]\"}"
                      }
                    },
                    {
                      "id": "b",
                      "type": "function",
                      "function": {
                        "name": "unnamed",
                        "arguments": "{\"invalid_json\":\"\\\"text\\\"\"}"
                      }
                    },
                    {
                      "id": "c",
                      "type": "function",
                      "function": {
                        "name": "________________________________________________________________",
                        "arguments": "{\"a\":1}"
                      }
                    }
                  ]
                },
                {
                  "role": "tool",
                  "content": "[empty]",
                  "tool_call_id": "a"
                },
                {
                  "role": "tool",
                  "content": "[empty]",
                  "tool_call_id": "b"
                },
                {
                  "role": "tool",
                  "content": "[empty]",
                  "tool_call_id": "c"
                }
              ],
              "stream": true,
              "stream_options": {
                "include_usage": true
              }
            }"#]],
    );
}

fn seen(name: &str) -> Image {
    let picture = Picture {
        name: name.to_owned(),
        media_type: "image/gif".to_owned(),
        bytes: 3,
        sha256: String::new(),
    };
    Image {
        picture,
        data: "R0lG".into(),
    }
}

#[test]
fn pictures_follow_the_run_of_results_and_join_what_the_person_says() {
    let asked = |id: &str| Message::Assistant {
        text: String::new(),
        thought: String::new(),
        calls: vec![call(id, "{}")],
        raw: None,
    };
    let shown = |id: &str, name: &str| {
        Message::Results(vec![ToolResult {
            id: id.to_owned(),
            text: "r".to_owned(),
            is_error: false,
            images: vec![seen(name)],
        }])
    };
    let request = question(vec![
        asked("a"),
        shown("a", "a.gif"),
        asked("b"),
        shown("b", ""),
        Message::User(vec![Content::Text("and?".to_owned())]),
    ]);
    check(
        &request,
        expect![[r#"
        {
          "model": "tiny",
          "messages": [
            {
              "role": "assistant",
              "content": null,
              "tool_calls": [
                {
                  "id": "a",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{}"
                  }
                }
              ]
            },
            {
              "role": "tool",
              "content": "r",
              "tool_call_id": "a"
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Of tool call a: a.gif [image/gif, 3 bytes]"
                },
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "data:image/gif;base64,R0lG"
                  }
                }
              ]
            },
            {
              "role": "assistant",
              "content": null,
              "tool_calls": [
                {
                  "id": "b",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{}"
                  }
                }
              ]
            },
            {
              "role": "tool",
              "content": "r",
              "tool_call_id": "b"
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Of tool call b: [image/gif, 3 bytes]"
                },
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "data:image/gif;base64,R0lG"
                  }
                },
                {
                  "type": "text",
                  "text": "and?"
                }
              ]
            }
          ],
          "stream": true,
          "stream_options": {
            "include_usage": true
          }
        }"#]],
    );
}
