//! `undine/usage`: the tokens a session has read and written, and what they cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session has used since it began, also before it was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageParams {
    pub session_id: String,
}

/// Tokens by model, and their price. Subagents, the classifier and compaction count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    /// By model, in the order of their names.
    pub models: Vec<ModelUsage>,
    /// US dollars of the models whose price is known; missing if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Models that were used and whose price nobody knows; they are not in `cost`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// Tokens that fill the window; 0 before the first answer.
    pub used: u64,
    /// Tokens of the window; 0 where it is not known.
    pub size: u64,
    /// The same for a person, in lines.
    pub text: String,
}

/// What one model was asked and answered. The parts of tokens are disjoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// As provider/model.
    pub model: String,
    /// How often it answered.
    pub answers: u64,
    /// Tokens that were read and stood in no cache.
    pub input: u64,
    /// Tokens that were read from the provider's cache.
    pub cached: u64,
    /// Tokens that were read and put into it.
    pub cache_write: u64,
    /// Tokens that were written, thoughts aside.
    pub output: u64,
    /// Tokens that were written while thinking.
    pub reasoning: u64,
    /// US dollars; missing where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}
