//! What of a session's past still counts when its records are left out: the one record that only snapshots have.

use super::EditedFile;
use crate::session::{CallId, TurnId};
use crate::tool::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Replaces what the records before it have made of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// The next call's number.
    pub calls: u64,
    /// The next turn's.
    pub turns: u64,
    /// The next answer's.
    pub answers: u64,
    /// The last compaction's.
    pub compactions: u64,
    /// The turn that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// Mode `read_only`, in which the session is, has denied the model something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// What the model is told when it is asked next: the first answer that can know of it, and the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<(u64, String)>,
    /// Calls without a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenCall>,
    /// Approvals whose action ran, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replayed: BTreeMap<String, Outcome>,
    /// What was used, in sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<Used>,
    /// What fills the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Filled>,
    /// The answer that was counted last, and all that was read and written with it, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<(u64, u64)>,
}

/// What fills the window, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filled {
    /// The last answer's tokens.
    Counted(Tokens),
    /// Tokens of the history behind a summary.
    Estimated(u64),
}

/// A call without a result, and the files that it was about to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    pub call: CallId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<Vec<EditedFile>>,
}

/// What answers of about one size took together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// provider/model.
    pub model: String,
    pub answers: u64,
    /// The most tokens that one of them read: it says which price counts.
    pub most_read: u64,
    pub tokens: Tokens,
}

/// Tokens; the parts are disjoint (spec 26).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub cache_write: u64,
    pub output: u64,
    pub reasoning: u64,
}
