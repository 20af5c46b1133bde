//! What a command line would do, read from its text alone (spec 19.4 to 19.6).

use protocol::tool::{Reading, Risk};
use std::path::PathBuf;

/// Where a line would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub shell: Shell,
    /// The folder it runs in, canonical.
    pub cwd: PathBuf,
    /// The person's home folder, if there is one.
    pub home: Option<PathBuf>,
    /// The session's folders: project, other workspace folders, added ones, scratchpad. Canonical.
    pub roots: Vec<PathBuf>,
    pub scratchpad: Option<PathBuf>,
    /// Undine's own settings, history and data: no line may change them.
    pub protected: Vec<PathBuf>,
}

/// Whose grammar a line is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    #[default]
    Posix,
    PowerShell,
}

/// Takes a line apart.
pub fn read(_line: &str, _around: &Surroundings) -> Reading {
    Reading {
        risk: Risk::Run,
        forbidden: None,
        canonical: None,
        program: None,
        in_scratchpad: false,
    }
}
