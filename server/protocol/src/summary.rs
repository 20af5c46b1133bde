//! What a run took: `_meta.undine.summary` of a prompt's answer, and of its error's data (spec 25).

use serde::{Deserialize, Serialize};

/// Of a whole run, whatever it was made of. Prompts that one run took have the same one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The same for a person, in one line.
    pub text: String,
    pub duration_ms: u64,
    /// Tokens that were read, from a cache or not.
    pub input: u64,
    /// Tokens that were written, thoughts included.
    pub output: u64,
    /// Lines of files that came and went by the agent's edits.
    pub added: u64,
    pub removed: u64,
    /// The person ended it, or it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}
