//! Remembered answers: what "don't ask again" adds, and what it covers later. Exactly what was shown, nothing wider
//! (spec 19.7). Calls of MCP servers and uses of the screen are never remembered.

use super::shell::is_start_file;
use super::table::is_of_git;
use protocol::approval::Rule;
use protocol::tool::{Access, Place};
use std::path::Path;

/// The command line that remembered answers are compared by: as its parts say, however it was written. None: a part
/// of it cannot be read, and no answer covers it.
fn canonical(access: &Access) -> Option<&str> {
    match access {
        Access::Run { reading, .. } => reading.canonical.as_deref(),
        Access::Read { .. }
        | Access::Write { .. }
        | Access::Ask
        | Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => None,
    }
}

/// Whether a remembered answer covers an access.
pub(super) fn covers(rule: &Rule, access: &Access) -> bool {
    match (rule, access) {
        (Rule::Run { command, cwd }, Access::Run { cwd: asked_cwd, .. }) => {
            canonical(access) == Some(command) && cwd == asked_cwd
        }
        (
            Rule::EditProject,
            Access::Write {
                path,
                place: Place::Project | Place::AddedDir,
            },
        ) => !is_of_git(path),
        (
            Rule::ExternalFolder { folder, .. },
            Access::Read {
                path,
                place: Place::External,
            },
        ) => path.parent() == Some(folder.as_path()),
        (
            Rule::ExternalFolder { folder, writes },
            Access::Write {
                path,
                place: Place::External,
            },
        ) => *writes && path.parent() == Some(folder.as_path()) && !runs_later(path),
        (Rule::Run { .. } | Rule::EditProject | Rule::ExternalFolder { .. }, _) => false,
    }
}

/// The rule that would cover an access, if one may.
pub(super) fn rule(access: &Access) -> Option<Rule> {
    match access {
        Access::Run { cwd, .. } => Some(Rule::Run {
            command: canonical(access)?.to_owned(),
            cwd: cwd.clone(),
        }),
        Access::Write {
            path,
            place: Place::Project | Place::AddedDir,
        } if !is_of_git(path) => Some(Rule::EditProject),
        Access::Read {
            path,
            place: Place::External,
        } => folder_rule(path, false),
        Access::Write {
            path,
            place: Place::External,
        } if !runs_later(path) => folder_rule(path, true),
        Access::Read {
            place:
                Place::Project | Place::AddedDir | Place::Scratchpad | Place::Memory | Place::Protected,
            ..
        }
        | Access::Write {
            place:
                Place::Project
                | Place::AddedDir
                | Place::Scratchpad
                | Place::Protected
                | Place::Memory
                | Place::External,
            ..
        }
        | Access::Ask
        | Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => None,
    }
}

/// What a shell or git does later because of a file: asked about each time, whatever was said of its folder.
fn runs_later(path: &Path) -> bool {
    is_of_git(path) || is_start_file(path)
}

fn folder_rule(path: &Path, writes: bool) -> Option<Rule> {
    let folder = path.parent()?.to_path_buf();
    Some(Rule::ExternalFolder { folder, writes })
}

/// A remembered answer in words, for the person.
pub fn describe(rule: &Rule) -> String {
    match rule {
        Rule::Run { command, cwd } => format!("Run `{command}` in {}", cwd.display()),
        Rule::EditProject => "Edit files of the project".to_owned(),
        Rule::ExternalFolder {
            folder,
            writes: false,
        } => format!("Read files directly in {}", folder.display()),
        Rule::ExternalFolder {
            folder,
            writes: true,
        } => format!("Read and edit files directly in {}", folder.display()),
    }
}
