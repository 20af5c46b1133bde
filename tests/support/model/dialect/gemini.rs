//! Gemini's `generateContent`, as strict as Gemini 3 is about signatures.

use super::{Dialect, Said};
use crate::support::model::check::is_picture;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

/// What stands in the place of a signature by Google's word.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Default)]
pub struct Gemini {
    called: u64,
}

impl Gemini {
    pub fn new() -> Self {
        Self::default()
    }
}

/// The signature of a call: it tells by itself whether it is that of this call.
fn signature(call: &Value) -> String {
    let args = call.get("args").cloned().unwrap_or_else(|| json!({}));
    let signed = format!("{} {args}", call["name"].as_str().unwrap_or_default());
    STANDARD.encode(signed)
}

fn event(data: &Value) -> String {
    format!("data: {data}\r\n\r\n")
}

fn parts(parts: Value) -> String {
    event(&json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": "scripted-1", "responseId": "r",
    }))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The texts of parts, without thoughts.
fn texts(parts: &[Value]) -> Vec<&str> {
    let said = parts.iter().filter(|it| it["thought"] != true);
    said.filter_map(|it| it["text"].as_str()).collect()
}

/// The calls or the results of parts.
fn fields<'a>(parts: &'a [Value], field: &'a str) -> Vec<&'a Value> {
    parts.iter().filter_map(|it| it.get(field)).collect()
}

/// The id of a call or a result, ours by its place where it has none.
fn id(it: &Value, at: usize) -> String {
    it["id"]
        .as_str()
        .map_or_else(|| format!("call_{at}"), str::to_owned)
}

