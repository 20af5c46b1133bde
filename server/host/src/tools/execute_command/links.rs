//! Follows the paths of a command line through the links of the project (spec 4.3).
//!
//! The line is rated by its text, in which a link to the outside looks like a file of the project. So each path that
//! it names is looked up, and one that leads out makes the line one that reaches outside. What a program finds by itself
//! below a folder is not looked up: those that follow links there are no reads to the reader.

use crate::workspace::Workspace;
use engine::policy::shell::{self, Named, matches};
use protocol::tool::{Place, Reading};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most names that patterns of one line are compared with; beyond it anything may be among them.
const MOST: usize = 4_096;

/// Tells the reading of a line where the paths lead that the line names.
pub(super) fn follow(reading: &mut Reading, names: &[Named], workspace: &Workspace) {
    let mut room = MOST;
    for named in names {
        let places = match named.is_pattern {
            false => vec![place(&named.path, workspace)],
            true => match found(&named.path, &mut room) {
                Some(all) => all.iter().map(|it| place(it, workspace)).collect(),
                None => vec![Place::External],
            },
        };
        for place in places {
            shell::leads_to(reading, place, named.is_written);
        }
    }
}

/// Where a path leads. One over which nobody can tell leads out.
fn place(path: &Path, workspace: &Workspace) -> Place {
    let found = path.to_str().and_then(|it| workspace.resolve(it).ok());
    found.map_or(Place::External, |it| it.place)
}

/// What a pattern stands for now, and the pattern itself, which a shell leaves as it is where it finds nothing. `None`:
/// it is compared with too much.
fn found(pattern: &Path, room: &mut usize) -> Option<Vec<PathBuf>> {
    let mut all = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = match part {
            Component::Normal(name) => name.to_string_lossy(),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => {
                all.iter_mut().for_each(|it| it.push(part));
                continue;
            }
        };
        if !name.contains(['*', '?', '[']) {
            all.iter_mut().for_each(|it| it.push(part));
            continue;
        }
        let mut next: Vec<PathBuf> = all.iter().map(|it| it.join(part)).collect();
        for folder in &all {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                *room = room.checked_sub(1)?;
                if matches(&name, &entry.file_name().to_string_lossy()) {
                    next.push(entry.path());
                }
            }
        }
        all = next;
    }
    Some(all)
}
