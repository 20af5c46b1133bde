//! OpenAI's Responses, as strict as OpenAI is to a client that keeps nothing there.

mod check;

use super::{Dialect, Said};
use crate::support::model::{data_url, text_of};
use serde_json::{Value, json};

pub struct Responses {
    model: Value,
    /// The items so far; the last may be open.
    output: Vec<Value>,
    is_open: bool,
    called: bool,
    usage: Value,
    sequence: u64,
}

impl Responses {
    pub fn new(body: &Value) -> Self {
        Self {
            model: body["model"].clone(),
            output: Vec::new(),
            is_open: false,
            called: false,
            usage: Value::Null,
            sequence: 0,
        }
    }

    fn event(&mut self, kind: &str, mut data: Value) -> String {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        format!("event: {kind}\ndata: {data}\n\n")
    }

    fn at(&self) -> usize {
        self.output.len() - 1
    }

    /// Goes on with the open item if it is of this type, else begins one.
    fn open(&mut self, kind: &str, item: Value) -> String {
        if self.is_open && self.output[self.at()]["type"] == kind {
            return String::new();
        }
        let mut said = self.close();
        let mut item = item;
        item["type"] = json!(kind);
        item["id"] = json!(format!("{kind}_{:012}", self.output.len()));
        self.output.push(item.clone());
        self.is_open = true;
        let added = json!({"output_index": self.at(), "item": item});
        said += &self.event("response.output_item.added", added);
        said
    }

    /// The open item is whole.
    fn close(&mut self) -> String {
        if !self.is_open {
            return String::new();
        }
        self.is_open = false;
        let at = self.at();
        let item = &mut self.output[at];
        item["status"] = json!("completed");
        if item["type"] == "reasoning" {
            item["status"] = Value::Null;
            item["encrypted_content"] = json!(SEALED);
        }
        let done = json!({"output_index": at, "item": item});
        self.event("response.output_item.done", done)
    }

    fn append(&mut self, field: &str, part: Value, text: &str) {
        let at = self.at();
        let parts = self.output[at][field].as_array_mut().unwrap();
        if parts.is_empty() {
            parts.push(part);
        }
        let whole = parts[0]["text"].as_str().unwrap_or_default().to_owned() + text;
        parts[0]["text"] = json!(whole);
    }
}

/// Encrypted reasoning as it looks: long, and like a secret.
pub const SEALED: &str = "gAAAAABpPMlcH0HHEv5_ozHwP5Gxz5ZLE7A8Aw7GK94sa1KWHqXLrAch29KZrZqCzH6PkWnLWTxIZv4TL70DPoKbS_ryNp6d2rC8vS04U7qWLdsbYnsqmPYVCCQ2Rigd84Yh9mgctGTs_w5x7NY3pm5lOxUv5jGHAW20nAMGfpFAAYRjW1aAA7f1Cjfc==";

fn input(body: &Value) -> &[Value] {
    body["input"].as_array().map_or(&[], Vec::as_slice)
}

fn kind(item: &Value) -> &str {
    match item["type"].as_str() {
        Some(kind) => kind,
        None => "message",
    }
}

impl Dialect for Responses {
    fn check(&self, body: &Value) -> Result<(), String> {
        check::check(body)
    }

    fn say(&mut self, text: &str) -> String {
        let mut said = self.open(
            "message",
            json!({"role": "assistant", "phase": "final_answer", "content": []}),
        );
        self.append(
            "content",
            json!({"type": "output_text", "annotations": []}),
            text,
        );
        let delta = json!({"output_index": self.at(), "content_index": 0, "delta": text, "obfuscation": "aZ"});
        said += &self.event("response.output_text.delta", delta);
        said
    }

    fn think(&mut self, text: &str) -> String {
        let mut said = self.open("reasoning", json!({"summary": []}));
        self.append("summary", json!({"type": "summary_text"}), text);
        let delta = json!({"output_index": self.at(), "summary_index": 0, "delta": text});
        said += &self.event("response.reasoning_summary_text.delta", delta);
        said
    }

