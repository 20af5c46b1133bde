//! What is asked.

use expect_test::{Expect, expect};
use protocol::config::Reasoning;
use protocol::tool::Picture;
use serde_json::{Value, json};

use super::{asked, body, endpoint, header, tool};
use crate::provider::anthropic::Messages;
use crate::provider::{
    Content, Endpoint, Feature, Image, Message, ModelRequest, NativeCall, NativeTool,
    Provider as _, ToolCall, ToolResult, native,
};

fn question(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "claude".to_owned(),
        messages,
        ..ModelRequest::default()
    }
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::Text(text.to_owned())])
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "read_file".to_owned(),
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

fn answer(text: &str, calls: Vec<ToolCall>, raw: Option<Value>) -> Message {
    Message::Assistant {
        text: text.to_owned(),
        thought: "hm".to_owned(),
        calls,
        raw,
    }
}

fn check(value: &Value, expected: Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(value).unwrap());
}

/// Each message on a line.
fn check_messages(request: &ModelRequest, expected: Expect) {
    let body = body(request);
    let messages = body["messages"].as_array().unwrap();
    let lines = messages
        .iter()
        .map(|it| format!("{} {}\n", it["role"], it["content"]));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_conversation_with_a_call_and_its_result_is_sent_whole() {
    let mut request = question(vec![
        user("Read a.txt"),
        answer(
            "I read it.",
            vec![
                call("toolu_a", "{\"path\": \"a.txt\"}"),
                call("toolu_b", ""),
            ],
            None,
        ),
        Message::Results(vec![
            result("toolu_a", "hello"),
            ToolResult {
                is_error: true,
                ..result("toolu_b", "path is missing")
            },
        ]),
        answer("It says hello.", Vec::new(), None),
        Message::User(vec![
            Content::Text("And".to_owned()),
            Content::Text("now?".to_owned()),
        ]),
    ]);
    request.system = "Be brief.".to_owned();
    request.max_tokens = Some(1000);
    request.temperature = Some(0.5);
    request.reasoning = Some(Reasoning::High);
    request.tools = vec![tool("read_file"), tool("list")];
    check(
        &body(&request),
        expect![[r#"
        {
          "model": "claude",
          "max_tokens": 1000,
          "stream": true,
          "temperature": 0.5,
          "thinking": {
            "type": "adaptive",
            "display": "updates",
            "block_binding": {
              "prefix_mismatch_behavior": "drop_block"
            }
          },
          "output_config": {
            "effort": "high"
          },
          "tools": [
            {
              "name": "read_file",
              "description": "Does read_file",
              "input_schema": {
                "type": "object",
                "properties": {}
              }
            },
            {
              "name": "list",
              "description": "Does list",
              "input_schema": {
                "type": "object",
                "properties": {}
              },
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ],
          "system": [
            {
              "type": "text",
              "text": "Be brief.",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ],
          "messages": [
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Read a.txt"
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "text",
                  "text": "I read it."
                },
                {
                  "type": "tool_use",
                  "id": "toolu_a",
                  "name": "read_file",
                  "input": {
                    "path": "a.txt"
                  }
                },
                {
                  "type": "tool_use",
                  "id": "toolu_b",
                  "name": "read_file",
                  "input": {}
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "tool_result",
                  "tool_use_id": "toolu_a",
                  "content": "hello"
                },
                {
                  "type": "tool_result",
                  "tool_use_id": "toolu_b",
                  "content": "path is missing",
                  "is_error": true,
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "text",
                  "text": "It says hello."
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "And"
                },
                {
                  "type": "text",
                  "text": "now?",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            }
          ]
        }"#]],
    );
    let http = asked(&request);
    assert_eq!(http.url, "http://localhost:1/v1/messages");
    let headers: Vec<String> = http
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    expect![[r#"
        content-type: application/json
        accept: text/event-stream
        anthropic-version: 2026-10-21
        x-api-key: the-key
        anthropic-beta: thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01"#]]
    .assert_eq(&headers.join("\n"));
}

#[test]
fn what_the_person_says_behind_results_follows_them_in_one_message() {
    let request = question(vec![
        user("go"),
        answer("", vec![call("a", "{}")], None),
        Message::Results(vec![result("a", " \n")]),
        user("and hurry"),
    ]);
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"tool_use","id":"a","name":"read_file","input":{}}]
        "user" [{"type":"tool_result","tool_use_id":"a","content":"[empty]"},{"type":"text","text":"and hurry","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
}

#[test]
fn pictures_are_in_the_result_with_their_real_type() {
    let image = |media_type: &str| Image {
        picture: Picture {
            name: String::new(),
            media_type: media_type.to_owned(),
            bytes: 3,
            sha256: String::new(),
        },
        data: "AAAA".into(),
    };
    let request = question(vec![
        user("look"),
        answer("", vec![call("a", "{}"), call("b", "{}")], None),
        Message::Results(vec![
            ToolResult {
                images: vec![image("image/png"), image("image/webp")],
                ..result("a", "[two]")
            },
            // An error may have texts alone, so it is none to the API.
            ToolResult {
                is_error: true,
                images: vec![image("image/gif")],
                ..result("b", "half a picture")
            },
        ]),
    ]);
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"look","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"tool_use","id":"a","name":"read_file","input":{}},{"type":"tool_use","id":"b","name":"read_file","input":{}}]
        "user" [{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"[two]"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"AAAA"}}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"half a picture"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"AAAA"}}],"cache_control":{"type":"ephemeral"}}]
    "#]],
    );
}

