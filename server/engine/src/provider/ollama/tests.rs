//! The codec against small streams made by hand: each is also cut at every byte, which must change nothing. No real
//! Ollama was asked: the lines are written after its source and its own documentation.

mod request;

use expect_test::{Expect, expect};

use super::Ollama;
use super::decode::OllamaDecoder;
use crate::provider::cuts::{self, assert_one_end};
use crate::provider::{ModelErrorKind, ModelEvent, Provider as _};
use crate::rounds::rounds;

/// Decodes `pieces` as they come.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<ModelEvent> {
    cuts::decode::<OllamaDecoder>(pieces)
}

/// Decodes `body` whole, cut in two and cut off at every byte, which must change nothing.
fn decode_cut_everywhere(body: &[u8]) -> Vec<ModelEvent> {
    cuts::everywhere::<OllamaDecoder>(body)
}

/// Lines of a script; one without a brace at its start is short for a message: `say: …`, `think: …`, `call: {…}`,
/// `done: stop`.
fn frame(script: &str) -> String {
    let mut body = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let head = r#"{"model":"qwen3:8b","created_at":"2026-11-30T10:00:00.1Z","message":{"role":"assistant","content":"#;
        body += &match line.split_once(": ") {
            Some(("say", text)) => format!(r#"{head}"{text}"}},"done":false}}"#),
            Some(("think", text)) => format!(r#"{head}"","thinking":"{text}"}},"done":false}}"#),
            Some(("call", call)) => format!(r#"{head}"","tool_calls":[{call}]}},"done":false}}"#),
            Some(("done", reason)) => format!(
                r#"{head}""}},"done":true,"done_reason":"{reason}","total_duration":5191566416,"load_duration":2154458,"prompt_eval_count":26,"prompt_eval_duration":383809000,"eval_count":298,"eval_duration":4799921000}}"#
            ),
            _ => line.to_owned(),
        };
        body.push('\n');
    }
    body
}

fn check(script: &str, expected: Expect) {
    let events = decode_cut_everywhere(frame(script).as_bytes());
    let lines: String = events.iter().map(|it| format!("{it:?}\n")).collect();
    expected.assert_eq(&lines);
}

#[test]
fn thoughts_text_and_usage_come_in_order() {
    check(
        r#"
        think: Hm
        say: Grüß
        say:  dich
        say: \n
        done: stop
        say: never read
        "#,
        expect![[r#"
            Thought("Hm")
            Text("Grüß")
            Text(" dich")
            Text("\n")
            Usage(Usage { input: 26, cached: 0, cache_write: 0, output: 298, reasoning: 0 })
            Ended(EndTurn)
        "#]],
    );
}

#[test]
fn calls_are_whole_and_get_ids_and_the_thoughts_before_them_are_kept() {
    check(
        r#"
        think: I
        think:  read
        call: {"function":{"name":"read","arguments":{"path":"a","n":1}}},{"function":{"index":1,"name":"list"}}
        call: {"id":"call_0","function":{"name":"read","arguments":"{\"path\":\"b\"}"}},{"id":"x","function":{"name":"read","arguments":{}}}
        done: stop
        "#,
        expect![[r#"
            Thought("I")
            Thought(" read")
            Call(ToolCall { id: "call_0", name: "read", arguments: "{\"path\":\"a\",\"n\":1}", native: None })
            Call(ToolCall { id: "call_1", name: "list", arguments: "", native: None })
            Call(ToolCall { id: "call_2", name: "read", arguments: "{\"path\":\"b\"}", native: None })
            Call(ToolCall { id: "x", name: "read", arguments: "{}", native: None })
            Raw(Object {"thinking": String("I read")})
            Usage(Usage { input: 26, cached: 0, cache_write: 0, output: 298, reasoning: 0 })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn an_answer_that_reached_its_limit_says_so() {
    check(
        "say: a\ndone: length",
        expect![[r#"
        Text("a")
        Usage(Usage { input: 26, cached: 0, cache_write: 0, output: 298, reasoning: 0 })
        Ended(MaxTokens)
    "#]],
    );
    check(
        r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}"#,
        expect![[r#"
            Ended(Other("load"))
        "#]],
    );
}

#[test]
fn bug_073_a_stream_without_its_done_is_cut_and_its_calls_are_kept() {
    check(
        r#"
        think: Hm
        say: Reading
        call: {"function":{"name":"read","arguments":{}}}
        "#,
        expect![[r#"
            Thought("Hm")
            Text("Reading")
            Call(ToolCall { id: "call_0", name: "read", arguments: "{}", native: None })
            Raw(Object {"thinking": String("Hm")})
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    let body = frame("say: ä\ndone: stop");
    for at in 0..body.len() - 2 {
        let events = decode(std::iter::once(&body.as_bytes()[..at]));
        assert_one_end(&events);
        let Some(ModelEvent::Failed(error)) = events.last() else {
            panic!("the first {at} bytes: {events:?}")
        };
        assert_eq!(error.kind, ModelErrorKind::Cut, "the first {at} bytes");
    }
    // A last line that is whole needs no end of its own.
    let events = decode(std::iter::once(body.trim_end().as_bytes()));
    assert!(
        matches!(events.last(), Some(ModelEvent::Ended(_))),
        "{events:?}"
    );
}

#[test]
fn an_error_in_the_stream_ends_it() {
    check(
        r#"
        say: a
        {"error":"an error was encountered while running the model: unexpected EOF"}
        done: stop
        "#,
        expect![[r#"
            Text("a")
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own: \"an error was encountered while running the model: unexpected EOF\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn what_is_not_known_is_passed_over() {
    check(
        r#"
        {"status":"loading"}
        {"message":{"role":"assistant","content":null,"thinking":7,"tool_calls":null,"new":[]},"done":false,"done_reason":null,"error":null}
        7
        {"message":{"role":"assistant","content":"a"},"done":true,"done_reason":"tired"}
        "#,
        expect![[r#"
            Text("a")
            Ended(Other("tired"))
        "#]],
    );
}

#[test]
fn what_is_not_ollamas_is_refused() {
    check(
        "data: {\"choices\":[]}",
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is no answer of Ollama's; check the base URL, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        "{\"message\":\n{}}",
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is no answer of Ollama's; check the base URL, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn a_line_without_an_end_is_refused() {
    let mut decoder = Ollama.decoder();
    let mut events = Vec::new();
    for _ in 0..9 {
        decoder.feed(&vec![b' '; 1 << 20], &mut events);
    }
    decoder.end(&mut events);
    assert_one_end(&events);
    expect![[r#"[Failed(ModelError { kind: Limit, message: "the model's server sent more than 8 MiB in one line; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false })]"#]].assert_eq(&format!("{events:?}"));
}

#[test]
fn each_error_says_what_to_do() {
    let mut said = String::new();
    for (status, text) in [
        (404, r#"model "qwen3:8b" not found, try pulling it first"#),
        (404, r#"model 'qwen3:8b' not found"#),
        (
            400,
            "registry.ollama.ai/library/gemma3:4b does not support tools",
        ),
        (400, r#""gemma3:4b" does not support thinking"#),
        (
            400,
            r#"invalid think value: "max" (must be "high", "medium", "low", true, or false)"#,
        ),
        (
            400,
            "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool",
        ),
        (400, "the input length exceeds the context length"),
        (401, "unauthorized"),
        (
            500,
            "model requires more system memory (5.6 GiB) than is available (3.2 GiB)",
        ),
        (500, "llama runner process has terminated: exit status 2"),
        (
            503,
            "server busy, please try again.  maximum pending requests exceeded",
        ),
    ] {
        let body = serde_json::json!({ "error": text }).to_string();
        let error = Ollama.error(status, &[], body.as_bytes());
        said += &format!("{:?}, {:?}: {}\n", error.kind, error.refusal, error.message);
    }
    expect![[r#"
        BadRequest, None: Ollama does not have the model qwen3:8b; download it with `undine models pull qwen3:8b`, or choose another
        BadRequest, None: Ollama does not have the model qwen3:8b; download it with `undine models pull qwen3:8b`, or choose another
        BadRequest, Some(Drop(Tools)): the provider did not accept the request (HTTP 400): "registry.ollama.ai/library/gemma3:4b does not support tools"; check the model's settings
        BadRequest, Some(Drop(Thinking)): the provider did not accept the request (HTTP 400): "'gemma3:4b' does not support thinking"; check the model's settings
        BadRequest, Some(Level { highest: Some(High) }): the provider did not accept the request (HTTP 400): "invalid think value: 'max' (must be 'high', 'medium', 'low', true, or false)"; check the model's settings
        BadRequest, Some(Drop(Reasoning)): the provider did not accept the request (HTTP 400): "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool"; check the model's settings
        ContextOverflow, None: the conversation is longer than the model can read (HTTP 400): "the input length exceeds the context length"; compact it or start a new one
        Auth, None: the provider refused the API key (HTTP 401): "unauthorized"; check the key and what it may be used for
        BadRequest, None: the provider did not accept the request (HTTP 500): "model requires more system memory (5.6 GiB) than is available (3.2 GiB)"; check the model's settings
        Overloaded, None: the provider has a problem of its own (HTTP 500): "llama runner process has terminated: exit status 2"; try again in a moment
        Overloaded, None: the provider has a problem of its own (HTTP 503): "server busy, please try again. maximum pending requests exceeded"; try again in a moment
    "#]].assert_eq(&said);
}

/// Random streams of lines, however they are cut: the same events, one end, and ids that no two calls share.
#[test]
fn any_cutting_of_any_stream_says_the_same() {
    const LINES: &[&str] = &[
        "say: ä b",
        "think: hm",
        r#"call: {"function":{"name":"a","arguments":{"x":1}}}"#,
        r#"call: {"id":"call_1","function":{"name":"b"}},{"function":{}}"#,
        r#"{"error":"no"}"#,
        "done: stop",
        "done: length",
        "nothing",
        "{\"mess",
        "{}",
    ];
    for (_, mut rng) in rounds(23, 300) {
        let mut script = String::new();
        for _ in 0..rng.usize(..8) {
            script += LINES[rng.usize(..LINES.len())];
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
