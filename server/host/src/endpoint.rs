//! Where a model is reached: provider names, wire formats, base URLs, and where the key is looked for (`keys.rs`).

mod vendors;

use crate::keys::{KeyPlace, Keys, Need, Place};
use crate::store::learned::ModelKey;
use engine::models;
use engine::provider::{Endpoint, NativeTool, Wire, without_secrets};
use protocol::config::{Config, ProviderKind};
use std::sync::Arc;
use std::time::Duration;
use url::{Host, Url};
use vendors::VENDORS;

/// A model and the way to it.
#[derive(Clone, Debug)]
pub struct Reached {
    pub wire: Wire,
    /// Without its key, which is found when it is needed.
    pub endpoint: Endpoint,
    pub key: KeyPlace,
    /// The provider's own tools that may be offered.
    pub natives: Vec<NativeTool>,
    /// The model's name at its provider.
    pub model: String,
    /// The provider's name here.
    pub provider: String,
}

impl Reached {
    /// What its refusals are kept under.
    pub fn model_key(&self) -> ModelKey {
        ModelKey::new(&self.endpoint.base_url, &self.model)
    }

    /// The way to the model with its key, and where that was. The error is one sentence for the person.
    pub async fn with_key(&self, keys: &Arc<Keys>) -> Result<(Endpoint, Option<Place>), String> {
        let found = keys.find(&self.key).await?;
        let (key, place) = found.map(|it| (it.key, it.place)).unzip();
        let endpoint = Endpoint {
            key,
            ..self.endpoint.clone()
        };
        Ok((endpoint, place))
    }
}

/// The model that the configuration names, also by an alias. The error is one sentence for the person.
pub fn reach(config: &Config) -> Result<Reached, String> {
    let named = models::configured(config)?.ok_or_else(|| {
        "No model is configured; set provider and name under [default_model] in config.toml."
            .to_owned()
    })?;
    let name = named.provider.as_str();
    let (wire, endpoint) = address(config, name)?;
    let model = match named.name.as_str() {
        "" => config
            .providers
            .get(name)
            .and_then(|it| it.default_model.clone())
            .ok_or_else(|| {
                format!(
                    "No model of {name} is chosen; set name under [default_model] in config.toml."
                )
            })?,
        model => model.to_owned(),
    };
    Ok(Reached {
        wire,
        model,
        natives: natives(config, name, wire, &endpoint.base_url),
        endpoint,
        key: key_place(config, name),
        provider: named.provider,
    })
}

/// How a provider is spoken to and where, without its key. The error is one sentence for the person.
pub fn address(config: &Config, name: &str) -> Result<(Wire, Endpoint), String> {
    let own = config.providers.get(name);
    let vendor = vendors::find(name);
    if own.is_none() && vendor.is_none() {
        let names: Vec<&str> = VENDORS.iter().map(|it| it.name).collect();
        return Err(format!(
            "There is no provider {name}; add [providers.{name}] to config.toml or use one of {}.",
            names.join(", ")
        ));
    }
    let wire = match own.and_then(|it| it.kind) {
        Some(kind) => wire(kind),
        None => vendor.map_or(Wire::ChatCompletions, |it| it.wire),
    };
    let base_url = match own.and_then(|it| it.base_url.clone()) {
        Some(url) => url,
        None if vendor.is_some_and(|it| it.wire == Wire::Ollama) => {
            format!("http://{}:{}", config.ollama.host, config.ollama.port)
        }
        None => vendor.map(|it| it.base_url.to_owned()).ok_or_else(|| {
            format!("The provider {name} has no address; set base_url under [providers.{name}].")
        })?,
    };
    let base_url = with_variables(name, &base_url)?;
    check_url(name, &base_url)?;
    let extra_headers = own
        .map(|it| it.extra_headers.clone().into_iter().collect())
        .unwrap_or_default();
    let endpoint = Endpoint {
        base_url,
        key: None,
        extra_headers,
    };
    Ok((wire, endpoint))
}

/// Whether nobody is paid for a provider's models: they run on a machine of the person's own.
pub fn is_free(config: &Config, name: &str) -> bool {
    match vendors::find(name) {
        Some(vendor) => vendor.keys.is_empty(),
        None => address(config, name)
            .is_ok_and(|(_, it)| Url::parse(&it.base_url).is_ok_and(|it| is_local(&it))),
    }
}

