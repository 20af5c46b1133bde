//! Anthropic's Messages: `POST {base}/v1/messages`, version 2026-10-21. Here the request; the conversation in it is in
//! `conversation`, the answer in `decode` and `blocks`, what an error says in `refusal`.
//!
//! The body's order is that of what changes least: tools, system, messages. With the same settings, a request begins with
//! the bytes of the one before it, but for the marks of what is worth caching, which move on.

mod blocks;
mod conversation;
mod decode;
mod piece;
mod refusal;

use conversation::{Block, Marker, Turn, turns};
use protocol::config::Reasoning;
use serde::Serialize;
use serde_json::Value;

use super::{
    Decoder, Endpoint, Feature, HttpRequest, ModelError, ModelRequest, NativeTool, Provider, native,
};

/// The version of the API that we speak. A header of the person's own replaces it, for gateways that know an older one.
const VERSION: &str = "2026-10-21";
/// Tokens of an answer where the person has not said how many: the format wants a number. A model that writes less says
/// how much, and is asked for that from then on.
const MAX_TOKENS: u32 = 32_000;
/// The header that names what is not in the version.
const BETA: &str = "anthropic-beta";
/// Shows thoughts as they come.
const DISPLAY_BETA: &str = "thinking-display-updates-2026-08-18";
/// Lets the provider summarise what is older by itself.
const COMPACTION_BETA: &str = "compact-2026-01-12";
/// Lets thoughts go that do not belong to the conversation any more, where they would be refused.
const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";

/// The codec.
pub struct Messages;

impl Provider for Messages {
    fn request(&self, endpoint: &Endpoint, request: &ModelRequest) -> HttpRequest {
        let takes = |it| request.learned.takes(it);
        let max_tokens = request.max_tokens.unwrap_or(MAX_TOKENS);
        let thinking = Thinking::of(request);
        let management = ContextManagement::of(request);
        let mut betas = thinking.as_ref().map(Thinking::betas).unwrap_or_default();
        betas.extend(management.as_ref().map(|_| COMPACTION_BETA));
        let body = Body {
            model: &request.model,
            max_tokens: request
                .learned
                .max_tokens
                .unwrap_or(u32::MAX)
                .min(max_tokens),
            stream: true,
            temperature: request.temperature.filter(|_| takes(Feature::Temperature)),
            thinking: thinking.as_ref(),
            output_config: effort(request).map(|effort| OutputConfig { effort }),
            context_management: management,
            tools: tools(request),
            system: system(request),
            messages: turns(request),
        };
        HttpRequest {
            method: "POST",
            url: endpoint.url_below("/v1", "/messages"),
            headers: headers(endpoint, &betas),
            // Texts, numbers and JSON values with text keys always have a JSON form.
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::MessagesDecoder::default())
    }

    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
        refusal::error(status, headers, body)
    }
}

fn headers(endpoint: &Endpoint, betas: &[&str]) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut own = vec![
        pair("content-type", "application/json"),
        pair("accept", "text/event-stream"),
        pair("anthropic-version", VERSION),
    ];
    if let Some(key) = &endpoint.key {
        own.push(pair("x-api-key", key.expose()));
    }
    let mut headers = endpoint.headers(own);
    if !betas.is_empty() {
        let betas = betas.join(",");
        // The person's own are no other value of the same thing: they are sent as well.
        match headers
            .iter_mut()
            .find(|(name, _)| name.eq_ignore_ascii_case(BETA))
        {
            Some((_, value)) => *value = format!("{value},{betas}"),
            None => headers.push((BETA.to_owned(), betas)),
        }
    }
    headers
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_management: Option<ContextManagement>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

/// What the provider does with what is older.
#[derive(Serialize)]
struct ContextManagement {
    edits: [ContextEdit; 1],
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum ContextEdit {
    /// It gives way to a summary, which comes as a block of the answer.
    #[serde(rename = "compact_20260112")]
    Compact { trigger: ContextTrigger },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContextTrigger {
    InputTokens { value: u64 },
}

impl ContextManagement {
    fn of(request: &ModelRequest) -> Option<ContextManagement> {
        let value = request.compact_at?;
        let trigger = ContextTrigger::InputTokens { value };
        let takes = |it| request.learned.takes(it);
        // A server that refused a header without saying which was taken for one that refused thoughts.
        let may = takes(Feature::Compaction) && takes(Feature::Thinking);
        may.then_some(ContextManagement {
            edits: [ContextEdit::Compact { trigger }],
        })
    }
}

/// Whether and how the model thinks.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    /// As it sees fit.
    Adaptive {
        display: Display,
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<Binding>,
    },
    Disabled,
}

/// How thoughts are shown. Without a word on it the newest models are silent while they work.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Display {
    /// As they come. It is in beta.
    Updates,
    /// What every model that thinks as it sees fit can do.
    Summarized,
}

