//! Ollama's own API: `POST {base}/api/chat`, as its source and its `docs/openapi.yaml` define it. Here the request; the
//! conversation in it is in `messages`, the answer in `decode`.
//!
//! Ollama cuts a conversation that is longer than its context from the front without a word. So it is always told how
//! large that is to be, and not to cut.

mod decode;
mod error;
mod messages;
mod piece;

use protocol::config::Reasoning;
use serde::Serialize;
use serde_json::Value;

use super::{Decoder, Endpoint, Feature, HttpRequest, ModelError, ModelRequest, Provider};
use messages::Entry;

pub use error::not_there;

/// The codec.
pub struct Ollama;

/// Tokens of context that a model is loaded with when nobody says how many. Ollama's own default is too small for an agent
/// on most machines.
pub const DEFAULT_CONTEXT: u64 = 65_536;

impl Provider for Ollama {
    fn request(&self, endpoint: &Endpoint, request: &ModelRequest) -> HttpRequest {
        let learned = &request.learned;
        let body = Body {
            model: &request.model,
            messages: messages::messages(request),
            tools: request
                .tools
                .iter()
                .filter(|_| learned.takes(Feature::Tools))
                .map(|it| Tool {
                    r#type: "function",
                    function: Function {
                        name: &it.name,
                        description: &it.description,
                        parameters: &it.parameters,
                    },
                })
                .collect(),
            stream: true,
            truncate: false,
            think: request
                .level()
                .filter(|_| learned.takes(Feature::Thinking))
                .map(think),
            options: Options {
                num_ctx: request.window.unwrap_or(DEFAULT_CONTEXT),
                num_predict: request
                    .output_cap()
                    .filter(|_| learned.takes(Feature::MaxTokens)),
                temperature: request
                    .temperature
                    .filter(|_| learned.takes(Feature::Temperature)),
                num_gpu: request.load.num_gpu,
                num_thread: request.load.num_thread,
            },
        };
        HttpRequest {
            method: "POST",
            url: url(endpoint, "/api/chat"),
            headers: headers(endpoint),
            // Texts, finite numbers and JSON values with text keys always have a JSON form.
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::OllamaDecoder::default())
    }

    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
        error::from_http(status, headers, body)
    }
}

/// The address of `path`, which begins with `/api`. A base URL may be that of Ollama's OpenAI-compatible side.
pub fn url(endpoint: &Endpoint, path: &str) -> String {
    let (base, query) = match endpoint.base_url.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (endpoint.base_url.as_str(), None),
    };
    let base = base.trim_end_matches('/');
    let base = ["/v1", "/api"]
        .iter()
        .find_map(|it| base.strip_suffix(it))
        .unwrap_or(base);
    let base = base.trim_end_matches('/');
    match query {
        Some(query) => format!("{base}{path}?{query}"),
        None => format!("{base}{path}"),
    }
}

/// The headers of any request. Ollama itself asks for no key; a proxy before it may.
pub fn headers(endpoint: &Endpoint) -> Vec<(String, String)> {
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "application/x-ndjson".to_owned()),
    ];
    if let Some(key) = &endpoint.key {
        let value = format!("Bearer {}", key.expose());
        headers.push(("authorization".to_owned(), value));
    }
    endpoint.headers(headers)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    /// Whether old messages are left out silently when there are too many.
    truncate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Think>,
    options: Options,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct Options {
    num_ctx: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_gpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_thread: Option<u32>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Think {
    No(bool),
    Level(&'static str),
}

/// Models without levels take each of them for yes.
fn think(level: Reasoning) -> Think {
    match level {
        Reasoning::None => Think::No(false),
        Reasoning::Minimal | Reasoning::Low => Think::Level("low"),
        Reasoning::Medium => Think::Level("medium"),
        Reasoning::High => Think::Level("high"),
        Reasoning::Xhigh | Reasoning::Max => Think::Level("max"),
    }
}

#[cfg(test)]
mod tests;
