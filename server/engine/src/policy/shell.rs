//! What a command line would do, read from its text alone (spec 19.4 to 19.6).

mod assign;
mod canonical;
mod command;
mod expand;
mod filters;
mod forbidden;
mod git;
mod grammar;
mod installs;
mod looks;
mod place;
mod powershell;
mod programs;
mod reader;
mod scan;
mod scratchpad;
mod walk;
mod word;

use protocol::tool::{Reading, Risk};
use reader::Reader;
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

/// Takes a line apart. Never fails: what cannot be read is rated as a program that may do anything, and is scanned for
/// what is forbidden.
pub fn read(line: &str, around: &Surroundings) -> Reading {
    match around.shell {
        Shell::Posix => posix(line, around),
        Shell::PowerShell => powershell::read(line, around),
    }
}

fn posix(line: &str, around: &Surroundings) -> Reading {
    let mut reader = Reader::new(around);
    if looks::may_deceive(line) {
        reader.at_least(Risk::Run);
    }
    reader.script(line);
    let mut canonical = None;
    let mut program = None;
    if reader.is_readable
        && let Some(tree) = grammar::parse(line)
    {
        canonical = Some(canonical::canonical(tree.root_node(), line));
        program = canonical::program(tree.root_node(), line);
    }
    Reading {
        risk: reader.risk,
        forbidden: reader.forbidden,
        canonical,
        program,
        in_scratchpad: scratchpad::stays(line, around),
    }
}

#[cfg(test)]
mod tests;
