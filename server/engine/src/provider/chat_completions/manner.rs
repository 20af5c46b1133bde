//! What single servers and models of this format want otherwise. One switch each, told from address and model; whatever can be
//! learned from a refusal is not here.

use crate::provider::Endpoint;
use crate::provider::call_ids::Rule;

/// The ways of one model at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// OpenAI itself: its reasoning models refuse `max_tokens`, most other servers know only that; and it finds its cache
    /// by a key.
    pub is_openai: bool,
    /// Mistral's models, wherever they are served: a word of the person right behind results is refused ("Unexpected role
    /// 'user' after role 'tool'"), and so is an id of a call that is not nine letters and digits.
    pub is_mistral: bool,
    /// OpenRouter: how hard to think stands in an object of its own.
    pub is_open_router: bool,
    /// Anthropic's models behind OpenRouter cache only what is marked; a mark on the whole request is one on its end.
    pub marks_cache: bool,
    /// OpenAI's models, at OpenAI, Azure, GitHub or through OpenRouter: an id of a call that is longer than theirs is refused,
    /// as those are that other models have given.
    pub is_short: bool,
}

/// Names of Mistral's models begin or go on with one of these.
const MISTRALS: &[&str] = &[
    "mistral",
    "ministral",
    "magistral",
    "devstral",
    "codestral",
    "pixtral",
];

impl Manner {
    pub fn of(endpoint: &Endpoint, model: &str) -> Manner {
        let host = host(&endpoint.base_url);
        let is_at = |domain: &str| {
            let before = host.strip_suffix(domain);
            before.is_some_and(|it| it.is_empty() || it.ends_with('.'))
        };
        let model = model.to_ascii_lowercase();
        let is_open_router = is_at("openrouter.ai");
        Manner {
            is_openai: is_at("api.openai.com"),
            is_mistral: is_at("mistral.ai") || MISTRALS.iter().any(|it| model.contains(it)),
            is_open_router,
            marks_cache: is_open_router && model.contains("anthropic/"),
            is_short: ["api.openai.com", "openai.azure.com", "githubcopilot.com"]
                .into_iter()
                .any(is_at)
                || is_open_router && model.contains("openai/"),
        }
    }

    /// The rule for ids of calls. None: they go back as they came, because servers look for their own.
    pub fn ids(self) -> Option<Rule> {
        match self {
            Manner {
                is_mistral: true, ..
            } => Some(Rule::Nine),
            Manner { is_short: true, .. } => Some(Rule::Short),
            _ => None,
        }
    }
}

/// The host of a URL, in small letters, without user and port.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base_url: &str, model: &str) -> Manner {
        let endpoint = Endpoint {
            base_url: base_url.to_owned(),
            key: None,
            extra_headers: Vec::new(),
        };
        Manner::of(&endpoint, model)
    }

    #[test]
    fn manners_are_told_from_address_and_model() {
        let plain = of("http://127.0.0.1:8080/v1", "tiny");
        assert!(!plain.is_openai && !plain.is_mistral && !plain.is_open_router);
        assert!(of("https://API.openai.com:443/v1?a=b", "m").is_openai);
        assert!(!of("https://api.openai.com.evil.test/v1", "m").is_openai);
        assert!(!of("https://notmistral.ai/v1", "m").is_mistral);
        assert!(of("https://me@api.mistral.ai/v1", "m").is_mistral);
        assert!(of("http://localhost:8000/v1", "Mistralai/Devstral-2").is_mistral);
        let claude = of("https://openrouter.ai/api/v1", "anthropic/claude-opus-5.5");
        assert!(claude.is_open_router && claude.marks_cache);
        assert!(!of("https://openrouter.ai/api/v1", "openai/gpt-6").marks_cache);
        assert!(!of("https://a.test/v1", "anthropic/claude").marks_cache);
        for (url, model, rule) in [
            (
                "https://me.openai.azure.com/openai/v1",
                "gpt-6",
                Some(Rule::Short),
            ),
            (
                "https://api.githubcopilot.com",
                "gpt-5-mini",
                Some(Rule::Short),
            ),
            (
                "https://openrouter.ai/api/v1",
                "openai/gpt-6",
                Some(Rule::Short),
            ),
            ("https://openrouter.ai/api/v1", "deepseek/r", None),
            (
                "https://openrouter.ai/api/v1",
                "mistralai/devstral",
                Some(Rule::Nine),
            ),
        ] {
            assert_eq!(of(url, model).ids(), rule, "{url} {model}");
        }
    }
}
