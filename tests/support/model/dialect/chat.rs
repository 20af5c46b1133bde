//! Chat Completions.

use super::{Dialect, Said};
use crate::support::model::{check, data_url, text_of};
use serde_json::{Value, json};

pub struct Chat {
    model: Value,
    called: u64,
}

impl Chat {
    pub fn new(body: &Value) -> Self {
        Self {
            model: body["model"].clone(),
            called: 0,
        }
    }

    fn delta(&self, delta: Value) -> String {
        self.chunk(json!({"delta": delta, "finish_reason": null}))
    }

    fn chunk(&self, mut choice: Value) -> String {
        choice["index"] = json!(0);
        let chunk = json!({"id": "chat-1", "object": "chat.completion.chunk", "model": self.model, "choices": [choice]});
        event(&chunk)
    }
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

impl Dialect for Chat {
    fn check(&self, body: &Value) -> Result<(), String> {
        check::check(body)
    }

    fn say(&mut self, text: &str) -> String {
        self.delta(json!({"content": text}))
    }

    fn think(&mut self, text: &str) -> String {
        self.delta(json!({"reasoning_content": text}))
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &[&str]) -> String {
        let index = self.called;
        self.called += 1;
        let function = json!({"name": tool, "arguments": ""});
        let mut said = self.delta(
            json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
        );
        for piece in arguments {
            said += &self
                .delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
        }
        said
    }

    fn usage(&mut self, read: u64, written: u64) -> String {
        let usage = json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written});
        event(&json!({"object": "chat.completion.chunk", "choices": [], "usage": usage}))
    }

    fn end(&mut self, reason: Option<&str>) -> String {
        let fitting = if self.called > 0 {
            "tool_calls"
        } else {
            "stop"
        };
        let reason = reason.unwrap_or(fitting);
        self.chunk(json!({"delta": {}, "finish_reason": reason})) + "data: [DONE]\n\n"
    }

    fn fail(&mut self, message: &str) -> String {
        event(&json!({"error": {"message": message, "type": "server_error"}}))
    }

    fn error(&self, _: u16, message: &str) -> Value {
        json!({"error": {"message": message}})
    }

    fn system(&self, body: &Value) -> String {
        match messages(body).first() {
            Some(first) if first["role"] == "system" => text_of(&first["content"]),
            Some(_) | None => String::new(),
        }
    }

    fn turns(&self, body: &Value) -> Vec<Said> {
        let told = messages(body).iter().filter(|it| it["role"] != "system");
        let turns = told.map(|it| match it["role"].as_str() {
            Some("tool") => {
                let id = it["tool_call_id"].as_str().unwrap_or_default();
                Said::Result(id.to_owned(), text_of(&it["content"]))
            }
            Some("assistant") => {
                let text = it["content"].as_str().unwrap_or_default().to_owned();
                let calls = it["tool_calls"].as_array().into_iter().flatten();
                let calls = calls.map(|it| {
                    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
                    (text(&it["id"]), text(&it["function"]["name"]))
                });
                let calls = calls.collect();
                Said::Assistant { text, calls }
            }
            _ => Said::User(text_of(&it["content"])),
        });
        turns.collect()
    }

    fn pictures(&self, body: &Value) -> Vec<(String, String, Vec<u8>)> {
        let mut pictures = Vec::new();
        let mut label = "";
        let contents = messages(body)
            .iter()
            .filter_map(|it| it["content"].as_array());
        for part in contents.flatten() {
            match part["image_url"]["url"].as_str() {
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
