//! OpenAI-compatible Chat Completions: `POST {base}/chat/completions`, as OpenAI's API reference defines it and as
//! llama.cpp, Ollama, vLLM, DeepSeek, Groq, OpenRouter, xAI and others vary it. Here the request; the answer is in
//! `decode`.

mod calls;
mod decode;
mod wire;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{
    Content, Decoder, Endpoint, HttpRequest, Image, Message, ModelError, ModelRequest, Provider,
    ToolCall, ToolResult, ToolSpec, failure,
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
    let text = match result.text.trim() {
        "" => "[empty]",
        _ => result.text.as_str(),
    };
    Entry {
        content: Some(Said::Text(Cow::Borrowed(text))),
        tool_call_id: Some(&result.id),
        ..Entry::new("tool")
    }
}

/// A result's pictures, each behind a line that says whose it is (spec 18.2).
fn parts(result: &ToolResult) -> impl Iterator<Item = Part<'_>> {
    result.images.iter().flat_map(|image| {
        let name = match image.picture.name.as_str() {
            "" => String::new(),
            name => format!("{name} "),
        };
        let label = format!("Of tool call {}: {name}{}", result.id, image.picture);
        let text = Part::Text {
            text: Cow::Owned(label),
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

/// A picture as a `data:` URL (RFC 2397), written out without a copy.
struct DataUrl<'a>(&'a Image);

impl Serialize for DataUrl<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Image { picture, data } = self.0;
        serializer.collect_str(&format_args!("data:{};base64,{data}", picture.media_type))
    }
}

/// The texts of a message as one: a list of parts is refused by servers that know only strings.
fn joined(content: &[Content]) -> Cow<'_, str> {
    match content {
        [Content::Text(text)] => Cow::Borrowed(text),
        content => {
            let texts: Vec<&str> = content.iter().map(|Content::Text(text)| &**text).collect();
            Cow::Owned(texts.join("\n\n"))
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

/// A tool's name as the model wrote it, within what a name may be: a history with a name that a model made up
/// (`multi_tool_use.parallel`) would be refused for ever.
fn name(name: &str) -> Cow<'_, str> {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed) {
        return Cow::Borrowed(name);
    }
    let kept = name.chars().take(MAX_NAME);
    let name: String = kept
        .map(|it| if is_allowed(it) { it } else { '_' })
        .collect();
    if name.is_empty() {
        Cow::Borrowed("unnamed")
    } else {
        Cow::Owned(name)
    }
}

/// The most characters of a tool's name that OpenAI takes.
const MAX_NAME: usize = 64;

/// A call's arguments as the model wrote them. Servers which parse them (llama.cpp for its templates, gateways to other
/// formats) answer a history with anything but an object in it with an error for ever, so that is wrapped into one.
fn arguments(text: &str) -> Cow<'_, str> {
    if text.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    match serde_json::from_str::<BTreeMap<Cow<'_, str>, IgnoredAny>>(text) {
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
