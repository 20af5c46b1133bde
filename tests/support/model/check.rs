//! What real servers insist on: a request that one of them would refuse is a fault.

use super::data_url;
use serde_json::Value;
use std::collections::BTreeSet;

/// What is wrong with a request, if something is.
pub fn check(body: &Value) -> Result<(), String> {
    let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    must(body["stream"] == true, "stream must be true")?;
    must(
        body["model"].as_str().is_some_and(|it| !it.is_empty()),
        "there must be a model",
    )?;
    for tool in body["tools"].as_array().into_iter().flatten() {
        must(tool["type"] == "function", "a tool's type must be function")?;
        must(
            tool["function"]["name"].is_string(),
            "a tool must have a name",
        )?;
        must(
            tool["function"]["parameters"]["type"] == "object",
            "a tool's schema must be of type object",
        )?;
    }
    let messages = body["messages"]
        .as_array()
        .ok_or("there must be messages")?;
    must(
        messages.first().is_some_and(|it| it["role"] == "system"),
        "the first message must be the system's",
    )?;
    let mut open = BTreeSet::new();
    let mut last = "system";
    for message in &messages[1..] {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            must(
                message["content"].is_string(),
                "a tool's result must be a text",
            )?;
            must(
                open.remove(id),
                "a tool's result must answer an open call, once",
            )?;
            continue;
        }
        must(
            open.is_empty(),
            "every call must be answered right behind it",
        )?;
        let alternates = match role {
            "user" => last == "system" || last == "assistant",
            // After results the assistant goes on.
            "assistant" => last == "user" || last == "assistant-calls",
            _ => false,
        };
        // A person may also speak right after results.
        must(
            alternates || (role == "user" && last == "assistant-calls"),
            "roles must alternate",
        )?;
        last = role;
        if role == "assistant" {
            let calls = message["tool_calls"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            must(
                message["content"].is_string() || !calls.is_empty(),
                "an answer must say or call something",
            )?;
            for call in calls {
                let id = call["id"].as_str().unwrap_or_default();
                must(
                    !id.is_empty() && open.insert(id),
                    "each call of an answer must have an id of its own",
                )?;
                let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                must(
                    serde_json::from_str::<Value>(arguments).is_ok(),
                    "a call's arguments must be JSON",
                )?;
            }
            if !calls.is_empty() {
                last = "assistant-calls";
            }
        } else {
            must(
                !message["content"].is_null(),
                "a prompt must have a content",
            )?;
            for part in message["content"].as_array().into_iter().flatten() {
                check_part(part)?;
            }
        }
    }
    must(open.is_empty(), "the last calls must be answered")?;
    must(
        last != "assistant",
        "the last word must not be the assistant's",
    )
}

/// Whether bytes begin as a picture of this media type does.
pub fn is_picture(kind: &str, data: &[u8]) -> bool {
    match kind {
        "image/png" => data.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => data.starts_with(b"\xff\xd8\xff"),
        "image/gif" => data.starts_with(b"GIF8"),
        "image/webp" => data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}

/// A part of a person's message.
fn check_part(part: &Value) -> Result<(), String> {
    match part["type"].as_str() {
        Some("text") if part["text"].as_str().is_some_and(|it| !it.is_empty()) => Ok(()),
        Some("image_url") => {
            let url = part["image_url"]["url"].as_str().unwrap_or_default();
            let (kind, data) = data_url(url).ok_or("a picture must be a data URL of base64")?;
            match is_picture(&kind, &data) {
                true => Ok(()),
                false => Err(format!(
                    "a picture must be what it says it is, which is {kind}"
                )),
            }
        }
        _ => Err("a part must be a text or a picture".to_owned()),
    }
}

mod tests {
    use super::check;
    use serde_json::{Value, json};

    fn request(messages: Value) -> Value {
        json!({"model": "m", "stream": true, "messages": messages})
    }

    #[test]
    fn the_check_accepts_good_histories_and_names_what_is_wrong_with_others() {
        let system = json!({"role": "system", "content": "s"});
        let user = json!({"role": "user", "content": "u"});
        let said = json!({"role": "assistant", "content": "a"});
        let call = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}}]});
        let result = json!({"role": "tool", "tool_call_id": "1", "content": "r"});
        let good = [
            json!([system, user]),
            json!([system, user, said, user]),
            json!([system, user, call, result]),
            json!([system, user, call, result, user]),
            json!([system, user, call, result, call, result, said, user]),
        ];
        for messages in good {
            assert_eq!(check(&request(messages.clone())), Ok(()), "{messages}");
        }
        let bad = [
            json!([user]),
            json!([system, user, user]),
            json!([system, user, said, said, user]),
            json!([system, user, said]),
            json!([system, user, call]),
            json!([system, user, call, user]),
            json!([system, user, call, result, result]),
            json!([system, user, result]),
        ];
        let faults: Vec<String> = bad
            .into_iter()
            .map(|it| check(&request(it)).unwrap_err())
            .collect();
        expect_test::expect![[r#"
            the first message must be the system's
            roles must alternate
            roles must alternate
            the last word must not be the assistant's
            the last calls must be answered
            every call must be answered right behind it
            a tool's result must answer an open call, once
            a tool's result must answer an open call, once"#]]
        .assert_eq(&faults.join("\n"));
    }
}