#[derive(Serialize)]
struct Binding {
    prefix_mismatch_behavior: &'static str,
}

impl Thinking {
    fn of(request: &ModelRequest) -> Option<Thinking> {
        let takes = |it| request.learned.takes(it);
        if !takes(Feature::Thinking) {
            return None;
        }
        if request.reasoning == Some(Reasoning::None) && !refuses_to_be_still(request) {
            return Some(Thinking::Disabled);
        }
        Some(Thinking::Adaptive {
            display: match takes(Feature::ThoughtDisplay) {
                true => Display::Updates,
                false => Display::Summarized,
            },
            block_binding: Some(Binding {
                prefix_mismatch_behavior: "drop_block",
            })
            .filter(|_| takes(Feature::ThoughtBinding)),
        })
    }

    /// What must be named in the header for it.
    fn betas(&self) -> Vec<&'static str> {
        match self {
            Thinking::Adaptive {
                display,
                block_binding,
            } => {
                let display = Some(DISPLAY_BETA).filter(|_| *display == Display::Updates);
                let binding = block_binding.as_ref().map(|_| BINDING_BETA);
                display.into_iter().chain(binding).collect()
            }
            Thinking::Disabled => Vec::new(),
        }
    }
}

/// Whether the model has refused not to think.
fn refuses_to_be_still(request: &ModelRequest) -> bool {
    request.learned.levels.contains(&Reasoning::None)
}

/// How hard it thinks, in the format's words.
fn effort(request: &ModelRequest) -> Option<&'static str> {
    match request.level()? {
        Reasoning::None => None,
        Reasoning::Minimal | Reasoning::Low => Some("low"),
        Reasoning::Medium => Some("medium"),
        Reasoning::High => Some("high"),
        Reasoning::Xhigh => Some("xhigh"),
        Reasoning::Max => Some("max"),
    }
}

/// The mark of what is worth caching, for a model that takes one.
fn marker(request: &ModelRequest) -> Option<Marker> {
    Some(Marker::Ephemeral).filter(|_| request.learned.takes(Feature::CacheMarkers))
}

fn system(request: &ModelRequest) -> Vec<Block<'_>> {
    if request.system.trim().is_empty() {
        return Vec::new();
    }
    let mut block = Block::text(&request.system);
    block.mark(marker(request));
    vec![block]
}

/// A tool on offer.
#[derive(Serialize)]
#[serde(untagged)]
enum Tool<'a> {
    /// One of Anthropic's own, which the model knows by type and name.
    Native {
        r#type: &'static str,
        name: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    Own {
        name: &'a str,
        description: &'a str,
        input_schema: &'a Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
}

fn tools(request: &ModelRequest) -> Vec<Tool<'_>> {
    if !request.learned.takes(Feature::Tools) {
        return Vec::new();
    }
    let natives = request.natives.iter().filter_map(|it| {
        let r#type = match it {
            NativeTool::TextEditor => "text_editor_20250728",
            NativeTool::Bash => "bash_20250124",
            NativeTool::ApplyPatch => return None,
        };
        Some(Tool::Native {
            r#type,
            name: it.name(),
            cache_control: None,
        })
    });
    let own = native::beside(&request.natives, &request.tools).map(|it| Tool::Own {
        name: &it.name,
        description: &it.description,
        input_schema: &it.parameters,
        cache_control: None,
    });
    let mut tools: Vec<Tool<'_>> = natives.chain(own).collect();
    if let Some(Tool::Native { cache_control, .. } | Tool::Own { cache_control, .. }) =
        tools.last_mut()
    {
        *cache_control = marker(request);
    }
    tools
}

#[cfg(test)]
mod tests;
