//! What is asked otherwise: after refusals, and of servers with manners of their own.

use expect_test::{Expect, expect};
use protocol::config::Reasoning;
use protocol::tool::Picture;
use serde_json::{Value, json};

use super::{check, decode_cut_everywhere, frame};
use crate::provider::{
    Content, Endpoint, Feature, Image, Message, ModelEvent, ModelRequest, ToolCall, ToolResult,
    ToolSpec, Wire,
};

fn body(base_url: &str, request: &ModelRequest) -> Value {
    let endpoint = Endpoint {
        base_url: base_url.to_owned(),
        key: None,
        extra_headers: Vec::new(),
    };
    let http = Wire::ChatCompletions.provider().request(&endpoint, request);
    serde_json::from_slice(&http.body).unwrap()
}

fn full() -> ModelRequest {
    ModelRequest {
        model: "anthropic/tiny".to_owned(),
        messages: vec![Message::User(vec![Content::Text("Hi".to_owned())])],
        tools: vec![ToolSpec {
            name: "t".to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        }],
        max_tokens: Some(1000),
        temperature: Some(0.0),
        reasoning: Some(Reasoning::High),
        cache_key: "s-1".to_owned(),
        ..ModelRequest::default()
    }
}

/// The fields besides model, messages and tools.
fn settings(base_url: &str, request: &ModelRequest) -> String {
    let mut body = body(base_url, request);
    let fields = body.as_object_mut().unwrap();
    fields.shift_remove("model");
    fields.shift_remove("messages");
    fields.shift_remove("tools");
    format!("{body}\n")
}

