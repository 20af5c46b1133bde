//! The decoder against small streams made by hand: each is also cut at every byte, which must change nothing.

mod recorded;
mod request;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::decode::{self, ResponsesDecoder};
use crate::provider::ModelEvent;
use crate::provider::broken::{MAX_ARGUMENTS, MAX_CALLS};
use crate::provider::cuts;

/// Decodes `pieces` as they come.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<ModelEvent> {
    cuts::decode::<ResponsesDecoder>(pieces)
}

/// Decodes `body` whole, cut in two and cut off at every byte, which must change nothing.
fn decode_cut_everywhere(body: &[u8]) -> Vec<ModelEvent> {
    cuts::everywhere::<ResponsesDecoder>(body)
}

fn shown(events: &[ModelEvent]) -> String {
    let line = |it: &ModelEvent| match it {
        ModelEvent::Raw(raw) => format!("Raw({raw})\n"),
        other => format!("{other:?}\n"),
    };
    events.iter().map(line).collect()
}

fn check_body(body: &str, expected: Expect) {
    expected.assert_eq(&shown(&decode_cut_everywhere(body.as_bytes())));
}

/// Frames each line as an event of the name in front of its object: `output_item.done {…}` is `response.output_item.done`.
fn frame(script: &str) -> String {
    let mut body = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (name, data) = line.split_once(' ').unwrap();
        let mut data: Value = serde_json::from_str(data).unwrap();
        let name = match name {
            "error" => name.to_owned(),
            name => format!("response.{name}"),
        };
        data["type"] = json!(name);
        body += &format!("event: {name}\ndata: {data}\n\n");
    }
    body
}

fn check(script: &str, expected: Expect) {
    check_body(&frame(script), expected);
}

