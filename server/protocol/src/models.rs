//! `undine/models`: the models that can be chosen, with their windows and prices.

use crate::auth::ProviderKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lists models. Providers are asked for theirs where a key is known or none is needed; one that does not answer is
/// named, and the others are listed all the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListModelsParams {
    /// The session whose configuration counts; the editor's first folder if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Asks the providers again, and not only those that have not answered yet.
    #[serde(default)]
    pub refresh: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// The model that answers, as provider/model; missing if none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    pub aliases: Vec<ModelAlias>,
    pub providers: Vec<ModelProvider>,
}

/// A short name of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelAlias {
    pub name: String,
    /// As provider/model; missing if it leads nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelProvider {
    pub name: String,
    /// Where its key is, as `undine/auth/status` says it.
    pub key: ProviderKey,
    /// What to do where its key is missing: one sentence for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Why it could not say which models it has: one sentence for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub models: Vec<ListedModel>,
}

/// A model of a provider. What is missing is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedModel {
    /// As provider/model: what `session/set_config_option` takes.
    pub id: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tokens that it can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Tokens that it can write in one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Whether it reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// Whether the provider itself has named it, and not only the catalogue or the configuration.
    pub live: bool,
}

/// US dollars a million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Read.
    pub input: f64,
    /// Written, thoughts included.
    pub output: f64,
    /// Read from the cache; as `input` when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Written into the cache; as `input` when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}
