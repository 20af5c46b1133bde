//! `undine/session/…` and `undine/prompts`: what a person does with sessions beside ACP's own methods.
//!
//! A session may be named that is not open. It is looked for in `cwd` and in the editor's folders.

use crate::checkpoint::Checkpoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Makes a new session of a part of another one, which stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkSessionParams {
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The last message that is taken over, counted from 1; 0 takes none, and without it all are. An answer is taken over with the
    /// results of its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkSessionResult {
    /// The new session. It is opened by `session/load`.
    pub session_id: String,
    /// The last message that was taken over.
    pub message: u64,
    /// What the person wrote next in the session that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Checkpoints that were made after that message, oldest first. Files are as they were; restoring the first of them gives back
    /// what its files were at that message.
    pub checkpoints: Vec<Checkpoint>,
}

/// Gives a session a title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameSessionParams {
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    pub title: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameSessionResult {
    /// As it is kept: one line, without secrets, not too long.
    pub title: String,
}

/// Asks for a session as a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportSessionParams {
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(default)]
    pub format: ExportFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// For people: who said what, and what was done; long results are shortened.
    #[default]
    Markdown,
    /// For programs: the session's log, a record a line.
    Jsonl,
}

/// The text, or the file that it was written to because it is long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportSessionResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// Looks for words in the sessions of a folder, those of earlier runs included. Every word must be in one, case ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchSessionsParams {
    /// The editor's first folder, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    pub query: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchSessionsResult {
    /// Newest first.
    pub sessions: Vec<FoundSession>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundSession {
    pub session_id: String,
    pub cwd: PathBuf,
    pub title: String,
    /// As in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// The message that has the words; missing where the title does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// The words with what stands around them, in one line.
    pub excerpt: String,
}

/// Looks for words in what the person wrote before (spec 13.4a). No words: all fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchPromptsParams {
    /// The editor's first folder, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The session whose prompts come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default)]
    pub words: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchPromptsResult {
    /// Newest first, none twice.
    pub prompts: Vec<EarlierPrompt>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarlierPrompt {
    pub text: String,
    pub session_id: String,
}
