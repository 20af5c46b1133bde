//! `undine/session/messages`: parts of a session that the editor has not loaded.

use crate::acp::SessionUpdate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which messages of an open session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagesParams {
    pub session_id: String,
    /// Those before the one of this number; the newest when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// How many; a few more come where calls and their results belong together.
    pub limit: u32,
}

/// Messages, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagesResult {
    pub messages: Vec<PastMessage>,
    /// Messages of the whole session.
    pub total: u64,
}

/// A message as `session/update` would show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PastMessage {
    /// Counted from 1 over the session's whole life: each prompt, each answer with its calls, each result.
    pub number: u64,
    pub updates: Vec<SessionUpdate>,
}