impl Dialect for Gemini {
    fn check(&self, body: &Value) -> Result<(), String> {
        only(
            body,
            &["contents", "systemInstruction", "tools", "generationConfig"],
        )?;
        for tool in list(&body["tools"]) {
            for declaration in list(&tool["functionDeclarations"]) {
                only(
                    declaration,
                    &["name", "description", "parametersJsonSchema", "parameters"],
                )?;
                let json_schema = declaration.get("parametersJsonSchema");
                let schema = json_schema.unwrap_or(&declaration["parameters"]);
                must(
                    schema["type"] == "object",
                    "a schema must be of type object",
                )?;
            }
        }
        if let Some(config) = body.get("generationConfig") {
            only(
                config,
                &["temperature", "maxOutputTokens", "thinkingConfig"],
            )?;
        }
        let contents = list(&body["contents"]);
        must(!contents.is_empty(), "there must be contents")?;
        must(contents[0]["role"] == "user", "a person speaks first")?;
        let last = &contents[contents.len() - 1];
        must(
            last["role"] == "user",
            "the last word must not be the model's",
        )?;
        for (at, content) in contents.iter().enumerate() {
            only(content, &["role", "parts"])?;
            let parts = list(&content["parts"]);
            must(!parts.is_empty(), "a content must have parts")?;
            parts.iter().try_for_each(check_part)?;
            let calls = fields(parts, "functionCall");
            let results = fields(parts, "functionResponse");
            match content["role"].as_str() {
                Some("model") => {
                    must(results.is_empty(), "results are not the model's")?;
                    let next = contents.get(at + 1).unwrap_or(&Value::Null);
                    must(next["role"] == "user", "a person answers the model")?;
                    check_calls(parts)?;
                    check_results(&calls, list(&next["parts"]))?;
                }
                Some("user") => {
                    must(calls.is_empty(), "calls are not a person's")?;
                    let is_behind_calls = at > 0
                        && !fields(list(&contents[at - 1]["parts"]), "functionCall").is_empty();
                    must(
                        results.is_empty() || is_behind_calls,
                        "results must be right behind their calls",
                    )?;
                }
                _ => return Err("a role must be user or model".to_owned()),
            }
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> String {
        parts(json!([{ "text": text }]))
    }

    fn think(&mut self, text: &str) -> String {
        parts(json!([{"text": text, "thought": true}]))
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &[&str]) -> String {
        let args: Value = serde_json::from_str(&arguments.concat()).unwrap();
        let mut call = json!({"name": tool, "args": args});
        let mut part = Map::new();
        // Only the first of a step is signed.
        let signature = (self.called == 0).then(|| signature(&call));
        // Most answers have no ids.
        if !id.starts_with("call_") {
            call["id"] = json!(id);
        }
        part.insert("functionCall".to_owned(), call);
        if let Some(signature) = signature {
            part.insert("thoughtSignature".to_owned(), json!(signature));
        }
        self.called += 1;
        parts(json!([part]))
    }

    fn usage(&mut self, read: u64, written: u64) -> String {
        let usage = json!({"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written});
        event(&json!({ "usageMetadata": usage }))
    }

    fn end(&mut self, reason: Option<&str>) -> String {
        let content = json!({"role": "model", "parts": [{"text": ""}]});
        event(
            &json!({"candidates": [{"content": content, "finishReason": reason.unwrap_or("STOP"), "index": 0}]}),
        )
    }

    fn fail(&mut self, message: &str) -> String {
        event(&self.error(500, message))
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status, "message": message, "status": name}})
    }

    fn system(&self, body: &Value) -> String {
        texts(list(&body["systemInstruction"]["parts"])).join("\n")
    }

    fn turns(&self, body: &Value) -> Vec<Said> {
        let mut turns = Vec::new();
        for content in list(&body["contents"]) {
            let parts = list(&content["parts"]);
            let results = fields(parts, "functionResponse");
            if content["role"] == "model" {
                let calls = fields(parts, "functionCall").into_iter().enumerate();
                let calls = calls.map(|(at, it)| {
                    (
                        id(it, at),
                        it["name"].as_str().unwrap_or_default().to_owned(),
                    )
                });
                turns.push(Said::Assistant {
                    text: texts(parts).concat(),
                    calls: calls.collect(),
                });
            } else if results.is_empty() {
                turns.push(Said::User(texts(parts).join("\n")));
            } else {
                turns.extend(results.into_iter().enumerate().map(|(at, it)| {
                    let response = &it["response"];
                    let text = response["output"].as_str().or(response["error"].as_str());
                    Said::Result(id(it, at), text.unwrap_or_default().to_owned())
                }));
            }
        }
        turns
    }

    fn pictures(&self, body: &Value) -> Vec<(String, String, Vec<u8>)> {
        let mut pictures = Vec::new();
        let mut label = "";
        let contents = list(&body["contents"]).iter();
        for part in contents.flat_map(|it| list(&it["parts"])) {
            match part.get("inlineData") {
                None => label = part["text"].as_str().unwrap_or_default(),
                Some(picture) => {
                    let kind = picture["mimeType"].as_str().unwrap_or_default();
                    let data = picture["data"].as_str().unwrap_or_default();
                    let data = STANDARD.decode(data).unwrap_or_default();
                    pictures.push((label.to_owned(), kind.to_owned(), data));
                }
            }
        }
        pictures
    }
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Google refuses a field it does not know.
fn only(object: &Value, names: &[&str]) -> Result<(), String> {
    let fields = object.as_object().ok_or("there must be an object")?;
    match fields.keys().find(|it| !names.contains(&it.as_str())) {
        Some(name) => Err(format!("Unknown name \"{name}\": Cannot find field.")),
        None => Ok(()),
    }
}

fn check_part(part: &Value) -> Result<(), String> {
    only(
        part,
        &[
            "text",
            "thought",
            "thoughtSignature",
            "inlineData",
            "functionCall",
            "functionResponse",
        ],
    )?;
    let kinds = ["text", "inlineData", "functionCall", "functionResponse"];
    let n_kinds = kinds.iter().filter(|it| part.get(**it).is_some()).count();
    must(n_kinds == 1, "a part must be one thing")?;
    if part["text"] == "" {
        must(
            part.get("thoughtSignature").is_some(),
            "a text must not be empty",
        )?;
    }
    if let Some(picture) = part.get("inlineData") {
        let kind = picture["mimeType"].as_str().unwrap_or_default();
        let data = picture["data"]
            .as_str()
            .and_then(|it| STANDARD.decode(it).ok());
        must(
            data.is_some_and(|it| is_picture(kind, &it)),
            "a picture must be of its kind, in base64",
        )?;
    }
    Ok(())
}

/// The first call of a step must have its signature; no call may have another's.
fn check_calls(parts: &[Value]) -> Result<(), String> {
    let calls = parts.iter().filter(|it| it.get("functionCall").is_some());
    for (at, part) in calls.enumerate() {
        let call = &part["functionCall"];
        must(
            call["args"].is_object(),
            "a call's arguments must be an object",
        )?;
        match part["thoughtSignature"].as_str() {
            None if at == 0 => {
                return Err(
                    "Function call is missing a thought_signature in functionCall parts."
                        .to_owned(),
                );
            }
            None => {}
            Some(NO_SIGNATURE) => {}
            Some(theirs) => must(theirs == signature(call), "Corrupted thought signature.")?,
        }
    }
    Ok(())
}

/// Every call has its result, in its order, in one content that has nothing else.
fn check_results(calls: &[&Value], parts: &[Value]) -> Result<(), String> {
    if calls.is_empty() {
        return Ok(());
    }
    let results = fields(parts, "functionResponse");
    must(
        results.len() == calls.len() && parts.len() == calls.len(),
        "the number of function response parts must be equal to the number of function call parts",
    )?;
    for (call, result) in calls.iter().zip(results) {
        only(result, &["id", "name", "response"])?;
        must(
            call["name"] == result["name"],
            "a result must have its call's name",
        )?;
        must(
            call.get("id") == result.get("id"),
            "a result must have its call's id, if there is one",
        )?;
        only(&result["response"], &["output", "error"])?;
    }
    Ok(())
}
