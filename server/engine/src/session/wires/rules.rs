//! What servers of each format are known to refuse of a conversation, and what of it is the same from request to request.

use crate::provider::Wire;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Whose ways a server has, beside those of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum House {
    Plain,
    OpenAi,
    Mistral,
    /// Gemini 3: every step's first call has a signature.
    Signed,
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// What is wrong with a request, if something is. `may_go_on`: the model has paused, and is to go on.
pub fn check(wire: Wire, house: House, body: &Value, may_go_on: bool) -> Result<(), String> {
    match wire {
        Wire::Messages => messages(body, may_go_on),
        Wire::Responses => responses(body),
        Wire::ChatCompletions => chat(house, body),
        Wire::GenerateContent => gemini(house, body),
        Wire::Ollama => ollama(body),
    }
}

/// The conversation in a request, without the marks of what is worth caching, which move on.
pub fn conversation(wire: Wire, body: &Value) -> Value {
    let of = match wire {
        Wire::Messages | Wire::ChatCompletions | Wire::Ollama => "messages",
        Wire::Responses => "input",
        Wire::GenerateContent => "contents",
    };
    unmarked(&body[of])
}

fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| *key != "cache_control");
            fields
                .map(|(key, value)| (key.clone(), unmarked(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

/// Whether a conversation goes on with what another one is. What is said last may go on within itself: one message of the
/// person's is made of all that is said in a row.
pub fn goes_on(before: &Value, now: &Value) -> bool {
    let (before, now) = (list(before), list(now));
    let Some((last, rest)) = before.split_last() else {
        return true;
    };
    now.len() >= before.len() && now[..rest.len()] == *rest && is_within(last, &now[rest.len()])
}

fn is_within(before: &Value, now: &Value) -> bool {
    let text = |value: &Value| {
        let content = value.get("content").or(value.get("parts"));
        content.map(texts).unwrap_or_default()
    };
    before["role"] == now["role"] && (before == now || text(now).starts_with(&text(before)))
}

fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts = items.iter().map(|it| match it["text"].as_str() {
                Some(text) => text.to_owned(),
                None => it.to_string(),
            });
            texts.collect()
        }
        _ => String::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn is_name(name: &str, most: usize) -> bool {
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    (1..=most).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// JSON of an object that every parser reads.
fn is_object(arguments: &Value) -> bool {
    let text = arguments.as_str().unwrap_or_default();
    serde_json::from_str::<Value>(text).is_ok_and(|it| it.is_object())
}

fn messages(body: &Value, may_go_on: bool) -> Result<(), String> {
    let (mut used, mut open) = (BTreeSet::new(), BTreeSet::new());
    let mut last = "assistant";
    for message in list(&body["messages"]) {
        let role = text(message, "role");
        must(role != last, "roles must alternate")?;
        let content = list(&message["content"]);
        must(!content.is_empty(), "a content must not be empty")?;
        let mut results_may_come = true;
        for block in content {
            match (role, text(block, "type")) {
                (_, "text") => {
                    must(
                        !text(block, "text").trim().is_empty(),
                        "a text must not be blank",
                    )?;
                    results_may_come = false;
                }
                ("user", "image") => results_may_come = false,
                ("user", "tool_result") => {
                    must(results_may_come, "results must come first")?;
                    must(
                        open.remove(text(block, "tool_use_id")),
                        "a result must answer an open call, once",
                    )?;
                    let given = &block["content"];
                    let says = match given {
                        Value::String(text) => !text.trim().is_empty(),
                        given => list(given)
                            .iter()
                            .all(|it| it["type"] == "image" || !text(it, "text").trim().is_empty()),
                    };
                    must(says, "a result must say something")?;
                    must(
                        block["is_error"] != true || given.is_string(),
                        "an error is a text",
                    )?;
                }
                ("assistant", "tool_use") => {
                    must(is_name(text(block, "id"), 64), "an id of a call")?;
                    must(used.insert(text(block, "id")), "ids must be unique")?;
                    open.insert(text(block, "id"));
                    must(is_name(text(block, "name"), 64), "a name of a call")?;
                    must(block["input"].is_object(), "an input must be an object")?;
                }
                ("assistant", "thinking") => must(
                    text(block, "signature").starts_with("sig"),
                    "Invalid `signature` in `thinking` block",
                )?,
                ("assistant", "redacted_thinking") => {
                    must(block["data"].is_string(), "redacted thinking has its data")?;
                }
                ("assistant", "compaction") => {
                    must(block["content"].is_string(), "a compaction has its content")?;
                }
                (role, kind) => return Err(format!("{role} may not say a block of type {kind:?}")),
            }
        }
        let ends_in = text(&content[content.len() - 1], "type");
        must(
            role == "user" || !ends_in.ends_with("thinking"),
            "the final block cannot be `thinking`",
        )?;
        must(
            role != "user" || open.is_empty(),
            "calls need their results",
        )?;
        last = role;
    }
    must(
        last == "user" || may_go_on,
        "the last word must be the person's",
    )
}

fn responses(body: &Value) -> Result<(), String> {
    let (mut used, mut open) = (BTreeSet::new(), Vec::new());
    let mut last = "";
    for item in list(&body["input"]) {
        let (kind, id) = (text(item, "type"), text(item, "call_id"));
        must(item.get("id").is_none(), "an id that is not kept")?;
        let is_user = item["role"] == "user";
        must(
            last != "reasoning" || !(is_user || kind.ends_with("_output")),
            "reasoning without its following item",
        )?;
        match kind {
            "" | "message" => {
                must(
                    !is_user || open.is_empty(),
                    "No tool output found for a call.",
                )?;
                let said = texts(&item["content"]);
                must(
                    is_user || !said.trim().is_empty(),
                    "an answer must say something",
                )?;
                must(item["content"] != json!([]), "a content must not be empty")?;
            }
            "reasoning" => must(
                item["encrypted_content"].is_string(),
                "a reasoning must have what is encrypted",
            )?,
            "compaction" => must(
                item["encrypted_content"].is_string(),
                "a compaction must have what is encrypted",
            )?,
            "function_call" => {
                must(is_name(text(item, "name"), 64), "a name of a call")?;
                must(is_object(&item["arguments"]), "arguments of a call")?;
            }
            "apply_patch_call" => {
                let operation = &item["operation"];
                let has = |field: &str| operation[field].is_string();
                let is_delete = operation["type"] == "delete_file";
                must(
                    has("type") && has("path") && (is_delete || has("diff")),
                    "an operation must be one",
                )?;
            }
            "function_call_output" | "apply_patch_call_output" => {
                must(
                    !text(item, "output").trim().is_empty(),
                    "an output says something",
                )?;
            }
            other => return Err(format!("Invalid value: '{other}'.")),
        }
        if let Some(call) = kind.strip_suffix("_output") {
            let at = open.iter().position(|it| *it == (call, id));
            must(at.is_some(), "No tool call found for an output.")?;
            at.map(|at| open.remove(at));
        } else if kind.ends_with("_call") {
            must(is_name(id, 64), "an id of a call")?;
            must(used.insert(id), "ids must be unique")?;
            open.push((kind, id));
        }
        last = if is_user { "user" } else { kind };
    }
    must(open.is_empty(), "the last calls need their results")?;
    must(
        last == "user" || last.ends_with("_output"),
        "the last word must be the person's",
    )
}

fn chat(house: House, body: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut used = BTreeSet::new();
    let mut last = "system";
    let is_system = |it: &&Value| matches!(text(it, "role"), "system" | "developer");
    let messages = list(&body["messages"]).iter().skip_while(is_system);
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            let at = open.iter().position(|it| *it == id);
            must(at.is_some(), "a result must answer an open call")?;
            at.map(|at| open.remove(at));
            must(
                !text(message, "content").trim().is_empty(),
                "a result says something",
            )?;
            last = "tool";
            continue;
        }
        must(open.is_empty(), "calls need their results")?;
        must(role != last, "roles must alternate")?;
        must(
            house != House::Mistral || role != "user" || last != "tool",
            "Unexpected role 'user' after role 'tool'",
        )?;
        let content = &message["content"];
        match role {
            "user" => {
                let says = match content {
                    Value::String(text) => !text.is_empty(),
                    parts => list(parts)
                        .iter()
                        .all(|it| it["type"] != "text" || !text(it, "text").is_empty()),
                };
                must(says && !content.is_null(), "a prompt must say something")?;
            }
            "assistant" => {
                let calls = list(&message["tool_calls"]);
                must(
                    !text(message, "content").is_empty() || !calls.is_empty(),
                    "an answer must say or call something",
                )?;
                for call in calls {
                    let (id, function) = (text(call, "id"), &call["function"]);
                    must(!id.is_empty() && !open.contains(&id), "an id of its own")?;
                    must(
                        house != House::OpenAi || id.len() <= 40,
                        "id: string too long",
                    )?;
                    let is_nine = id.len() == 9 && id.bytes().all(|it| it.is_ascii_alphanumeric());
                    must(house != House::Mistral || is_nine, "an id of nine")?;
                    must(
                        house != House::Mistral || used.insert(id),
                        "ids must be unique",
                    )?;
                    must(is_name(text(function, "name"), 64), "a name of a call")?;
                    must(is_object(&function["arguments"]), "arguments of a call")?;
                    open.push(id);
                }
            }
            other => return Err(format!("there is no role {other:?}")),
        }
        last = role;
    }
    must(open.is_empty(), "the last calls need their results")?;
    must(
        last == "user" || last == "tool",
        "the last word must be the person's",
    )
}

fn gemini(house: House, body: &Value) -> Result<(), String> {
    let contents = list(&body["contents"]);
    let mut last = "model";
    let mut open: Vec<&Value> = Vec::new();
    for content in contents {
        let (role, parts) = (text(content, "role"), list(&content["parts"]));
        must(!parts.is_empty(), "a content must have parts")?;
        let of =
            |field: &str| -> Vec<&Value> { parts.iter().filter_map(|it| it.get(field)).collect() };
        let (calls, results) = (of("functionCall"), of("functionResponse"));
        for part in parts {
            let is_signed = part.get("thoughtSignature").is_some();
            must(part["text"] != "" || is_signed, "a text must not be empty")?;
        }
        must(role == "model" || calls.is_empty(), "calls are the model's")?;
        must(
            results.len() == open.len() && (results.is_empty() || results.len() == parts.len()),
            "as many responses as calls, and nothing else",
        )?;
        for (call, result) in open.iter().zip(&results) {
            must(
                call["name"] == result["name"],
                "a response has its call's name",
            )?;
            must(
                call.get("id") == result.get("id"),
                "a response has its call's id",
            )?;
        }
        for call in &calls {
            let name = text(call, "name");
            let begins_well = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
            let is_allowed =
                |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | ':');
            must(
                begins_well && name.len() <= 128 && name.chars().all(is_allowed),
                "a name of a function",
            )?;
            must(
                call.get("args").is_none_or(Value::is_object),
                "arguments must be an object",
            )?;
        }
        if house == House::Signed {
            let mut signed = parts.iter().filter(|it| it.get("functionCall").is_some());
            let first = signed.next();
            must(
                first.is_none_or(|it| it["thoughtSignature"].is_string()),
                "Function call is missing a thought_signature",
            )?;
        }
        // Pictures of results follow as what the person says.
        must(
            role != last || (role == "user" && results.is_empty()),
            "roles must alternate",
        )?;
        open = calls;
        last = role;
    }
    must(open.is_empty(), "the last calls need their results")?;
    must(last == "user", "the last word must be the person's")
}

fn ollama(body: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut last = "system";
    let is_system = |it: &&Value| text(it, "role") == "system";
    let messages = list(&body["messages"]).iter().skip_while(is_system);
    for message in messages {
        let role = text(message, "role");
        must(message["content"].is_string(), "a content is a text")?;
        if role == "tool" {
            must(!open.is_empty(), "a result must answer an open call")?;
            must(
                text(message, "tool_name") == open.remove(0),
                "a result has its tool's name",
            )?;
            last = "tool";
            continue;
        }
        must(open.is_empty(), "calls need their results")?;
        must(role != last, "roles must alternate")?;
        for call in list(&message["tool_calls"]) {
            must(
                call["function"]["arguments"].is_object(),
                "arguments are an object",
            )?;
            open.push(text(&call["function"], "name"));
        }
        last = role;
    }
    must(open.is_empty(), "the last calls need their results")?;
    must(
        last == "user" || last == "tool",
        "the last word must be the person's",
    )
}
