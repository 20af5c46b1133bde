//! Where a model is reached: provider names, base URLs and keys.
//!
//! A key is read from its environment variable at the moment it is needed and lives in a `Secret`.

use engine::provider::{Endpoint, Secret, Wire, without_secrets};
use protocol::config::{Config, ProviderKind};
use url::{Host, Url};

/// A model and the way to it.
#[derive(Clone, Debug)]
pub struct Reached {
    pub wire: Wire,
    pub endpoint: Endpoint,
    /// The model's name at its provider.
    pub model: String,
    /// The provider's name here.
    pub provider: String,
}

/// A provider that needs no entry in the configuration.
struct Known {
    name: &'static str,
    base_url: &'static str,
    /// Environment variables of its key, in order; none: it runs on this machine and needs none.
    keys: &'static [&'static str],
}

const fn known(name: &'static str, base_url: &'static str, keys: &'static [&'static str]) -> Known {
    Known {
        name,
        base_url,
        keys,
    }
}

/// Those that speak Chat Completions.
const KNOWN: &[Known] = &[
    known("openai", "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    known("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    known(
        "openrouter",
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
    ),
    known("xai", "https://api.x.ai/v1", &["XAI_API_KEY"]),
    known("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    known(
        "deepseek",
        "https://api.deepseek.com/v1",
        &["DEEPSEEK_API_KEY"],
    ),
    known(
        "cerebras",
        "https://api.cerebras.ai/v1",
        &["CEREBRAS_API_KEY"],
    ),
    known(
        "together",
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
    ),
    known(
        "deepinfra",
        "https://api.deepinfra.com/v1/openai",
        &["DEEPINFRA_API_KEY"],
    ),
    known(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        &["FIREWORKS_API_KEY"],
    ),
    known(
        "nvidia",
        "https://integrate.api.nvidia.com/v1",
        &["NVIDIA_API_KEY"],
    ),
    known("ollama", "http://127.0.0.1:11434/v1", &[]),
    known("lmstudio", "http://127.0.0.1:1234/v1", &[]),
    known("llamacpp", "http://127.0.0.1:8080/v1", &[]),
    known("vllm", "http://127.0.0.1:8000/v1", &[]),
];

/// The model that the configuration names. The error is one sentence for the person.
pub fn reach(config: &Config) -> Result<Reached, String> {
    let name = config.default_model.provider.as_str();
    if name.is_empty() {
        return Err(
            "No model is configured; set provider and name under [default_model] in config.toml."
                .to_owned(),
        );
    }
    let own = config.providers.get(name);
    let known = KNOWN.iter().find(|it| it.name == name);
    if own.is_none() && known.is_none() {
        let names: Vec<&str> = KNOWN.iter().map(|it| it.name).collect();
        return Err(format!(
            "There is no provider {name}; add [providers.{name}] to config.toml or use one of {}.",
            names.join(", ")
        ));
    }
    let wire = match own.and_then(|it| it.kind) {
        Some(ProviderKind::OpenaiCompatible) | None => Wire::ChatCompletions,
    };
    let base_url = own
        .and_then(|it| it.base_url.clone())
        .or_else(|| known.map(|it| it.base_url.to_owned()))
        .ok_or_else(|| {
            format!("The provider {name} has no address; set base_url under [providers.{name}].")
        })?;
    check_url(name, &base_url)?;
    let model = match config.default_model.name.as_str() {
        "" => own.and_then(|it| it.default_model.clone()).ok_or_else(|| {
            format!("No model of {name} is chosen; set name under [default_model] in config.toml.")
        })?,
        model => model.to_owned(),
    };
    let key = match own.and_then(|it| it.api_key_env.as_deref()) {
        // Named by the person: this and no other (spec 20.3).
        Some(variable) => Some(key(variable).ok_or_else(|| {
            format!("The key of {name} is missing; set the environment variable {variable} and start the editor anew.")
        })?),
        None => match known.map(|it| it.keys).unwrap_or_default() {
            [] => None,
            // A server of the person's own behind a known name may need none.
            variables if own.is_some_and(|it| it.base_url.is_some()) => variables.iter().find_map(|it| key(it)),
            variables => Some(variables.iter().find_map(|it| key(it)).ok_or_else(|| {
                format!(
                    "The key of {name} is missing; set the environment variable {} and start the editor anew.",
                    variables.join(" or ")
                )
            })?),
        },
    };
    let extra_headers = own
        .map(|it| it.extra_headers.clone().into_iter().collect())
        .unwrap_or_default();
    let endpoint = Endpoint {
        base_url,
        key,
        extra_headers,
    };
    Ok(Reached {
        wire,
        endpoint,
        model,
        provider: name.to_owned(),
    })
}

fn key(variable: &str) -> Option<Secret> {
    std::env::var(variable)
        .ok()
        .filter(|it| !it.trim().is_empty())
        .map(|it| Secret::new(it.trim()))
}

/// Plain `http` shows keys and code to the network, so it is for this machine only (spec 20.3).
fn check_url(name: &str, base_url: &str) -> Result<(), String> {
    let shown = without_secrets(base_url);
    let url = Url::parse(base_url).map_err(|error| {
        format!("The address of {name}, {shown}, is not a URL ({error}); correct base_url.")
    })?;
    let is_local = match url.host() {
        Some(Host::Domain(domain)) => domain == "localhost" || domain.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_local => Ok(()),
        _ => Err(format!(
            "The address of {name}, {shown}, must begin with https, or with http on this machine."
        )),
    }
}

/// The variable that the chosen model's key is taken from, if one is sent.
pub fn key_source(config: &Config) -> Option<String> {
    let name = config.default_model.provider.as_str();
    let own = config.providers.get(name);
    let named = own.and_then(|it| it.api_key_env.as_deref());
    let known = KNOWN.iter().find(|it| it.name == name);
    let variables: Vec<&str> = match named {
        Some(variable) => vec![variable],
        None => known.map(|it| it.keys.to_vec()).unwrap_or_default(),
    };
    let found = variables.into_iter().find(|it| key(it).is_some());
    found.map(str::to_owned)
}

/// Names of variables that the configuration reads keys from, for scrubbing.
pub fn key_variables(config: &Config) -> Vec<String> {
    config
        .providers
        .values()
        .filter_map(|it| it.api_key_env.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reached(config: serde_json::Value) -> Result<String, String> {
        let config: Config = serde_json::from_value(config).unwrap();
        reach(&config).map(|it| format!("{} {}", it.endpoint.base_url, it.model))
    }

    #[test]
    fn a_known_name_needs_no_entry() {
        let got = reached(json!({"default_model": {"provider": "ollama", "name": "qwen3"}}));
        assert_eq!(got.as_deref(), Ok("http://127.0.0.1:11434/v1 qwen3"));
    }

    #[test]
    fn each_thing_that_is_missing_is_said_with_what_to_do() {
        let cases = [
            json!({}),
            json!({"default_model": {"provider": "nobody"}}),
            json!({"default_model": {"provider": "ollama"}}),
            json!({"default_model": {"provider": "x", "name": "m"}, "providers": {"x": {}}}),
            json!({"default_model": {"provider": "x", "name": "m"}, "providers": {"x": {"base_url": "http://example.com/v1"}}}),
            json!({"default_model": {"provider": "x", "name": "m"}, "providers": {"x": {"base_url": "https://e.com", "api_key_env": "UNDINE_NO_SUCH_KEY"}}}),
        ];
        let texts: String = cases
            .into_iter()
            .map(|it| reached(it).unwrap_err() + "\n")
            .collect();
        expect_test::expect![[r#"
            No model is configured; set provider and name under [default_model] in config.toml.
            There is no provider nobody; add [providers.nobody] to config.toml or use one of openai, groq, openrouter, xai, mistral, deepseek, cerebras, together, deepinfra, fireworks, nvidia, ollama, lmstudio, llamacpp, vllm.
            No model of ollama is chosen; set name under [default_model] in config.toml.
            The provider x has no address; set base_url under [providers.x].
            The address of x, http://example.com/v1, must begin with https, or with http on this machine.
            The key of x is missing; set the environment variable UNDINE_NO_SUCH_KEY and start the editor anew.
        "#]]
        .assert_eq(&texts);
    }
}
