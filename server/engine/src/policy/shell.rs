//! What a command line would do, read from its text alone (spec 19.4 to 19.6).

mod arguments;
mod assign;
mod beyond;
mod blocks;
mod builtins;
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
mod redirect;
mod scan;
mod scratchpad;
mod scripts;
mod walk;
mod word;
mod wrappers;

pub use beyond::{leads_to, opens_page};
pub use place::{is_start_file, matches};

use protocol::tool::{Reading, Risk};
use reader::Reader;
use std::path::PathBuf;
use tree_sitter::Node;

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
    /// Undine's own settings, history and data: no line may change them. The folder of its settings stands first, that
    /// of its data second.
    pub protected: Vec<PathBuf>,
}

/// Whose grammar a line is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    #[default]
    Posix,
    PowerShell,
}

/// A path that a line names and that lies in the session's folders by its text. A link may lead out of them: whoever
/// can see files looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Whole, with the `..` that it was written with.
    pub path: PathBuf,
    /// `*`, `?` and `[` in it stand for others.
    pub is_pattern: bool,
    /// The line may change it.
    pub is_written: bool,
}

/// Takes a line apart. Never fails: what cannot be read is rated as a program that may do anything, and is scanned for
/// what is forbidden.
pub fn read(line: &str, around: &Surroundings) -> Reading {
    read_named(line, around).0
}

/// As [`read`], with the paths in the session's folders that the line names.
pub fn read_named(line: &str, around: &Surroundings) -> (Reading, Vec<Named>) {
    match around.shell {
        Shell::Posix => posix(line, around),
        // Its links need rights that few have.
        Shell::PowerShell => (powershell::read(line, around), Vec::new()),
    }
}

fn posix(line: &str, around: &Surroundings) -> (Reading, Vec<Named>) {
    let mut reader = Reader::new(around);
    if looks::hides(line) {
        reader.unreadable();
    }
    if looks::may_deceive(line) {
        reader.at_least(Risk::Run);
    }
    let parsed = grammar::parse(line);
    match &parsed {
        Some(tree) => reader.tree(tree.root_node(), line),
        None => reader.only_scan(line),
    };
    if reader.is_exhausted() {
        reader.only_scan(line);
    }
    let parsed = parsed.filter(|_| reader.is_readable);
    let canonical = parsed.as_ref().and_then(|it| stable(it.root_node(), line));
    if canonical.is_none() {
        reader.unreadable();
    }
    let program = parsed
        .filter(|_| canonical.is_some())
        .and_then(|it| canonical::program(it.root_node(), line));
    let reading = Reading {
        risk: reader.risk,
        forbidden: reader.forbidden,
        canonical,
        program,
        in_scratchpad: scratchpad::stays(line, around),
        steered: reader.steered,
    };
    (reading, reader.names)
}

/// The canonical form, if it reads as itself: the grammar takes some strange texts for others.
fn stable(root: Node<'_>, line: &str) -> Option<String> {
    let form = canonical::canonical(root, line);
    // A heredoc's body has lines of its own; such a form is compared and never read again.
    if line.contains("<<") || form == line {
        return Some(form);
    }
    let again = grammar::parse(&form)?;
    let is_same =
        !again.root_node().has_error() && canonical::canonical(again.root_node(), &form) == form;
    is_same.then_some(form)
}

#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(test)]
mod tests;
