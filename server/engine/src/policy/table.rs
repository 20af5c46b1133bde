//! What each mode makes of each kind of access (spec 19.1), before the person's rules and answers.

use super::{Hold, Verdict};
use protocol::session::Mode;
use protocol::tool::{Access, Place, Reading, Risk};
use std::path::{Component, Path};

/// The table. `can_hold`: this system can hold a command to reading.
pub(super) fn by_mode(mode: Mode, can_hold: bool, access: &Access) -> Verdict {
    match access {
        Access::Ask => free(),
        Access::Read { path, place } => match place {
            Place::Project | Place::AddedDir | Place::Scratchpad | Place::Memory => free(),
            Place::Protected | Place::External => outside(
                mode,
                &format!("reading {} outside the project", path.display()),
            ),
        },
        Access::Write { path, place } => match (place, mode) {
            // The gate has denied Undine's own already.
            (Place::Protected | Place::Memory, _) => Verdict::Deny("Denied.".to_owned()),
            (Place::External, _) => outside(
                mode,
                &format!("changing {} outside the project", path.display()),
            ),
            (Place::Project | Place::AddedDir | Place::Scratchpad, Mode::ReadOnly) => {
                read_only("changing files")
            }
            (Place::Scratchpad, Mode::Ask | Mode::Auto | Mode::FullAccess) => free(),
            // What git finds there it runs: hooks, filters, pagers.
            (Place::Project | Place::AddedDir, _) if is_of_git(path) => {
                outside(mode, "changing git's own files")
            }
            (Place::Project | Place::AddedDir, Mode::Ask) => Verdict::Ask(None),
            (Place::Project | Place::AddedDir, Mode::Auto | Mode::FullAccess) => free(),
        },
        Access::Run { place, reading, .. } => run(mode, can_hold, *place, reading),
        Access::Memory {
            is_search: true, ..
        } => free(),
        Access::Memory {
            is_search: false, ..
        } => match mode {
            Mode::ReadOnly => read_only("changing memory"),
            Mode::Ask | Mode::Auto | Mode::FullAccess => free(),
        },
        Access::Web { .. } => match mode {
            Mode::ReadOnly => Verdict::Ask(None),
            Mode::Ask | Mode::Auto | Mode::FullAccess => outside(mode, "network access"),
        },
        Access::Agent { .. } => match mode {
            Mode::ReadOnly => free(),
            Mode::Ask | Mode::Auto | Mode::FullAccess => outside(mode, "starting an agent"),
        },
        Access::Mcp { .. } | Access::Computer { .. } => outside(mode, "external side effects"),
    }
}

fn run(mode: Mode, can_hold: bool, place: Place, reading: &Reading) -> Verdict {
    // A folder outside makes the whole command external, even a read (spec 5.9).
    let risk = match place {
        Place::Project | Place::AddedDir | Place::Scratchpad => reading.risk,
        Place::Protected | Place::Memory | Place::External => reading.risk.max(Risk::Outside),
    };
    let held = match can_hold {
        true => Verdict::Allow(Hold::ReadOnly),
        false => Verdict::Allow(Hold::ByRating),
    };
    // Nobody but the system can tell what its settings would have it run.
    let risk = match risk {
        Risk::Read if reading.steered && !can_hold => Risk::Run,
        risk => risk,
    };
    match (mode, risk) {
        // What the reader takes for a read is held to it, in case the reader is wrong.
        (Mode::ReadOnly | Mode::Auto, Risk::Read) => held,
        // Whatever it is, it can only read.
        (Mode::ReadOnly, Risk::Run) if can_hold => held,
        (Mode::ReadOnly, Risk::Run) => read_only("running programs"),
        (Mode::ReadOnly, Risk::Change) => read_only("changing files"),
        (Mode::ReadOnly, Risk::Outside) => read_only("access outside the project"),
        (Mode::ReadOnly, Risk::Network) => read_only("network access"),
        (Mode::ReadOnly, Risk::Machine | Risk::Install) => read_only("machine-wide changes"),
        (Mode::Ask, _) => Verdict::Ask(None),
        (Mode::Auto, _) => Verdict::Classify,
        (Mode::FullAccess, _) => free(),
    }
}

fn free() -> Verdict {
    Verdict::Allow(Hold::AsConfigured)
}

fn outside(mode: Mode, what: &str) -> Verdict {
    match mode {
        Mode::ReadOnly => read_only(what),
        Mode::Ask => Verdict::Ask(None),
        Mode::Auto => Verdict::Classify,
        Mode::FullAccess => free(),
    }
}

/// How a denial of mode `read_only` begins.
const READ_ONLY: &str = "Denied: the session is in read_only mode";

fn read_only(what: &str) -> Verdict {
    Verdict::Deny(format!(
        "{READ_ONLY}, which does not allow {what}. Say what you would do instead, or ask the person to change the mode."
    ))
}

/// Whether a result says that mode `read_only` has denied the call. By its text, which is all that a log has of it.
pub fn is_for_read_only(denial: &str) -> bool {
    denial.starts_with(READ_ONLY)
}

/// Whether a path is in git's own folder, or is the file that says where that is. By name, as git finds it; other
/// spellings of it, which some file systems take for the same, count too.
pub(super) fn is_of_git(path: &Path) -> bool {
    path.components().any(|it| match it {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            let shown: String = name.chars().filter(|it| !is_ignored(*it)).collect();
            shown
                .trim_end_matches(['.', ' '])
                .eq_ignore_ascii_case(".git")
                || shown.eq_ignore_ascii_case("git~1")
        }
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            false
        }
    })
}

/// Characters that HFS+ leaves out of a name.
fn is_ignored(it: char) -> bool {
    matches!(it, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
