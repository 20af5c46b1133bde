//! The checklist of a session: what the model means to do, and how far it is (spec 10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry. Ids are counted from 1 and never given twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: u64,
    /// What is to be done.
    pub subject: String,
    /// The same while it is being done: "Running the tests".
    pub active_form: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub status: TaskStatus,
    /// Milliseconds since the Unix epoch at which it was begun first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// The same of its completion; missing again when it is reopened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<u64>,
    /// Tokens that the session used while it was in progress.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// What was done for it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    #[default]
    Pending,
    InProgress,
    Blocked,
    Completed,
    /// It stays deleted, and its id is not given again.
    Deleted,
}

/// A tool call that was made while a task was in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub tool: String,
    /// What it was about, in a few words.
    pub target: String,
    /// Whether it succeeded.
    pub ok: bool,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
