//! Random answers in each format, with all that servers are known to make of theirs.

use super::rules::House;
use crate::provider::Wire;
use fastrand::Rng;
use serde_json::{Value, json};

/// A part of an answer.
enum Piece {
    Text(&'static str),
    Thought(&'static str),
    Call {
        id: String,
        name: String,
        arguments: &'static str,
    },
}

/// How an answer ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Well,
    /// At the limit of tokens.
    Length,
    /// It was declined.
    Refusal,
    /// In a way that calls for the same conversation once more.
    Paused,
    /// In an error.
    Error,
}

fn one<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(0..of.len())]
}

fn pieces(rng: &mut Rng, nth: u64) -> Vec<Piece> {
    let n = rng.usize(0..5);
    let mut pieces: Vec<Piece> = (0..n)
        .map(|at| match rng.u8(0..6) {
            0..=1 => Piece::Text(one(rng, &["said", " ", "\n\n", "", "more"])),
            2 => Piece::Thought(one(rng, &["thought", ""])),
            _ => Piece::Call {
                id: match rng.u8(0..9) {
                    0 => String::new(),
                    1 => "same".to_owned(),
                    2 => "call_0".to_owned(),
                    3 => format!("functions.read:{at}/ü"),
                    4 => "x".repeat(70),
                    5 => "abcDEF123".to_owned(),
                    6 => format!("toolu_{nth:030}_{at}"),
                    _ => format!("call_{nth}_{at}"),
                },
                name: match rng.u8(0..12) {
                    0 => "multi_tool_use.parallel".to_owned(),
                    1 => "n".repeat(200),
                    2 => "größe".to_owned(),
                    3 => "1 read".to_owned(),
                    4..=5 => "str_replace_based_edit_tool".to_owned(),
                    6 => "bash".to_owned(),
                    7 => "apply_patch_call".to_owned(),
                    _ => "read_file".to_owned(),
                },
                arguments: one(
                    rng,
                    &[
                        "{}",
                        "",
                        r#"{"path":"a"}"#,
                        "[1]",
                        "{broken",
                        "null",
                        r#""text""#,
                        r#"{"path":"\ud800"}"#,
                        r#"{"a":1e999}"#,
                        r#"{"command":"view","path":"a","view_range":[3,1]}"#,
                        r#"{"command":"create","path":"a"}"#,
                        r#"{"command":"nope"}"#,
                        r#"{"restart":true}"#,
                        r#"{"type":"update_file","path":"a","diff":"@@\n-a\n+b"}"#,
                        r#"{"type":"delete_file","path":"../a"}"#,
                        r#"{"type":"unknown"}"#,
                    ],
                ),
            },
        })
        .collect();
    // What ends in a thought, or in nothing else.
    if rng.u8(0..6) == 0 {
        pieces.push(Piece::Thought("and"));
    }
    pieces
}

