//! OpenAI's Responses: `POST {base}/responses`, without anything kept at the provider (`store: false`), so that each request
//! holds the whole conversation. Its items are in `input`; the answer is in `decode`.

mod decode;
mod ends;
mod input;
mod item;
mod items;
mod piece;

use serde::Serialize;
use serde_json::Value;

use super::native::{self, NativeTool};
use super::{Decoder, Endpoint, Feature, HttpRequest, ModelError, ModelRequest, Provider, failure};

/// The codec.
pub struct Responses;

impl Provider for Responses {
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
        let takes = |feature| request.learned.takes(feature);
        let body = Body {
            model: &request.model,
            instructions: Some(request.system.as_str()).filter(|it| !it.is_empty()),
            input: input::items(request),
            tools: tools(request),
            store: false,
            include: match takes(Feature::EncryptedThought) {
                true => &["reasoning.encrypted_content"],
                false => &[],
            },
            reasoning: reasoning(request),
            max_output_tokens: request.output_cap().filter(|_| takes(Feature::MaxTokens)),
            temperature: request.temperature.filter(|_| takes(Feature::Temperature)),
            prompt_cache_key: Some(request.cache_key.as_str())
                .filter(|it| !it.is_empty() && takes(Feature::CacheKey)),
            context_management: request
                .compact_at
                .filter(|_| takes(Feature::Compaction))
                .map(|compact_threshold| [ContextManagement::Compaction { compact_threshold }]),
            stream: true,
        };
        HttpRequest {
            method: "POST",
            url: endpoint.url("/responses"),
            headers: endpoint.headers(headers),
            // Texts, numbers and JSON values with text keys always have a JSON form.
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ResponsesDecoder::default())
    }

    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
        failure::from_http(status, headers, body)
    }
}

/// Level and summary. A model that does not think refuses each by its name, and is asked without it from then on.
fn reasoning(request: &ModelRequest) -> Option<Reasoning> {
    let takes = |feature| request.learned.takes(feature);
    let wanted = Reasoning {
        effort: request.level().map(|it| it.id()),
        summary: takes(Feature::ThoughtSummary).then_some("auto"),
    };
    let is_empty = wanted.effort.is_none() && wanted.summary.is_none();
    // A server that does not know the field at all does not know its parts either.
    (takes(Feature::Reasoning) && !is_empty).then_some(wanted)
}

fn tools(request: &ModelRequest) -> Vec<Tool<'_>> {
    if !request.learned.takes(Feature::Tools) {
        return Vec::new();
    }
    let own = native::beside(&request.natives, &request.tools).map(|it| Tool::Function {
        name: &it.name,
        description: &it.description,
        parameters: &it.parameters,
        strict: false,
    });
    let natives = request.natives.iter().filter_map(|it| match it {
        NativeTool::ApplyPatch => Some(Tool::ApplyPatch),
        // Another provider's.
        NativeTool::TextEditor | NativeTool::Bash => None,
    });
    own.chain(natives).collect()
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<item::Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_management: Option<[ContextManagement; 1]>,
    stream: bool,
}

/// What the provider does with what is older.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContextManagement {
    /// It gives way to an item of the answer.
    Compaction { compact_threshold: u64 },
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
        /// Said, because this format is strict where nothing is said, which few schemas bear.
        strict: bool,
    },
    ApplyPatch,
}

#[cfg(test)]
mod tests;
