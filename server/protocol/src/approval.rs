//! The question that a planned call may put to the person, as data.
//!
//! An option carries the verdict and the rule that choosing it adds; labels are for people and are
//! never parsed.

use crate::acp;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One answer that the person can choose. Ids are fixed: `save`, `once`, `session`, `always`, `no`.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalOption {
    pub id: OptionId,
    pub label: String,
    /// What choosing it adds to the session's remembered answers.
    pub rule: Option<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionId {
    /// Yes, this time, once the documents are saved that a command would not see as they are.
    Save,
    /// Yes, this time.
    Once,
    /// Yes, and do not ask again in this session.
    Session,
    /// Yes, and never ask again: the answer is kept in `permissions.toml`.
    Always,
    /// No.
    No,
}

impl OptionId {
    pub const ALL: [Self; 5] = [
        Self::Save,
        Self::Once,
        Self::Session,
        Self::Always,
        Self::No,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Save => "save",
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::No => "no",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.id() == id)
    }

    /// ACP's kind for this option.
    pub fn kind(self) -> acp::PermissionOptionKind {
        match self {
            Self::Save | Self::Once => acp::PermissionOptionKind::AllowOnce,
            Self::Session | Self::Always => acp::PermissionOptionKind::AllowAlways,
            Self::No => acp::PermissionOptionKind::RejectOnce,
        }
    }

    pub fn allows(self) -> bool {
        match self {
            Self::Save | Self::Once | Self::Session | Self::Always => true,
            Self::No => false,
        }
    }
}

/// A remembered "do not ask again" (spec 19.7): exactly what was shown, never a wider class of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Rule {
    /// This command line in this folder, however its blanks and quotes are written.
    Run { command: String, cwd: PathBuf },
    /// Changes to files of the project.
    EditProject,
    /// Reads directly in this folder outside the project; writes too if it was a write that was shown.
    ExternalFolder {
        folder: PathBuf,
        /// Missing in logs of before it existed: only reads, the narrower of the two.
        #[serde(default)]
        writes: bool,
    },
}
