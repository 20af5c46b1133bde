//! `undine/review/…`: the agent's changes that the person has not judged yet, as an editor sees them.

use crate::lsp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which unreviewed changes to list. All, when neither is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListReviewParams {
    /// Only files in which this session has changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Only this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub uri: Option<lsp::Uri>,
}

/// Files with unreviewed changes, sorted by URI. In `undine/review/changed` a file without any left stands there with no hunks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewList {
    pub files: Vec<ReviewFile>,
}

/// One file and its hunks, in the order of the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFile {
    /// As the editor spelled it, where it has the file open.
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
    /// The document's version that the ranges are for; `null` for a file that is not open.
    pub version: Option<i32>,
    /// What the agent did to the file as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<WholeFile>,
    pub hunks: Vec<ReviewHunk>,
}

/// What was done to a file as a whole and is not judged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WholeFile {
    Created,
    Deleted,
}

/// Lines that the agent changed together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewHunk {
    /// Names the hunk's content and turn: it stays while the hunk moves, and another content has another id.
    pub id: String,
    pub state: ReviewState,
    /// The hunk's lines in the text as it is, whole lines; empty, at a line's start, where lines were only removed.
    #[schemars(with = "serde_json::Value")]
    pub range: lsp::Range,
    /// The accepted lines in their place, with their endings.
    pub base_text: String,
    /// The session whose work it is; with several, the latest.
    pub session_id: String,
    /// The latest turn that worked on it, within that session.
    pub turn: u64,
    /// The latest tool call that worked on it.
    pub tool_call_id: String,
}

/// Whose work a hunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    /// The agent's only.
    Pending,
    /// The person's work is in it too. Only a wish for this very hunk reverts it.
    Mixed,
}

/// Keeps or reverts changes: the hunks named, or those of the file, the turn or the session. Everything, when nothing is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveReviewParams {
    pub action: ReviewAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub uri: Option<lsp::Uri>,
    /// A turn of the session that `sessionId` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewAction {
    /// The changed lines are accepted; no file changes.
    Keep,
    /// The accepted lines come back, as one edit that undo takes back.
    Revert,
}

/// What became of the wish, by hunk id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveReviewResult {
    /// Hunks that are settled.
    pub settled: Vec<String>,
    /// Hunks whose revert waits for the running turn's next tool boundary.
    pub queued: Vec<String>,
    /// Hunks that were meant too and stay: the person's work is in them, or other unreviewed work stands on them.
    pub remaining: Vec<String>,
}

/// Asks for a file's accepted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewBaseParams {
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
}

/// The text that the person has accepted: the live one without the agent's unreviewed changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewBaseResult {
    pub text: String,
}

/// Lines of a proposed change, in `toolCall._meta.undine.hunks` of a `session/request_permission`. The answer's
/// `_meta.undine.acceptedHunks` names the ids of those that the person wants made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposedHunk {
    /// Names it within its question.
    pub id: String,
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
    /// The lines of the text as it is that would go, whole lines; empty where lines only come in.
    #[schemars(with = "serde_json::Value")]
    pub range: lsp::Range,
    /// Those lines, with their endings.
    pub removed: String,
    /// The lines that would come in their place, with their endings.
    pub added: String,
}
