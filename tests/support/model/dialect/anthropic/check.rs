//! What the real API insists on: a request that it would refuse is a fault.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::collections::BTreeSet;

/// The keys of a body that there are, without beta.
const KEYS: [&str; 10] = [
    "model",
    "max_tokens",
    "stream",
    "temperature",
    "thinking",
    "output_config",
    "context_management",
    "tools",
    "system",
    "messages",
];

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// What is wrong with a request, if something is.
pub fn check(body: &Value) -> Result<(), String> {
    for key in body.as_object().ok_or("the body must be an object")?.keys() {
        must(
            KEYS.contains(&key.as_str()),
            &format!("{key}: Extra inputs are not permitted"),
        )?;
    }
    must(body["stream"] == true, "stream must be true")?;
    must(
        body["model"].as_str().is_some_and(|it| !it.is_empty()),
        "there must be a model",
    )?;
    must(
        body["max_tokens"].as_u64().is_some_and(|it| it > 0),
        "max_tokens must be there",
    )?;
    check_tools(body)?;
    let mut n_marks = count_marks(&body["tools"]);
    for block in body["system"].as_array().into_iter().flatten() {
        must(block["type"] == "text", "system takes texts alone")?;
        check_block(block)?;
        n_marks += usize::from(!block["cache_control"].is_null());
    }
    n_marks += check_messages(body)?;
    must(n_marks <= 4, "at most 4 blocks may be marked for the cache")
}

fn check_tools(body: &Value) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        must(
            is_name(name),
            "a tool must have a name of 1 to 64 letters, digits, _ and -",
        )?;
        must(names.insert(name), "tool names must be unique")?;
        let keys: Vec<&str> = tool
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        match tool["type"].as_str() {
            None => must(
                tool["input_schema"]["type"] == "object",
                "a tool's schema must be of type object",
            )?,
            Some("text_editor_20250728") => must(
                name == "str_replace_based_edit_tool",
                "the text editor must have its name",
            )?,
            Some("bash_20250124") => must(name == "bash", "bash must have its name")?,
            Some(other) => {
                return Err(format!(
                    "Input tag '{other}' does not match any of the expected tags"
                ));
            }
        }
        let known = [
            "type",
            "name",
            "description",
            "input_schema",
            "cache_control",
        ];
        must(
            keys.iter().all(|it| known.contains(it)),
            "a tool has an unknown key",
        )?;
    }
    Ok(())
}

fn count_marks(blocks: &Value) -> usize {
    let blocks = blocks.as_array().into_iter().flatten();
    blocks.filter(|it| !it["cache_control"].is_null()).count()
}

/// Checks the conversation and counts the marks in it.
fn check_messages(body: &Value) -> Result<usize, String> {
    let messages = body["messages"]
        .as_array()
        .ok_or("there must be messages")?;
    must(
        messages.first().is_some_and(|it| it["role"] == "user"),
        "the first message must be the person's",
    )?;
    let mut ids = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut last = "assistant";
    let mut n_marks = 0;
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        must(role != last, "roles must alternate")?;
        let content = message["content"]
            .as_array()
            .ok_or("a content must be blocks")?;
        must(!content.is_empty(), "a content must not be empty")?;
        n_marks += count_marks(&message["content"]);
        let mut results_may_come = role == "user";
        for block in content {
            check_block(block)?;
            let kind = block["type"].as_str().unwrap_or_default();
            match (role, kind) {
                ("user", "tool_result") => {
                    must(results_may_come, "results must come first")?;
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    must(open.remove(id), "a result must answer an open call, once")?;
                }
                ("user", "text" | "image") => results_may_come = false,
                ("assistant", "tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    must(is_name(id), "a call's id must be letters, digits, _ and -")?;
                    must(ids.insert(id), "`tool_use` ids must be unique")?;
                    open.insert(id);
                }
                ("assistant", "text" | "thinking" | "redacted_thinking" | "compaction") => {}
                _ => return Err(format!("{role} may not say a block of type {kind}")),
            }
        }
        if role == "assistant" {
            let kind = content
                .last()
                .map(|it| it["type"].as_str().unwrap_or_default());
            must(
                !matches!(kind, Some("thinking" | "redacted_thinking")),
                "the final block in an assistant message cannot be `thinking`",
            )?;
        } else {
            must(
                open.is_empty(),
                "`tool_use` ids were found without `tool_result` blocks immediately after",
            )?;
        }
        last = role;
    }
    must(last == "user", "the last word must not be the assistant's")?;
    Ok(n_marks)
}

