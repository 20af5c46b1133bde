//! Subagents: sessions that work for another one, as a client sees them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A subagent of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// `agent-3`.
    pub id: String,
    /// What it is called, as the model or its type says.
    pub label: String,
    /// Its type: `general`, `explore` or one of the person's.
    #[serde(rename = "type")]
    pub kind: String,
    pub state: AgentState,
    /// It works in the background: no call waits for it.
    pub background: bool,
}

/// How far a subagent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// As many work already as may at once.
    Waiting,
    Running,
    /// It has reported or failed, and can be gone on with.
    Ended,
}

/// The subagents of a session, oldest first. Those that are neither at work nor kept are not among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    pub session_id: String,
    pub agents: Vec<Agent>,
}

/// Moves running subagents to the background. Their calls end at once, and the report comes later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetachAgentParams {
    pub session_id: String,
    /// The call whose subagent is meant; all that calls wait for, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}
