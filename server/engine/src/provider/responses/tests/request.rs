//! What is asked: the whole request, compared; and what must hold of any history.

use expect_test::{Expect, expect};
use protocol::config::Reasoning;
use protocol::tool::Picture;
use serde_json::{Value, json};

use crate::provider::{
    Content, Endpoint, Feature, Image, Message, ModelRequest, NativeCall, NativeTool, Secret,
    ToolCall, ToolResult, ToolSpec, Wire, native,
};

fn body(request: &ModelRequest) -> Value {
    let endpoint = Endpoint {
        base_url: "https://api.openai.com/v1/".to_owned(),
        key: Some(Secret::new("k")),
        extra_headers: Vec::new(),
    };
    let http = Wire::Responses.provider().request(&endpoint, request);
    assert_eq!(http.url, "https://api.openai.com/v1/responses");
    assert!(
        http.headers
            .contains(&("authorization".to_owned(), "Bearer k".to_owned()))
    );
    serde_json::from_slice(&http.body).unwrap()
}

/// The input items, one a line.
fn input(request: &ModelRequest) -> String {
    let body = body(request);
    let items = body["input"].as_array().unwrap();
    items.iter().map(|it| format!("{it}\n")).collect()
}

fn check(messages: Vec<Message>, natives: &[NativeTool], expected: Expect) {
    let request = ModelRequest {
        messages,
        natives: natives.to_vec(),
        ..ModelRequest::default()
    };
    expected.assert_eq(&input(&request));
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::Text(text.to_owned())])
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: arguments.to_owned(),
        native: None,
    }
}

fn answer(text: &str, calls: Vec<ToolCall>, raw: Option<Value>) -> Message {
    Message::Assistant {
        text: text.to_owned(),
        thought: "never sent".to_owned(),
        calls,
        raw,
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

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Does it".to_owned(),
        parameters: json!({ "type": "object" }),
    }
}

fn full() -> ModelRequest {
    ModelRequest {
        model: "gpt-6".to_owned(),
        system: "Be brief.".to_owned(),
        messages: vec![user("Hi")],
        tools: vec![tool("read"), tool("apply_patch")],
        max_tokens: Some(1000),
        temperature: Some(0.0),
        reasoning: Some(Reasoning::Xhigh),
        natives: vec![NativeTool::ApplyPatch],
        cache_key: "s-1".to_owned(),
        ..ModelRequest::default()
    }
}

