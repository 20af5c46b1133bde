//! The codec against small streams made by hand: each is also cut at every byte, which must change nothing.

mod errors;
mod recorded;
mod request;

use expect_test::{Expect, expect};

use super::decode::GeminiDecoder;
use crate::provider::ModelEvent;
use crate::provider::cuts::{self, assert_one_end};
use crate::rounds::rounds;

/// Decodes `pieces` as they come.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<ModelEvent> {
    cuts::decode::<GeminiDecoder>(pieces)
}

/// Decodes `body` whole, cut in two and cut off at every byte, which must change nothing.
fn decode_cut_everywhere(body: &[u8]) -> Vec<ModelEvent> {
    cuts::everywhere::<GeminiDecoder>(body)
}

/// Events as lines; of raw items, their JSON.
fn lines(events: &[ModelEvent]) -> String {
    let line = |it: &ModelEvent| match it {
        ModelEvent::Raw(raw) => format!("Raw({raw})\n"),
        it => format!("{it:?}\n"),
    };
    events.iter().map(line).collect()
}

fn check_body(body: &str, expected: Expect) {
    expected.assert_eq(&lines(&decode_cut_everywhere(body.as_bytes())));
}

/// Frames each line as an event. A line without a brace at its start is short for a response: `parts: …` for its parts,
/// `finish: STOP` for its end.
fn frame(script: &str) -> String {
    let mut body = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let data = match line.split_once(": ") {
            Some(("parts", parts)) => format!(
                r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"index":0}}],"modelVersion":"m"}}"#
            ),
            Some(("finish", reason)) => {
                format!(r#"{{"candidates":[{{"finishReason":"{reason}","index":0}}]}}"#)
            }
            _ => line.to_owned(),
        };
        body += &format!("data: {data}\r\n\r\n");
    }
    body
}

fn check(script: &str, expected: Expect) {
    check_body(&frame(script), expected);
}

