//! OpenAI-compatible Chat Completions: `POST {base}/chat/completions`, as OpenAI's API reference defines it and as
//! llama.cpp, Ollama, vLLM, DeepSeek, Groq, OpenRouter, xAI and others vary it. Here the request; the answer is in
//! `decode`.

mod calls;
mod decode;
mod wire;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::history::{self, DataUrl, arguments, joined, name};
use super::{
    Decoder, Endpoint, HttpRequest, Message, ModelError, ModelRequest, Provider, ToolCall,
    ToolResult, ToolSpec, failure,
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
    // Pictures of results, which this format takes only from the person: right behind the run of results.
    let mut pictures: Vec<Part<'_>> = Vec::new();
    if !request.system.is_empty() {
        entries.push(Entry {
            content: Some(Said::Text(Cow::Borrowed(&request.system))),
            ..Entry::new("system")
        });
    }
    for message in &request.messages {
        match message {
            Message::User(content) => {
                let text = joined(content);
                let said = match pictures.is_empty() {
                    true => Said::Text(text),
                    // One message of the person, because roles must alternate.
                    false => {
                        pictures.push(Part::Text { text });
                        Said::Parts(std::mem::take(&mut pictures))
                    }
                };
                entries.push(user(said));
            }
            Message::Assistant {
                text,
                thought: _,
                calls,
                raw,
            } => {
                if !pictures.is_empty() {
                    entries.push(user(Said::Parts(std::mem::take(&mut pictures))));
                }
                entries.push(Entry {
                    // Null is for a message of calls alone; one without either needs a text. Blanks are no
                    // text: some gateways refuse them.
                    content: Some(Said::Text(Cow::Borrowed(text.as_str())))
                        .filter(|_| !text.trim().is_empty() || calls.is_empty()),
                    tool_calls: calls.iter().map(Call::new).collect(),
                    reasoning_content: raw.as_ref().and_then(|it| it.get("reasoning_content")),
                    ..Entry::new("assistant")
                });
            }
            Message::Results(results) => {
                entries.extend(results.iter().map(result));
                pictures.extend(results.iter().flat_map(parts));
            }
        }
    }
    if !pictures.is_empty() {
        entries.push(user(Said::Parts(pictures)));
    }
    entries
}

fn user(content: Said<'_>) -> Entry<'_> {
    Entry {
        content: Some(content),
        ..Entry::new("user")
    }
}

fn result(result: &ToolResult) -> Entry<'_> {
    Entry {
        content: Some(Said::Text(Cow::Borrowed(history::result(result)))),
        tool_call_id: Some(&result.id),
        ..Entry::new("tool")
    }
}

/// A result's pictures, each behind a line that says whose it is (spec 18.2).
fn parts(result: &ToolResult) -> impl Iterator<Item = Part<'_>> {
    result.images.iter().flat_map(|image| {
        let text = Part::Text {
            text: Cow::Owned(history::label(&result.id, image)),
        };
        [
            text,
            Part::ImageUrl {
                image_url: ImageUrl {
                    url: DataUrl(image),
                },
            },
        ]
    })
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
    content: Option<Said<'a>>,
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

/// A message's content: a text, which every server takes, or parts where there are pictures.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Call<'a> {
        let function = Function {
            name: name(&call.name),
            arguments: arguments(&call.arguments),
        };
        Call {
            id: &call.id,
            r#type: "function",
            function,
        }
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
