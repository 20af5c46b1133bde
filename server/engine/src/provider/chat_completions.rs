//! OpenAI-compatible Chat Completions: `POST {base}/chat/completions`, as OpenAI's API reference defines it and as
//! llama.cpp, Ollama, vLLM, DeepSeek, Groq, OpenRouter, xAI and others vary it. Here the request; the answer is in
//! `decode`.

mod calls;
mod decode;
mod details;
mod manner;
mod wire;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use manner::Manner;

use super::call_ids::CallIds;
use super::history::{self, DataUrl, arguments, joined, name};
use super::{
    Content, Decoder, Endpoint, Feature, HttpRequest, Image, Learned, Message, ModelError,
    ModelRequest, Provider, ToolCall, ToolResult, ToolSpec, failure,
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
        let manner = Manner::of(endpoint, &request.model);
        let takes = |feature| request.learned.takes(feature);
        let cap = request.output_cap();
        let effort = request.level().map(|it| it.id());
        let is_new = spells_completion(manner, &request.learned);
        let body = Body {
            model: &request.model,
            messages: messages(request, manner),
            tools: match takes(Feature::Tools) {
                true => request.tools.iter().map(Tool::new).collect(),
                false => Vec::new(),
            },
            max_tokens: cap.filter(|_| is_new == Some(false)),
            max_completion_tokens: cap.filter(|_| is_new == Some(true)),
            temperature: request.temperature.filter(|_| takes(Feature::Temperature)),
            reasoning_effort: effort.filter(|_| !manner.is_open_router),
            reasoning: effort
                .filter(|_| manner.is_open_router)
                .map(|effort| Reasoning { effort }),
            prompt_cache_key: Some(request.cache_key.as_str())
                .filter(|it| manner.is_openai && !it.is_empty() && takes(Feature::CacheKey)),
            cache_control: (manner.marks_cache && takes(Feature::CacheMarkers)).then_some(
                CacheControl {
                    r#type: "ephemeral",
                },
            ),
            stream: true,
            stream_options: takes(Feature::StreamUsage).then_some(StreamOptions {
                include_usage: true,
            }),
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

/// Whether the limit of the answer is spelt `max_completion_tokens`: as the server is known to want it, or the other way
/// where that was refused. None: both were.
fn spells_completion(manner: Manner, learned: &Learned) -> Option<bool> {
    let spellings = [manner.is_openai, !manner.is_openai];
    spellings.into_iter().find(|is_new| {
        learned.takes(match is_new {
            true => Feature::MaxCompletionTokens,
            false => Feature::MaxTokens,
        })
    })
}

fn messages(request: &ModelRequest, manner: Manner) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut ids = manner.ids().map(CallIds::new);
    // Under which id each call of the last answer went out.
    let mut sent: Vec<(&str, Cow<'_, str>)> = Vec::new();
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
                let has_pictures = history::has_pictures(content);
                let said = match pictures.is_empty() && !has_pictures {
                    true => Said::Text(joined(content)),
                    // One message of the person, because roles must alternate.
                    false => {
                        if has_pictures {
                            pictures.extend(content.iter().map(Part::of));
                        } else {
                            let text = joined(content);
                            pictures.push(Part::Text { text });
                        }
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
                let of = |field| raw.as_ref().and_then(|it| it.get(field));
                sent = calls
                    .iter()
                    .map(|call| match &mut ids {
                        None => (call.id.as_str(), Cow::Borrowed(call.id.as_str())),
                        Some(ids) => (call.id.as_str(), Cow::Owned(ids.next(&call.id))),
                    })
                    .collect();
                entries.push(Entry {
                    // Null is for a message of calls alone; one without either needs a text. Blanks are no
                    // text: some gateways refuse them.
                    content: Some(Said::Text(Cow::Borrowed(text.as_str())))
                        .filter(|_| !text.trim().is_empty() || calls.is_empty()),
                    tool_calls: calls
                        .iter()
                        .zip(&sent)
                        .map(|(call, (_, id))| Call::new(call, id.clone(), of("extra_content")))
                        .collect(),
                    reasoning_content: of("reasoning_content"),
                    reasoning_details: of("reasoning_details"),
                    ..Entry::new("assistant")
                });
            }
            Message::Results(results) => {
                for it in results {
                    let id = sent.iter().find(|(own, _)| *own == it.id);
                    let id = id.map_or(Cow::Borrowed(it.id.as_str()), |(_, id)| id.clone());
                    pictures.extend(parts(it, &id));
                    entries.push(result(it, id));
                }
            }
        }
    }
    if !pictures.is_empty() {
        entries.push(user(Said::Parts(pictures)));
    }
    match manner.is_mistral {
        true => bridged(entries),
        false => entries,
    }
}

/// A word of the assistant between results and the person, as it would have said it.
fn bridged(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.role == "user" && out.last().is_some_and(|it| it.role == "tool") {
            out.push(Entry {
                content: Some(Said::Text(Cow::Borrowed("I have the results."))),
                ..Entry::new("assistant")
            });
        }
        out.push(entry);
    }
    out
}

fn user(content: Said<'_>) -> Entry<'_> {
    Entry {
        content: Some(content),
        ..Entry::new("user")
    }
}

fn result<'a>(result: &'a ToolResult, id: Cow<'a, str>) -> Entry<'a> {
    Entry {
        content: Some(Said::Text(Cow::Borrowed(history::result(result)))),
        tool_call_id: Some(id),
        ..Entry::new("tool")
    }
}

/// A result's pictures, each behind a line that says whose it is (spec 18.2).
fn parts<'a>(result: &'a ToolResult, id: &str) -> impl Iterator<Item = Part<'a>> + use<'a> {
    let id = id.to_owned();
    result.images.iter().flat_map(move |image| {
        let text = Part::Text {
            text: Cow::Owned(history::label(&id, image)),
        };
        [text, Part::image(image)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
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
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<&'a Value>,
}

impl Entry<'_> {
    fn new(role: &'static str) -> Self {
        Entry {
            role,
            content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            reasoning_content: None,
            reasoning_details: None,
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

impl<'a> Part<'a> {
    fn of(content: &'a Content) -> Part<'a> {
        match content {
            Content::Text(text) => Part::Text {
                text: Cow::Borrowed(text),
            },
            Content::Image(image) => Part::image(image),
        }
    }

    fn image(image: &'a Image) -> Part<'a> {
        let url = DataUrl(image);
        Part::ImageUrl {
            image_url: ImageUrl { url },
        }
    }
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl<'a> Call<'a> {
    /// `extras` has what the server hung on each call, by id.
    fn new(call: &'a ToolCall, id: Cow<'a, str>, extras: Option<&'a Value>) -> Call<'a> {
        let function = Function {
            name: name(&call.name),
            arguments: arguments(&call.arguments),
        };
        Call {
            id,
            r#type: "function",
            function,
            extra_content: extras.and_then(|it| it.get(&call.id)),
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
