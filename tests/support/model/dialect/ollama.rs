//! Ollama's own API. No real server stands behind it: it says what Ollama's source and documentation say.

use super::{Dialect, Said};
use crate::support::model::check::is_picture;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

pub struct Ollama {
    model: Value,
    /// It is asked for a download.
    is_pull: bool,
    usage: Option<(u64, u64)>,
}

/// What every model can read by its own word, but for one that is missing and one that nothing is known of.
pub const CONTEXT: u64 = 40_960;

/// The answer at another address than that of a chat.
pub fn aside(path: &str, body: &Value) -> Option<(u16, Value)> {
    match path.rsplit('/').next()? {
        "version" => Some((200, json!({"version": "0.30.0"}))),
        "show" if body["model"] == "scripted-missing" => {
            Some((404, json!({"error": "model 'scripted-missing' not found"})))
        }
        // As a server that only stands in for Ollama.
        "show" if body["model"] == "scripted-unknown" => {
            Some((404, json!({"error": {"message": "no such address"}})))
        }
        "show" => Some((
            200,
            json!({"details": {}, "capabilities": ["completion", "tools"], "model_info": {
                "general.architecture": "scripted", "scripted.context_length": CONTEXT,
            }}),
        )),
        _ => None,
    }
}

impl Ollama {
    pub fn new(path: &str, body: &Value) -> Self {
        Self {
            model: body["model"].clone(),
            is_pull: path.ends_with("/pull"),
            usage: None,
        }
    }

    fn line(&self, message: &Value) -> String {
        let line = json!({"model": self.model, "created_at": "2026-11-30T10:00:00Z", "message": message, "done": false});
        format!("{line}\n")
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Dialect for Ollama {
    fn check(&self, body: &Value) -> Result<(), String> {
        must(body["stream"] == true, "stream must be true")?;
        must(body["model"].is_string(), "there must be a model")?;
        if self.is_pull {
            return Ok(());
        }
        must(
            body["options"]["num_ctx"].as_u64().is_some_and(|it| it > 0),
            "the size of the context must be said",
        )?;
        must(body["truncate"] == false, "nothing may be cut in silence")?;
        let think = &body["think"];
        must(
            think.is_null() || think.is_boolean() || think.is_string(),
            "think must be a bool or a level",
        )?;
        for tool in list(&body["tools"]) {
            let function = &tool["function"];
            must(
                tool["type"] == "function" && function["parameters"]["type"] == "object",
                "a tool must be a function with a schema",
            )?;
        }
        // Names of calls without a result yet.
        let mut open: Vec<&Value> = Vec::new();
        for message in list(&body["messages"]) {
            let role = message["role"].as_str().unwrap_or_default();
            must(message["content"].is_string(), "a content must be a text")?;
            must(
                message.get("images").is_none() || role == "user",
                "pictures come from the person",
            )?;
            if role == "tool" {
                must(!open.is_empty(), "a result must answer an open call")?;
                must(
                    message["tool_name"] == *open.remove(0),
                    "a result must have its tool's name, in the calls' order",
                )?;
                continue;
            }
            must(
                open.is_empty(),
                "every call must be answered right behind it",
            )?;
            for image in list(&message["images"]) {
                let data = STANDARD.decode(image.as_str().unwrap_or_default());
                let is_one = data.is_ok_and(|it| {
                    ["png", "jpeg", "gif", "webp"]
                        .iter()
                        .any(|kind| is_picture(&format!("image/{kind}"), &it))
                });
                must(is_one, "a picture must be base64 and nothing else")?;
            }
            for call in list(&message["tool_calls"]) {
                let function = &call["function"];
                must(role == "assistant", "only the model calls")?;
                must(
                    function["arguments"].is_object(),
                    "arguments must be an object",
                )?;
                open.push(&function["name"]);
            }
        }
        must(open.is_empty(), "the last calls must be answered")?;
        let last = list(&body["messages"]).last();
        must(
            last.is_some_and(|it| it["role"] != "assistant"),
            "the last word must not be the assistant's",
        )
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn say(&mut self, text: &str) -> String {
        self.line(&json!({"role": "assistant", "content": text}))
    }

    fn think(&mut self, text: &str) -> String {
        self.line(&json!({"role": "assistant", "content": "", "thinking": text}))
    }

    fn call(&mut self, _: &str, tool: &str, arguments: &[&str]) -> String {
        let arguments: Value = serde_json::from_str(&arguments.concat()).unwrap();
        let call = json!({"function": {"name": tool, "arguments": arguments}});
        self.line(&json!({"role": "assistant", "content": "", "tool_calls": [call]}))
    }

    /// Said with the end.
    fn usage(&mut self, read: u64, written: u64) -> String {
        self.usage = Some((read, written));
        String::new()
    }

    fn end(&mut self, reason: Option<&str>) -> String {
        let mut line = json!({
            "model": self.model, "message": {"role": "assistant", "content": ""},
            "done": true, "done_reason": reason.unwrap_or("stop"), "total_duration": 1,
        });
        if let Some((read, written)) = self.usage {
            line["prompt_eval_count"] = json!(read);
            line["eval_count"] = json!(written);
        }
        format!("{line}\n")
    }

    fn fail(&mut self, message: &str) -> String {
        format!("{}\n", self.error(500, message))
    }

    fn error(&self, _: u16, message: &str) -> Value {
        json!({ "error": message })
    }

    fn system(&self, body: &Value) -> String {
        match list(&body["messages"]).first() {
            Some(first) if first["role"] == "system" => text(&first["content"]),
            Some(_) | None => String::new(),
        }
    }

    fn turns(&self, body: &Value) -> Vec<Said> {
        let mut n_results = 0;
        let told = list(&body["messages"])
            .iter()
            .filter(|it| it["role"] != "system");
        let turns = told.map(|it| {
            let content = text(&it["content"]);
            match it["role"].as_str() {
                Some("tool") => {
                    n_results += 1;
                    Said::Result(format!("call_{}", n_results - 1), content)
                }
                Some("assistant") => {
                    n_results = 0;
                    let calls = list(&it["tool_calls"]).iter().enumerate();
                    let calls =
                        calls.map(|(at, it)| (format!("call_{at}"), text(&it["function"]["name"])));
                    Said::Assistant {
                        text: content,
                        calls: calls.collect(),
                    }
                }
                _ => Said::User(content),
            }
        });
        turns.collect()
    }

    /// What a picture is, its bytes tell; whose it is, the line of the text that stands at its place.
    fn pictures(&self, body: &Value) -> Vec<(String, String, Vec<u8>)> {
        let mut pictures = Vec::new();
        for message in list(&body["messages"]) {
            let content = text(&message["content"]);
            let labels = content.split("\n\n");
            for (image, label) in list(&message["images"]).iter().zip(labels) {
                let data = STANDARD.decode(text(image)).unwrap_or_default();
                let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
                let kind = kinds.into_iter().find(|it| is_picture(it, &data));
                pictures.push((label.to_owned(), kind.unwrap_or_default().to_owned(), data));
            }
        }
        pictures
    }
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}