    /// The name `apply_patch_call` makes a call of OpenAI's own tool, its arguments being the operation.
    fn call(&mut self, id: &str, tool: &str, arguments: &[&str]) -> String {
        self.called = true;
        let mut said = self.close();
        if tool == "apply_patch_call" {
            let operation: Value = serde_json::from_str(&arguments.concat()).unwrap();
            said += &self.open(tool, json!({"call_id": id, "operation": operation}));
            for piece in operation["diff"].as_str().unwrap_or_default().lines() {
                let delta = json!({"output_index": self.at(), "delta": piece});
                said += &self.event("response.apply_patch_call_operation_diff.delta", delta);
            }
        } else {
            let item = json!({"call_id": id, "name": tool, "arguments": ""});
            said += &self.open("function_call", item);
            for piece in arguments {
                let delta = json!({"output_index": self.at(), "delta": piece});
                said += &self.event("response.function_call_arguments.delta", delta);
            }
            let at = self.at();
            self.output[at]["arguments"] = json!(arguments.concat());
        }
        said + &self.close()
    }

    fn usage(&mut self, read: u64, written: u64) -> String {
        self.usage = json!({
            "input_tokens": read, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        });
        String::new()
    }

    fn end(&mut self, reason: Option<&str>) -> String {
        let mut said = self.close();
        let (status, details) = match reason {
            None => ("completed", Value::Null),
            Some(reason) => ("incomplete", json!({"reason": reason})),
        };
        let response = json!({
            "id": "resp_1", "object": "response", "model": self.model, "status": status, "error": null,
            "incomplete_details": details, "output": self.output, "usage": self.usage,
        });
        said += &self.event(&format!("response.{status}"), json!({"response": response}));
        said
    }

    fn fail(&mut self, message: &str) -> String {
        let error = json!({"type": "server_error", "code": "server_error", "message": message, "param": null});
        self.event("error", json!({"error": error}))
    }

    fn error(&self, _: u16, message: &str) -> Value {
        json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}})
    }

    fn system(&self, body: &Value) -> String {
        body["instructions"].as_str().unwrap_or_default().to_owned()
    }

    fn turns(&self, body: &Value) -> Vec<Said> {
        let mut turns: Vec<Said> = Vec::new();
        for item in input(body) {
            let field = |it: &str| item[it].as_str().unwrap_or_default().to_owned();
            let (said, call) = match kind(item) {
                "message" if item["role"] == "user" => {
                    turns.push(Said::User(text_of(&item["content"])));
                    continue;
                }
                kind if kind.ends_with("_output") => {
                    turns.push(Said::Result(field("call_id"), field("output")));
                    continue;
                }
                "message" => (text_of(&item["content"]), None),
                "function_call" => (String::new(), Some((field("call_id"), field("name")))),
                "apply_patch_call" => (String::new(), Some((field("call_id"), field("type")))),
                _ => continue,
            };
            if !matches!(turns.last(), Some(Said::Assistant { .. })) {
                turns.push(Said::Assistant {
                    text: String::new(),
                    calls: Vec::new(),
                });
            }
            if let Some(Said::Assistant { text, calls }) = turns.last_mut() {
                text.push_str(&said);
                calls.extend(call);
            }
        }
        turns
    }

    fn pictures(&self, body: &Value) -> Vec<(String, String, Vec<u8>)> {
        let mut pictures = Vec::new();
        let mut label = "";
        let contents = input(body).iter().filter_map(|it| it["content"].as_array());
        for part in contents.flatten() {
            match part["image_url"].as_str() {
                None => label = part["text"].as_str().unwrap_or_default(),
                Some(url) => {
                    if let Some((kind, data)) = data_url(url) {
                        pictures.push((label.to_owned(), kind, data));
                    }
                }
            }
        }
        pictures
    }
}
