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
#[schemars(inline)]
pub enum TaskStatus {
    #[default]
    Pending,
    InProgress,
    Blocked,
    Completed,
    /// It stays deleted, and its id is not given again.
    Deleted,
}

impl TaskStatus {
    /// Its name on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Deleted => "deleted",
        }
    }
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

/// Plan work of several steps as a checklist that the person sees. Not for what is done in one or two steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TaskCreate {
    pub tasks: Vec<NewTask>,
    /// Why, in a sentence.
    #[serde(default)]
    pub explanation: Option<String>,
}

/// A task to be put on the checklist.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NewTask {
    /// What is to be done: "Run the tests".
    pub subject: String,
    /// The same while it is being done: "Running the tests".
    pub active_form: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub status: NewStatus,
}

/// How far a new task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum NewStatus {
    #[default]
    Pending,
    InProgress,
}

/// Say how far the tasks of the checklist are: in_progress before you begin one, completed as soon as it is done and checked, blocked
/// when it cannot go on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TaskUpdate {
    pub updates: Vec<TaskChange>,
}

/// A change of one task. What is missing stays.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TaskChange {
    pub id: TaskId,
    #[serde(default)]
    pub status: Option<TaskStatus>,
    #[serde(default)]
    pub subject: Option<String>,
    #[serde(default)]
    pub active_form: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
}

/// Models write ids as they see them, `#3`, or only the number in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum TaskId {
    Number(u64),
    #[schemars(skip)]
    Text(String),
}

impl TaskId {
    /// The number that it stands for.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(it) => Some(*it),
            Self::Text(it) => it.trim().trim_start_matches('#').parse().ok(),
        }
    }
}

/// The checklist with what was done for each task.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct TaskList {}

impl TaskCreate {
    /// The tool's name.
    pub const NAME: &'static str = "task_create";
}

impl TaskUpdate {
    /// The tool's name.
    pub const NAME: &'static str = "task_update";
}

impl TaskList {
    /// The tool's name.
    pub const NAME: &'static str = "task_list";
}
