//! The codec against small streams made by hand: each is also cut at every byte, which must change nothing.

mod manners;
mod recorded;
mod request;

use expect_test::{Expect, expect};

use super::ChatCompletions;
use super::decode::ChatDecoder;
use crate::provider::cuts;
use crate::provider::{ModelEvent, Provider as _};
use crate::rounds::rounds;

/// Decodes `pieces` as they come.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<ModelEvent> {
    cuts::decode::<ChatDecoder>(pieces)
}

/// Decodes `body` whole, cut in two and cut off at every byte, which must change nothing.
fn decode_cut_everywhere(body: &[u8]) -> Vec<ModelEvent> {
    cuts::everywhere::<ChatDecoder>(body)
}

fn check_body(body: &str, expected: Expect) {
    let events = decode_cut_everywhere(body.as_bytes());
    expected.assert_eq(
        &events
            .iter()
            .map(|it| format!("{it:?}\n"))
            .collect::<String>(),
    );
}

/// Frames each line as an event. A line without a brace at its start is short for a delta or a finish reason:
/// `text: hi`, `call: {…}` (one fragment), `finish: stop`.
fn frame(script: &str) -> String {
    let mut body = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let data = match line.split_once(": ") {
            Some(("text", text)) => {
                format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)
            }
            Some(("call", call)) => format!(
                r#"{{"choices":[{{"delta":{{"tool_calls":[{call}]}},"finish_reason":null}}]}}"#
            ),
            Some(("finish", reason)) => {
                format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
            }
            _ => line.to_owned(),
        };
        body += &format!("data: {data}\n\n");
    }
    body
}

fn check(script: &str, expected: Expect) {
    check_body(&frame(script), expected);
}