#[test]
fn thought_text_call_and_usage_come_in_order() {
    check(
        r#"
        created {"response":{"status":"in_progress","output":[]}}
        output_item.added {"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}
        reasoning_summary_part.added {"output_index":0,"summary_index":0}
        reasoning_summary_text.delta {"output_index":0,"summary_index":0,"delta":"Look"}
        reasoning_summary_text.delta {"output_index":0,"summary_index":0,"delta":" first"}
        reasoning_summary_text.delta {"output_index":0,"summary_index":1,"delta":"then act"}
        output_item.done {"output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"Look first"},{"type":"summary_text","text":"then act"}]}}
        output_item.added {"output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}
        output_text.delta {"output_index":1,"content_index":0,"delta":"Grüß","obfuscation":"x1"}
        output_text.delta {"output_index":1,"content_index":0,"delta":" dich"}
        output_item.done {"output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Grüß dich"}]}}
        output_item.added {"output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":""}}
        function_call_arguments.delta {"output_index":2,"delta":"{\"path\":"}
        function_call_arguments.done {"output_index":2,"arguments":"{\"path\":\"a\"}"}
        output_item.done {"output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"}}
        completed {"response":{"status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":150}}}
        "#,
        expect![[r#"
            Thought("Look")
            Thought(" first")
            Thought("\n\nthen act")
            Text("Grüß")
            Text(" dich")
            Call(ToolCall { id: "call_a", name: "read", arguments: "{\"path\":\"a\"}", native: None })
            Raw([{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"Look first"},{"type":"summary_text","text":"then act"}]},{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Grüß dich"}]},{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"}])
            Usage(Usage { input: 30, cached: 60, cache_write: 10, output: 30, reasoning: 20 })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn what_no_delta_has_shown_is_shown_when_its_item_is_done() {
    check(
        r#"
        output_item.done {"output_index":0,"item":{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}}
        output_item.done {"output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"one"}]}}
        output_text.delta {"output_index":2,"delta":"tw"}
        output_item.done {"output_index":2,"item":{"type":"message","content":[{"type":"output_text","text":"two"}]}}
        completed {"response":{}}
        "#,
        expect![[r#"
            Thought("hm")
            Text("one")
            Text("\n\ntw")
            Text("o")
            Raw([{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"one"}]},{"type":"message","content":[{"type":"output_text","text":"two"}]}])
            Ended(EndTurn)
        "#]],
    );
}

/// As llama.cpp sends it; and a proxy that changes ids from event to event.
#[test]
fn a_server_without_output_index_is_understood() {
    check(
        r#"
        output_item.added {"item":{"id":"rs_1","type":"reasoning"}}
        reasoning_text.delta {"item_id":"rs_1","delta":"a"}
        reasoning_text.delta {"item_id":"rs_1","delta":"b"}
        output_item.added {"item":{"id":"msg_1","type":"message"}}
        output_text.delta {"item_id":"msg_1","delta":"x"}
        output_text.delta {"item_id":"other","delta":"y"}
        output_item.done {"item":{"id":"rs_1","type":"reasoning","content":[{"text":"ab"}]}}
        output_item.done {"item":{"id":"another","type":"message","content":[{"text":"xyz"}]}}
        output_item.done {"item":{"id":"fc_1","type":"function_call","call_id":"fc_1","name":"t","arguments":"{}"}}
        output_item.done {"item":{"type":"function_call","name":"t","arguments":{"a":1}}}
        completed {"response":{"status":"completed"}}
        "#,
        expect![[r#"
            Thought("a")
            Thought("b")
            Text("x")
            Text("y")
            Text("z")
            Call(ToolCall { id: "fc_1", name: "t", arguments: "{}", native: None })
            Call(ToolCall { id: "call_1", name: "t", arguments: "{\"a\":1}", native: None })
            Raw([{"id":"rs_1","type":"reasoning","content":[{"text":"ab"}]},{"id":"another","type":"message","content":[{"text":"xyz"}]},{"id":"fc_1","type":"function_call","call_id":"fc_1","name":"t","arguments":"{}"},{"type":"function_call","name":"t","arguments":"{\"a\":1}","call_id":"call_1"}])
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn r_036_each_patch_call_becomes_a_call_of_our_tool() {
    check(
        r#"
        output_item.added {"output_index":0,"item":{"type":"apply_patch_call","call_id":"p","operation":{"type":"create_file","path":"a","diff":""}}}
        apply_patch_call_operation_diff.delta {"output_index":0,"delta":"+hi"}
        apply_patch_call_operation_diff.done {"output_index":0,"diff":"+hi\n"}
        output_item.done {"output_index":0,"item":{"type":"apply_patch_call","status":"completed","call_id":"p","operation":{"type":"create_file","path":"a","diff":"+hi\n"}}}
        output_item.done {"output_index":1,"item":{"type":"apply_patch_call","call_id":"q","operation":{"type":"chmod","path":"a"}}}
        completed {"response":{}}
        "#,
        expect![[r#"
            Call(ToolCall { id: "p", name: "apply_patch", arguments: "{\"patch\":\"*** Begin Patch\\n*** Add File: a\\n+hi\\n*** End Patch\\n\"}", native: Some(NativeCall { tool: ApplyPatch, input: "{\"type\":\"create_file\",\"path\":\"a\",\"diff\":\"+hi\\n\"}" }) })
            Call(ToolCall { id: "q", name: "apply_patch_call", arguments: "", native: Some(NativeCall { tool: ApplyPatch, input: "{\"type\":\"chmod\",\"path\":\"a\"}" }) })
            Raw([{"type":"apply_patch_call","status":"completed","call_id":"p","operation":{"type":"create_file","path":"a","diff":"+hi\n"}},{"type":"apply_patch_call","call_id":"q","operation":{"type":"chmod","path":"a"}}])
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn calls_that_are_not_ours_and_items_that_nobody_knows_are_kept_and_never_run() {
    check(
        r#"
        output_item.done {"output_index":0,"item":{"type":"custom_tool_call","call_id":"c","name":"x","input":"rm"}}
        output_item.done {"output_index":1,"item":{"type":"shell_call","call_id":"s","action":{"commands":["ls"]}}}
        output_item.done {"output_index":2,"item":{"type":"brand_new","value":7}}
        something.new {"output_index":3,"delta":5}
        output_item.done {"output_index":4,"item":null}
        completed {"response":{"usage":null}}
        "#,
        expect![[r#"
            Raw([{"type":"custom_tool_call","call_id":"c","name":"x","input":"rm"},{"type":"shell_call","call_id":"s","action":{"commands":["ls"]}},{"type":"brand_new","value":7}])
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn items_are_kept_in_their_order_whatever_the_order_they_were_done_in_and_once() {
    check(
        r#"
        output_item.done {"output_index":1,"item":{"type":"function_call","call_id":"b","name":"t","arguments":"{}"}}
        output_item.done {"output_index":0,"item":{"type":"function_call","call_id":"a","name":"t","arguments":"{}"}}
        output_item.done {"output_index":1,"item":{"type":"function_call","call_id":"b","name":"t","arguments":"{}"}}
        output_item.done {"output_index":2,"item":{"type":"function_call","call_id":"b","name":"t","arguments":"{}"}}
        completed {"response":{}}
        "#,
        expect![[r#"
            Call(ToolCall { id: "b", name: "t", arguments: "{}", native: None })
            Call(ToolCall { id: "a", name: "t", arguments: "{}", native: None })
            Call(ToolCall { id: "call_2", name: "t", arguments: "{}", native: None })
            Raw([{"type":"function_call","call_id":"a","name":"t","arguments":"{}"},{"type":"function_call","call_id":"b","name":"t","arguments":"{}"},{"type":"function_call","call_id":"call_2","name":"t","arguments":"{}"}])
            Ended(ToolCalls)
        "#]],
    );
}

const ONE_CALL: &str = r#"output_item.done {"output_index":0,"item":{"type":"function_call","call_id":"a","name":"t","arguments":"{}"}}"#;

#[test]
fn bug_073_a_stream_without_its_end_keeps_finished_calls_and_is_an_error() {
    check(
        &format!(
            r#"{ONE_CALL}
            output_text.delta {{"output_index":1,"delta":"half"}}
            output_item.added {{"output_index":2,"item":{{"type":"function_call","call_id":"b","name":"t"}}}}
            function_call_arguments.delta {{"output_index":2,"delta":"{{}}"}}"#
        ),
        expect![[r#"
            Call(ToolCall { id: "a", name: "t", arguments: "{}", native: None })
            Text("half")
            Raw([{"type":"function_call","call_id":"a","name":"t","arguments":"{}"}])
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "data: [DONE]\n\n",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn both_shapes_of_an_error_and_a_failed_response_are_understood() {
    check(
        r#"error {"code":"insufficient_quota","message":"You exceeded your quota.","param":null,"sequence_number":2}"#,
        expect![[r#"
            Failed(ModelError { kind: Quota, message: "the provider's account has no quota left: \"You exceeded your quota\"; check its plan and billing", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        &format!(
            r#"{ONE_CALL}
            error {{"error":{{"type":"server_error","code":"server_error","message":"Oops","param":null}}}}
            failed {{"response":{{"status":"failed"}}}}"#
        ),
        expect![[r#"
            Call(ToolCall { id: "a", name: "t", arguments: "{}", native: None })
            Raw([{"type":"function_call","call_id":"a","name":"t","arguments":"{}"}])
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own: \"Oops\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        r#"failed {"response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Too long"},"usage":{"input_tokens":5,"output_tokens":0}}}"#,
        expect![[r#"
            Usage(Usage { input: 5, cached: 0, cache_write: 0, output: 0, reasoning: 0 })
            Failed(ModelError { kind: ContextOverflow, message: "the conversation is longer than the model can read: \"Too long\"; compact it or start a new one", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn why_an_answer_ends_is_told() {
    let reason = |script: &str| {
        let events = decode_cut_everywhere(frame(script).as_bytes());
        // Among these is a call that the limit has cut: it is neither run nor sent back.
        let is_cut = |it: &ModelEvent| matches!(it, ModelEvent::Call(_) | ModelEvent::Raw(_));
        assert!(!events.iter().any(is_cut), "{events:?}");
        format!("{:?}\n", events.last().unwrap())
    };
    let incomplete = |reason: &str| {
        format!(
            r#"incomplete {{"response":{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}}}}}}"#
        )
    };
    let cut_call = r#"output_item.done {"output_index":0,"item":{"type":"function_call","status":"incomplete","call_id":"a","name":"t","arguments":"{\"pa"}}"#;
    let refusal = r#"refusal.delta {"output_index":0,"delta":"No."}"#;
    let ends = [
        reason(&incomplete("max_output_tokens")),
        reason(&format!("{cut_call}\n{}", incomplete("max_output_tokens"))),
        reason(&incomplete("content_filter")),
        reason(&incomplete("steered")),
        reason(&format!("{refusal}\ncompleted {{}}")),
        reason(r#"cancelled {"response":{}}"#),
        reason(r#"done {"response":{"status":"completed"}}"#),
    ];
    expect![[r#"
        Ended(MaxTokens)
        Ended(MaxTokens)
        Ended(Refusal)
        Ended(Other("steered"))
        Ended(Refusal)
        Failed(ModelError { kind: Cut, message: "the provider cancelled the answer; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        Ended(EndTurn)
    "#]]
    .assert_eq(&ends.concat());
}

#[test]
fn a_response_that_is_not_streamed_is_understood_too() {
    let output = json!([
        {"type": "reasoning", "encrypted_content": "g", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}, {"type": "refusal", "refusal": " no"}]},
        {"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"},
    ]);
    let body =
        json!({"object": "response", "status": "completed", "error": null, "output": output});
    check_body(
        &body.to_string(),
        expect![[r#"
            Thought("hm")
            Text("hi no")
            Call(ToolCall { id: "a", name: "t", arguments: "{}", native: None })
            Raw([{"type":"reasoning","encrypted_content":"g","summary":[{"type":"summary_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"hi"},{"type":"refusal","refusal":" no"}]},{"type":"function_call","call_id":"a","name":"t","arguments":"{}"}])
            Ended(ToolCalls)
        "#]],
    );
    check_body(
        r#"{"error":{"message":"no","code":"rate_limit_exceeded"}}"#,
        expect![[r#"
            Failed(ModelError { kind: RateLimit, message: "the provider's rate limit is reached: \"no\"; wait a moment and try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        r#"{"status":"queued","output":[]}"#,
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        r#"{"choices":[]}"#,
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is not a response of OpenAI's format; check the base URL and the provider's kind, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn nothing_comes_after_the_end() {
    check(
        &format!("completed {{}}\n{ONE_CALL}\nerror {{}}"),
        expect![[r#"
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn what_is_odd_but_harmless_passes_and_what_is_no_json_fails() {
    check_body(
        ": keep-alive\n\ndata: 7\n\nevent: response.output_text.delta\ndata: {\"delta\":\"hi\"}\n\ndata: {\"type\":7}\n\nevent: response.completed\ndata: {}\n\n",
        expect![[r#"
            Text("hi")
            Ended(EndTurn)
        "#]],
    );
    let begun = "data: {\"type\":\"response.created\"}\n\n";
    for (body, error) in [
        (
            "data: {broken\n\n".to_owned(),
            "kind: Protocol, message: \"the model's server sent something",
        ),
        (
            format!("{begun}data: {{broken\n\n"),
            "kind: Cut, message: \"the model's stream was damaged",
        ),
        // The transport has closed within it.
        (
            "data: {\"type\":\"resp".to_owned(),
            "kind: Cut, message: \"the model's stream ended",
        ),
    ] {
        let events = decode_cut_everywhere(body.as_bytes());
        let failed = format!("Failed(ModelError {{ {error}");
        assert!(shown(&events).starts_with(&failed), "{events:?}");
    }
}

#[test]
fn too_many_calls_or_arguments_or_items_name_the_limit() {
    let failed = |script: String| {
        let events = decode(std::iter::once(frame(&script).as_bytes()));
        match events.last() {
            Some(ModelEvent::Failed(error)) => format!("{:?}: {}\n", error.kind, error.message),
            other => panic!("{other:?}"),
        }
    };
    let call = |index: usize, arguments: &str| {
        let item = json!({"type": "function_call", "call_id": format!("c{index}"), "name": "t", "arguments": arguments});
        format!(
            "output_item.done {}\n",
            json!({"output_index": index, "item": item})
        )
    };
    let delta =
        |index: usize| format!("output_text.delta {{\"output_index\":{index},\"delta\":\"x\"}}\n");
    let all = [
        failed((0..=MAX_CALLS).map(|it| call(it, "{}")).collect()),
        failed(call(0, &"x".repeat(MAX_ARGUMENTS + 1))),
        failed((0..=decode::MAX_ITEMS).map(delta).collect()),
        failed(
            (0..9)
                .map(|it| call(it, &"x".repeat(MAX_ARGUMENTS)))
                .collect(),
        ),
    ];
    expect![[r#"
        Limit: the model made more than 256 tool calls in one answer; ask for smaller steps
        Limit: the model wrote more than 4 MiB of arguments for one tool call; ask for smaller steps
        Limit: the model wrote more than 4096 items in one answer; ask for smaller steps
        Limit: the model wrote more than 32 MiB in one answer; ask for smaller steps
    "#]]
    .assert_eq(&all.concat());
}
