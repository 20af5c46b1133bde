//! OpenAI-compatible Chat Completions: `POST {base}/chat/completions`, as OpenAI's API reference defines it and as
//! llama.cpp, Ollama, vLLM, DeepSeek, Groq, OpenRouter, xAI and others vary it. Here the request; the answer is in
//! `decode`.

mod calls;
mod decode;
mod wire;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{
    Content, Decoder, Endpoint, HttpRequest, Message, ModelError, ModelRequest, Provider, ToolCall,
    ToolSpec, failure,
};

/// The codec.
pub struct ChatCompletions;

impl Provider for ChatCompletions {
    fn request(&self, endpoint: &Endpoint, request: &ModelRequest) -> HttpRequest {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "text/event-stream".to_owned()),
        ];
        if let Some(key) = &endpoint.key {
            headers.push((
                "authorization".to_owned(),
                format!("Bearer {}", key.expose()),
            ));
        }
        // OpenAI's reasoning models refuse the old spelling, most other servers know only that.
        let (max_tokens, max_completion_tokens) =
            match endpoint.base_url.contains("://api.openai.com") {
                true => (None, request.max_tokens),
                false => (request.max_tokens, None),
            };
        let body = Body {
            model: &request.model,
            messages: messages(request),
            tools: request.tools.iter().map(Tool::new).collect(),
            max_tokens,
            max_completion_tokens,
            temperature: request.temperature,
            stream: true,
            stream_options: StreamOptions {
                include_usage: true,
            },
        };
        HttpRequest {
            method: "POST",
            url: endpoint.url("/chat/completions"),
            headers: endpoint.headers(headers),
            // Texts, numbers and JSON values with text keys always have a JSON form.
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ChatDecoder::default())
    }

    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
        failure::from_http(status, headers, body)
    }
}

fn messages(request: &ModelRequest) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    if !request.system.is_empty() {
        entries.push(Entry {
            content: Some(Text::One(&request.system)),
            ..Entry::new("system")
        });
    }
    for message in &request.messages {
        match message {
            Message::User(content) => entries.push(Entry {
                content: Some(Text::new(content)),
                ..Entry::new("user")
            }),
            Message::Assistant {
                text,
                thought: _,
                calls,
                raw,
            } => entries.push(Entry {
                // Null is for a message of calls alone; one without either needs a text.
                content: Some(Text::One(text)).filter(|_| !text.is_empty() || calls.is_empty()),
                tool_calls: calls.iter().map(Call::new).collect(),
                reasoning_content: raw.as_ref().and_then(|it| it.get("reasoning_content")),
                ..Entry::new("assistant")
            }),
            Message::Results(results) => entries.extend(results.iter().map(|it| Entry {
                content: Some(Text::One(&it.text)),
                tool_call_id: Some(&it.id),
                ..Entry::new("tool")
            })),
        }
    }
    entries
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// A message of any role.
#[derive(Serialize)]
struct Entry<'a> {
    role: &'static str,
    content: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a Value>,
}

impl Entry<'_> {
    fn new(role: &'static str) -> Self {
        Entry {
            role,
            content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            reasoning_content: None,
        }
    }
}

/// A text; in parts only if there are several, because some servers know only strings.
#[derive(Serialize)]
#[serde(untagged)]
enum Text<'a> {
    One(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
}

impl<'a> Text<'a> {
    fn new(content: &'a [Content]) -> Text<'a> {
        match content {
            [Content::Text(text)] => Text::One(text),
            content => Text::Parts(
                content
                    .iter()
                    .map(|Content::Text(text)| Part::Text { text })
                    .collect(),
            ),
        }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Cow<'a, str>,
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Call<'a> {
        let function = Function {
            name: &call.name,
            arguments: arguments(&call.arguments),
        };
        Call {
            id: &call.id,
            r#type: "function",
            function,
        }
    }
}

/// A call's arguments as the model wrote them. Servers which parse them (llama.cpp for its templates, gateways to other
/// formats) answer a history with broken JSON in it with an error for ever, so that is wrapped into good JSON.
fn arguments(text: &str) -> Cow<'_, str> {
    if text.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(serde_json::json!({ "invalid_json": text }).to_string()),
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Spec<'a>,
}

#[derive(Serialize)]
struct Spec<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> Tool<'a> {
    fn new(tool: &'a ToolSpec) -> Tool<'a> {
        let function = Spec {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        };
        Tool {
            r#type: "function",
            function,
        }
    }
}

#[cfg(test)]
mod tests;
