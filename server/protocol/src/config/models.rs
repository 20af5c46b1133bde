//! The options about models: which one answers, how hard it thinks, where providers are reached, and what they cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The model that answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DefaultModel {
    /// Provider name: a known one, or a key of `[providers]`.
    pub provider: String,
    /// The model's name at its provider.
    pub name: String,
    /// Sampling temperature; the provider's own when missing.
    pub temperature: Option<f64>,
    /// Most tokens in one answer; 0 leaves it to the provider.
    pub max_tokens: u32,
    /// How hard the model thinks; the provider's own way when missing.
    pub reasoning: Option<Reasoning>,
}

/// How hard a model thinks before it answers. More compares greater.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// Not at all, where the model lets one choose that.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// Hard.
    High,
    /// Harder, at a price.
    Xhigh,
    /// As hard as it can.
    Max,
}

impl Reasoning {
    /// All levels, the least first.
    pub const ALL: [Reasoning; 7] = [
        Reasoning::None,
        Reasoning::Minimal,
        Reasoning::Low,
        Reasoning::Medium,
        Reasoning::High,
        Reasoning::Xhigh,
        Reasoning::Max,
    ];

    /// The name in the configuration, which is also that of most providers.
    pub fn id(self) -> &'static str {
        match self {
            Reasoning::None => "none",
            Reasoning::Minimal => "minimal",
            Reasoning::Low => "low",
            Reasoning::Medium => "medium",
            Reasoning::High => "high",
            Reasoning::Xhigh => "xhigh",
            Reasoning::Max => "max",
        }
    }

    /// The level called `id`.
    pub fn from_id(id: &str) -> Option<Reasoning> {
        Reasoning::ALL.into_iter().find(|it| it.id() == id)
    }
}

/// Where one provider's models are reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProviderConfig {
    /// The wire format. Known provider names have theirs.
    pub kind: Option<ProviderKind>,
    /// Base URL, up to and without the format's own path (`/chat/completions`, `/v1/messages`). Plain `http` only on loopback.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Headers sent with each request.
    pub extra_headers: BTreeMap<String, String>,
    /// The model used when `default_model.name` is empty.
    pub default_model: Option<String>,
    /// Tokens that a model of this provider can read and write together; for models that nobody lists.
    pub context_window: Option<u64>,
    /// Whether the provider's own tools are offered (text editor, bash, `apply_patch`). When missing, only to the vendors themselves:
    /// other servers accept them and do nothing.
    pub native_tools: Option<bool>,
}

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// Chat Completions, as most servers speak it.
    OpenaiCompatible,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Openai,
    /// Google's Gemini, `generateContent`.
    Gemini,
    /// Ollama's own API.
    Ollama,
}

/// Ollama on this machine, or where `providers.ollama.base_url` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ollama {
    /// The host of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether `ollama serve` is started when nothing answers there; only on this machine.
    pub auto_start: bool,
    /// Tokens of context that a model is loaded with; the model's own limit counts where that is less.
    #[schemars(extend("x-repository" = "any"))]
    pub num_ctx: u64,
    /// Layers on the graphics card; Ollama's own choice when missing.
    #[schemars(extend("x-repository" = "any"))]
    pub num_gpu: Option<u32>,
    /// Threads; Ollama's own choice when missing.
    #[schemars(extend("x-repository" = "any"))]
    pub num_thread: Option<u32>,
}

impl Default for Ollama {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 11434,
            auto_start: true,
            num_ctx: 65_536,
            num_gpu: None,
            num_thread: None,
        }
    }
}

/// What tokens cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pricing {
    /// The public catalogue of context windows and prices, fetched at most once a day and never with `safety.network = "deny"`; empty: never.
    pub catalog_url: String,
    /// Prices of the person's own, by provider/model. They count over the catalogue's.
    pub models: BTreeMap<String, Price>,
}

impl Default for Pricing {
    fn default() -> Self {
        Self {
            catalog_url: "https://models.dev/api.json".to_owned(),
            models: BTreeMap::new(),
        }
    }
}

/// US dollars a million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Written, thoughts included.
    pub output: f64,
    /// Read from the cache; as `input` when missing.
    pub cache_read: Option<f64>,
    /// Written into the cache; as `input` when missing.
    pub cache_write: Option<f64>,
}

/// Which tools a model has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tools {
    /// Whether a model gets its provider's own tools in the place of ours for the same work.
    pub provider_native: bool,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            provider_native: true,
        }
    }
}