#[test]
fn text_thought_and_usage_come_in_order() {
    check(
        r#"
        {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":null},"logprobs":null,"finish_reason":null}],"usage":null}
        {"choices":[{"delta":{"reasoning_content":"Hm","content":null}}]}
        {"choices":[{"delta":{"reasoning":", so"}}]}
        {"choices":[{"delta":{"reasoning":" both","reasoning_content":" both"}}]}
        text: Gr\u00fc\u00df dich
        text:  \"Ada\"
        finish: stop
        {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}
        [DONE]
        "#,
        expect![[r#"
            Thought("Hm")
            Thought(", so")
            Thought(" both")
            Text("Grüß dich")
            Text(" \"Ada\"")
            Usage(Usage { input: 6, cached: 4, cache_write: 0, output: 5, reasoning: 2 })
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn a_call_in_fragments_is_put_together() {
    check(
        r#"
        text: Reading
        call: {"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}
        call: {"index":0,"function":{"arguments":"{\"pa"}}
        call: {"index":0,"function":{"arguments":"th\": \"}{\\\"\"}"}}
        call: {"index":1,"id":"b","type":"function","function":{"name":"list","arguments":"{}"}}
        finish: tool_calls
        [DONE]
        "#,
        expect![[r#"
            Text("Reading")
            Call(ToolCall { id: "a", name: "read", arguments: "{\"path\": \"}{\\\"\"}", native: None })
            Call(ToolCall { id: "b", name: "list", arguments: "{}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn a_call_leaves_as_soon_as_the_next_begins() {
    let mut decoder = ChatCompletions.decoder();
    let mut events = Vec::new();
    decoder.feed(
        frame(r#"call: {"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}"#)
            .as_bytes(),
        &mut events,
    );
    assert_eq!(events.len(), 0);
    decoder.feed(
        frame(r#"call: {"index":1,"id":"b","function":{"name":"read","arguments":""}}"#).as_bytes(),
        &mut events,
    );
    assert_eq!(events.len(), 1);
}

#[test]
fn index_zero_for_all_calls_is_told_apart_by_id() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}}
        call: {"index":0,"id":"b","function":{"name":"read","arguments":"{\"n\":"}}
        call: {"index":0,"id":"b","function":{"arguments":"2}"}}
        finish: tool_calls
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "read", arguments: "{\"n\":1}", native: None })
            Call(ToolCall { id: "b", name: "read", arguments: "{\"n\":2}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn calls_without_ids_get_ones_that_are_free() {
    check(
        r#"
        call: {"index":0,"function":{"name":"read","arguments":"{\"n\":1}"}}
        call: {"index":0,"function":{"name":"read","arguments":"{\"n\":1}"}}
        call: {"index":1,"id":"call_0","function":{"name":"read","arguments":"{\"n\":"}}
        call: {"index":1,"function":{"arguments":"3}"}}
        finish: stop
        "#,
        expect![[r#"
            Call(ToolCall { id: "call_0", name: "read", arguments: "{\"n\":1}", native: None })
            Call(ToolCall { id: "call_1", name: "read", arguments: "{\"n\":1}", native: None })
            Call(ToolCall { id: "call_2", name: "read", arguments: "{\"n\":3}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn neither_index_nor_id_still_tells_calls_apart_by_name() {
    check(
        r#"
        {"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":"{\"n\":1}"}},{"function":{"name":"list"}}]}}]}
        call: {"function":{"arguments":"{\"n\":"}}
        call: {"function":{"arguments":"2}"}}
        finish: stop
        "#,
        expect![[r#"
            Call(ToolCall { id: "call_0", name: "read", arguments: "{\"n\":1}", native: None })
            Call(ToolCall { id: "call_1", name: "list", arguments: "{\"n\":2}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn ids_and_names_that_are_repeated_or_change_do_not_split_a_call() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"name":"read","arguments":""}}
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":"}}
        call: {"index":0,"id":"another","function":{"name":"","arguments":"1}"}}
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}}
        finish: tool_calls
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}}
        [DONE]
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "read", arguments: "{\"n\":1}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn a_brace_in_a_text_does_not_end_a_call() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":\"\\\"}"}}
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"\"}"}}
        finish: tool_calls
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "read", arguments: "{\"n\":\"\\\"}\"}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn calls_with_one_id_get_one_each() {
    check(
        r#"
        call: {"index":0,"id":"x","function":{"name":"read","arguments":"{\"n\":1}"}}
        call: {"index":1,"id":"x","function":{"name":"read","arguments":"{\"n\":"}}
        call: {"index":1,"id":"x","function":{"arguments":"2}"}}
        call: {"index":2,"id":"x","function":{"name":"read","arguments":"{\"n\":2}"}}
        finish: tool_calls
        "#,
        expect![[r#"
            Call(ToolCall { id: "x", name: "read", arguments: "{\"n\":1}", native: None })
            Call(ToolCall { id: "call_1", name: "read", arguments: "{\"n\":2}", native: None })
            Call(ToolCall { id: "call_2", name: "read", arguments: "{\"n\":2}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn calls_woven_into_each_other_leave_in_the_order_they_began() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"name":"read","arguments":""}}
        call: {"index":1,"id":"b","function":{"name":"list","arguments":""}}
        call: {"index":0,"function":{"arguments":"{\"n\":1}"}}
        call: {"index":1,"function":{"arguments":"{\"n\":2}"}}
        finish: tool_calls
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "read", arguments: "{\"n\":1}", native: None })
            Call(ToolCall { id: "b", name: "list", arguments: "{\"n\":2}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn arguments_may_be_null_or_an_object() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"name":"now","arguments":null}}
        call: {"index":1,"id":"b","function":{"name":"read","arguments":{"n": [1, "é"]}}}
        [DONE]
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "now", arguments: "", native: None })
            Call(ToolCall { id: "b", name: "read", arguments: "{\"n\": [1, \"é\"]}", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn a_call_without_a_name_is_an_error() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"arguments":"{}"}}
        finish: tool_calls
        "#,
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server made a tool call without a name; try again or use another model", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

/// A bug of earlier agents: a stream closed without its end marker was taken as an empty, complete answer.
#[test]
fn a_cut_stream_keeps_finished_calls_and_drops_the_open_one() {
    check(
        r#"
        text: Two
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}
        call: {"index":1,"id":"b","function":{"name":"read","arguments":"{}"}}
        "#,
        expect![[r#"
            Text("Two")
            Call(ToolCall { id: "a", name: "read", arguments: "{}", native: None })
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn a_call_cut_by_the_token_limit_never_leaves() {
    check(
        r#"
        call: {"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}
        call: {"index":1,"id":"b","function":{"name":"now","arguments":""}}
        finish: length
        [DONE]
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "read", arguments: "{}", native: None })
            Ended(MaxTokens)
        "#]],
    );
}

#[test]
fn a_call_begun_after_the_finish_reason_needs_the_end_marker() {
    let script = r#"
        finish: stop
        call: {"index":0,"id":"a","function":{"name":"now","arguments":""}}
        "#;
    check(
        script,
        expect![[r#"
            Ended(EndTurn)
        "#]],
    );
    check(
        &format!("{script}\n[DONE]"),
        expect![[r#"
            Call(ToolCall { id: "a", name: "now", arguments: "", native: None })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn a_done_without_a_finish_reason_or_a_blank_line_is_an_end() {
    check_body(
        ": PROCESSING\r\n\r\nevent: ping\r\ndata: ping\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\r\n\r\ndata: [DONE]",
        expect![[r#"
            Text("Hi")
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn nothing_comes_after_the_end() {
    check(
        r#"
        text: Hi
        finish: stop
        [DONE]
        text: more
        {"error":{"message":"late"}}
        [DONE]
        "#,
        expect![[r#"
            Text("Hi")
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn refusals_filters_and_unknown_reasons_are_told() {
    check(
        r#"
        {"choices":[{"delta":{"refusal":"I can't."}}]}
        finish: stop
        "#,
        expect![[r#"
            Text("I can't.")
            Ended(Refusal)
        "#]],
    );
    check(
        "finish: content_filter",
        expect![[r#"
        Ended(Refusal)
    "#]],
    );
    check(
        "finish: budget",
        expect![[r#"
        Ended(Other("budget"))
    "#]],
    );
}

#[test]
fn what_is_unknown_or_oddly_shaped_passes() {
    check(
        r#"
        {"choices":[],"prompt_filter_results":[{"prompt_index":0}]}
        {"object":"chat.progress","progress":0.5}
        {"choices":null,"usage":[1]}
        {"choices":[{"delta":null}]}
        {"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"odd"},{"type":"text","text":"b"}],"tool_calls":null,"reasoning":{"x":1},"audio":{}}}]}
        [1]
        finish: stop
        "#,
        expect![[r#"
            Text("ab")
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn an_error_in_the_stream_is_a_failure() {
    check(
        r#"
        text: Hi
        {"id":"1","error":{"code":429,"message":"Slow down, sk-or-v1-0123456789abcdef."},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}
        [DONE]
        "#,
        expect![[r#"
            Text("Hi")
            Failed(ModelError { kind: RateLimit, message: "the provider's rate limit is reached (HTTP 429): \"Slow down, ***\"; wait a moment and try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "event: error\ndata: {\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}\n\n",
        expect![[r#"
            Failed(ModelError { kind: ContextOverflow, message: "the conversation is longer than the model can read: \"the request exceeds the available context size\"; compact it or start a new one", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        r#"{"choices":[{"error":{"message":"upstream gone","code":"x"},"delta":{}}]}"#,
        expect![[r#"
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own: \"upstream gone\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn a_chunk_that_is_no_json_is_damage_if_others_came_before_it_and_else_another_format() {
    check(
        r#"
        {"choices":[{"delta":{"role":"assistant"}}]}
        {"choices":[{"delta":
        finish: stop
        "#,
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream was damaged before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        r#"
        {"choices":[{"delta":
        finish: stop
        "#,
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is not a chat completion; check the base URL, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    // The transport has closed within it.
    check_body(
        "data: {\"choices\":[{\"del",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn a_whole_completion_is_understood_too() {
    check_body(
        r#"
        {
          "object": "chat.completion",
          "choices": [{
            "message": {
              "role": "assistant", "content": "Look", "reasoning_content": "Hm",
              "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}]
            },
            "finish_reason": "stop"
          }],
          "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        }
        "#,
        expect![[r#"
            Thought("Hm")
            Text("Look")
            Call(ToolCall { id: "a", name: "read", arguments: "{}", native: None })
            Raw(Object {"reasoning_content": String("Hm")})
            Usage(Usage { input: 3, cached: 0, cache_write: 0, output: 2, reasoning: 0 })
            Ended(ToolCalls)
        "#]],
    );
    check_body(
        "\u{feff}\n{\"choices\":[{\"message\":{\"content\":\"Hi\"}}]}",
        expect![[r#"
            Text("Hi")
            Ended(EndTurn)
        "#]],
    );
    check_body(
        r#"{"error":"no such model"}"#,
        expect![[r#"
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own: \"no such model\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        r#"{"choices":[{"message":{"content":"Lo"#,
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn thinking_beside_the_completion_is_not_taken_from_it() {
    check(
        r#"
        finish: stop
        {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":30,"total_tokens":52,"prompt_cache_hit_tokens":11,"completion_tokens_details":{"reasoning_tokens":10}}}
        "#,
        expect![[r#"
            Usage(Usage { input: 1, cached: 11, cache_write: 0, output: 30, reasoning: 10 })
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn too_many_calls_or_arguments_name_the_limit() {
    let call = |n: usize| {
        format!(
            "call: {{\"index\":{n},\"id\":\"{n}\",\"function\":{{\"name\":\"a\",\"arguments\":\"{{}}\"}}}}\n"
        )
    };
    let last = |script: &str| decode(std::iter::once(frame(script).as_bytes())).pop();
    let many = (0..256).map(call).collect::<String>();
    expect!["Some(Ended(ToolCalls))"].assert_eq(&format!("{:?}", last(&format!("{many}[DONE]"))));
    expect![[r#"Some(Failed(ModelError { kind: Limit, message: "the model made more than 256 tool calls in one answer; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false }))"#]]
        .assert_eq(&format!("{:?}", last(&format!("{many}{}[DONE]", call(256)))));

    let piece = format!(
        "call: {{\"index\":0,\"function\":{{\"name\":\"a\",\"arguments\":\"{}\"}}}}\n",
        "x".repeat(1 << 20)
    );
    expect!["Some(Ended(ToolCalls))"].assert_eq(&format!(
        "{:?}",
        last(&format!("{}[DONE]", piece.repeat(4)))
    ));
    expect![[r#"Some(Failed(ModelError { kind: Limit, message: "the model wrote more than 4 MiB of arguments for one tool call; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false }))"#]]
        .assert_eq(&format!("{:?}", last(&format!("{}[DONE]", piece.repeat(5)))));

    let endless = format!("data: {}", "x".repeat(9 << 20));
    expect![[r#"Some(Failed(ModelError { kind: Limit, message: "the model's server sent more than 8 MiB in one event; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false }))"#]]
        .assert_eq(&format!("{:?}", decode(endless.as_bytes().chunks(1 << 16)).pop()));
}

/// Random fragments: however they are cut, the events are the same, ids are unique, the last event is the only last.
#[test]
fn any_stream_cut_anywhere_says_the_same() {
    for (round, mut random) in rounds(0x5eed_0002, 3_000) {
        let mut script = String::new();
        for _ in 0..random.usize(..12) {
            let index = ["", "\"index\":0,", "\"index\":1,"][random.usize(..3)];
            let id = ["", "\"id\":\"a\",", "\"id\":\"call_0\","][random.usize(..3)];
            let name = ["", "\"name\":\"read\",", "\"name\":\"list\","][random.usize(..3)];
            let arguments = ["", "{}", "{\\\"n\\\":", "1}", "ü"][random.usize(..5)];
            script += &match random.u8(..12) {
                0 => "text: hé\n".to_owned(),
                1 => "finish: stop\n".to_owned(),
                2 => "finish: length\n".to_owned(),
                3 => "[DONE]\n".to_owned(),
                4 => "{\"choices\":[}\n".to_owned(),
                _ => format!(
                    "call: {{{index}{id}\"function\":{{{name}\"arguments\":\"{arguments}\"}}}}\n"
                ),
            };
        }
        let mut body = frame(&script).into_bytes();
        if random.u8(..4) == 0 && !body.is_empty() {
            let at = random.usize(..body.len());
            body[at] = random.u8(..);
        }
        let whole = decode(std::iter::once(&body[..]));
        let mut pieces = Vec::new();
        let mut rest = &body[..];
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(random.usize(1..=rest.len().min(40)));
            pieces.push(piece);
            rest = tail;
        }
        let context = format!("round {round}:\n{script}");
        assert_eq!(decode(pieces.into_iter()), whole, "{context}");

        let is_last = |it: &ModelEvent| matches!(it, ModelEvent::Ended(_) | ModelEvent::Failed(_));
        assert_eq!(
            whole.iter().position(is_last),
            Some(whole.len() - 1),
            "{context}"
        );
        let mut ids: Vec<&str> = Vec::new();
        for event in &whole {
            if let ModelEvent::Call(call) = event {
                assert!(
                    !call.id.is_empty() && !ids.contains(&call.id.as_str()),
                    "{context}{whole:?}"
                );
                assert!(!call.name.is_empty(), "{context}");
                ids.push(&call.id);
            }
        }
    }
}
