//! Folders from a project's upwards, as far as what they hold speaks for the project.

use crate::workspace;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most folders that are looked into (spec 21.1).
const MAX_FOLDERS: usize = 32;

/// The folder and those above it, nearest first: to the root of its git repository, never the person's home folder
/// or what is above that, and none that another person than the project's owner or ours put there.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let home = workspace::home().and_then(|it| it.canonicalize().ok());
    below(root, home.as_deref())
}

fn below(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in root.ancestors().take(MAX_FOLDERS) {
        if home.is_some_and(|it| it.starts_with(folder)) {
            break;
        }
        if !is_of_owner(folder, root) {
            break;
        }
        folders.push(folder.to_path_buf());
        if is_repository(folder, root) {
            break;
        }
    }
    folders
}

/// The root of the git repository that a folder is in.
pub fn repository(root: &Path) -> Option<PathBuf> {
    folders(root)
        .pop()
        .filter(|folder| is_repository(folder, root))
}

fn is_repository(folder: &Path, root: &Path) -> bool {
    let git = folder.join(".git");
    git.symlink_metadata().is_ok() && is_of_owner(&git, root)
}

/// Whether a file or folder belongs to the project's owner, or to us. In a folder that everybody may write, such as the
/// one for temporary files, others could put what would speak for a project below.
pub fn is_of_owner(path: &Path, root: &Path) -> bool {
    let owner = |it: &Path| fs::symlink_metadata(it).map(|it| it.uid());
    match (owner(path), owner(root)) {
        (Ok(owner), Ok(of_root)) => owner == of_root || owner == nix::unistd::geteuid().as_raw(),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folders: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap();
        for folder in folders {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        (place, path)
    }

    #[test]
    fn bug_100_the_walk_ends_below_the_home_folder() {
        let (_place, path) = place(&["home/work/a/b", "home/other"]);
        let home = path.join("home");
        let below = |from: &str| below(&path.join(from), Some(&home));
        assert_eq!(
            below("home/work/a/b"),
            ["home/work/a/b", "home/work/a", "home/work"].map(|it| path.join(it))
        );
        assert_eq!(below("home/other"), [path.join("home/other")]);
        // The home folder itself, and what is above it, speak for nothing.
        assert_eq!(below("home"), [""; 0].map(PathBuf::from));
        assert_eq!(below(""), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn the_walk_ends_at_the_repositorys_root() {
        let (_place, path) = place(&["r/.git", "r/a/b", "s/sub"]);
        fs::write(path.join("s/.git"), "gitdir: ../r/.git/worktrees/s").unwrap();
        let found = below(&path.join("r/a/b"), None);
        assert_eq!(found, ["r/a/b", "r/a", "r"].map(|it| path.join(it)));
        assert_eq!(repository(&path.join("r/a/b")), Some(path.join("r")));
        assert_eq!(repository(&path.join("s/sub")), Some(path.join("s")));
    }

    #[test]
    fn the_walk_is_bounded() {
        let deep = "d/".repeat(40);
        let (_place, path) = place(&[&deep]);
        assert_eq!(below(&path.join(deep), None).len(), MAX_FOLDERS);
    }

    #[test]
    fn what_another_person_put_above_speaks_for_nothing() {
        // Only root can give files away.
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let (_place, path) = place(&["open/.git", "open/mine"]);
        let stranger = Some(nix::unistd::Uid::from_raw(12_345));
        nix::unistd::chown(&path.join("open/.git"), stranger, None).unwrap();
        assert_eq!(repository(&path.join("open/mine")), None);
        nix::unistd::chown(&path.join("open"), stranger, None).unwrap();
        let found = below(&path.join("open/mine"), None);
        assert_eq!(found, [path.join("open/mine")]);
    }
}