#[test]
fn each_server_is_asked_in_its_spelling() {
    let hosts = [
        "http://127.0.0.1:8080/v1",
        "https://api.openai.com/v1",
        "https://openrouter.ai/api/v1",
    ];
    let all: Vec<String> = hosts.iter().map(|it| settings(it, &full())).collect();
    expect![[r#"
        {"max_tokens":1000,"temperature":0.0,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
        {"max_completion_tokens":1000,"temperature":0.0,"reasoning_effort":"high","prompt_cache_key":"s-1","stream":true,"stream_options":{"include_usage":true}}
        {"max_tokens":1000,"temperature":0.0,"reasoning":{"effort":"high"},"cache_control":{"type":"ephemeral"},"stream":true,"stream_options":{"include_usage":true}}
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn what_was_refused_is_left_out_or_spelt_otherwise() {
    let mut request = full();
    let mut all = Vec::new();
    for feature in [
        Feature::MaxTokens,
        Feature::MaxCompletionTokens,
        Feature::Temperature,
        Feature::Reasoning,
        Feature::StreamUsage,
    ] {
        request.learned.refused.insert(feature);
        all.push(settings("http://127.0.0.1:8080/v1", &request));
    }
    expect![[r#"
        {"max_completion_tokens":1000,"temperature":0.0,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
        {"temperature":0.0,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
        {"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
        {"stream":true,"stream_options":{"include_usage":true}}
        {"stream":true}
    "#]]
    .assert_eq(&all.concat());
    request.learned.refused.insert(Feature::Tools);
    assert_eq!(
        body("http://127.0.0.1:8080/v1", &request).get("tools"),
        None
    );

    let mut request = full();
    request.learned.refused.insert(Feature::MaxCompletionTokens);
    request.learned.max_tokens = Some(9);
    request.learned.levels.insert(Reasoning::High);
    let body = body("https://api.openai.com/v1", &request);
    assert_eq!(
        (&body["max_tokens"], &body["reasoning_effort"]),
        (&json!(9), &json!("medium"))
    );
}

fn conversation(raw: Option<Value>) -> ModelRequest {
    let call = ToolCall {
        id: "call_0".to_owned(),
        name: "t".to_owned(),
        arguments: "{}".to_owned(),
        native: None,
    };
    let picture = Picture {
        name: String::new(),
        media_type: "image/gif".to_owned(),
        bytes: 3,
        sha256: String::new(),
    };
    let image = Image {
        picture,
        data: "R0lG".into(),
    };
    let asked = || Message::Assistant {
        text: String::new(),
        thought: String::new(),
        calls: vec![call.clone()],
        raw: raw.clone(),
    };
    let result = |images| {
        Message::Results(vec![ToolResult {
            id: "call_0".to_owned(),
            text: "r".to_owned(),
            is_error: false,
            images,
        }])
    };
    ModelRequest {
        model: "devstral-2".to_owned(),
        messages: vec![
            asked(),
            result(vec![image]),
            asked(),
            result(Vec::new()),
            Message::User(vec![Content::Text("and?".to_owned())]),
        ],
        ..ModelRequest::default()
    }
}

fn check_messages(request: &ModelRequest, expected: Expect) {
    let body = body("http://127.0.0.1:1/v1", request);
    let messages = body["messages"].as_array().unwrap();
    expected.assert_eq(
        &messages
            .iter()
            .map(|it| format!("{it}\n"))
            .collect::<String>(),
    );
}

#[test]
fn mistral_hears_of_the_assistant_between_results_and_the_person_and_sees_its_own_kind_of_ids() {
    check_messages(
        &conversation(None),
        expect![[r#"
        {"role":"assistant","content":null,"tool_calls":[{"id":"a350d4136","type":"function","function":{"name":"t","arguments":"{}"}}]}
        {"role":"tool","content":"r","tool_call_id":"a350d4136"}
        {"role":"assistant","content":"I have the results."}
        {"role":"user","content":[{"type":"text","text":"Of tool call a350d4136: [image/gif, 3 bytes]"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lG"}}]}
        {"role":"assistant","content":null,"tool_calls":[{"id":"6d2e165e3","type":"function","function":{"name":"t","arguments":"{}"}}]}
        {"role":"tool","content":"r","tool_call_id":"6d2e165e3"}
        {"role":"assistant","content":"I have the results."}
        {"role":"user","content":"and?"}
    "#]],
    );
}

#[test]
fn what_a_server_hangs_on_an_answer_goes_back_with_it() {
    let raw = json!({
        "reasoning_content": "hm",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "g"}],
        "extra_content": {"call_0": {"google": {"thought_signature": "s"}}, "other": {}},
    });
    let mut request = conversation(Some(raw));
    request.model = "tiny".to_owned();
    request.messages.truncate(1);
    check_messages(
        &request,
        expect![[r#"
        {"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"t","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}],"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"g"}]}
    "#]],
    );
}

#[test]
fn pieces_of_what_a_server_hangs_on_an_answer_are_put_together() {
    check(
        r#"
        {"choices":[{"delta":{"reasoning":"He","reasoning_details":[{"type":"reasoning.text","text":"He","index":0,"format":"f","signature":null}]}}]}
        {"choices":[{"delta":{"reasoning":"y","reasoning_details":[{"type":"reasoning.text","text":"y","index":0}]}}]}
        {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"sig","index":0}]}}]}
        {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"a","index":1},{"type":"reasoning.encrypted","data":"b","index":1}]}}]}
        {"choices":[{"delta":{"reasoning_details":"odd"}}]}
        call: {"index":0,"id":"a","function":{"name":"t","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}
        call: {"index":1,"id":"b","function":{"name":"t","arguments":"{}"},"extra_content":7}
        finish: tool_calls
        [DONE]
        "#,
        expect![[r#"
            Thought("He")
            Thought("y")
            Call(ToolCall { id: "a", name: "t", arguments: "{}", native: None })
            Call(ToolCall { id: "b", name: "t", arguments: "{}", native: None })
            Raw(Object {"reasoning_details": Array [Object {"type": String("reasoning.text"), "text": String("Hey"), "index": Number(0), "format": String("f"), "signature": String("sig")}, Object {"type": String("reasoning.encrypted"), "data": String("a"), "index": Number(1)}, Object {"type": String("reasoning.encrypted"), "data": String("b"), "index": Number(1)}], "extra_content": Object {"a": Object {"google": Object {"thought_signature": String("s")}}}})
            Ended(ToolCalls)
        "#]],
    );
}

/// Its calls are run, so what belongs to them must be there.
#[test]
fn what_hangs_on_finished_calls_is_kept_when_the_stream_is_cut() {
    let events = decode_cut_everywhere(
        frame(
            r#"
            {"choices":[{"delta":{"reasoning_content":"hm"}}]}
            call: {"index":0,"id":"a","function":{"name":"t","arguments":"{}"}}
            call: {"index":1,"id":"b","function":{"name":"t","arguments":"{"}}
            "#,
        )
        .as_bytes(),
    );
    let raw = ModelEvent::Raw(json!({"reasoning_content": "hm"}));
    assert_eq!(events[events.len() - 2], raw, "{events:?}");
}

#[test]
fn thinking_among_the_parts_of_a_content_is_thinking() {
    check(
        r#"
        {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]}}]}
        {"choices":[{"delta":{"content":[{"type":"text","text":"Hello"},{"type":"new","value":1}]}}]}
        finish: stop
        "#,
        expect![[r#"
            Thought("Hm")
            Text("Hello")
            Ended(EndTurn)
        "#]],
    );
}
