//! OpenAI's Responses, as strict as OpenAI is to a client that keeps nothing there.

use super::{Dialect, Said};
use crate::support::model::{data_url, text_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
        check(body)
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

/// The fields that a request may have.
const FIELDS: &[&str] = &[
    "model",
    "instructions",
    "input",
    "tools",
    "store",
    "include",
    "reasoning",
    "max_output_tokens",
    "temperature",
    "prompt_cache_key",
    "stream",
];

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Nothing but these fields, and none that is null.
fn only(value: &Value, fields: &[&str]) -> Result<(), String> {
    for (field, value) in value.as_object().ok_or("there must be an object")? {
        must(
            fields.contains(&field.as_str()),
            &format!("Unknown parameter: '{field}'."),
        )?;
        must(!value.is_null(), &format!("{field} must not be null"))?;
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// What is wrong with a request, if something is.
fn check(body: &Value) -> Result<(), String> {
    only(body, FIELDS)?;
    must(body["stream"] == true, "stream must be true")?;
    must(body["store"] == false, "store must be false")?;
    let sealed = json!(["reasoning.encrypted_content"]);
    must(
        body.get("include").is_none_or(|it| *it == sealed),
        "include names encrypted reasoning or nothing",
    )?;
    if let Some(reasoning) = body.get("reasoning") {
        only(reasoning, &["effort", "summary"])?;
    }
    must(
        body["model"].as_str().is_some_and(|it| !it.is_empty()),
        "there must be a model",
    )?;
    check_tools(body)?;
    let mut open: BTreeMap<&str, &str> = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut last = "nothing";
    for item in input(body) {
        let id = item["call_id"].as_str().unwrap_or_default();
        let kind = kind(item);
        if last == "reasoning" {
            must(
                item["role"] != "user" && !kind.ends_with("_output"),
                "Item of type 'reasoning' was provided without its required following item.",
            )?;
        }
        last = kind;
        match kind {
            "message" if item["role"] == "user" => {
                only(item, &["role", "content"])?;
                must(open.is_empty(), "No tool output found for a call.")?;
                check_content(&item["content"])?;
                last = "user";
            }
            "message" => {
                only(item, &["type", "role", "content", "phase"])?;
                must(
                    item["role"] == "assistant",
                    "a message is a user's or the assistant's",
                )?;
                must(
                    !text_of(&item["content"]).is_empty(),
                    "a message must say something",
                )?;
            }
            "reasoning" => {
                only(item, &["type", "summary", "encrypted_content"])?;
                must(
                    item["summary"].is_array(),
                    "a reasoning must have a summary",
                )?;
                must(
                    item["encrypted_content"] == SEALED,
                    "The encrypted content could not be verified.",
                )?;
            }
            "function_call" => {
                only(item, &["type", "call_id", "name", "arguments"])?;
                must(
                    item["name"].as_str().is_some_and(is_name),
                    "a call's name must be one",
                )?;
                let arguments = item["arguments"].as_str().unwrap_or_default();
                must(
                    serde_json::from_str::<Value>(arguments).is_ok(),
                    "a call's arguments must be JSON",
                )?;
            }
            "apply_patch_call" => {
                only(item, &["type", "call_id", "status", "operation"])?;
                must(
                    item["status"] == "completed",
                    "a patch call must be completed",
                )?;
                must(
                    item["operation"].is_object(),
                    "a patch call must have an operation",
                )?;
            }
            "function_call_output" => only(item, &["type", "call_id", "output"])?,
            "apply_patch_call_output" => {
                only(item, &["type", "call_id", "status", "output"])?;
                must(
                    item["status"] == "completed" || item["status"] == "failed",
                    "a patch call's output must have a status",
                )?;
            }
            other => return Err(format!("Invalid value: '{other}'.")),
        }
        if let Some(call) = kind.strip_suffix("_output") {
            must(
                item["output"].as_str().is_some_and(|it| !it.is_empty()),
                "an output must be a text",
            )?;
            must(
                open.remove(id) == Some(call),
                &format!("No tool call found for {call} output with call_id {id}."),
            )?;
        } else if kind.ends_with("_call") {
            must(is_name(id), "a call must have an id")?;
            must(used.insert(id), "a call must have an id of its own")?;
            open.insert(id, kind);
        }
    }
    must(open.is_empty(), "No tool output found for the last call.")?;
    must(
        last == "user" || last.ends_with("_output"),
        "the last word must not be the assistant's",
    )
}

fn check_tools(body: &Value) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = match tool["type"].as_str() {
            Some("function") => {
                only(
                    tool,
                    &["type", "name", "description", "parameters", "strict"],
                )?;
                must(tool["strict"] == false, "a schema of ours is not strict")?;
                must(
                    tool["parameters"]["type"] == "object",
                    "a tool's schema must be of type object",
                )?;
                tool["name"].as_str().unwrap_or_default()
            }
            Some("apply_patch") => {
                only(tool, &["type"])?;
                "apply_patch"
            }
            other => return Err(format!("Invalid value: {other:?}.")),
        };
        must(
            is_name(name) && names.insert(name),
            "a tool must have a name of its own",
        )?;
    }
    Ok(())
}

/// What a person says.
fn check_content(content: &Value) -> Result<(), String> {
    let Some(parts) = content.as_array() else {
        return must(content.is_string(), "a prompt must have a content");
    };
    for part in parts {
        match part["type"].as_str() {
            Some("input_text") => only(part, &["type", "text"])?,
            Some("input_image") => {
                only(part, &["type", "image_url", "detail"])?;
                let url = part["image_url"].as_str().unwrap_or_default();
                let (kind, data) = data_url(url).ok_or("a picture must be a data URL of base64")?;
                let is_so = match kind.as_str() {
                    "image/png" => data.starts_with(b"\x89PNG\r\n\x1a\n"),
                    "image/jpeg" => data.starts_with(b"\xff\xd8\xff"),
                    "image/gif" => data.starts_with(b"GIF8"),
                    "image/webp" => data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP"),
                    _ => false,
                };
                must(is_so, "a picture must be what it says it is")?;
            }
            other => return Err(format!("Invalid value: {other:?}.")),
        }
    }
    Ok(())
}

mod tests {
    use super::{SEALED, check};
    use serde_json::{Value, json};

    fn request(input: Value) -> Value {
        json!({"model": "m", "stream": true, "store": false, "input": input})
    }

    #[test]
    fn the_check_of_responses_accepts_good_histories_and_names_what_is_wrong_with_others() {
        let user = json!({"role": "user", "content": "u"});
        let said = json!({"role": "assistant", "content": "a"});
        let thought = json!({"type": "reasoning", "summary": [], "encrypted_content": SEALED});
        let call = json!({"type": "function_call", "call_id": "1", "name": "t", "arguments": "{}"});
        let output = json!({"type": "function_call_output", "call_id": "1", "output": "r"});
        let patch = json!({"type": "apply_patch_call", "call_id": "2", "status": "completed", "operation": {}});
        let patched = json!({"type": "apply_patch_call_output", "call_id": "2", "status": "failed", "output": "r"});
        let good = [
            json!([user]),
            json!([user, thought, said, user]),
            json!([user, thought, call, patch, output, patched]),
            json!([user, call, output, user]),
        ];
        for input in good {
            assert_eq!(check(&request(input.clone())), Ok(()), "{input}");
        }
        let with = |mut item: Value, field: &str, value: Value| {
            item[field] = value;
            item
        };
        let bad = [
            json!([user, said]),
            json!([user, call]),
            json!([user, call, user]),
            json!([user, output]),
            json!([user, patch, with(output.clone(), "call_id", json!("2"))]),
            json!([user, call, output, call, output]),
            json!([user, thought, user]),
            json!([user, with(call.clone(), "id", json!("fc_1")), output]),
            json!([
                user,
                with(thought.clone(), "status", Value::Null),
                said,
                user
            ]),
            json!([
                user,
                with(thought, "encrypted_content", json!("***")),
                said,
                user
            ]),
            json!([user, {"type": "shell_call", "call_id": "3"}]),
        ];
        let faults: Vec<String> = bad
            .into_iter()
            .map(|it| check(&request(it)).unwrap_err())
            .collect();
        expect_test::expect![[r#"
            the last word must not be the assistant's
            No tool output found for the last call.
            No tool output found for a call.
            No tool call found for function_call output with call_id 1.
            No tool call found for function_call output with call_id 2.
            a call must have an id of its own
            Item of type 'reasoning' was provided without its required following item.
            Unknown parameter: 'id'.
            Unknown parameter: 'status'.
            The encrypted content could not be verified.
            Invalid value: 'shell_call'."#]]
        .assert_eq(&faults.join("\n"));
    }
}
