//! `undine/checkpoint/…`: what files were before something changed them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Lists the checkpoints of a session's project, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListCheckpointsParams {
    pub session_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListCheckpointsResult {
    pub checkpoints: Vec<Checkpoint>,
}

/// Files as they were at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    pub id: String,
    /// Milliseconds since the Unix epoch.
    pub time: u64,
    /// What was about to happen, in one line.
    pub title: String,
    /// The session, turn and tool call that it was made for, where it was made for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    pub files: Vec<CheckpointFile>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointFile {
    /// Relative to the project, or absolute for a file outside of it.
    pub path: PathBuf,
    /// Whether the file was there; one that was not is removed by a restore.
    pub existed: bool,
}

/// Makes a checkpoint of files by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateCheckpointParams {
    pub session_id: String,
    /// Relative to the project, or absolute.
    pub paths: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateCheckpointResult {
    pub checkpoint: Checkpoint,
}

/// Gives files back what they were. All or nothing; undone by restoring `undo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreCheckpointParams {
    pub session_id: String,
    pub id: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreCheckpointResult {
    /// The checkpoint that was made right before.
    pub undo: String,
    /// Files that have their old text again.
    pub restored: Vec<PathBuf>,
    /// Files that were removed, because they did not exist.
    pub removed: Vec<PathBuf>,
    /// Entries that were passed over, each with the reason.
    pub skipped: Vec<SkippedFile>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedFile {
    pub path: PathBuf,
    pub reason: String,
}
