//! What we ask of any model and what any model says, and the seam between that and a wire format.
//!
//! Pure: a request becomes an [`HttpRequest`] as data, an answer's bytes become [`ModelEvent`]s. Sending, waiting and
//! retrying are the host's and the session's business. A wire format is one file here and one line in `providers!`.

pub mod anthropic;
mod body;
mod broken;
mod call_ids;
pub mod chat_completions;
#[cfg(test)]
mod cuts;
pub mod failure;
pub mod gemini;
mod history;
pub mod http;
pub mod learned;
pub mod native;
pub mod ndjson;
pub mod ollama;
#[cfg(test)]
mod recorded;
pub mod responses;
#[cfg(test)]
mod speed;
pub mod sse;
mod tally;

use protocol::config::Reasoning;
use protocol::tool::Picture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

pub use http::{Endpoint, HttpRequest, Secret, without_secrets};
pub use learned::{Feature, Learned, Refusal};
pub use native::{NativeCall, NativeTool};

/// A wire format: how to ask, how to read the answer, how to read a refusal to answer.
///
/// The order of calls is [`request`](Provider::request), then for a 2xx status one [`decoder`](Provider::decoder) that
/// gets every byte of the body, for any other status [`error`](Provider::error).
pub trait Provider: Send + Sync {
    /// The HTTP request that asks `request` of `endpoint`, always as a stream.
    fn request(&self, endpoint: &Endpoint, request: &ModelRequest) -> HttpRequest;

    /// A fresh decoder, good for one answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// What a status other than 2xx means. Header names may have any case; at most [`failure::MAX_BODY`] bytes of
    /// `body` are read.
    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError;
}

/// Reads the body of one answer. However the bytes are cut, the events are the same.
///
/// The last event is always one [`ModelEvent::Ended`] or one [`ModelEvent::Failed`], at the latest from
/// [`end`](Decoder::end); what comes after it is ignored.
pub trait Decoder: Send {
    /// Takes the next bytes of the body and appends what they say to `out`.
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>);

    /// The transport has closed. An answer that had not reached its end becomes [`ModelErrorKind::Cut`].
    fn end(&mut self, out: &mut Vec<ModelEvent>);
}

/// The table of wire formats: a variant, its name in the configuration, and the value that implements it.
macro_rules! providers {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal: $provider:expr,)+) => {
        /// The wire formats we speak, by the names the configuration uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Wire { $($(#[$doc])+ $variant,)+ }

        impl Wire {
            /// All of them, in the order of the table.
            pub const ALL: &[Wire] = &[$(Wire::$variant,)+];

            /// The name in the configuration.
            pub fn name(self) -> &'static str {
                match self { $(Wire::$variant => $name,)+ }
            }

            /// The format called `name`, if we speak it.
            pub fn from_name(name: &str) -> Option<Wire> {
                Wire::ALL.iter().copied().find(|it| it.name() == name)
            }

            /// The codec.
            pub fn provider(self) -> &'static dyn Provider {
                match self { $(Wire::$variant => &$provider,)+ }
            }
        }
    };
}

providers! {
    /// `POST {base}/chat/completions` as OpenAI defined it and most local and hosted servers speak it.
    ChatCompletions = "chat_completions": chat_completions::ChatCompletions,
    /// `POST {base}/v1/messages`, Anthropic's.
    Messages = "messages": anthropic::Messages,
    /// `POST {base}/responses`, OpenAI's.
    Responses = "responses": responses::Responses,
    /// `POST {base}/v1beta/models/{model}:streamGenerateContent`, Google's.
    GenerateContent = "generate_content": gemini::GenerateContent,
    /// `POST {base}/api/chat`, Ollama's own.
    Ollama = "ollama": ollama::Ollama,
}

/// One question to a model: everything it is to know, and the tools it may call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    pub model: String,
    /// The instructions. Empty means none.
    pub system: String,
    /// The conversation, oldest first. Every [`ToolCall`] has its [`ToolResult`] in the message that follows.
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// The most tokens the answer may have. The provider's own limit if missing.
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    /// How hard it thinks. Sent as asked; what this model has refused before is in `learned`.
    pub reasoning: Option<Reasoning>,
    /// The provider's own tools that are on offer. Each stands in `tools`' place for what [`NativeTool::stands_for`] names.
    pub natives: Vec<NativeTool>,
    /// What this model at this address does not take.
    pub learned: Learned,
    /// Tokens the model can read and write together, where known. Ollama is told it.
    pub window: Option<u64>,
    /// The same for all requests of a conversation: a provider that is told it finds its cache again. May be empty.
    pub cache_key: String,
    /// From how many tokens on the provider is to summarise what is older, where it can. Anthropic and OpenAI's Responses are told it.
    pub compact_at: Option<u64>,
    /// How a server on the person's own machine is to load the model. Ollama is told it.
    pub load: Load,
}

/// How a model is loaded, where the person says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Layers on the graphics card.
    pub num_gpu: Option<u32>,
    /// Threads on the processor.
    pub num_thread: Option<u32>,
}

impl ModelRequest {
    /// The level of reasoning to send ([`Learned::reasoning`]). None: none is sent.
    pub fn level(&self) -> Option<Reasoning> {
        self.learned.reasoning(self.reasoning?)
    }