/// The bytes of an answer; `nth` is another number for each.
pub fn answer(wire: Wire, house: House, rng: &mut Rng, nth: u64) -> Vec<u8> {
    let pieces = pieces(rng, nth);
    let end = match rng.u8(0..12) {
        0 => End::Length,
        1 => End::Refusal,
        2 => End::Paused,
        3 => End::Error,
        _ => End::Well,
    };
    let said = match wire {
        Wire::Messages => messages(rng, &pieces, end),
        Wire::Responses => responses(rng, &pieces, end),
        Wire::ChatCompletions => chat(rng, &pieces, end),
        Wire::GenerateContent => gemini(rng, house, &pieces, end),
        Wire::Ollama => ollama(rng, &pieces, end),
    };
    said.into_bytes()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn messages(rng: &mut Rng, pieces: &[Piece], end: End) -> String {
    let mut said = data(
        &json!({"type": "message_start", "message": {"id": "m", "content": [],
        "usage": {"input_tokens": 3, "output_tokens": 1}}}),
    );
    if rng.u8(0..6) == 0 {
        // It has summarised by itself.
        let block = json!({"type": "compaction", "content": null});
        said += &data(&json!({"type": "content_block_start", "index": 99, "content_block": block}));
        let delta = json!({"type": "compaction_delta", "content": "older"});
        said += &data(&json!({"type": "content_block_delta", "index": 99, "delta": delta}));
        said += &data(&json!({"type": "content_block_stop", "index": 99}));
    }
    for (at, piece) in pieces.iter().enumerate() {
        let mut start = |block: Value| {
            said +=
                &data(&json!({"type": "content_block_start", "index": at, "content_block": block}));
        };
        let delta = |delta: Value| {
            data(&json!({"type": "content_block_delta", "index": at, "delta": delta}))
        };
        match piece {
            Piece::Text(text) => {
                start(json!({"type": "text", "text": ""}));
                said += &delta(json!({"type": "text_delta", "text": text}));
            }
            Piece::Thought(_) if rng.u8(0..4) == 0 => {
                start(json!({"type": "redacted_thinking", "data": "sealed"}));
            }
            Piece::Thought(thought) => {
                start(json!({"type": "thinking", "thinking": "", "signature": ""}));
                said += &delta(json!({"type": "thinking_delta", "thinking": thought}));
                said += &delta(json!({"type": "signature_delta", "signature": "sig1"}));
            }
            Piece::Call {
                id,
                name,
                arguments,
            } => {
                start(json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
                said += &delta(json!({"type": "input_json_delta", "partial_json": arguments}));
            }
        }
        said += &data(&json!({"type": "content_block_stop", "index": at}));
    }
    let reason = match end {
        End::Well => "end_turn",
        End::Length => "max_tokens",
        End::Refusal => "refusal",
        End::Paused => "pause_turn",
        End::Error => {
            let error = json!({"type": "overloaded_error", "message": "no"});
            return said + &data(&json!({"type": "error", "error": error}));
        }
    };
    said + &data(
        &json!({"type": "message_delta", "delta": {"stop_reason": reason},
        "usage": {"output_tokens": 5}}),
    ) + &data(&json!({"type": "message_stop"}))
}

fn responses(rng: &mut Rng, pieces: &[Piece], end: End) -> String {
    let mut said = String::new();
    if rng.u8(0..6) == 0 {
        // It has summarised by itself.
        let item = json!({"type": "compaction", "id": "cmp", "encrypted_content": "sealed"});
        said +=
            &data(&json!({"type": "response.output_item.done", "output_index": 99, "item": item}));
    }
    for (at, piece) in pieces.iter().enumerate() {
        let id = format!("i_{at}");
        let item = match piece {
            Piece::Text(text) => {
                let delta = json!({"type": "response.output_text.delta", "output_index": at, "delta": text});
                said += &data(&delta);
                json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]})
            }
            Piece::Thought(thought) => {
                let summary = json!([{"type": "summary_text", "text": thought}]);
                let mut item = json!({"type": "reasoning", "id": id, "summary": summary});
                if rng.u8(0..4) > 0 {
                    item["encrypted_content"] = json!("sealed");
                }
                item
            }
            Piece::Call {
                id: call,
                name,
                arguments,
            } => match name.as_str() {
                "apply_patch_call" => {
                    let operation: Value = serde_json::from_str(arguments).unwrap_or(json!({}));
                    json!({"type": name, "id": id, "call_id": call, "status": "completed",
                        "operation": operation})
                }
                "bash" => json!({"type": "shell_call", "id": id, "call_id": call, "action": {}}),
                _ => json!({"type": "function_call", "id": id, "call_id": call, "name": name,
                    "arguments": arguments, "status": "completed"}),
            },
        };
        said +=
            &data(&json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    let (status, details) = match end {
        End::Well | End::Paused => ("completed", Value::Null),
        End::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
        End::Refusal => ("incomplete", json!({"reason": "content_filter"})),
        End::Error => {
            return said
                + &data(&json!({"type": "error", "code": "server_error", "message": "no"}));
        }
    };
    let response = json!({"status": status, "incomplete_details": details, "output": [],
        "usage": {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}});
    said + &data(&json!({"type": format!("response.{status}"), "response": response}))
}

fn chat(rng: &mut Rng, pieces: &[Piece], end: End) -> String {
    let delta = |delta: Value| data(&json!({"choices": [{"index": 0, "delta": delta}]}));
    let mut said = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        said += &match piece {
            Piece::Text(text) => delta(json!({"content": text})),
            Piece::Thought(thought) => match rng.u8(0..3) {
                0 => delta(json!({"reasoning_content": thought})),
                1 => delta(
                    json!({"reasoning_details": [{"type": "reasoning.text", "text": thought}]}),
                ),
                _ => delta(json!({"reasoning": thought})),
            },
            Piece::Call {
                id,
                name,
                arguments,
            } => delta(json!({"tool_calls": [
                {"index": at, "id": id, "type": "function",
                    "function": {"name": name, "arguments": arguments}}]})),
        };
    }
    let reason = match end {
        End::Well | End::Paused => "stop",
        End::Length => "length",
        End::Refusal => "content_filter",
        End::Error => return said + &data(&json!({"error": {"code": 502, "message": "no"}})),
    };
    said += &data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    said += &data(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}));
    said + "data: [DONE]\n\n"
}

