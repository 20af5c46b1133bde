//! Two levels of a folder, as git and the person see it.

use ignore::WalkBuilder;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The most entries that are listed (spec 1.1).
const MAX_ENTRIES: usize = 1_000;

/// Sorted, relative names, folders with a slash; hidden and git-ignored entries are left out. Ends early when
/// nobody waits any more.
pub(super) fn listing(folder: &Path, token: &CancellationToken) -> String {
    let is_in_git = folder.ancestors().any(|it| it.join(".git").exists());
    let walk = WalkBuilder::new(folder)
        .max_depth(Some(2))
        .sort_by_file_name(|a, b| a.cmp(b))
        .ignore(false)
        // A `.gitignore` says what the person does not count even before `git init`; but then those of
        // folders above, a home folder's perhaps, have no say.
        .require_git(is_in_git)
        .parents(is_in_git)
        .build();
    let mut names = Vec::new();
    for entry in walk.flatten().filter(|it| it.depth() > 0) {
        if names.len() == MAX_ENTRIES || token.is_cancelled() {
            names.push(format!(
                "[stopped after {MAX_ENTRIES} entries; list a folder further down]"
            ));
            break;
        }
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let is_folder = entry.file_type().is_some_and(|it| it.is_dir());
        names.push(format!(
            "{}{}",
            path.display(),
            if is_folder { "/" } else { "" }
        ));
    }
    match names.is_empty() {
        true => "The folder is empty.".to_owned(),
        false => names.join("\n"),
    }
}
