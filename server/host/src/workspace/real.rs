//! Where a path really leads: through its symlinks, as far as it exists (spec 4.2).

use std::path::{Component, Path, PathBuf};

/// Resolves the nearest existing ancestor through its symlinks and appends the rest. `None`: it leads
/// over a link that leads nowhere.
///
/// What does not exist can only be resolved by its spelling, and its `..` may lead back to what does:
/// `missing/../link`. So the result is looked at again until nothing is left to resolve.
pub(super) fn nearest(path: &Path) -> Option<PathBuf> {
    // Of what exists the system leaves nothing to resolve.
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let mut at = resolved_once(path)?;
    // Each round resolves a link at least, and the system itself follows no more than 40.
    for _ in 0..40 {
        let next = resolved_once(&at)?;
        if next == at {
            return Some(at);
        }
        at = next;
    }
    None
}

fn resolved_once(path: &Path) -> Option<PathBuf> {
    let mut rest: Vec<Component<'_>> = Vec::new();
    let mut at = path;
    let mut real = loop {
        match at.canonicalize() {
            Ok(real) => break real,
            Err(_) => {
                // A link that leads nowhere must not be followed by a later write.
                if at.symlink_metadata().is_ok() {
                    return None;
                }
                rest.push(at.components().next_back()?);
                at = at.parent()?;
            }
        }
    };
    for part in rest.into_iter().rev() {
        match part {
            Component::Normal(name) => real.push(name),
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(real)
}

/// A path without `.` and `..`, by its spelling alone.
pub(super) fn spelled(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}
