//! `undine/btw`: a question beside the conversation, which leaves nothing in it (spec 24).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A side question. It can be asked at any time, also while a turn runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BtwParams {
    pub session_id: String,
    pub question: String,
    /// Names the question in `undine/btw/chunk`; without one no chunks are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The answer, whole. Where there is none, the request fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BtwResult {
    pub text: String,
    /// Tools that the model called; none of them was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called: Vec<String>,
}

/// A piece of the answer, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BtwChunk {
    pub session_id: String,
    pub token: String,
    pub text: String,
}

/// Forgets what was asked beside a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClearBtwParams {
    pub session_id: String,
}

/// Done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClearBtwResult {}
