//! What a planned tool call touches, and how a call ends.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One thing that a plan touches. The policy decides on these and on nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Access {
    /// Reads a file or folder.
    Read { path: PathBuf, place: Place },
    /// Creates, changes or deletes a file.
    Write { path: PathBuf, place: Place },
    /// Runs a command line in a shell, in this folder.
    Run {
        command: String,
        cwd: PathBuf,
        place: Place,
    },
    /// Asks the person; never gated.
    Ask,
}

/// Where a path lies (spec 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In one of the session's folders.
    Project,
    /// Undine's own settings, history and data: never written by a tool.
    Protected,
    /// Anywhere else.
    External,
}

/// How a call ended (spec 0.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    Error,
    Cancelled,
}