#[test]
fn r_035_the_whole_request_with_its_own_apply_patch_in_the_place_of_ours() {
    let body = body(&full());
    expect![[r#"
        {
          "model": "gpt-6",
          "instructions": "Be brief.",
          "input": [
            {
              "role": "user",
              "content": "Hi"
            }
          ],
          "tools": [
            {
              "type": "function",
              "name": "read",
              "description": "Does it",
              "parameters": {
                "type": "object"
              },
              "strict": false
            },
            {
              "type": "apply_patch"
            }
          ],
          "store": false,
          "include": [
            "reasoning.encrypted_content"
          ],
          "reasoning": {
            "effort": "xhigh",
            "summary": "auto"
          },
          "max_output_tokens": 1000,
          "temperature": 0.0,
          "prompt_cache_key": "s-1",
          "stream": true
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&body).unwrap());
}

#[test]
fn what_was_refused_is_left_out() {
    let mut request = full();
    let mut left = Vec::new();
    for feature in [
        Feature::ThoughtSummary,
        Feature::Reasoning,
        Feature::EncryptedThought,
        Feature::CacheKey,
        Feature::Temperature,
        Feature::MaxTokens,
        Feature::Tools,
    ] {
        request.learned.refused.insert(feature);
        let body = body(&request);
        let fields: Vec<&str> = body
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        left.push(format!("{}: {}\n", feature.name(), fields.join(" ")));
    }
    expect![[r#"
        thought_summary: model instructions input tools store include reasoning max_output_tokens temperature prompt_cache_key stream
        reasoning: model instructions input tools store include max_output_tokens temperature prompt_cache_key stream
        encrypted_thought: model instructions input tools store max_output_tokens temperature prompt_cache_key stream
        cache_key: model instructions input tools store max_output_tokens temperature stream
        temperature: model instructions input tools store max_output_tokens stream
        max_tokens: model instructions input tools store stream
        tools: model instructions input store stream
    "#]]
    .assert_eq(&left.concat());

    let mut request = full();
    request
        .learned
        .levels
        .extend([Reasoning::Xhigh, Reasoning::High]);
    request.learned.max_tokens = Some(500);
    let body = body(&request);
    assert_eq!(body["reasoning"]["effort"], "medium");
    assert_eq!(body["max_output_tokens"], 500);
    request.reasoning = None;
    assert_eq!(
        self::body(&request)["reasoning"],
        json!({"summary": "auto"})
    );
}

#[test]
fn items_of_an_answer_go_back_as_they_were_without_ids() {
    let raw = json!([
        {"id": "rs_1", "type": "reasoning", "status": null, "content": [], "summary": [], "encrypted_content": "gAAA=="},
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "phase": "commentary", "content": [{"type": "output_text", "text": "Reading", "annotations": []}]},
        {"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "c1", "name": "read", "arguments": "{ \"a\": 1 }"},
        {"id": "cc_1", "type": "computer_call", "call_id": "k", "status": "completed"},
        {"id": "cco_1", "type": "computer_call_output", "call_id": "k", "output": {}},
        {"id": "x_1", "type": "brand_new", "value": {"id": "kept"}, "nothing": null},
    ]);
    check(
        vec![
            user("Go"),
            answer("Reading", vec![call("c1", "{ \"a\": 1 }")], Some(raw)),
            Message::Results(vec![result("c1", "")]),
        ],
        &[],
        expect![[r#"
            {"role":"user","content":"Go"}
            {"type":"reasoning","summary":[],"encrypted_content":"gAAA=="}
            {"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Reading","annotations":[]}]}
            {"type":"function_call","call_id":"c1","name":"read","arguments":"{ \"a\": 1 }"}
            {"id":"cc_1","type":"computer_call","call_id":"k","status":"completed"}
            {"type":"computer_call_output","call_id":"k","output":{}}
            {"type":"brand_new","value":{"id":"kept"}}
            {"type":"function_call_output","call_id":"c1","output":"[empty]"}
        "#]],
    );
}

#[test]
fn calls_that_nobody_answers_and_outputs_of_nothing_do_not_go_back() {
    let raw = json!([
        {"type": "shell_call", "call_id": "s", "action": {}},
        {"type": "web_search_call", "status": "completed"},
        {"type": "local_shell_call_output", "call_id": "l", "output": ""},
        {"type": "custom_tool_call", "call_id": "u", "name": "x", "input": "y"},
        {"type": "item_reference", "id": "i"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "no use"}], "encrypted_content": null},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "open"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "led to nothing"},
    ]);
    check(
        vec![
            user("Go"),
            answer("Done", Vec::new(), Some(raw)),
            user("More"),
        ],
        &[],
        expect![[r#"
            {"role":"user","content":"Go"}
            {"type":"web_search_call","status":"completed"}
            {"type":"custom_tool_call","call_id":"u","name":"x","input":"y"}
            {"type":"custom_tool_call_output","call_id":"u","output":"There is no such tool; nothing was done."}
            {"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"open"}]}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}
            {"role":"user","content":"More"}
        "#]],
    );
}

#[test]
fn what_was_shown_of_an_answer_that_broke_off_is_not_lost() {
    let raw = json!([
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One"}]},
    ]);
    check(
        vec![
            user("Go"),
            answer("One\n\nTwo, ha", Vec::new(), Some(raw)),
            user("On"),
        ],
        &[],
        expect![[r#"
            {"role":"user","content":"Go"}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"One"}]}
            {"role":"assistant","content":"Two, ha"}
            {"role":"user","content":"On"}
        "#]],
    );
}

fn patch(id: &str, operation: &Value) -> ToolCall {
    native::call(id.to_owned(), NativeTool::ApplyPatch, operation.to_string())
}

fn patched(raw: bool) -> Vec<Message> {
    let good = json!({"type": "delete_file", "path": "a"});
    let bad = json!({"type": "chmod", "path": "a"});
    let items = json!([
        {"id": "apc_1", "type": "apply_patch_call", "status": "completed", "call_id": "p", "operation": good},
        {"id": "apc_2", "type": "apply_patch_call", "status": "completed", "call_id": "q", "operation": bad},
    ]);
    let failed = ToolResult {
        is_error: true,
        ..result("q", "no")
    };
    vec![
        user("Go"),
        answer(
            "",
            vec![patch("p", &good), patch("q", &bad)],
            raw.then_some(items),
        ),
        Message::Results(vec![result("p", "gone"), failed]),
    ]
}

#[test]
fn r_038_r_039_a_patch_call_goes_back_as_written_with_its_own_kind_of_output() {
    check(
        patched(true),
        &[NativeTool::ApplyPatch],
        expect![[r#"
        {"role":"user","content":"Go"}
        {"type":"apply_patch_call","status":"completed","call_id":"p","operation":{"type":"delete_file","path":"a"}}
        {"type":"apply_patch_call","status":"completed","call_id":"q","operation":{"type":"chmod","path":"a"}}
        {"type":"apply_patch_call_output","call_id":"p","status":"completed","output":"gone"}
        {"type":"apply_patch_call_output","call_id":"q","status":"failed","output":"no"}
    "#]],
    );
    // Without the items, it is made of what was written.
    let request = |raw| ModelRequest {
        messages: patched(raw),
        natives: vec![NativeTool::ApplyPatch],
        ..ModelRequest::default()
    };
    assert_eq!(input(&request(false)), input(&request(true)));
}

#[test]
fn a_patch_call_goes_back_as_ours_once_the_tool_is_not_on_offer() {
    check(
        patched(true),
        &[],
        expect![[r#"
            {"role":"user","content":"Go"}
            {"type":"function_call","call_id":"p","name":"apply_patch","arguments":"{\"patch\":\"*** Begin Patch\\n*** Delete File: a\\n*** End Patch\\n\"}"}
            {"type":"function_call","call_id":"q","name":"apply_patch_call","arguments":"{}"}
            {"type":"function_call_output","call_id":"p","output":"gone"}
            {"type":"function_call_output","call_id":"q","output":"no"}
        "#]],
    );
}

#[test]
fn items_at_odds_with_the_calls_give_way_to_them() {
    let raw = json!([
        {"type": "reasoning", "summary": [], "encrypted_content": "g"},
        {"type": "function_call", "call_id": "other", "name": "read", "arguments": "{}"},
    ]);
    for raw in [
        raw,
        json!({"reasoning_content": "of another format"}),
        json!([]),
        json!([7]),
    ] {
        check(
            vec![
                user("Go"),
                answer("Reading", vec![call("c1", "{}")], Some(raw)),
                Message::Results(vec![result("c1", "r")]),
            ],
            &[],
            expect![[r#"
                {"role":"user","content":"Go"}
                {"role":"assistant","content":"Reading"}
                {"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}
                {"type":"function_call_output","call_id":"c1","output":"r"}
            "#]],
        );
    }
}

#[test]
fn a_history_of_another_provider_has_ids_names_and_arguments_that_are_taken() {
    let odd = |id: &str| ToolCall {
        name: "multi_tool_use.parallel".to_owned(),
        ..call(id, "{broken")
    };
    let editor = ToolCall {
        native: Some(NativeCall {
            tool: NativeTool::TextEditor,
            input: "{}".to_owned(),
        }),
        ..call("toolu_01", "{\"path\":\"a\"}")
    };
    let long = "x".repeat(70);
    check(
        vec![
            user("Go"),
            answer(" ", vec![odd("a b"), odd(&long), editor], None),
            Message::Results(vec![
                result("a b", "1"),
                result(&long, "2"),
                result("toolu_01", "3"),
                result("nobody", "4"),
            ]),
            answer("", vec![call("call_0", "")], None),
            Message::Results(vec![result("call_0", "5")]),
            answer("", vec![call("call_0", "")], None),
            Message::Results(vec![result("call_0", "6")]),
        ],
        &[NativeTool::ApplyPatch],
        expect![[r#"
            {"role":"user","content":"Go"}
            {"type":"function_call","call_id":"call_414d9b29914429e79f7a6508","name":"multi_tool_use_parallel","arguments":"{\"invalid_json\":\"{broken\"}"}
            {"type":"function_call","call_id":"call_0692f59f2089e9f2a5e4d2a2","name":"multi_tool_use_parallel","arguments":"{\"invalid_json\":\"{broken\"}"}
            {"type":"function_call","call_id":"toolu_01","name":"read","arguments":"{\"path\":\"a\"}"}
            {"type":"function_call_output","call_id":"call_414d9b29914429e79f7a6508","output":"1"}
            {"type":"function_call_output","call_id":"call_0692f59f2089e9f2a5e4d2a2","output":"2"}
            {"type":"function_call_output","call_id":"toolu_01","output":"3"}
            {"type":"function_call","call_id":"call_0","name":"read","arguments":"{}"}
            {"type":"function_call_output","call_id":"call_0","output":"5"}
            {"type":"function_call","call_id":"call_6d2e165e380300bc44789891","name":"read","arguments":"{}"}
            {"type":"function_call_output","call_id":"call_6d2e165e380300bc44789891","output":"6"}
        "#]],
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
fn r_047_pictures_follow_the_run_of_results_as_one_turn_of_the_person() {
    let shown = |id: &str| ToolResult {
        images: vec![seen("a.gif")],
        ..result(id, "r")
    };
    check(
        vec![
            user("Go"),
            answer("", vec![call("a", "{}"), call("b", "{}")], None),
            Message::Results(vec![shown("a"), shown("b")]),
            answer("", vec![call("c", "{}")], None),
            Message::Results(vec![shown("c")]),
            user("and?"),
        ],
        &[],
        expect![[r#"
            {"role":"user","content":"Go"}
            {"type":"function_call","call_id":"a","name":"read","arguments":"{}"}
            {"type":"function_call","call_id":"b","name":"read","arguments":"{}"}
            {"type":"function_call_output","call_id":"a","output":"r"}
            {"type":"function_call_output","call_id":"b","output":"r"}
            {"role":"user","content":[{"type":"input_text","text":"Of tool call a: a.gif [image/gif, 3 bytes]"},{"type":"input_image","image_url":"data:image/gif;base64,R0lG","detail":"auto"},{"type":"input_text","text":"Of tool call b: a.gif [image/gif, 3 bytes]"},{"type":"input_image","image_url":"data:image/gif;base64,R0lG","detail":"auto"}]}
            {"type":"function_call","call_id":"c","name":"read","arguments":"{}"}
            {"type":"function_call_output","call_id":"c","output":"r"}
            {"role":"user","content":[{"type":"input_text","text":"Of tool call c: a.gif [image/gif, 3 bytes]"},{"type":"input_image","image_url":"data:image/gif;base64,R0lG","detail":"auto"},{"type":"input_text","text":"and?"}]}
        "#]],
    );
}

/// Whatever the history is: a longer one begins with the items of a shorter one.
#[test]
fn a_longer_history_begins_with_the_items_of_a_shorter_one() {
    let raw = json!([
        {"type": "reasoning", "summary": [], "encrypted_content": "g"},
        {"type": "function_call", "call_id": "call_0", "name": "read", "arguments": "{}"},
    ]);
    let mut messages = patched(true);
    for raw in [Some(raw.clone()), None, Some(raw)] {
        messages.push(answer("", vec![call("call_0", "{}")], raw));
        messages.push(Message::Results(vec![result("call_0", "r")]));
    }
    let said = |n: usize| {
        input(&ModelRequest {
            messages: messages[..n].to_vec(),
            natives: vec![NativeTool::ApplyPatch],
            ..ModelRequest::default()
        })
    };
    for n in 1..messages.len() {
        assert!(said(n + 1).starts_with(&said(n)), "after {n} messages");
    }
}