#[test]
fn thoughts_text_and_usage_come_in_order() {
    check(
        r#"
        parts: {"text":"Hm","thought":true}
        parts: {"text":", so","thought":true},{"text":"Grüß "}
        {"candidates":[{"content":{"parts":[{"text":"dich"}]}}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}
        {"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":5,"toolUsePromptTokenCount":3,"totalTokenCount":115}}
        {"usageMetadata":{"trafficType":"ON_DEMAND"}}
        "#,
        expect![[r#"
            Thought("Hm")
            Thought(", so")
            Text("Grüß ")
            Text("dich")
            Usage(Usage { input: 43, cached: 60, cache_write: 0, output: 7, reasoning: 5 })
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn signed_parts_stay_apart_and_the_rest_is_joined() {
    check(
        r#"
        parts: {"text":"a"}
        parts: {"text":"b"}
        parts: {"text":"c","thoughtSignature":"s1"}
        parts: {"text":"d"}
        parts: {"text":"e"},{"text":"f","thought":true},{"text":"","thoughtSignature":"s2"},{"text":""}
        finish: STOP
        "#,
        expect![[r#"
            Text("a")
            Text("b")
            Text("c")
            Text("d")
            Text("e")
            Thought("f")
            Raw({"parts":[{"text":"ab"},{"text":"c","thoughtSignature":"s1"},{"text":"de"},{"text":"f","thought":true},{"text":"","thoughtSignature":"s2"}]})
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn an_answer_without_a_signature_or_a_call_has_nothing_to_be_kept() {
    check(
        r#"
        parts: {"text":"a"}
        finish: STOP
        "#,
        expect![[r#"
            Text("a")
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn calls_have_ids_of_their_own_whatever_the_model_gives() {
    check(
        r#"
        parts: {"functionCall":{"name":"read","args":{"path":"a","n":1.5}},"thoughtSignature":"s"},{"functionCall":{"name":"read","args":{}}}
        parts: {"functionCall":{"id":"call_0","name":"list"}},{"functionCall":{"id":"x","name":"list"}},{"functionCall":{"id":"x","name":"list","args":null}}
        finish: STOP
        "#,
        expect![[r#"
            Call(ToolCall { id: "call_0", name: "read", arguments: "{\"path\":\"a\",\"n\":1.5}", native: None })
            Call(ToolCall { id: "call_1", name: "read", arguments: "{}", native: None })
            Call(ToolCall { id: "call_2", name: "list", arguments: "", native: None })
            Call(ToolCall { id: "x", name: "list", arguments: "", native: None })
            Call(ToolCall { id: "call_4", name: "list", arguments: "", native: None })
            Raw({"parts":[{"functionCall":{"name":"read","args":{"path":"a","n":1.5}},"thoughtSignature":"s"},{"functionCall":{"name":"read","args":{}}},{"functionCall":{"id":"call_0","name":"list"}},{"functionCall":{"id":"x","name":"list"}},{"functionCall":{"id":"x","name":"list","args":null}}]})
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn a_call_in_pieces_is_put_together_and_signed_by_its_first() {
    check(
        r#"
        parts: {"functionCall":{"id":"a","name":"write","willContinue":true},"thoughtSignature":"s"}
        parts: {"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"a/","willContinue":true}],"willContinue":true}}
        parts: {"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"b"},{"jsonPath":"$.lines[0]","numberValue":1}],"willContinue":true}}
        parts: {"functionCall":{"partialArgs":[{"jsonPath":"$.lines[1]","numberValue":2.5},{"jsonPath":"$.o.deep","boolValue":true}],"willContinue":true}}
        parts: {"functionCall":{}}
        parts: {"functionCall":{}}
        parts: {"functionCall":{"name":"list","willContinue":true}}
        parts: {"functionCall":{"name":"list","willContinue":true}}
        finish: STOP
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "write", arguments: "{\"path\":\"a/b\",\"lines\":[1,2.5],\"o\":{\"deep\":true}}", native: None })
            Call(ToolCall { id: "call_1", name: "list", arguments: "{}", native: None })
            Call(ToolCall { id: "call_2", name: "list", arguments: "{}", native: None })
            Raw({"parts":[{"functionCall":{"id":"a","name":"write","args":{"path":"a/b","lines":[1,2.5],"o":{"deep":true}}},"thoughtSignature":"s"},{"functionCall":{"name":"list","args":{}}},{"functionCall":{"name":"list","args":{}}}]})
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn a_call_that_the_limit_cut_is_given_up() {
    check(
        r#"
        parts: {"text":"so"},{"functionCall":{"name":"write","willContinue":true},"thoughtSignature":"s"}
        parts: {"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"a/","willContinue":true}],"willContinue":true}}
        finish: MAX_TOKENS
        "#,
        expect![[r#"
            Text("so")
            Ended(MaxTokens)
        "#]],
    );
}

#[test]
fn bug_073_a_stream_without_its_finish_reason_is_cut_and_its_whole_calls_and_signatures_are_kept() {
    check(
        r#"
        parts: {"text":"Reading"},{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"s"}
        parts: {"functionCall":{"name":"write","willContinue":true}}
        {"usageMetadata":{"promptTokenCount":9}}
        "#,
        expect![[r#"
            Text("Reading")
            Call(ToolCall { id: "call_0", name: "read", arguments: "{\"path\":\"a\"}", native: None })
            Raw({"parts":[{"text":"Reading"},{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"s"}]})
            Usage(Usage { input: 9, cached: 0, cache_write: 0, output: 0, reasoning: 0 })
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        "",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn an_event_that_the_transport_cut_is_no_other_fault() {
    let body = frame(r#"parts: {"text":"a"}"#);
    let cut = &body.as_bytes()[..body.len() - 8];
    expect![[r#"
        Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
    "#]].assert_eq(&lines(&decode_cut_everywhere(cut)));
    let on = [cut, b"\r\n\r\n", frame("finish: STOP").as_bytes()].concat();
    expect![[r#"
        Failed(ModelError { kind: Protocol, message: "the model's server sent something that is no answer of Gemini's; check the base URL, or try again", retry_after_ms: None, refusal: None, is_final: false })
    "#]].assert_eq(&lines(&decode_cut_everywhere(&on)));
}

#[test]
fn an_error_in_the_stream_ends_it_also_in_a_list_of_one() {
    let error =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    let script = |error: &str| {
        frame(&format!(
            "parts: {{\"text\":\"a\"}}\n{error}\nparts: {{\"text\":\"b\"}}"
        ))
    };
    check_body(
        &script(error),
        expect![[r#"
            Text("a")
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own (HTTP 503): \"The model is overloaded\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    let listed = decode_cut_everywhere(script(&format!("[{error}]")).as_bytes());
    assert_eq!(listed, decode_cut_everywhere(script(error).as_bytes()));
}

#[test]
fn each_finish_reason_means_what_can_be_done_about_it() {
    let mut said = String::new();
    for reason in [
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "MISSING_THOUGHT_SIGNATURE",
        "CONTINUATION",
        "SOMETHING_NEW",
    ] {
        let body = frame(&format!("parts: {{\"text\":\"a\"}}\nfinish: {reason}"));
        let last = decode_cut_everywhere(body.as_bytes()).pop();
        said += &format!("{reason}: {last:?}\n");
    }
    expect![[r#"
        STOP: Some(Ended(EndTurn))
        MAX_TOKENS: Some(Ended(MaxTokens))
        SAFETY: Some(Ended(Refusal))
        RECITATION: Some(Ended(Refusal))
        PROHIBITED_CONTENT: Some(Ended(Refusal))
        MALFORMED_FUNCTION_CALL: Some(Failed(ModelError { kind: Overloaded, message: "the model wrote a tool call that its provider cannot read (MALFORMED_FUNCTION_CALL); try again", retry_after_ms: None, refusal: None, is_final: false }))
        UNEXPECTED_TOOL_CALL: Some(Failed(ModelError { kind: Overloaded, message: "the model wrote a tool call that its provider cannot read (UNEXPECTED_TOOL_CALL); try again", retry_after_ms: None, refusal: None, is_final: false }))
        MISSING_THOUGHT_SIGNATURE: Some(Failed(ModelError { kind: Signature, message: "the provider refused what it had sent itself earlier: \"MISSING_THOUGHT_SIGNATURE\"; start a new session if this comes again", retry_after_ms: None, refusal: None, is_final: false }))
        CONTINUATION: Some(Ended(Other("CONTINUATION")))
        SOMETHING_NEW: Some(Ended(Other("SOMETHING_NEW")))
    "#]].assert_eq(&said);
}

#[test]
fn a_blocked_prompt_is_a_refusal() {
    check(
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#,
        expect![[r#"
            Usage(Usage { input: 9, cached: 0, cache_write: 0, output: 0, reasoning: 0 })
            Ended(Refusal)
        "#]],
    );
}

#[test]
fn what_is_not_known_is_passed_over_and_kept() {
    check(
        r#"
        : keep-alive
        {"somethingNew":{"a":1}}
        {"candidates":[{"content":{"parts":[{"executableCode":{"code":"x"}},"odd",{"text":7},{"text":"a","partMetadata":{"k":1}}]},"groundingMetadata":{}}]}
        {"candidates":[{"content":null,"safetyRatings":[],"avgLogprobs":-0.1}]}
        parts: {"text":"","thoughtSignature":"s"}
        finish: STOP
        "#,
        expect![[r#"
            Text("a")
            Raw({"parts":[{"executableCode":{"code":"x"}},{"text":7},{"text":"a","partMetadata":{"k":1}},{"text":"","thoughtSignature":"s"}]})
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn an_answer_that_is_no_stream_is_read_all_the_same() {
    let whole = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#;
    check_body(
        whole,
        expect![[r#"
        Text("a")
        Ended(EndTurn)
    "#]],
    );
    let list = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},
                   {"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]"#;
    check_body(
        list,
        expect![[r#"
        Text("a")
        Text("b")
        Ended(EndTurn)
    "#]],
    );
    check_body(
        "<html>no model here</html>",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "data: {\"candidates\": no}\n\n",
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is no answer of Gemini's; check the base URL, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn more_calls_than_one_answer_may_have_end_it() {
    let mut script = String::new();
    for _ in 0..257 {
        script += "parts: {\"functionCall\":{\"name\":\"a\"}}\n";
    }
    let events = decode(std::iter::once(frame(&script).as_bytes()));
    assert_one_end(&events);
    let calls = events.iter().filter(|it| matches!(it, ModelEvent::Call(_)));
    assert_eq!(calls.count(), 256);
    expect![[r#"Failed(ModelError { kind: Limit, message: "the model made more than 256 tool calls in one answer; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false })"#]].assert_eq(&format!("{:?}", events.last().unwrap()));
}

/// Random streams of fragments, however they are cut: the same events, one end, and ids that no two calls share.
#[test]
fn any_cutting_of_any_stream_says_the_same() {
    const FRAGMENTS: &[&str] = &[
        r#"parts: {"text":"ä b"}"#,
        r#"parts: {"text":"hm","thought":true}"#,
        r#"parts: {"text":"","thoughtSignature":"s"}"#,
        r#"parts: {"functionCall":{"name":"a","args":{"x":1}}}"#,
        r#"parts: {"functionCall":{"id":"call_1","name":"b"},"thoughtSignature":"t"}"#,
        r#"parts: {"functionCall":{"name":"c","willContinue":true}}"#,
        r#"parts: {"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]","stringValue":"x","willContinue":true}],"willContinue":true}}"#,
        r#"parts: {"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].b","nullValue":null}]}}"#,
        r#"parts: {"functionCall":{}}"#,
        r#"{"error":{"message":"no"}}"#,
        r#"{"usageMetadata":{"promptTokenCount":1}}"#,
        "finish: STOP",
        "finish: MAX_TOKENS",
        "nothing",
        r#"{"candidates"#,
    ];
    for (_, mut rng) in rounds(17, 300) {
        let mut script = String::new();
        for _ in 0..rng.usize(..9) {
            script += FRAGMENTS[rng.usize(..FRAGMENTS.len())];
            script.push('\n');
        }
        let body = frame(&script);
        let whole = decode(std::iter::once(body.as_bytes()));
        assert_one_end(&whole);
        let mut ids: Vec<&str> = whole
            .iter()
            .filter_map(|it| match it {
                ModelEvent::Call(call) => Some(call.id.as_str()),
                _ => None,
            })
            .collect();
        let n_calls = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n_calls, "{script}");
        let size = rng.usize(1..20);
        assert_eq!(decode(body.as_bytes().chunks(size)), whole, "{script}");
    }
}
