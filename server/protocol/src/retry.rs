//! `undine/retry`: a model that failed is asked again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a session's model is being asked again. Each takes the place of the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryParams {
    pub session_id: String,
    /// Missing: it is not, or not any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// Why and when a model is asked again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// What happened, in a sentence for the person.
    pub why: String,
    /// Which try of `of` this is, counted from 1.
    pub attempt: u32,
    pub of: u32,
    /// Milliseconds until then; 0: it is being asked already, without what it refused.
    pub after_ms: u64,
}
