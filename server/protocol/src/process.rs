//! `undine/process/…`: commands that run in the background of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Lists a session's processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListProcessesParams {
    pub session_id: String,
}

/// A session's processes in the background, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessList {
    pub session_id: String,
    pub processes: Vec<Process>,
}

/// A command in the background. It ends with the server at the latest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// `bg-` and the process's number; good within its session.
    pub id: String,
    pub pid: u32,
    /// The command line.
    pub command: String,
    pub cwd: PathBuf,
    pub state: ProcessState,
    /// When it was started, in milliseconds since the Unix epoch.
    pub time: u64,
    /// Bytes that it has written so far.
    pub bytes: u64,
    /// The file with its output, older parts left out where it is large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The tool call that began it.
    pub tool_call_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessState {
    Running,
    /// It has ended by itself, with all it had started.
    Exited,
    /// It was ended, by the agent or the person, with all it had started.
    Stopped,
    /// A signal ended it that Undine did not send.
    Killed,
}

/// Reads a process's output. What the model has read and what it has not is another matter, and stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadProcessParams {
    pub session_id: String,
    pub id: String,
    /// Bytes of the output that the client has already: the `end` of its last reading.
    #[serde(default)]
    pub from: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadProcessResult {
    pub process: Process,
    /// Plain text, the newest 32 KiB at most.
    pub output: String,
    /// Bytes between `from` and the output that are left out.
    pub skipped: u64,
    /// Where the output ends, counted from its first byte.
    pub end: u64,
}

/// Ends a process. One that has ended already is left alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopProcessParams {
    pub session_id: String,
    pub id: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopProcessResult {
    pub process: Process,
}

/// Moves running commands to the background. Their calls end at once, and the model is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetachProcessParams {
    pub session_id: String,
    /// The call whose command is meant; all that run, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}
