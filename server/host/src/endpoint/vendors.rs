//! Providers that need no entry in the configuration: name, wire format, address, and where a key is looked for.
//!
//! Addresses as the vendors document them and models.dev lists them (looked up on 2026-12-01). Meta's Model API is in the
//! place of its Llama API (api.llama.com), which was retired in July 2026.

use engine::provider::Wire;

/// A provider that is known by name.
pub struct Vendor {
    pub name: &'static str,
    pub wire: Wire,
    pub base_url: &'static str,
    /// Environment variables of its key, in order; none: it runs on this machine and needs none.
    pub keys: &'static [&'static str],
    /// Its name in the catalogue of models.dev; empty: it is not there.
    pub catalogue: &'static str,
    /// The host that the vendor itself serves, whose word on its own tools counts; empty: it has none.
    pub own_host: &'static str,
}

const fn vendor(
    name: &'static str,
    wire: Wire,
    base_url: &'static str,
    keys: &'static [&'static str],
) -> Vendor {
    Vendor {
        name,
        wire,
        base_url,
        keys,
        catalogue: match name.as_bytes() {
            b"gemini" => "google",
            b"together" => "togetherai",
            b"fireworks" => "fireworks-ai",
            b"cloudflare" => "cloudflare-workers-ai",
            // They serve what is put into them.
            b"ollama" | b"lmstudio" | b"llamacpp" | b"vllm" => "",
            _ => name,
        },
        own_host: match wire {
            Wire::Messages => "api.anthropic.com",
            Wire::Responses => "api.openai.com",
            Wire::GenerateContent => "generativelanguage.googleapis.com",
            Wire::ChatCompletions | Wire::Ollama => "",
        },
    }
}

const CHAT: Wire = Wire::ChatCompletions;

/// The table. `{CLOUDFLARE_ACCOUNT_ID}` in an address is an environment variable.
pub const VENDORS: &[Vendor] = &[
    vendor(
        "anthropic",
        Wire::Messages,
        "https://api.anthropic.com",
        &["ANTHROPIC_API_KEY"],
    ),
    vendor(
        "openai",
        Wire::Responses,
        "https://api.openai.com/v1",
        &["OPENAI_API_KEY"],
    ),
    vendor(
        "gemini",
        Wire::GenerateContent,
        "https://generativelanguage.googleapis.com",
        &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
    ),
    vendor(
        "groq",
        CHAT,
        "https://api.groq.com/openai/v1",
        &["GROQ_API_KEY"],
    ),
    vendor(
        "openrouter",
        CHAT,
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
    ),
    vendor("xai", CHAT, "https://api.x.ai/v1", &["XAI_API_KEY"]),
    vendor(
        "mistral",
        CHAT,
        "https://api.mistral.ai/v1",
        &["MISTRAL_API_KEY"],
    ),
    vendor(
        "deepseek",
        CHAT,
        "https://api.deepseek.com",
        &["DEEPSEEK_API_KEY"],
    ),
    vendor(
        "cerebras",
        CHAT,
        "https://api.cerebras.ai/v1",
        &["CEREBRAS_API_KEY"],
    ),
    vendor(
        "together",
        CHAT,
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
    ),
    vendor(
        "deepinfra",
        CHAT,
        "https://api.deepinfra.com/v1/openai",
        &["DEEPINFRA_API_KEY"],
    ),
    vendor(
        "fireworks",
        CHAT,
        "https://api.fireworks.ai/inference/v1",
        &["FIREWORKS_API_KEY"],
    ),
    vendor(
        "nvidia",
        CHAT,
        "https://integrate.api.nvidia.com/v1",
        &["NVIDIA_API_KEY"],
    ),
    vendor(
        "cloudflare",
        CHAT,
        "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1",
        &["CLOUDFLARE_API_TOKEN"],
    ),
    vendor("meta", CHAT, "https://api.meta.ai/v1", &["MODEL_API_KEY"]),
    vendor("ollama", Wire::Ollama, "", &[]),
    vendor("lmstudio", CHAT, "http://127.0.0.1:1234/v1", &[]),
    vendor("llamacpp", CHAT, "http://127.0.0.1:8080/v1", &[]),
    vendor("vllm", CHAT, "http://127.0.0.1:8000/v1", &[]),
];

/// The provider with this name.
pub fn find(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|it| it.name == name)
}