fn gemini(rng: &mut Rng, house: House, pieces: &[Piece], end: End) -> String {
    let mut said = String::new();
    let part = |part: Value| {
        data(&json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}))
    };
    let mut has_called = false;
    for piece in pieces {
        said += &match piece {
            Piece::Text(text) => match rng.u8(0..4) {
                0 => part(json!({"text": text, "thoughtSignature": "sig"})),
                _ => part(json!({"text": text})),
            },
            Piece::Thought(thought) => part(json!({"text": thought, "thought": true})),
            Piece::Call {
                id,
                name,
                arguments,
            } => {
                let args: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
                let mut call = json!({"name": name});
                if args.is_object() {
                    call["args"] = args;
                }
                if !id.is_empty() {
                    call["id"] = json!(id);
                }
                let mut part_of = json!({"functionCall": call});
                if house == House::Signed && !has_called {
                    part_of["thoughtSignature"] = json!("sig");
                }
                has_called = true;
                part(part_of)
            }
        };
    }
    let reason = match end {
        End::Well => "STOP",
        End::Length => "MAX_TOKENS",
        End::Refusal => "SAFETY",
        End::Paused => "CONTINUATION",
        End::Error => return said + &data(&json!({"error": {"code": 503, "message": "no"}})),
    };
    said + &data(
        &json!({"candidates": [{"content": {"parts": []}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5}}),
    )
}

fn ollama(rng: &mut Rng, pieces: &[Piece], end: End) -> String {
    let line = |message: Value| format!("{}\n", json!({"message": message, "done": false}));
    let mut said = String::new();
    for piece in pieces {
        said += &match piece {
            Piece::Text(text) => line(json!({"content": text})),
            Piece::Thought(thought) => line(json!({"content": "", "thinking": thought})),
            Piece::Call {
                id,
                name,
                arguments,
            } => {
                let object: Value = serde_json::from_str(arguments).unwrap_or(json!(arguments));
                let mut call = json!({"function": {"name": name, "arguments": object}});
                if rng.bool() {
                    call["id"] = json!(id);
                }
                line(json!({"content": "", "tool_calls": [call]}))
            }
        };
    }
    let reason = match end {
        End::Well | End::Refusal | End::Paused => "stop",
        End::Length => "length",
        End::Error => return said + "{\"error\":\"no\"}\n",
    };
    said + &format!(
        "{}\n",
        json!({"message": {"content": ""}, "done": true,
        "done_reason": reason, "prompt_eval_count": 3, "eval_count": 5})
    )
}