    /// The most tokens to ask for, within what the model has said it can write. Where the person set none, what the model
    /// said stands: it was a codec's own value that the model refused.
    pub fn output_cap(&self) -> Option<u32> {
        match (self.max_tokens, self.learned.max_tokens) {
            (Some(asked), Some(most)) => Some(asked.min(most)),
            (asked, most) => asked.or(most),
        }
    }
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    User(Vec<Content>),
    Assistant {
        text: String,
        /// What the model thought aloud. Shown to people; sent back only through `raw`.
        thought: String,
        calls: Vec<ToolCall>,
        /// The value of the reply's [`ModelEvent::Raw`], if there was one and this very model said it. It stands for text, thought and
        /// calls together; a codec that finds it at odds with `calls` goes by those.
        raw: Option<Value>,
    },
    /// The answers to all calls of the assistant message before it.
    Results(Vec<ToolResult>),
}

/// Whether a provider's own items ([`Message::Assistant`]'s `raw`) are an answer without any text or call of ours among
/// them: something that the provider does by itself. Thoughts alone are none, and providers refuse them.
pub fn stands_alone(raw: &Value) -> bool {
    /// What the neutral form has too, where there is something in it; and thoughts.
    const OURS: &[&str] = &[
        "text",
        "message",
        "tool_use",
        "function_call",
        "custom_tool_call",
        "apply_patch_call",
        "thinking",
        "redacted_thinking",
        "reasoning",
    ];
    let items = raw.as_array().into_iter().flatten();
    let mut kinds = items.filter_map(|it| it["type"].as_str());
    kinds.any(|it| !OURS.contains(&it))
}

/// A part of what a person said.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text(String),
    Image(Image),
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// At most 64 of `A-Z a-z 0-9 _ -`, which every provider accepts.
    pub name: String,
    pub description: String,
    /// A JSON Schema of type object.
    pub parameters: Value,
}

/// A call the model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within one reply. Made by us (`call_<n>`) when the provider gave none, so it may repeat in a later reply.
    pub id: String,
    pub name: String,
    /// JSON text as the model wrote it, which need not be valid. Empty means `{}`.
    pub arguments: String,
    /// Set where the model called a provider's own tool: what it wrote. `name` and `arguments` are then those of our tool that does the
    /// work; see [`native`].
    pub native: Option<NativeCall>,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The [`ToolCall::id`] it answers.
    pub id: String,
    pub text: String,
    /// Whether `text` says what went wrong. Formats without such a flag send the text alone.
    pub is_error: bool,
    /// Pictures that belong to it. Formats that take them only from the person send them right behind the results.
    pub images: Vec<Image>,
}

/// A picture with its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    pub picture: Picture,
    /// Base64 (RFC 4648 section 4), as every provider and every editor wants it. A trace leaves it out.
    #[serde(skip)]
    pub data: Arc<str>,
}

/// What a model says, in the order it says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelEvent {
    /// The next piece of the answer's text. Never empty.
    Text(String),
    /// The next piece of the model's thinking. Never empty.
    Thought(String),
    /// A complete call. Its arguments are yet to be parsed.
    Call(ToolCall),
    /// What the reply cost. At most once, and only just before the last event.
    Usage(Usage),
    /// What the provider wants back with the assistant message: [`Message::Assistant`]'s `raw`. At most once, and before
    /// the last event, which may be a failure: then it holds what was whole by then.
    Raw(Value),
    /// The answer is complete. Last.
    Ended(StopReason),
    /// There is no complete answer; what came before stands. Last.
    Failed(ModelError),
}

/// Tokens of one reply. The parts are disjoint: their sum is what was read and written in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read, without what stands in the next two.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached: u64,
    /// Read and put into the provider's cache.
    pub cache_write: u64,
    /// Written, without `reasoning`.
    pub output: u64,
    /// Written while thinking.
    pub reasoning: u64,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// The model has said what it wanted.
    EndTurn,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The answer reached the token limit. A call that was cut by it is not among the events.
    MaxTokens,
    /// The window is full. As for the limit.
    WindowFull,
    /// The model or the provider's filter declined.
    Refusal,
    /// The provider has paused and wants the conversation back as it is, to go on.
    Paused,
    /// Something we have no word for, in the provider's spelling.
    Other(String),
}

/// Why there is no complete answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// One sentence for a person: what happened and what to do. Holds nothing that looks like a key.
    pub message: String,
    /// How long the provider asks us to wait, milliseconds.
    pub retry_after_ms: Option<u64>,
    /// What of the request it refused by name, so that it can be asked without that.
    pub refusal: Option<Refusal>,
    /// The provider has said that asking again is of no use (`x-should-retry: false`).
    pub is_final: bool,
}

impl ModelError {
    /// An error without a wish to wait.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        ModelError {
            kind,
            message: message.into(),
            retry_after_ms: None,
            refusal: None,
            is_final: false,
        }
    }
}

/// What kind of failure, by what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelErrorKind {
    /// No connection, or it broke before the answer began.
    Unreachable,
    /// The key is missing, wrong or not allowed to do this.
    Auth,
    /// The account has no credit or quota left; waiting does not help.
    Quota,
    /// Too many requests or tokens; waiting helps.
    RateLimit,
    /// The provider has trouble of its own; waiting helps.
    Overloaded,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The provider does not accept the request as it is.
    BadRequest,
    /// The provider does not accept the request, and what it says of it is about pictures.
    Pictures,
    /// The provider refuses its own items that were sent back to it: a signature, encrypted reasoning.
    Signature,
    /// The stream ended before the answer did.
    Cut,
    /// The answer is larger than one of our limits, which the message names.
    Limit,
    /// The answer is not what the wire format says.
    Protocol,
    /// We stopped it ourselves.
    Cancelled,
}