/// The name that the public catalogue has for a provider; none: it does not have it.
pub fn catalogued(name: &str) -> Option<&'static str> {
    vendors::find(name)
        .map(|it| it.catalogue)
        .filter(|it| !it.is_empty())
}

/// Whether what is sent to a URL is seen by nobody on the way.
pub fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_local(url)
}

/// All known providers, in the order of the table.
pub fn known() -> impl Iterator<Item = &'static str> {
    VENDORS.iter().map(|it| it.name)
}

fn wire(kind: ProviderKind) -> Wire {
    match kind {
        ProviderKind::OpenaiCompatible => Wire::ChatCompletions,
        ProviderKind::Anthropic => Wire::Messages,
        ProviderKind::Openai => Wire::Responses,
        ProviderKind::Gemini => Wire::GenerateContent,
        ProviderKind::Ollama => Wire::Ollama,
    }
}

/// The provider's own tools that may be offered there. A server that is not the vendor's accepts them and does nothing, so it gets
/// them only if the person says so.
fn natives(config: &Config, name: &str, wire: Wire, base_url: &str) -> Vec<NativeTool> {
    let own_host = VENDORS
        .iter()
        .find(|it| it.wire == wire)
        .map_or("", |it| it.own_host);
    let is_vendors = Url::parse(base_url).is_ok_and(|it| it.host_str() == Some(own_host));
    let said = config.providers.get(name).and_then(|it| it.native_tools);
    if !config.tools.provider_native || !said.unwrap_or(is_vendors) {
        return Vec::new();
    }
    let shell = match cfg!(windows) {
        true => Shell::PowerShell,
        false => Shell::Posix,
    };
    natives_of(wire, shell)
}

/// What runs command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shell {
    Posix,
    PowerShell,
}

/// The tools of its own that a format has.
fn natives_of(wire: Wire, shell: Shell) -> Vec<NativeTool> {
    match wire {
        // Where commands run under PowerShell, bash is not offered.
        Wire::Messages if shell == Shell::PowerShell => vec![NativeTool::TextEditor],
        Wire::Messages => vec![NativeTool::TextEditor, NativeTool::Bash],
        Wire::Responses => vec![NativeTool::ApplyPatch],
        Wire::ChatCompletions | Wire::GenerateContent | Wire::Ollama => Vec::new(),
    }
}

/// Where the key of a provider is looked for.
pub fn key_place(config: &Config, name: &str) -> KeyPlace {
    let own = config.providers.get(name);
    let vendor = vendors::find(name);
    let named = own.and_then(|it| it.api_key_env.clone());
    let is_named = named.is_some();
    let variables = match named {
        Some(variable) => vec![variable],
        None => {
            let keys = vendor.map(|it| it.keys).unwrap_or_default();
            keys.iter().map(|it| (*it).to_owned()).collect()
        }
    };
    // A server of the person's own behind a known name may need none.
    let is_own_server = own.is_some_and(|it| it.base_url.is_some());
    let need = match is_named || !(variables.is_empty() || is_own_server) {
        true => Need::Needed,
        false => Need::Optional,
    };
    KeyPlace {
        provider: name.to_owned(),
        variables,
        is_named,
        need,
        patience: Duration::from_millis(config.limits.keyring_ms),
    }
}

/// Every provider that is known here: by name, then the configuration's own.
pub fn providers(config: &Config) -> Vec<String> {
    let known = VENDORS.iter().map(|it| it.name.to_owned());
    let own = config.providers.keys();
    let own = own.filter(|it| vendors::find(it).is_none()).cloned();
    known.chain(own).collect()
}

/// Where the key of each of them is looked for.
pub fn places(config: &Config) -> Vec<KeyPlace> {
    let names = providers(config);
    names.iter().map(|it| key_place(config, it)).collect()
}

/// Where the key of a provider is looked for, if there is such a provider. The error is one sentence for the person.
pub fn known_place(config: &Config, name: &str) -> Result<KeyPlace, String> {
    let names = providers(config);
    match names.iter().any(|it| it == name) {
        true => Ok(key_place(config, name)),
        false => Err(format!(
            "There is no provider {name}; add [providers.{name}] to config.toml or use one of {}.",
            names.join(", ")
        )),
    }
}

