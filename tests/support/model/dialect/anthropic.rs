//! Anthropic's Messages.

mod check;

use super::{Dialect, Said};
use crate::support::model::text_of;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

pub struct Anthropic {
    model: Value,
    /// How many blocks have begun, the open one among them.
    n_blocks: u64,
    /// The kind of the block that is open: `text` or `thinking`.
    open: Option<&'static str>,
    called: bool,
    usage: (u64, u64),
}

impl Anthropic {
    pub fn new(body: &Value) -> Self {
        Self {
            model: body["model"].clone(),
            n_blocks: 0,
            open: None,
            called: false,
            usage: (10, 5),
        }
    }

    /// Begins the message, if it has not begun.
    fn begin(&mut self) -> String {
        if self.n_blocks > 0 {
            return String::new();
        }
        let usage = json!({"input_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1});
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
        let start = event(&json!({"type": "message_start", "message": message}));
        start + &event(&json!({"type": "ping"}))
    }

    fn start(&mut self, block: Value) -> String {
        let mut said = self.begin() + &self.close();
        said += &event(
            &json!({"type": "content_block_start", "index": self.n_blocks, "content_block": block}),
        );
        self.n_blocks += 1;
        said
    }

    fn delta(&self, delta: Value) -> String {
        event(&json!({"type": "content_block_delta", "index": self.n_blocks - 1, "delta": delta}))
    }

    fn stop(&self) -> String {
        event(&json!({"type": "content_block_stop", "index": self.n_blocks - 1}))
    }

    /// Ends the block of text or thinking that is open. A thought is signed.
    fn close(&mut self) -> String {
        match self.open.take() {
            None => String::new(),
            Some("thinking") => {
                let signature = format!("sig+{}/x==", self.n_blocks);
                self.delta(json!({"type": "signature_delta", "signature": signature}))
                    + &self.stop()
            }
            Some(_) => self.stop(),
        }
    }
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

impl Dialect for Anthropic {
    fn check(&self, body: &Value) -> Result<(), String> {
        check::check(body)
    }

    fn say(&mut self, text: &str) -> String {
        let mut said = String::new();
        if self.open != Some("text") {
            said = self.start(json!({"type": "text", "text": ""}));
            self.open = Some("text");
        }
        said + &self.delta(json!({"type": "text_delta", "text": text}))
    }

    fn think(&mut self, text: &str) -> String {
        let mut said = String::new();
        if self.open != Some("thinking") {
            said = self.start(json!({"type": "thinking", "thinking": "", "signature": ""}));
            self.open = Some("thinking");
        }
        said + &self.delta(json!({"type": "thinking_delta", "thinking": text}))
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &[&str]) -> String {
        self.called = true;
        let mut said = self.start(json!({"type": "tool_use", "id": id, "name": tool, "input": {}}));
        for piece in std::iter::once(&"").chain(arguments) {
            said += &self.delta(json!({"type": "input_json_delta", "partial_json": piece}));
        }
        said + &self.stop()
    }

    fn usage(&mut self, read: u64, written: u64) -> String {
        // It is told with the end.
        self.usage = (read, written);
        String::new()
    }

    fn end(&mut self, reason: Option<&str>) -> String {
        let fitting = if self.called { "tool_use" } else { "end_turn" };
        let reason = reason.unwrap_or(fitting);
        let (read, written) = self.usage;
        let delta = json!({"stop_reason": reason, "stop_sequence": null, "stop_details": null});
        let usage = json!({"input_tokens": read, "output_tokens": written});
        let end = json!({"type": "message_delta", "delta": delta, "usage": usage});
        self.begin() + &self.close() + &event(&end) + &event(&json!({"type": "message_stop"}))
    }

    fn fail(&mut self, message: &str) -> String {
        event(&json!({"type": "error", "error": {"type": "api_error", "message": message}}))
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            400 | 422 => "invalid_request_error",
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
    }

    fn system(&self, body: &Value) -> String {
        match &body["system"] {
            Value::Null => String::new(),
            system => text_of(system),
        }
    }

    fn turns(&self, body: &Value) -> Vec<Said> {
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let texts = |message: &Value| {
            let texts = blocks(message).filter(|it| it["type"] == "text");
            texts.map(|it| text(&it["text"])).collect::<Vec<_>>()
        };
        let mut turns = Vec::new();
        for message in messages(body) {
            if message["role"] == "assistant" {
                let calls = blocks(message).filter(|it| it["type"] == "tool_use");
                turns.push(Said::Assistant {
                    text: texts(message).concat(),
                    calls: calls
                        .map(|it| (text(&it["id"]), text(&it["name"])))
                        .collect(),
                });
                continue;
            }
            for block in blocks(message).filter(|it| it["type"] == "tool_result") {
                turns.push(Said::Result(
                    text(&block["tool_use_id"]),
                    text_of(&block["content"]),
                ));
            }
            let said = texts(message);
            if !said.is_empty() {
                turns.push(Said::User(said.join("\n")));
            }
        }
        turns
    }

    fn pictures(&self, body: &Value) -> Vec<(String, String, Vec<u8>)> {
        let results = messages(body).iter().flat_map(blocks);
        let parts = results.flat_map(|it| it["content"].as_array().into_iter().flatten());
        let pictures = parts.filter(|it| it["type"] == "image").map(|it| {
            let source = &it["source"];
            let text = |name: &str| source[name].as_str().unwrap_or_default();
            let bytes = STANDARD.decode(text("data")).unwrap_or_default();
            (String::new(), text("media_type").to_owned(), bytes)
        });
        pictures.collect()
    }
}
