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
    /// In the session's folder, or in another folder of the editor.
    Project,
    /// In a folder that the person has added, and trusted like the project.
    AddedDir,
    /// In the session's own folder for files that are no part of the work.
    Scratchpad,
    /// Undine's own settings, history and data: never written by a tool.
    Protected,
    /// Anywhere else.
    External,
}

/// A picture that a tool gave to the model. Its bytes lie beside the log, in `pictures/<sha256>`, so that the log
/// stays small and the same picture is kept once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Picture {
    /// What it was read from, for people and the model; may be empty.
    pub name: String,
    /// Told by its first bytes: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// How large it is.
    pub bytes: u64,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
}

/// In one line, for the model (spec 18.1): `[image/png, 48213 bytes]`.
impl std::fmt::Display for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {} bytes]", self.media_type, self.bytes)
    }
}

/// How a call ended (spec 0.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    Error,
    Cancelled,
}
