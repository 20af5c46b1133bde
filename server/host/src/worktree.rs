//! A checkout of the project for a subagent alone, and the way of its changes back into the project (spec 9.8).
//!
//! A checkout is a folder with the project's files as they are when it is made: all that git keeps or would keep,
//! uncommitted work and the editor's unsaved texts included, and nothing that git ignores. In it lies a repository of
//! its own at the project's commit, which borrows the project's objects (git calls it alternates).
//!
//! This is not `git worktree add`: that writes into the project's repository, where two at a time fail at random
//! (BUG-83), where what a subagent does to branches would be done to the person's, and from where the remains of a
//! server that died must be pruned. Here nothing in the project's repository is written at all, so there is nothing to
//! take turns for, between subagents or between servers.
//!
//! What the changes are measured against is kept elsewhere, in a bare repository of our own that no tool can write
//! (`base`). Files go into it byte by byte, past every filter that a repository names.

mod base;
mod changes;
mod copy;
mod land;
mod own_repository;
#[cfg(test)]
mod tests;

pub use changes::{Change, Changed};
pub use land::Landed;

use crate::documents::Snapshot;
use crate::scratchpad;
use crate::store::Folders;
use base::Base;
use nix::fcntl::Flock;
use own_repository::Project;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const PREFIX: &str = "undine-worktree-";

/// A subagent's own checkout. Dropped, it stays on the disk, with all that was done in it, until it is swept.
#[derive(Debug)]
pub struct Checkout {
    /// The folder of ours that it lies in.
    folder: PathBuf,
    /// Its files.
    tree: PathBuf,
    /// The project's work tree.
    project: PathBuf,
    /// From there to the folder that the session works in; empty where that is the same.
    within: PathBuf,
    base: Base,
    /// Where a patch is kept that cannot be brought back.
    patches: PathBuf,
    /// How long git may take.
    patience: Duration,
    /// Says to other servers that it is in use, and ends with this process.
    _in_use: Flock<File>,
}

/// What can be known of a checkout without waiting for anything.
impl Checkout {
    /// The folder that a subagent works in: the session's folder, as it lies in the checkout.
    pub fn root(&self) -> PathBuf {
        // Joining nothing would put a slash behind it.
        match self.within.as_os_str().is_empty() {
            true => self.tree.clone(),
            false => self.tree.join(&self.within),
        }
    }
}

impl Checkout {
    /// Makes a checkout of the project that a folder lies in, with what the editor's documents hold. `secs` is what git
    /// may take. The error is for the model; there is no checkout then.
    pub async fn create(
        folders: &Folders,
        session: &Path,
        documents: &Snapshot,
        secs: u64,
    ) -> Result<Self, String> {
        let patience = Duration::from_secs(secs);
        let making = Self::make(folders, session, documents, patience);
        tokio::time::timeout(patience, making)
            .await
            .unwrap_or_else(|_| Err(format!("it took longer than {secs} seconds")))
            .map_err(|why| {
                format!(
                    "There is no worktree for the subagent: {why}. Nothing was started; `isolation: shared` needs none."
                )
            })
    }

    async fn make(
        folders: &Folders,
        session: &Path,
        documents: &Snapshot,
        patience: Duration,
    ) -> Result<Self, String> {
        let session = session.canonicalize().map_err(|it| it.to_string())?;
        let project = Project::of(&session).await?;
        let within = session.strip_prefix(&project.root);
        let within = within.map(Path::to_path_buf).unwrap_or_default();
        let name = project.root.file_name().unwrap_or("project".as_ref());
        let unmade = Unmade::new(folders)?;
        let tree = unmade.folder.join(name);
        private(&tree).map_err(cannot_make)?;
        let files = copy::files(&project, documents).await?;
        let (from, to) = (project.root.clone(), tree.clone());
        let copying = tokio::task::spawn_blocking(move || copy::copy(&from, &to, files));
        let names = copying.await.map_err(|it| it.to_string())??;
        own_repository::init(&project, &tree).await?;
        let base = Base::take(&project, &unmade.state, &tree, names).await?;
        let (folder, _in_use) = unmade.keep();
        Ok(Self {
            folder,
            tree,
            project: project.root,
            within,
            base,
            patches: folders.data.join("patches"),
            patience,
            _in_use,
        })
    }

    /// Removes it with all that is in it. Waits for the disk.
    pub fn remove(self) {
        let state = self.base.folder().to_path_buf();
        for it in [self.folder.as_path(), &state] {
            if let Err(error) = scratchpad::clear(it) {
                tracing::warn!(%error, path = %it.display(), "a checkout was not removed");
            }
        }
    }

    /// Says where its files stay, for the person and the model: it is left on the disk, though nobody works in it.
    pub fn kept(&self) -> String {
        format!(
            "Its changes were not brought into the project; its checkout is kept in {}.",
            self.tree.display()
        )
    }
}

/// A checkout that is not whole yet. Dropped, it is taken away again.
struct Unmade {
    folder: PathBuf,
    state: PathBuf,
    in_use: Option<Flock<File>>,
}

impl Unmade {
    fn new(folders: &Folders) -> Result<Self, String> {
        let below = folders.worktrees();
        private(&below).map_err(cannot_make)?;
        let below = below.canonicalize().map_err(cannot_make)?;
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .rand_bytes(12)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(below)
            .map_err(cannot_make)?;
        let name = made.path().file_name().unwrap_or_default().to_owned();
        let in_use = scratchpad::lock(made.path()).map_err(cannot_make)?;
        let state = folders.data.join("worktrees").join(name);
        private(&state).map_err(cannot_make)?;
        Ok(Self {
            folder: made.keep(),
            state,
            in_use: Some(in_use),
        })
    }

    fn keep(mut self) -> (PathBuf, Flock<File>) {
        let folder = std::mem::take(&mut self.folder);
        let in_use = self.in_use.take().expect("it is taken once, here");
        (folder, in_use)
    }
}

impl Drop for Unmade {
    fn drop(&mut self) {
        if self.in_use.is_some() {
            // What is left of it is swept one day.
            let _ = scratchpad::clear(&self.folder);
            let _ = scratchpad::clear(&self.state);
        }
    }
}

fn cannot_make(error: io::Error) -> String {
    format!("its folder cannot be made ({error})")
}

/// Makes a folder, and those above it that are missing, for its owner only.
fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Removes checkouts that no server has in use and that were made some days ago: what was kept, and what a server left
/// that died.
pub fn sweep(folders: &Folders, days: u64, now: SystemTime) {
    let patience = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    let (below, states) = (folders.worktrees(), folders.data.join("worktrees"));
    for it in named(&below) {
        let path = below.join(&it);
        if !scratchpad::is_stale(&path, patience, now) {
            continue;
        }
        // Held until it is gone, so that of two servers that sweep at once one does it.
        let Ok(_in_use) = scratchpad::lock(&path) else {
            continue;
        };
        let removed = scratchpad::clear(&path).and_then(|()| scratchpad::clear(&states.join(&it)));
        if let Err(error) = removed {
            tracing::warn!(%error, path = %path.display(), "an old checkout was not removed");
        }
    }
    for it in named(&states) {
        let state = states.join(&it);
        let is_alone = below.join(&it).symlink_metadata().is_err();
        if is_alone && scratchpad::is_stale(&state, patience, now) {
            let _ = scratchpad::clear(&state);
        }
    }
}

/// The names in a folder that are those of checkouts.
fn named(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|it| it.file_name().into_string().ok());
    names.filter(|it| it.starts_with(PREFIX)).collect()
}
