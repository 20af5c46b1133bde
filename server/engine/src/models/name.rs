//! What a person writes for a model: `provider/model`, or an alias of one.

use protocol::config::{Config, Reasoning};
use std::collections::BTreeMap;
use std::fmt;

/// A model at a provider. Its own name may hold slashes, the provider's never does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelName {
    pub provider: String,
    /// Empty: the provider's `default_model`.
    pub name: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// The model that `text` names. The error is one sentence for the person.
pub fn find(config: &Config, text: &str) -> Result<ModelName, String> {
    let mut at = text.trim();
    let mut passed = Vec::new();
    while let Some(next) = config.model_aliases.get(at) {
        if passed.contains(&at) {
            return Err(format!(
                "The model alias {} leads back to itself ({} -> {at}); correct [model_aliases] in config.toml.",
                text.trim(),
                passed.join(" -> ")
            ));
        }
        passed.push(at);
        at = next.trim();
    }
    match at.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => {
            return Ok(ModelName {
                provider: provider.to_owned(),
                name: name.to_owned(),
            });
        }
        None if config.providers.contains_key(at) => {
            return Ok(ModelName {
                provider: at.to_owned(),
                name: String::new(),
            });
        }
        Some(_) | None => {}
    }
    let named = match passed.first() {
        Some(alias) => format!("The model alias {alias} stands for {at:?}, which is no model"),
        None => format!("There is no model {at:?}"),
    };
    let aliases: Vec<&str> = config.model_aliases.keys().map(String::as_str).collect();
    Err(match aliases.is_empty() || !passed.is_empty() {
        true => format!("{named}; write it as provider/model."),
        false => format!(
            "{named}; write it as provider/model, or use one of the aliases {}.",
            aliases.join(", ")
        ),
    })
}

/// The model that is configured; none if nothing is. A name without a provider is an alias or has its provider in it.
pub fn configured(config: &Config) -> Result<Option<ModelName>, String> {
    let model = &config.default_model;
    match (model.provider.as_str(), model.name.as_str()) {
        ("", "") => Ok(None),
        ("", name) => find(config, name).map(Some),
        (provider, name) => Ok(Some(ModelName {
            provider: provider.to_owned(),
            name: name.to_owned(),
        })),
    }
}

/// A table's entry for a model, whether its key is written provider/model or is an alias of that.
pub fn own<'a, T>(config: &Config, table: &'a BTreeMap<String, T>, model: &str) -> Option<&'a T> {
    table.get(model).or_else(|| {
        let means_it = |key: &str| {
            config.model_aliases.contains_key(key)
                && find(config, key).is_ok_and(|it| it.to_string() == model)
        };
        table
            .iter()
            .find(|(key, _)| means_it(key))
            .map(|(_, it)| it)
    })
}

/// How hard a model (provider/model) thinks: as it is configured for this one, else for all.
pub fn reasoning(config: &Config, model: &str) -> Option<Reasoning> {
    own(config, &config.reasoning_per_model, model)
        .copied()
        .or(config.default_model.reasoning)
}
