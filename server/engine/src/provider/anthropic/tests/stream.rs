//! What an answer says, from small streams made by hand.

use expect_test::{Expect, expect};

use super::{decode, decode_cut_everywhere, frame, is_last};
use crate::provider::{ModelError, ModelErrorKind, ModelEvent};
use crate::rounds::rounds;

/// A stream, one payload a line. Lines in short: `start …` and `stop` are the message's, `text …`, `think …`, `json …`
/// pieces of the block that `block …` began, `end` its end.
fn script(script: &str) -> String {
    let mut index = 0;
    let mut payloads = Vec::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let delta = |delta: String| {
            format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
        };
        payloads.push(match word {
            "start" =>
                r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":1}}}"#
                .to_owned(),
            "block" => format!(
                r#"{{"type":"content_block_start","index":{index},"content_block":{rest}}}"#
            ),
            "text" => delta(format!(r#"{{"type":"text_delta","text":"{rest}"}}"#)),
            "think" => delta(format!(r#"{{"type":"thinking_delta","thinking":"{rest}"}}"#)),
            "sign" => delta(format!(r#"{{"type":"signature_delta","signature":"{rest}"}}"#)),
            "json" => delta(format!(
                r#"{{"type":"input_json_delta","partial_json":{}}}"#,
                serde_json::Value::from(rest)
            )),
            "delta" => delta(rest.to_owned()),
            "end" => {
                index += 1;
                format!(r#"{{"type":"content_block_stop","index":{}}}"#, index - 1)
            }
            "because" => format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"{rest}","stop_sequence":null}},"usage":{{"output_tokens":40,"output_tokens_details":{{"thinking_tokens":15}}}}}}"#
            ),
            "stop" => r#"{"type":"message_stop"}"#.to_owned(),
            _ => line.to_owned(),
        });
    }
    frame(payloads.iter().map(String::as_str))
}

fn shown(events: &[ModelEvent]) -> String {
    let lines = events.iter().map(|it| match it {
        ModelEvent::Raw(raw) => format!("Raw {raw}\n"),
        other => format!("{other:?}\n"),
    });
    lines.collect()
}

fn check_body(body: &str, expected: Expect) {
    expected.assert_eq(&shown(&decode_cut_everywhere(body.as_bytes())));
}

fn check(text: &str, expected: Expect) {
    check_body(&script(text), expected);
}

/// An answer with what answers have.
const LONG: &str = r#"
    start
    block {"type":"thinking","thinking":"","signature":""}
    think Hé,
    think  hm.
    sign c2ln
    end
    block {"type":"redacted_thinking","data":"eHg="}
    end
    {"type":"ping"}
    block {"type":"text","text":""}
    text I lo
    text ok.
    end
    block {"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}
    json
    json {"path":
    json  "a.txt"}
    end
    block {"type":"tool_use","id":"toolu_2","name":"list","input":{},"caller":{"type":"direct"}}
    end
    because tool_use
    stop
"#;

#[test]
fn thoughts_text_calls_and_usage_come_in_order_and_what_goes_back_is_whole() {
    check(
        LONG,
        expect![[r#"
        Thought("Hé,")
        Thought(" hm.")
        Text("I lo")
        Text("ok.")
        Call(ToolCall { id: "toolu_1", name: "read_file", arguments: "{\"path\": \"a.txt\"}", native: None })
        Call(ToolCall { id: "toolu_2", name: "list", arguments: "", native: None })
        Raw [{"type":"thinking","thinking":"Hé, hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"eHg="},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read_file"},{"type":"tool_use","id":"toolu_2","name":"list","caller":{"type":"direct"}}]
        Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
        Ended(ToolCalls)
    "#]],
    );
}

#[test]
fn bug_073_a_stream_that_ends_anywhere_before_its_end_marker_is_an_error() {
    let body = script(LONG);
    let marker = body.find("event: message_stop").unwrap();
    let whole = decode([body.as_bytes()].into_iter());
    for at in 0..body.len() {
        let events = decode([&body.as_bytes()[..at]].into_iter());
        let last = events.last().unwrap();
        let is_cut = matches!(
            last,
            ModelEvent::Failed(ModelError {
                kind: ModelErrorKind::Cut,
                ..
            })
        );
        // The end is there when its payload is, whatever of the blank line behind it.
        assert_eq!(
            is_cut,
            !matches!(last, ModelEvent::Ended(_)),
            "{at}: {last:?}"
        );
        assert!(is_cut || at > marker, "{at}: {last:?}");
        // Calls that leave are whole, and go back with it.
        for event in &events {
            if let ModelEvent::Call(_) = event {
                assert!(whole.contains(event), "{at}: {event:?}");
            }
        }
    }
    let at = body.find("a.txt").unwrap();
    expect![[r#"
        Thought("Hé,")
        Thought(" hm.")
        Text("I lo")
        Text("ok.")
        Raw [{"type":"thinking","thinking":"Hé, hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"eHg="},{"type":"text","text":"I look."}]
        Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 1, reasoning: 0 })
        Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
    "#]].assert_eq(&shown(&decode([&body.as_bytes()[..at]].into_iter())));
    // Both calls have ended there.
    let at = body.find("event: message_delta").unwrap();
    expect![[r#"
        Thought("Hé,")
        Thought(" hm.")
        Text("I lo")
        Text("ok.")
        Call(ToolCall { id: "toolu_1", name: "read_file", arguments: "{\"path\": \"a.txt\"}", native: None })
        Call(ToolCall { id: "toolu_2", name: "list", arguments: "", native: None })
        Raw [{"type":"thinking","thinking":"Hé, hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"eHg="},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read_file"},{"type":"tool_use","id":"toolu_2","name":"list","caller":{"type":"direct"}}]
        Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 1, reasoning: 0 })
        Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
    "#]].assert_eq(&shown(&decode([&body.as_bytes()[..at]].into_iter())));
}

#[test]
fn an_unfinished_call_never_leaves_an_answer_that_reached_a_limit() {
    for reason in ["max_tokens", "model_context_window_exceeded"] {
        for piece in ["json", "json {\"path\": \"a", "json {\"a\":1}"] {
            let body = script(&format!(
                r#"
                    start
                    block {{"type":"tool_use","id":"toolu_1","name":"list","input":{{}}}}
                    json {{}}
                    end
                    block {{"type":"tool_use","id":"toolu_2","name":"list","input":{{}}}}
                    {piece}
                    end
                    because {reason}
                    stop
                    "#
            ));
            let events = decode([body.as_bytes()].into_iter());
            let ids: Vec<&str> = events
                .iter()
                .filter_map(|it| match it {
                    ModelEvent::Call(call) => Some(call.id.as_str()),
                    _ => None,
                })
                .collect();
            let is_whole = piece.ends_with('}');
            assert_eq!(ids.len(), 1 + usize::from(is_whole), "{piece}: {events:?}");
            let text = shown(&events);
            assert_eq!(text.contains(r#""id":"toolu_2""#), is_whole, "{text}");
            let end = if reason == "max_tokens" {
                "MaxTokens"
            } else {
                "WindowFull"
            };
            assert!(text.ends_with(&format!("Ended({end})\n")), "{text}");
        }
    }
}

#[test]
fn broken_arguments_are_passed_as_they_are_written() {
    check(
        r#"
        start
        block {"type":"tool_use","id":"toolu_1","name":"list","input":{}}
        json {"path": 
        end
        block {"type":"text","text":""}
        text So.
        end
        block {"type":"tool_use","id":"toolu_1","input":{}}
        json [1]
        end
        because tool_use
        stop
        "#,
        expect![[r#"
            Call(ToolCall { id: "toolu_1", name: "list", arguments: "{\"path\":", native: None })
            Text("So.")
            Call(ToolCall { id: "call_0", name: "", arguments: "[1]", native: None })
            Raw [{"type":"tool_use","id":"toolu_1","name":"list"},{"type":"text","text":"So."},{"type":"tool_use","id":"call_0"}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn calls_of_the_providers_own_tools_become_ours() {
    check(
        r#"
        start
        block {"type":"tool_use","id":"a","name":"bash","input":{}}
        json {"command": "ls"}
        end
        block {"type":"tool_use","id":"b","name":"str_replace_based_edit_tool","input":{"command":"view","path":"x"}}
        end
        block {"type":"tool_use","id":"c","name":"str_replace_based_edit_tool","input":{}}
        json {"command": "undo_edit"}
        end
        because tool_use
        stop
        "#,
        expect![[r#"
            Call(ToolCall { id: "a", name: "execute_command", arguments: "{\"command\":\"ls\",\"timeout\":300}", native: Some(NativeCall { tool: Bash, input: "{\"command\": \"ls\"}" }) })
            Call(ToolCall { id: "b", name: "read_file", arguments: "{\"path\":\"x\",\"line_numbers\":true}", native: Some(NativeCall { tool: TextEditor, input: "{\"command\":\"view\",\"path\":\"x\"}" }) })
            Call(ToolCall { id: "c", name: "str_replace_based_edit_tool", arguments: "", native: Some(NativeCall { tool: TextEditor, input: "{\"command\": \"undo_edit\"}" }) })
            Raw [{"type":"tool_use","id":"a","name":"bash"},{"type":"tool_use","id":"b","name":"str_replace_based_edit_tool"},{"type":"tool_use","id":"c","name":"str_replace_based_edit_tool"}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn the_providers_own_work_and_unknown_blocks_are_kept_as_they_are() {
    check(
        r#"
        start
        block {"type":"compaction","content":null}
        delta {"type":"compaction_delta","content":"Sum","encrypted_content":"ZW5j"}
        end
        block {"type":"fallback","from":{"model":"a"},"to":{"model":"b"},"trigger":null}
        end
        block {"type":"text","text":"Fi"}
        text rst.
        delta {"type":"citations_delta","citation":{"n":1}}
        delta {"type":"new_delta","x":1}
        end
        block {"type":"server_tool_use","id":"srv","name":"web_search","input":{}}
        json {"query": "q"}
        end
        block {"type":"web_search_tool_result","tool_use_id":"srv","content":[{"a":1}]}
        end
        block {"type":"brand_new","deep":{"x":[1,2]}}
        end
        block {"type":"text","text":"Second."}
        end
        block {"type":"text","text":" "}
        end
        {"type":"brand_new_event"}
        [1]
        because pause_turn
        stop
        "#,
        expect![[r#"
            Text("Fi")
            Text("rst.")
            Text("\n\nSecond.")
            Text(" ")
            Raw [{"type":"compaction","content":"Sum","encrypted_content":"ZW5j"},{"type":"fallback","from":{"model":"a"},"to":{"model":"b"},"trigger":null},{"type":"text","text":"First.","citations":[{"n":1}]},{"type":"server_tool_use","id":"srv","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srv","content":[{"a":1}]},{"type":"brand_new","deep":{"x":[1,2]}},{"type":"text","text":"Second."}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
            Ended(Paused)
        "#]],
    );
}

#[test]
fn each_reason_to_stop_has_its_word() {
    let reasons = [
        "end_turn",
        "stop_sequence",
        "tool_use",
        "max_tokens",
        "model_context_window_exceeded",
        "pause_turn",
        "compaction",
        "refusal",
        "brand_new",
    ];
    let mut lines = String::new();
    for reason in reasons {
        let body = script(&format!(
            "start\nblock {{\"type\":\"text\",\"text\":\"x\"}}\nend\nbecause {reason}\nstop"
        ));
        let events = decode_cut_everywhere(body.as_bytes());
        lines += &format!("{reason}: {:?}\n", events.last().unwrap());
    }
    expect![[r#"
        end_turn: Ended(EndTurn)
        stop_sequence: Ended(EndTurn)
        tool_use: Ended(EndTurn)
        max_tokens: Ended(MaxTokens)
        model_context_window_exceeded: Ended(WindowFull)
        pause_turn: Ended(Paused)
        compaction: Ended(Paused)
        refusal: Ended(Refusal)
        brand_new: Ended(Other("brand_new"))
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_refusal_is_explained_where_nothing_was_said() {
    check(
        r#"
        start
        {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"It was blocked."}},"usage":{"output_tokens":5}}
        stop
        "#,
        expect![[r#"
            Text("It was blocked.")
            Raw [{"type":"text","text":"It was blocked."}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 5, reasoning: 0 })
            Ended(Refusal)
        "#]],
    );
    check(
        "start\nbecause refusal\nstop",
        expect![[r#"
        Text("The provider declined to answer this.")
        Raw [{"type":"text","text":"The provider declined to answer this."}]
        Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
        Ended(Refusal)
    "#]],
    );
}

#[test]
fn an_error_in_the_stream_is_a_failure_behind_what_was_whole() {
    check(
        r#"
        start
        block {"type":"thinking","thinking":"Hm","signature":"s"}
        end
        block {"type":"text","text":"Hi"}
        {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
        stop
        "#,
        expect![[r#"
            Thought("Hm")
            Text("Hi")
            Raw [{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"Hi"}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 1, reasoning: 0 })
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own: \"Overloaded\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check(
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down, sk-ant-0123456789abcdef."}}"#,
        expect![[r#"
            Failed(ModelError { kind: RateLimit, message: "the provider's rate limit is reached: \"Slow down, ***\"; wait a moment and try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn a_message_that_begins_twice_is_one_and_another_one_takes_its_place() {
    check(
        "start\nstart\nblock {\"type\":\"text\",\"text\":\"\"}\ntext Hi\nend\nstart\nbecause end_turn\nstop",
        expect![[r#"
            Text("Hi")
            Raw [{"type":"text","text":"Hi"}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
            Ended(EndTurn)
        "#]],
    );
    check(
        r#"
        start
        block {"type":"thinking","thinking":"One","signature":"s1"}
        end
        block {"type":"tool_use","id":"first","name":"list","input":{}}
        json {"a":
        {"type":"message_start","message":{"id":"msg_2","content":[]}}
        {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Two","signature":"s2"}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"second","name":"list","input":{}}}
        {"type":"content_block_stop","index":1}
        because tool_use
        stop
        "#,
        expect![[r#"
            Thought("One")
            Thought("Two")
            Call(ToolCall { id: "second", name: "list", arguments: "", native: None })
            Raw [{"type":"thinking","thinking":"Two","signature":"s2"},{"type":"tool_use","id":"second","name":"list"}]
            Usage(Usage { input: 10, cached: 5, cache_write: 3, output: 25, reasoning: 15 })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn content_that_the_start_has_already_is_taken() {
    check(
        r#"
        {"type":"message_start","message":{"id":"m","content":[{"type":"text","text":"Look."},{"type":"tool_use","id":"a","name":"list","input":{"z":1,"a":2}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}}
        stop
        "#,
        expect![[r#"
            Text("Look.")
            Call(ToolCall { id: "a", name: "list", arguments: "{\"z\":1,\"a\":2}", native: None })
            Raw [{"type":"text","text":"Look."},{"type":"tool_use","id":"a","name":"list"}]
            Usage(Usage { input: 1, cached: 0, cache_write: 0, output: 2, reasoning: 0 })
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn servers_that_leave_events_out_are_understood() {
    // No start, no ends of blocks, no numbers.
    check_body(
        concat!(
            "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}}\n\n",
            "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"list\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n",
            "event: message_stop\ndata: {}\n\n",
        ),
        expect![[r#"
            Thought("Hm")
            Call(ToolCall { id: "a", name: "list", arguments: "{}", native: None })
            Raw [{"type":"thinking","thinking":"Hm"},{"type":"tool_use","id":"a","name":"list"}]
            Ended(ToolCalls)
        "#]],
    );
}

#[test]
fn what_is_no_message_is_a_failure() {
    check_body(
        "data: {\"type\":\n\ndata: {}\n\n",
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is not a message of this format; check the base URL and the provider's kind, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "",
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        "{\"choices\":[]}",
        expect![[r#"
            Failed(ModelError { kind: Protocol, message: "the model's server sent something that is not a message of this format; check the base URL and the provider's kind, or try again", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn a_whole_message_is_understood_too() {
    check_body(
        r#" {"type":"message","id":"m","role":"assistant","content":[
            {"type":"thinking","thinking":"Hm","signature":"s"},
            {"type":"text","text":"Look."},
            {"type":"tool_use","id":"a","name":"list","input":{"z":1}},
            {"type":"tool_use","id":"b","name":"list","input":{}}],
            "stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}} "#,
        expect![[r#"
            Thought("Hm")
            Text("Look.")
            Call(ToolCall { id: "a", name: "list", arguments: "{\"z\":1}", native: None })
            Call(ToolCall { id: "b", name: "list", arguments: "", native: None })
            Raw [{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"Look."},{"type":"tool_use","id":"a","name":"list"},{"type":"tool_use","id":"b","name":"list"}]
            Usage(Usage { input: 3, cached: 0, cache_write: 0, output: 2, reasoning: 0 })
            Ended(ToolCalls)
        "#]],
    );
    check_body(
        r#"{"content":[{"type":"tool_use","id":"a","name":"list","input":{"z":1}}],"stop_reason":"max_tokens"}"#,
        expect![[r#"
            Ended(MaxTokens)
        "#]],
    );
    check_body(
        r#"{"type":"error","error":{"type":"api_error","message":"gone"}}"#,
        expect![[r#"
            Failed(ModelError { kind: Overloaded, message: "the provider has a problem of its own: \"gone\"; try again in a moment", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
    check_body(
        r#"{"content":[{"type":"text","#,
        expect![[r#"
            Failed(ModelError { kind: Cut, message: "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on", retry_after_ms: None, refusal: None, is_final: false })
        "#]],
    );
}

#[test]
fn too_many_calls_or_arguments_name_the_limit() {
    let call = |n: usize| {
        format!(
            "{{\"type\":\"content_block_start\",\"index\":{n},\"content_block\":{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"a\",\"input\":{{}}}}}}\n{{\"type\":\"content_block_stop\",\"index\":{n}}}\n"
        )
    };
    let last = |text: &str| {
        let events = decode([script(text).as_bytes()].into_iter());
        format!("{:?}", events.last().unwrap())
    };
    let many: String = (0..256).map(call).collect();
    assert_eq!(last(&format!("{many}stop")), "Ended(ToolCalls)");
    expect![[r#"Failed(ModelError { kind: Limit, message: "the model made more than 256 tool calls in one answer; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false })"#]].assert_eq(&last(&format!("{many}{}stop", call(256))));

    let begin = "block {\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"a\",\"input\":{}}\n";
    let piece = format!("json {}\n", "x".repeat(1 << 20));
    assert_eq!(
        last(&format!("{begin}{}end\nstop", piece.repeat(4))),
        "Ended(ToolCalls)"
    );
    expect![[r#"Failed(ModelError { kind: Limit, message: "the model wrote more than 4 MiB of arguments for one tool call; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false })"#]].assert_eq(&last(&format!("{begin}{}end\nstop", piece.repeat(5))));

    for start in ["data: ", "{"] {
        let endless = format!("{start}{}", "x".repeat(9 << 20));
        let events = decode(endless.as_bytes().chunks(1 << 16));
        assert_eq!(
            format!("{:?}", events.last().unwrap()),
            r#"Failed(ModelError { kind: Limit, message: "the model's server sent more than 8 MiB in one event; ask for smaller steps", retry_after_ms: None, refusal: None, is_final: false })"#
        );
    }
}

/// Random events: however they are cut, they say the same; ids are unique; the last event is the only last; what goes back
/// names the calls that left and no others.
#[test]
fn any_stream_cut_anywhere_says_the_same() {
    for (round, mut random) in rounds(0x5eed_0003, 2_000) {
        let mut payloads = Vec::new();
        for _ in 0..random.usize(..14) {
            let index = random.usize(..3);
            let kind =
                ["text", "thinking", "tool_use", "server_tool_use", "odd"][random.usize(..5)];
            let id = ["", "a", "call_0"][random.usize(..3)];
            let delta = [
                r#"{"type":"text_delta","text":"hé"}"#,
                r#"{"type":"thinking_delta","thinking":"hm"}"#,
                r#"{"type":"input_json_delta","partial_json":"{}"}"#,
                r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#,
                r#"{"type":"signature_delta"}"#,
                r#"{"type":"compaction_delta","content":"x"}"#,
                r#"{"type":"citations_delta"}"#,
                "7",
            ][random.usize(..8)];
            let reason = ["end_turn", "max_tokens", "refusal", "tool_use"][random.usize(..4)];
            payloads.push(match random.u8(..12) {
                0 => format!(r#"{{"type":"message_start","message":{{"id":"{id}","content":[{{"type":"text","text":"x"}}]}}}}"#),
                1 => format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#),
                2 => r#"{"type":"message_stop"}"#.to_owned(),
                3 => r#"{"type":}"#.to_owned(),
                4..=6 => format!(r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"{kind}","id":"{id}","name":"bash"}}}}"#),
                7 | 8 => format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
                _ => format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
            });
        }
        let mut body = frame(payloads.iter().map(String::as_str)).into_bytes();
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
        let context = format!("round {round}:\n{payloads:#?}\n{}", shown(&whole));
        assert_eq!(decode(pieces.into_iter()), whole, "{context}");
        assert_eq!(
            whole.iter().position(is_last),
            Some(whole.len() - 1),
            "{context}"
        );
        let mut ids: Vec<&str> = Vec::new();
        let mut in_raw: Vec<&str> = Vec::new();
        for event in &whole {
            match event {
                ModelEvent::Call(call) => {
                    assert!(
                        !call.id.is_empty() && !ids.contains(&call.id.as_str()),
                        "{context}"
                    );
                    ids.push(&call.id);
                }
                ModelEvent::Raw(raw) => {
                    let blocks = raw.as_array().unwrap().iter();
                    let calls = blocks.filter(|it| it["type"] == "tool_use");
                    in_raw.extend(calls.map(|it| it["id"].as_str().unwrap()));
                }
                _ => {}
            }
        }
        ids.sort_unstable();
        in_raw.sort_unstable();
        assert_eq!(ids, in_raw, "{context}");
    }
}
