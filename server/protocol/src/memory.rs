//! What is kept over sessions (spec 8): the calls of the tool `memory`, and `undine/memory/…`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Keep facts over sessions: what the person told you about the project or themselves, decisions, and what was hard to find out. Not
/// what the code says anyway, and no secrets. The names and descriptions of all facts stand in your instructions; read a fact's file
/// with read_file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct MemoryCall {
    pub action: MemoryAction,
    /// A short name for the fact; for remember. For update and forget it does as `id`.
    #[serde(default)]
    pub name: Option<String>,
    /// The fact, as Markdown; for remember and update.
    #[serde(default)]
    pub content: Option<String>,
    /// One line that says when the fact is of use; the first line of the content if missing.
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// Keep it in the repository, for all who work in it; else it is kept for this project and this person.
    #[serde(default)]
    pub shared: bool,
    /// Keep it for all projects of this person; counts over `shared`.
    #[serde(default)]
    pub global: bool,
    /// The fact's name, or its file's without `.md`; for update and forget.
    #[serde(default)]
    pub id: Option<String>,
    /// What to look for; for search.
    #[serde(default)]
    pub query: Option<String>,
}

impl MemoryCall {
    /// The tool's name.
    pub const NAME: &'static str = "memory";
}

/// What is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum MemoryAction {
    Remember,
    Update,
    Forget,
    #[default]
    Search,
}

/// For whom a fact is kept. In the order in which a name is looked for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// For all projects of this person.
    Global,
    /// For this person in this project.
    Private,
    /// For all who work in the repository: its files are committed.
    Shared,
}

impl MemoryScope {
    pub const ALL: [Self; 3] = [Self::Global, Self::Private, Self::Shared];

    /// Its name on the wire and in the files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Private => "private",
            Self::Shared => "shared",
        }
    }
}

/// Lists what is kept for a session's project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListMemoryParams {
    pub session_id: String,
}

/// What is kept: global facts first, then private, then shared ones, each by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryList {
    pub session_id: String,
    pub facts: Vec<MemoryFact>,
}

/// A fact that is kept. Its text stands in its file, which may be edited by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFact {
    pub name: String,
    /// In one line.
    pub description: String,
    pub scope: MemoryScope,
    pub path: PathBuf,
    /// RFC 3339; missing where the file does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// Keeps a fact; one that has the name in this scope is replaced. Answers what is kept then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddMemoryParams {
    pub session_id: String,
    /// The fact, as Markdown.
    pub content: String,
    /// Its first words if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its first line if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// `private` if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
}

/// Removes a fact. Answers what is kept then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoveMemoryParams {
    pub session_id: String,
    /// The fact's name, or its file's without `.md`.
    pub name: String,
    /// Where it is; the first scope that has the name if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
}
