//! The agent's unreviewed changes to one file, as they are kept over a restart.
//!
//! Plain data and nothing else: `engine::review` makes it and reads it. Texts are UTF-8, places are bytes.

use crate::session::{CallId, TurnId};
use serde::{Deserialize, Serialize};

/// The version that this build writes. A record with a greater one is refused, not half-read.
pub const VERSION: u32 = 1;

/// Who in a session wrote something: a tool call of a turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Author {
    /// The session's id; turns and calls are counted within it.
    pub session: String,
    pub turn: TurnId,
    pub call: CallId,
}

/// One file's ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRecord {
    /// Format version.
    pub v: u32,
    /// The text that the person has accepted. Together with the hunks it gives the live text.
    pub base: String,
    /// Hex SHA-256 of the base, by which it may be stored elsewhere.
    pub base_hash: String,
    /// Hex SHA-256 of the live text at the time of writing.
    pub live_hash: String,
    /// Whether the agent made or deleted the file, and that was not yet reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileRecord>,
    /// In the order of the text.
    pub hunks: Vec<HunkRecord>,
}

/// What the agent did to the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileRecord {
    Created { author: Author },
    Deleted { author: Author },
}

/// One unreviewed change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkRecord {
    /// The id it was shown under, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The byte of the base where it stands. What it replaces is the first layer's text.
    pub base_start: u64,
    /// The text in its place now.
    pub live: String,
    /// What the agent had written here before the person changed it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote: Option<String>,
    /// The oldest first; at least one.
    pub layers: Vec<LayerRecord>,
    /// Whether the person's change to it was not yet reported to the model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untold: bool,
}

/// The work of one turn within a hunk, on top of what was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerRecord {
    /// Layers with a greater number came later, in the whole file.
    pub number: u64,
    /// The text before it.
    pub before: String,
    /// The person changed the text on top of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
    pub authors: Vec<Author>,
}
