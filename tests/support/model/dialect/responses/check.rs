//! What OpenAI insists on of a client that keeps nothing there.

use super::{SEALED, kind};
use crate::support::model::{data_url, text_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
    "context_management",
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
pub fn check(body: &Value) -> Result<(), String> {
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
    for item in body["input"].as_array().into_iter().flatten() {
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
    use super::super::SEALED;
    use super::check;
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