#[test]
fn an_answer_goes_back_as_it_came_with_its_thoughts() {
    let raw = json!([
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "id": "toolu_a", "name": "read_file", "caller": {"type": "direct"}},
        {"type": "thinking", "thinking": "", "signature": "sig2"},
        {"type": "tool_use", "id": "toolu_b", "name": "read_file"},
        {"type": "odd", "n": [1]},
    ]);
    let calls = vec![
        call("toolu_a", "{ \"z\": 1.0, \"a\": \"\\u00e4\" }"),
        call("toolu_b", ""),
    ];
    let with = |calls: Vec<ToolCall>, raw: Value| {
        let results = calls.iter().map(|it| result(&it.id, "ok")).collect();
        question(vec![
            user("go"),
            answer("First.", calls, Some(raw)),
            Message::Results(results),
        ])
    };
    let request = with(calls.clone(), raw.clone());
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"First."},{"type":"tool_use","id":"toolu_a","name":"read_file","input":{"z":1.0,"a":"ä"},"caller":{"type":"direct"}},{"type":"thinking","thinking":"","signature":"sig2"},{"type":"tool_use","id":"toolu_b","name":"read_file","input":{}},{"type":"odd","n":[1]}]
        "user" [{"type":"tool_result","tool_use_id":"toolu_a","content":"ok"},{"type":"tool_result","tool_use_id":"toolu_b","content":"ok","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
    // To the byte as the model wrote them.
    let text = String::from_utf8(asked(&request).body).unwrap();
    assert!(
        text.contains(r#""input":{ "z": 1.0, "a": "\u00e4" }"#),
        "{text}"
    );

    // Other calls than those in it: it is made anew, without thoughts.
    check_messages(
        &with(vec![calls[0].clone()], raw.clone()),
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"text","text":"First."},{"type":"tool_use","id":"toolu_a","name":"read_file","input":{"z":1.0,"a":"ä"}}]
        "user" [{"type":"tool_result","tool_use_id":"toolu_a","content":"ok","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
    let more = [calls.clone(), vec![call("toolu_c", "")]].concat();
    check_messages(
        &with(more, raw),
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"text","text":"First."},{"type":"tool_use","id":"toolu_a","name":"read_file","input":{"z":1.0,"a":"ä"}},{"type":"tool_use","id":"toolu_b","name":"read_file","input":{}},{"type":"tool_use","id":"toolu_c","name":"read_file","input":{}}]
        "user" [{"type":"tool_result","tool_use_id":"toolu_a","content":"ok"},{"type":"tool_result","tool_use_id":"toolu_b","content":"ok"},{"type":"tool_result","tool_use_id":"toolu_c","content":"ok","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
    check_messages(
        &with(calls, json!({"reasoning_content": "x"})),
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"text","text":"First."},{"type":"tool_use","id":"toolu_a","name":"read_file","input":{"z":1.0,"a":"ä"}},{"type":"tool_use","id":"toolu_b","name":"read_file","input":{}}]
        "user" [{"type":"tool_result","tool_use_id":"toolu_a","content":"ok"},{"type":"tool_result","tool_use_id":"toolu_b","content":"ok","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
}

#[test]
fn a_thought_is_never_the_last_word_of_an_answer() {
    let raw = json!([
        {"type": "text", "text": "Done."},
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
    ]);
    let request = question(vec![
        user("go"),
        answer("Done.", Vec::new(), Some(raw)),
        user("on"),
    ]);
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"text","text":"Done."}]
        "user" [{"type":"text","text":"on","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
}

#[test]
fn what_a_model_made_up_does_not_spoil_the_history() {
    let odd = |id: &str, name: &str, arguments: &str| ToolCall {
        name: name.to_owned(),
        ..call(id, arguments)
    };
    let calls = vec![
        odd("functions.x:0", "multi_tool_use.parallel", "{\"a\":"),
        odd("", "", "[1]"),
        odd("c", &"x".repeat(200), "{\"half\": \"\\ud800\"}"),
    ];
    let results = calls.iter().map(|it| result(&it.id, "no")).collect();
    let request = question(vec![
        user("go"),
        answer("", calls, None),
        Message::Results(results),
    ]);
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"tool_use","id":"functions_x_0","name":"multi_tool_use_parallel","input":{"invalid_json":"{\"a\":"}},{"type":"tool_use","id":"call","name":"unnamed","input":{"invalid_json":"[1]"}},{"type":"tool_use","id":"c","name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","input":{"invalid_json":"{\"half\": \"\\ud800\"}"}}]
        "user" [{"type":"tool_result","tool_use_id":"functions_x_0","content":"no"},{"type":"tool_result","tool_use_id":"call","content":"no"},{"type":"tool_result","tool_use_id":"c","content":"no","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
}

#[test]
fn ids_that_repeat_are_made_unique_in_the_whole_conversation() {
    let raw = json!([{"type": "tool_use", "id": "call_0", "name": "read_file"}]);
    let turn = |raw: Option<&Value>| {
        [
            answer("", vec![call("call_0", "{}")], raw.cloned()),
            Message::Results(vec![result("call_0", "ok")]),
        ]
    };
    let turns = [turn(None), turn(Some(&raw)), turn(None)];
    let messages = std::iter::once(user("go")).chain(turns.into_iter().flatten());
    let body = body(&question(messages.collect()));
    let ids: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|it| it["content"].as_array().unwrap())
        .filter_map(|it| it["id"].as_str().or(it["tool_use_id"].as_str()))
        .collect();
    assert_eq!(
        ids,
        [
            "call_0", "call_0", "call_0_2", "call_0_2", "call_0_3", "call_0_3"
        ]
    );
}

#[test]
fn thinking_and_effort_are_asked_for_in_what_the_model_takes() {
    let mut lines = String::new();
    let mut ask = |reasoning: Option<Reasoning>, learn: &dyn Fn(&mut ModelRequest)| {
        let mut request = question(vec![user("go")]);
        request.reasoning = reasoning;
        learn(&mut request);
        let body = body(&request);
        let beta = asked(&request);
        let beta = header(&beta, "anthropic-beta").unwrap_or("no beta");
        lines += &format!(
            "{reasoning:?}: {} {} {beta}\n",
            body["thinking"], body["output_config"]
        );
    };
    ask(None, &|_| {});
    for level in Reasoning::ALL {
        ask(Some(level), &|_| {});
    }
    ask(Some(Reasoning::High), &|it| {
        it.learned
            .levels
            .extend([Reasoning::High, Reasoning::Medium]);
    });
    ask(Some(Reasoning::None), &|it| {
        it.learned.levels.insert(Reasoning::None);
    });
    for feature in [
        Feature::Reasoning,
        Feature::Thinking,
        Feature::ThoughtDisplay,
        Feature::ThoughtBinding,
    ] {
        ask(Some(Reasoning::Max), &|it| {
            it.learned.refused.insert(feature);
        });
    }
    expect![[r#"
        None: {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} null thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(None): {"type":"disabled"} null no beta
        Some(Minimal): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"low"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(Low): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"low"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(Medium): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"medium"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(High): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"high"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(Xhigh): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"xhigh"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(Max): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"max"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(High): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"low"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(None): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"low"} thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(Max): {"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}} null thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01
        Some(Max): null {"effort":"max"} no beta
        Some(Max): {"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}} {"effort":"max"} thinking-binding-controls-2026-08-01
        Some(Max): {"type":"adaptive","display":"updates"} {"effort":"max"} thinking-display-updates-2026-08-18
    "#]].assert_eq(&lines);
}

#[test]
fn what_the_model_does_not_take_is_left_out() {
    let mut request = question(vec![user("go")]);
    request.system = "Be brief.".to_owned();
    request.tools = vec![tool("list")];
    request.temperature = Some(1.0);
    request.learned.max_tokens = Some(4096);
    request.learned.refused.extend([
        Feature::Temperature,
        Feature::Thinking,
        Feature::CacheMarkers,
        Feature::Tools,
    ]);
    check(
        &body(&request),
        expect![[r#"
        {
          "model": "claude",
          "max_tokens": 4096,
          "stream": true,
          "system": [
            {
              "type": "text",
              "text": "Be brief."
            }
          ],
          "messages": [
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "go"
                }
              ]
            }
          ]
        }"#]],
    );
    assert_eq!(header(&asked(&request), "anthropic-beta"), None);
}

#[test]
fn headers_of_the_persons_own_replace_ours_and_their_betas_are_kept() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let endpoint = Endpoint {
        base_url: "https://gateway.test/v1/".to_owned(),
        extra_headers: vec![
            pair("anthropic-version", "2023-06-01"),
            pair("Anthropic-Beta", "one-2026-01-01"),
        ],
        ..endpoint()
    };
    let http = Messages.request(&endpoint, &question(vec![user("go")]));
    assert_eq!(http.url, "https://gateway.test/v1/messages");
    assert_eq!(header(&http, "anthropic-version"), Some("2023-06-01"));
    assert_eq!(header(&http, "anthropic-beta"), None);
    assert_eq!(
        header(&http, "Anthropic-Beta"),
        Some(
            "one-2026-01-01,thinking-display-updates-2026-08-18,thinking-binding-controls-2026-08-01"
        )
    );
}

fn with_natives(messages: Vec<Message>) -> ModelRequest {
    let names = [
        "read_file",
        "write_file",
        "edit_file",
        "apply_patch",
        "execute_command",
    ];
    ModelRequest {
        tools: names.into_iter().map(tool).collect(),
        natives: vec![NativeTool::TextEditor, NativeTool::Bash],
        ..question(messages)
    }
}

#[test]
fn r_021_the_providers_own_tools_are_declared_by_type_and_name_in_the_place_of_ours() {
    let request = with_natives(vec![user("go")]);
    let body = body(&request);
    let tools = body["tools"].as_array().unwrap();
    let lines: String = tools.iter().map(|it| format!("{it}\n")).collect();
    expect![[r#"
        {"type":"text_editor_20250728","name":"str_replace_based_edit_tool"}
        {"type":"bash_20250124","name":"bash"}
        {"name":"apply_patch","description":"Does apply_patch","input_schema":{"type":"object","properties":{}}}
        {"name":"execute_command","description":"Does execute_command","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}
    "#]].assert_eq(&lines);
}

#[test]
fn r_030_a_call_goes_back_as_it_was_written_while_its_tool_is_on_offer() {
    let written = r#"{"command": "view", "path": "a.txt"}"#;
    let odd = r#"{"command": "undo_edit", "path": "a.txt"}"#;
    let calls = vec![
        native::call("a".to_owned(), NativeTool::TextEditor, written.to_owned()),
        native::call("b".to_owned(), NativeTool::Bash, "{\"command\":".to_owned()),
        native::call("c".to_owned(), NativeTool::TextEditor, odd.to_owned()),
    ];
    assert_eq!(
        calls[0].native,
        Some(NativeCall {
            tool: NativeTool::TextEditor,
            input: written.to_owned()
        })
    );
    let raw = json!([
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "tool_use", "id": "a", "name": "str_replace_based_edit_tool"},
        {"type": "tool_use", "id": "b", "name": "bash"},
        {"type": "tool_use", "id": "c", "name": "str_replace_based_edit_tool"},
    ]);
    let results = calls.iter().map(|it| result(&it.id, "ok")).collect();
    let mut request = with_natives(vec![
        user("go"),
        answer("", calls, Some(raw)),
        Message::Results(results),
    ]);
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"tool_use","id":"a","name":"str_replace_based_edit_tool","input":{"command":"view","path":"a.txt"}},{"type":"tool_use","id":"b","name":"bash","input":{"invalid_json":"{\"command\":"}},{"type":"tool_use","id":"c","name":"str_replace_based_edit_tool","input":{"command":"undo_edit","path":"a.txt"}}]
        "user" [{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"tool_result","tool_use_id":"b","content":"ok"},{"type":"tool_result","tool_use_id":"c","content":"ok","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
    // In a later turn without it, the name is ours.
    request.natives.clear();
    check_messages(
        &request,
        expect![[r#"
        "user" [{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]
        "assistant" [{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"tool_use","id":"a","name":"read_file","input":{"path":"a.txt","line_numbers":true}},{"type":"tool_use","id":"b","name":"bash","input":{"invalid_json":"{\"command\":"}},{"type":"tool_use","id":"c","name":"str_replace_based_edit_tool","input":{"command":"undo_edit","path":"a.txt"}}]
        "user" [{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"tool_result","tool_use_id":"b","content":"ok"},{"type":"tool_result","tool_use_id":"c","content":"ok","cache_control":{"type":"ephemeral"}}]
    "#]],
    );
}