/// Where a key can be stored for a provider: not where the configuration names a variable. The error is one sentence for the person.
pub fn storable_place(config: &Config, name: &str) -> Result<KeyPlace, String> {
    let place = known_place(config, name)?;
    match place.is_named {
        false => Ok(place),
        true => Err(format!(
            "The key of {name} comes from the environment variable {}, because api_key_env under [providers.{name}] says so; take that line out first, or set the variable.",
            place.variables.join(" or ")
        )),
    }
}

/// An address with the environment variables it names in braces. The error is one sentence for the person.
fn with_variables(name: &str, address: &str) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = address;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((variable, after)) = after.split_once('}') else {
            break;
        };
        let value = std::env::var(variable).unwrap_or_default();
        if value.trim().is_empty() {
            return Err(format!(
                "The address of {name} needs the environment variable {variable}; set it and start the editor anew, or set base_url under [providers.{name}]."
            ));
        }
        whole.push_str(before);
        whole.push_str(value.trim());
        rest = after;
    }
    whole.push_str(rest);
    Ok(whole)
}

/// Plain `http` shows keys and code to the network, so it is for this machine only (spec 20.3).
fn check_url(name: &str, base_url: &str) -> Result<(), String> {
    let shown = without_secrets(base_url);
    let url = Url::parse(base_url).map_err(|error| {
        format!("The address of {name}, {shown}, is not a URL ({error}); correct base_url.")
    })?;
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_local(&url) => Ok(()),
        _ => Err(format!(
            "The address of {name}, {shown}, must begin with https, or with http on this machine."
        )),
    }
}

/// Whether a URL is of this machine.
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => domain == "localhost" || domain.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
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
        assert_eq!(got.as_deref(), Ok("http://127.0.0.1:11434 qwen3"));
    }

    /// The platform is forced: there is no Windows here.
    #[test]
    fn r_031_bash_is_not_offered_where_commands_run_under_powershell() {
        let of = |shell| natives_of(Wire::Messages, shell);
        assert_eq!(of(Shell::PowerShell), [NativeTool::TextEditor]);
        assert_eq!(of(Shell::Posix), [NativeTool::TextEditor, NativeTool::Bash]);
    }

    #[test]
    fn no_command_sees_a_known_provider_s_key() {
        let keys = VENDORS.iter().flat_map(|it| it.keys);
        let seen: Vec<_> = keys
            .filter(|it| !crate::process::environment::is_secret(it))
            .collect();
        assert_eq!(seen, Vec::<&&str>::new());
    }

    #[test]
    fn an_alias_is_reached_like_what_it_stands_for() {
        let got = reached(json!({
            "default_model": {"name": "fast"},
            "model_aliases": {"fast": "ollama/qwen3-coder:14b"},
        }));
        assert_eq!(got.as_deref(), Ok("http://127.0.0.1:11434 qwen3-coder:14b"));
        let lost = reached(json!({"default_model": {"name": "fast"}}));
        assert_eq!(
            lost.unwrap_err(),
            "There is no model \"fast\"; write it as provider/model."
        );
    }

    #[test]
    fn each_thing_that_is_missing_is_said_with_what_to_do() {
        let cases = [
            json!({}),
            json!({"default_model": {"provider": "nobody"}}),
            json!({"default_model": {"provider": "ollama"}}),
            json!({"default_model": {"provider": "x", "name": "m"}, "providers": {"x": {}}}),
            json!({"default_model": {"provider": "x", "name": "m"}, "providers": {"x": {"base_url": "http://example.com/v1"}}}),
            json!({"default_model": {"provider": "x", "name": "m"}, "providers": {"x": {"base_url": "https://e.com/{UNDINE_NO_SUCH_VARIABLE}"}}}),
        ];
        let texts: String = cases
            .into_iter()
            .map(|it| reached(it).unwrap_err() + "\n")
            .collect();
        expect_test::expect![[r#"
            No model is configured; set provider and name under [default_model] in config.toml.
            There is no provider nobody; add [providers.nobody] to config.toml or use one of anthropic, openai, gemini, groq, openrouter, xai, mistral, deepseek, cerebras, together, deepinfra, fireworks, nvidia, cloudflare, meta, ollama, lmstudio, llamacpp, vllm.
            No model of ollama is chosen; set name under [default_model] in config.toml.
            The provider x has no address; set base_url under [providers.x].
            The address of x, http://example.com/v1, must begin with https, or with http on this machine.
            The address of x needs the environment variable UNDINE_NO_SUCH_VARIABLE; set it and start the editor anew, or set base_url under [providers.x].
        "#]]
        .assert_eq(&texts);
    }
}
