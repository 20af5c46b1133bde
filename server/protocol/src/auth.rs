//! `undine/auth/…`: providers' keys. They come in here and never go out.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Asks where the providers' keys are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthStatusParams {
    /// Only this one; all, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// Where the keys are. Never what they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthStatus {
    /// The providers that are known by name, then the configuration's own.
    pub providers: Vec<ProviderKey>,
    /// Why the keyring could not be asked, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Where the key of a provider is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderKey {
    pub provider: String,
    pub source: KeySource,
    /// The environment variable that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Whether nothing can be asked of the provider without one.
    pub needed: bool,
    /// Whether one that is stored now would be used.
    pub storable: bool,
}

impl ProviderKey {
    /// Whether nothing can be asked of the provider before it has a key.
    pub fn is_missing(&self) -> bool {
        self.needed && self.source == KeySource::None
    }
}

/// What holds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    Env,
    Keyring,
    None,
}

/// Stores a key in the system's keyring. It counts for the next request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetKeyParams {
    pub provider: String,
    /// The key alone: printable ASCII without blanks, 2500 characters at most. Blanks around it are taken off. Keep it out of logs.
    pub api_key: ApiKey,
}

/// Takes a key out of the system's keyring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClearKeyParams {
    pub provider: String,
}

/// Where the key is now: there may be one in the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClearKeyResult {
    /// False if the keyring had none.
    pub removed: bool,
    pub now: ProviderKey,
}

/// A key on its way in. `Debug` does not show it, nor does the error of one that is no text.
#[derive(Clone, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ApiKey(pub String);

impl<'de> Deserialize<'de> for ApiKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(ApiKey(text)),
            _ => Err(D::Error::custom("the key must be a string")),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
