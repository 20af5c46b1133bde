//! The goal of a session: what must hold before the agent stops by itself (spec 23).

use serde::{Deserialize, Serialize};

/// A condition that the person set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// In the person's words.
    pub condition: String,
    /// Turns that were begun for it without a message of the person's.
    pub turns: u32,
    /// Why nobody works towards it at the moment, in a sentence; missing while somebody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
}
