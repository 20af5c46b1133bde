//! Google's Gemini, `generateContent` as a stream: `POST {base}/v1beta/models/{model}:streamGenerateContent?alt=sse`.
//! Here the request; the conversation in it is in `contents`, the answer in `decode`, what an error says in `error`.
//!
//! Gemini 3 and later refuse a conversation in which a call has lost its `thoughtSignature`. So an answer's parts are kept as they came
//! and go back as they came.

mod contents;
mod decode;
mod end;
mod error;
mod partial;
mod piece;
mod schema;

use std::borrow::Cow;

use protocol::config::Reasoning;
use serde::Serialize;
use serde_json::Value;

use super::{Decoder, Endpoint, Feature, HttpRequest, ModelError, ModelRequest, Provider};
use contents::{Content, Part};

/// The codec.
pub struct GenerateContent;

impl Provider for GenerateContent {
    fn request(&self, endpoint: &Endpoint, request: &ModelRequest) -> HttpRequest {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "text/event-stream".to_owned()),
        ];
        if let Some(key) = &endpoint.key {
            headers.push(("x-goog-api-key".to_owned(), key.expose().to_owned()));
        }
        let body = Body {
            contents: contents::contents(request),
            system_instruction: Some(&request.system).filter(|it| !it.is_empty()).map(|it| {
                Instruction {
                    parts: [Part::text(it)],
                }
            }),
            tools: tools(request).into_iter().collect(),
            generation_config: GenerationConfig::new(request),
        };
        HttpRequest {
            method: "POST",
            url: url(endpoint, &request.model),
            headers: endpoint.headers(headers),
            // Texts, finite numbers and JSON values with text keys always have a JSON form.
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::GeminiDecoder::default())
    }

    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
        error::from_http(status, headers, body)
    }
}

/// The address of a model, whose name may be given as `models/x`, as Google lists it.
fn url(endpoint: &Endpoint, model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let path = format!("/models/{}:streamGenerateContent", encoded(model));
    let url = endpoint.url_below("/v1beta", &path);
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}alt=sse")
}

/// A segment of a path: what is not unreserved (RFC 3986 section 2.3) is percent-encoded.
fn encoded(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// The generations of Gemini, as far as a request to them differs. An unknown name is taken for one of the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generation {
    /// Before 2.5, and Gemma: nothing of thinking is sent unless a person asks for it.
    Early,
    /// 2.5: thinking has a budget of tokens, and signatures are not insisted on.
    Budgeted,
    /// 3 and later: thinking has a level, and every step's first call a signature.
    Signed,
}

impl Generation {
    fn of(model: &str) -> Generation {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let is_early = ["gemini-1", "gemini-2.0", "gemini-pro", "gemma"];
        if model.starts_with("gemini-2.5") {
            Generation::Budgeted
        } else if is_early.iter().any(|it| model.starts_with(it)) {
            Generation::Early
        } else {
            Generation::Signed
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(flatten)]
    parameters: Parameters<'a>,
}

/// A tool's schema: JSON Schema, or the part of OpenAPI's that a server understands which does not know that field.
#[derive(Serialize)]
enum Parameters<'a> {
    #[serde(rename = "parametersJsonSchema")]
    JsonSchema(&'a Value),
    #[serde(rename = "parameters")]
    OpenApi(Value),
}

fn tools(request: &ModelRequest) -> Option<Tools<'_>> {
    let learned = &request.learned;
    if request.tools.is_empty() || !learned.takes(Feature::Tools) {
        return None;
    }
    let takes_json_schema = learned.takes(Feature::JsonSchema);
    let declarations = request.tools.iter().map(|it| Declaration {
        name: &it.name,
        description: &it.description,
        parameters: match takes_json_schema {
            true => Parameters::JsonSchema(&it.parameters),
            false => Parameters::OpenApi(schema::open_api(&it.parameters)),
        },
    });
    Some(Tools {
        function_declarations: declarations.collect(),
    })
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

impl GenerationConfig {
    fn new(request: &ModelRequest) -> GenerationConfig {
        let learned = &request.learned;
        GenerationConfig {
            temperature: request
                .temperature
                .filter(|_| learned.takes(Feature::Temperature)),
            max_output_tokens: request
                .output_cap()
                .filter(|_| learned.takes(Feature::MaxTokens)),
            thinking_config: ThinkingConfig::new(request).filter(|it| *it != Default::default()),
        }
    }

    fn is_empty(&self) -> bool {
        *self == GenerationConfig::default()
    }
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<Cow<'static, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
}

impl ThinkingConfig {
    fn new(request: &ModelRequest) -> Option<ThinkingConfig> {
        let learned = &request.learned;
        let level = request.level();
        let generation = Generation::of(&request.model);
        if !learned.takes(Feature::Thinking) || (generation == Generation::Early && level.is_none())
        {
            return None;
        }
        let is_off = generation == Generation::Budgeted && level == Some(Reasoning::None);
        Some(ThinkingConfig {
            // A model that is not to think refuses to show its thoughts.
            include_thoughts: learned.takes(Feature::ThoughtDisplay) && !is_off,
            thinking_level: level
                .filter(|_| generation == Generation::Signed)
                .map(|it| Cow::Borrowed(level_name(it))),
            thinking_budget: level
                .filter(|_| generation != Generation::Signed)
                .map(budget),
        })
    }
}

/// Gemini's word for a level. It knows no less than a little, and no more than five.
fn level_name(level: Reasoning) -> &'static str {
    match level {
        Reasoning::None | Reasoning::Minimal => "MINIMAL",
        Reasoning::Low => "LOW",
        Reasoning::Medium => "MEDIUM",
        Reasoning::High => "HIGH",
        Reasoning::Xhigh | Reasoning::Max => "XHIGH",
    }
}

/// Tokens for thinking, within what every model of 2.5 takes (512 to 24576).
fn budget(level: Reasoning) -> u32 {
    match level {
        Reasoning::None => 0,
        Reasoning::Minimal => 512,
        Reasoning::Low => 2_048,
        Reasoning::Medium => 8_192,
        Reasoning::High => 16_384,
        Reasoning::Xhigh | Reasoning::Max => 24_576,
    }
}

#[cfg(test)]
mod tests;