fn check_block(block: &Value) -> Result<(), String> {
    match block["type"].as_str() {
        Some("text") => must(
            block["text"]
                .as_str()
                .is_some_and(|it| !it.trim().is_empty()),
            "text content blocks must contain non-whitespace text",
        ),
        Some("thinking") => {
            must(
                block["cache_control"].is_null(),
                "a thought may not be marked",
            )?;
            must(
                block["thinking"].is_string()
                    && block["signature"]
                        .as_str()
                        .is_some_and(|it| it.starts_with("sig+")),
                "Invalid `signature` in `thinking` block",
            )
        }
        Some("tool_use") => {
            must(
                is_name(block["name"].as_str().unwrap_or_default()),
                "a call's name must be of 1 to 64 letters, digits, _ and -",
            )?;
            must(
                block["input"].is_object(),
                "a call's input must be an object",
            )
        }
        Some("tool_result") => check_result(block),
        Some("image") => check_picture(&block["source"]),
        _ => Ok(()),
    }
}

fn check_result(block: &Value) -> Result<(), String> {
    let is_error = block["is_error"] == true;
    match &block["content"] {
        Value::String(text) => must(!text.is_empty() || !is_error, "an error must say something"),
        Value::Array(parts) => {
            for part in parts {
                check_block(part)?;
                must(
                    matches!(part["type"].as_str(), Some("text" | "image")),
                    "a result is made of texts and pictures",
                )?;
                must(
                    !is_error || part["type"] == "text",
                    "all content must be type `text` if `is_error` is true",
                )?;
            }
            must(
                !parts.is_empty() || !is_error,
                "an error must say something",
            )
        }
        _ => Err("a result must have a content".to_owned()),
    }
}

fn check_picture(source: &Value) -> Result<(), String> {
    must(source["type"] == "base64", "a picture must be in base64")?;
    let data = source["data"].as_str().unwrap_or_default();
    let data = STANDARD.decode(data).map_err(|it| it.to_string())?;
    let is_so = match source["media_type"].as_str() {
        Some("image/png") => data.starts_with(b"\x89PNG\r\n\x1a\n"),
        Some("image/jpeg") => data.starts_with(b"\xff\xd8\xff"),
        Some("image/gif") => data.starts_with(b"GIF8"),
        Some("image/webp") => data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP"),
        _ => false,
    };
    must(is_so, "a picture must be what it says it is")
}

fn is_name(name: &str) -> bool {
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_allowed)
}

mod tests {
    use super::check;
    use serde_json::{Value, json};

    fn request(messages: Value) -> Value {
        json!({"model": "m", "max_tokens": 5, "stream": true, "messages": messages})
    }

    #[test]
    fn the_check_of_messages_accepts_good_histories_and_names_what_is_wrong_with_others() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let user = json!({"role": "user", "content": text("u")});
        let said = json!({"role": "assistant", "content": text("a")});
        let call = json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "t", "input": {}}]});
        let result = json!({"type": "tool_result", "tool_use_id": "1", "content": "r"});
        let results = json!({"role": "user", "content": [result]});
        let both = json!({"role": "user", "content": [result, text("u")[0]]});
        for messages in [
            json!([user]),
            json!([user, said, user]),
            json!([user, call, results]),
            json!([user, call, both, said, user]),
        ] {
            assert_eq!(check(&request(messages.clone())), Ok(()), "{messages}");
        }
        let backwards = json!({"role": "user", "content": [text("u")[0], result]});
        let thought = json!({"type": "thinking", "thinking": "x", "signature": "sig+1"});
        let thinks = |blocks: Value| json!({"role": "assistant", "content": blocks});
        let bad = [
            json!([said, user]),
            json!([user, user]),
            json!([user, said]),
            json!([user, call, user]),
            json!([user, call, backwards]),
            json!([user, call, results, call, results]),
            json!([user, results]),
            json!([{"role": "user", "content": text(" ")}]),
            json!([user, thinks(json!([text("a")[0], thought])), user]),
            json!([
                user,
                thinks(json!([{"type": "thinking", "thinking": "x"}, text("a")[0]])),
                user
            ]),
        ];
        let faults: Vec<String> = bad
            .into_iter()
            .map(|it| check(&request(it)).unwrap_err())
            .collect();
        expect_test::expect![[r#"
            the first message must be the person's
            roles must alternate
            the last word must not be the assistant's
            `tool_use` ids were found without `tool_result` blocks immediately after
            results must come first
            `tool_use` ids must be unique
            roles must alternate
            text content blocks must contain non-whitespace text
            the final block in an assistant message cannot be `thinking`
            Invalid `signature` in `thinking` block"#]]
        .assert_eq(&faults.join("\n"));
    }
}
