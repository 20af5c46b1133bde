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
        reading: Reading,
    },
    /// Asks the person; never gated.
    Ask,
    /// Keeps something over sessions, or only looks for what is kept.
    Memory { summary: String, is_search: bool },
    /// Reads something of the web: all of what is sent, and the host if one is named.
    Web {
        summary: String,
        host: Option<String>,
    },
    /// Starts an agent of its own, with this task.
    Agent { task: String },
    /// Calls a tool of an MCP server. That it only reads is the server's own word, and counts for no more than that.
    Mcp {
        server: String,
        tool: String,
        arguments: String,
        says_it_reads: bool,
    },
    /// Uses the person's screen, mouse and keys.
    Computer { summary: String },
}

/// What a command line would do, as far as its text tells (spec 19.4 to 19.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reading {
    /// Of its worst part.
    pub risk: Risk,
    /// What forbids it in every mode, whoever wants it: the rule's name and what it looks at, as half a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forbidden: Option<String>,
    /// The line as its parts say, whatever blanks, comments and needless quotes it was written with: what
    /// remembered answers are compared with. None where a part cannot be read; such a line matches none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
    /// Its program's name, where the line is one plain command: no second one, no substitution, no heredoc, no
    /// redirection, no assignment before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// It runs in the scratchpad, runs no program that runs others or code, and names nothing outside (spec 5.9).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_scratchpad: bool,
    /// A program in it does what settings in the folder say too, and those may name other programs: git (spec 19.6).
    /// Such a read is one only where the system holds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steered: bool,
}

/// What a command line may do to the world. Worse compares greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads, and nothing else.
    Read,
    /// Changes files in a way that is known.
    Change,
    /// Runs a program that may do anything.
    Run,
    /// Reads or changes what lies outside the session's folders.
    Outside,
    /// Talks to other machines.
    Network,
    /// Changes something of the whole machine, or with the rights of another.
    Machine,
    /// Installs something for the whole machine, by a package command (spec 19.3).
    Install,
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
    /// Where facts are kept over sessions: read like the project, written by the tool `memory` alone.
    Memory,
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
