//! The closed files of a change.
//!
//! First every new text is written and synced beside its file; only then do the files themselves change, by
//! renames in one quick row (spec 1.5). What a rename takes away keeps a name of ours until the row is done, so
//! that taking it back needs no room on the disk and gives back the very file.

#[cfg(test)]
mod tests;

use crate::folder::Folder;
use crate::store::journal::{BESIDE, Beside};
use crate::workspace::{FilePath, Workspace};
use protocol::tool::Place;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// A change to one closed file: made (`old` missing), changed, deleted (`new` missing) or moved.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// Its place in the list of changes.
    pub index: usize,
    pub file: FilePath,
    pub to: Option<FilePath>,
    /// The bytes that it must have.
    pub old: Option<Vec<u8>>,
    pub new: Option<Vec<u8>>,
    /// Permission bits that it gets; missing: those that it has, or that any new file gets.
    pub mode: Option<u32>,
}

/// Changes whose new texts lie beside their files, on the disk. Dropped, it takes them away again, and the
/// folders that were made for them.
#[derive(Debug, Default)]
pub struct Staged {
    steps: Vec<Step>,
    made: Vec<PathBuf>,
    is_done: bool,
}

#[derive(Debug)]
struct Step {
    plan: OnDisk,
    kind: Kind,
    folder: Folder,
    name: OsString,
    /// Where it moves to.
    to: Option<(Folder, OsString)>,
    beside: Names,
    /// What lies beside is all that there is of a text, so it stays.
    is_torn: bool,
}

/// The names beside a file that its change uses.
#[derive(Debug)]
struct Names {
    /// Of the new text, in the folder where that goes.
    new: OsString,
    /// Of the old file, in its own folder.
    old: OsString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Create,
    Replace,
    /// Renaming would part it from its other names, or from its owner.
    WriteInto,
    Delete,
    Rename,
    /// A move with a change, or to another file system.
    WriteAndDelete,
}

/// Why a row did not come to its end; what it had done is taken back.
#[derive(Debug)]
pub enum Unplaced {
    /// A file was another than planned.
    Moved,
    Cancelled,
    /// For the model, without a word on what is changed now.
    Failed(String),
}

/// A row that was broken off.
#[derive(Debug)]
pub struct Broken {
    pub why: Unplaced,
    /// What could not be taken back, a line a file.
    pub left: Vec<String>,
}

/// How to take a step back.
enum Undo {
    /// The old file is under its name beside.
    PutBack,
    /// The old bytes are written anew.
    WriteBack,
    Remove,
    MoveBack,
    /// The old file is under its name beside.
    RemoveAndPutBack,
}

/// Why a step was not done.
enum Failure {
    Moved,
    Io(io::Error),
    /// Writing into a file was cut off, and what was there could not be written again.
    Torn(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Moved,
            _ => Self::Io(error),
        }
    }
}

/// The files beside others that changes use, for the journal.
pub fn beside(plans: &[OnDisk], id: &str) -> Vec<Beside> {
    let mut all = Vec::new();
    for plan in plans {
        let names = names(plan, id);
        let at = plan.to.as_ref().unwrap_or(&plan.file);
        all.push(Beside {
            path: at.real.with_file_name(names.new),
            of: at.real.clone(),
        });
        all.push(Beside {
            path: plan.file.real.with_file_name(names.old),
            of: plan.file.real.clone(),
        });
    }
    all
}

fn names(plan: &OnDisk, id: &str) -> Names {
    let new = format!("{BESIDE}{id}-{}", plan.index);
    Names {
        old: format!("{new}-old").into(),
        new: new.into(),
    }
}

/// Writes all new texts beside their files. The error is for the model; nothing has changed then.
pub fn stage(plans: Vec<OnDisk>, id: &str, workspace: &Workspace) -> Result<Staged, String> {
    let mut staged = Staged::default();
    for plan in plans {
        let file = plan.file.shown.clone();
        staged.add(plan, id, workspace).map_err(|it| match it {
            Refused::Io(error) => {
                format!("{file} cannot be written ({error}); nothing was changed.")
            }
            Refused::ReadOnly => format!(
                "{file} is read-only, so it is left alone; nothing was changed. It can be changed once the person has made it writable."
            ),
            Refused::Protected => format!(
                "{file} is another name of a file of Undine's own settings or history, which tools never write; \
                 nothing was changed."
            ),
        })?;
    }
    Ok(staged)
}

enum Refused {
    Io(io::Error),
    ReadOnly,
    Protected,
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Staged {
    fn add(&mut self, plan: OnDisk, id: &str, workspace: &Workspace) -> Result<(), Refused> {
        let (folder, name) = self.folder(&plan.file.real, plan.old.is_none())?;
        let to = match &plan.to {
            Some(to) => Some(self.folder(&to.real, true)?),
            None => None,
        };
        let old = match plan.old {
            Some(_) => Some(folder.file(&name)?.metadata()?),
            None => None,
        };
        if let Some(old) = &old {
            // Renaming asks only the folder; that the person has locked the file itself counts too.
            if old.permissions().readonly() {
                return Err(Refused::ReadOnly);
            }
            if old.nlink() > 1 && workspace.protects_file(old) {
                return Err(Refused::Protected);
            }
        }
        let beside = names(&plan, id);
        let kind = match (&plan.old, &plan.new, &to) {
            (None, _, _) => Kind::Create,
            (Some(_), None, _) => Kind::Delete,
            (Some(_), Some(_), None) => Kind::Replace,
            (Some(old), Some(new), Some((to, _))) => {
                let is_same = old == new && plan.mode.is_none();
                match is_same && folder.device()? == to.device()? {
                    true => Kind::Rename,
                    false => Kind::WriteAndDelete,
                }
            }
        };
        // Kept before it is written to, so that a failure takes its file away.
        self.steps.push(Step {
            plan,
            kind,
            folder,
            name,
            to,
            beside,
            is_torn: false,
        });
        match self.steps.last_mut() {
            Some(step) => Ok(step.write_beside(old.as_ref())?),
            None => Ok(()),
        }
    }

    /// The folder of a path, and the name in it.
    fn folder(&mut self, path: &Path, make: bool) -> io::Result<(Folder, OsString)> {
        let none = || io::Error::from(io::ErrorKind::InvalidInput);
        let name = path.file_name().ok_or_else(none)?.to_owned();
        let parent = path.parent().ok_or_else(none)?;
        if !make {
            return Ok((Folder::open(parent)?, name));
        }
        let (folder, made) = Folder::make(parent)?;
        self.made.extend(made);
        Ok((folder, name))
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Every file that is touched.
    pub fn paths(&self) -> impl Iterator<Item = &FilePath> {
        self.steps
            .iter()
            .flat_map(|it| std::iter::once(&it.plan.file).chain(&it.plan.to))
    }

    /// Takes back what was done, the last first.
    fn broken(
        &mut self,
        why: Unplaced,
        torn: Option<String>,
        undos: &[Undo],
        limit: u64,
    ) -> Broken {
        let mut left: Vec<String> = torn.into_iter().collect();
        for (step, undo) in self.steps.iter_mut().zip(undos).rev() {
            if let Some(state) = step.take_back(undo, limit) {
                step.is_torn = true;
                left.push(state);
            }
        }
        Broken { why, left }
    }

    /// The files that are written into, by their place in the list of changes.
    pub fn in_place(&self) -> Vec<usize> {
        let written_into = |it: &&Step| it.kind == Kind::WriteInto;
        let steps = self.steps.iter().filter(written_into);
        steps.map(|it| it.plan.index).collect()
    }

    /// Changes all files, one right after the other, or none. `limit` in bytes.
    pub fn place(mut self, limit: u64, token: &CancellationToken) -> Result<Placed, Broken> {
        let mut undos: Vec<Undo> = Vec::new();
        for at in 0..self.steps.len() {
            let is_last = at + 1 == self.steps.len();
            if token.is_cancelled() {
                return Err(self.broken(Unplaced::Cancelled, None, &undos, limit));
            }
            let step = &mut self.steps[at];
            let shown = step.plan.file.shown.clone();
            let (why, torn) = match step.place(limit, is_last) {
                Ok(undo) => {
                    undos.push(undo);
                    continue;
                }
                Err(Failure::Moved) => (Unplaced::Moved, None),
                Err(Failure::Io(error)) => {
                    let why = format!("{shown} cannot be written ({error})");
                    (Unplaced::Failed(why), None)
                }
                Err(Failure::Torn(error)) => {
                    step.is_torn = true;
                    let beside = step.folder.path().join(&step.beside.new);
                    let why = format!("{shown} cannot be written ({error})");
                    let torn = format!(
                        "{shown} was cut off half-written; its whole new text is in {}",
                        beside.display()
                    );
                    (Unplaced::Failed(why), Some(torn))
                }
            };
            return Err(self.broken(why, torn, &undos, limit));
        }
        self.is_done = true;
        for step in &self.steps {
            step.clear();
        }
        Ok(Placed {
            folders: self
                .steps
                .drain(..)
                .flat_map(|it| std::iter::once(it.folder).chain(it.to.map(|(it, _)| it)))
                .collect(),
        })
    }
}

/// Files that are changed; their folders may not be on the disk yet.
pub struct Placed {
    folders: Vec<Folder>,
}

impl Placed {
    /// Waits until the new names outlast a loss of power. Without it there would be the old files: as
    /// whole.
    pub fn sync(&self) {
        for (at, folder) in self.folders.iter().enumerate() {
            let is_again = self.folders[..at]
                .iter()
                .any(|it| it.path() == folder.path());
            if !is_again && let Err(error) = folder.sync() {
                tracing::warn!(%error, folder = %folder.path().display(), "a folder was not synced");
            }
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        for step in &self.steps {
            step.clear();
        }
        for path in self.made.iter().rev() {
            if let (Some(parent), Some(name)) = (path.parent(), path.file_name())
                && let Ok(parent) = Folder::open(parent)
            {
                // What others have put into it meanwhile keeps it.
                let _ = parent.remove_folder(name);
            }
        }
    }
}

impl Step {
    /// Writes the new text beside, with the mode that it will have. `old` is what it takes the place of.
    fn write_beside(&mut self, old: Option<&Metadata>) -> io::Result<()> {
        let Some(new) = &self.plan.new else {
            return Ok(());
        };
        match self.kind {
            Kind::Delete | Kind::Rename => return Ok(()),
            Kind::Create | Kind::Replace | Kind::WriteInto | Kind::WriteAndDelete => {}
        }
        let folder = self.to.as_ref().map_or(&self.folder, |(it, _)| it);
        let mut file = folder.new_file(&self.beside.new)?;
        file.write_all(new)?;
        let kept = old.map(|it| it.permissions().mode() & 0o7777);
        if let Some(mode) = self.plan.mode.or(kept) {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        if let (Kind::Replace, Some(old)) = (self.kind, old) {
            let new = file.metadata()?;
            let is_others = old.nlink() > 1 || (old.uid(), old.gid()) != (new.uid(), new.gid());
            // A second name of what lies in the scratchpad can be one of a file elsewhere, which would be written
            // into unasked.
            if is_others && self.plan.file.place != Place::Scratchpad {
                self.kind = Kind::WriteInto;
            }
        }
        Ok(())
    }

    /// Changes the file itself, if it still is what the plan was made on.
    fn place(&self, limit: u64, is_last: bool) -> Result<Undo, Failure> {
        let (folder, name, beside) = (&self.folder, self.name.as_os_str(), &self.beside);
        let to = self.to.as_ref();
        if !folder.is_still() || to.is_some_and(|(it, _)| !it.is_still()) {
            return Err(Failure::Moved);
        }
        let stands = match (folder.read(name, limit), &self.plan.old) {
            (Ok(bytes), Some(old)) => bytes.is_some_and(|it| it == *old),
            (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
            (Ok(_), None) | (Err(_), Some(_)) => false,
        };
        if !stands {
            return Err(Failure::Moved);
        }
        Ok(match (self.kind, to) {
            (Kind::Create, _) => {
                folder.rename_new(&beside.new, folder, name)?;
                Undo::Remove
            }
            (Kind::Replace, _) => {
                // Not every file system has second names.
                let is_beside = !is_last && folder.link(name, folder, &beside.old).is_ok();
                folder.rename_over(&beside.new, name)?;
                match is_beside {
                    true => Undo::PutBack,
                    false => Undo::WriteBack,
                }
            }
            (Kind::WriteInto, _) => {
                self.write_into()?;
                Undo::WriteBack
            }
            (Kind::Delete, _) => {
                folder.rename_new(name, folder, &beside.old)?;
                Undo::PutBack
            }
            (Kind::Rename, Some((to, new_name))) => {
                folder.rename_new(name, to, new_name)?;
                Undo::MoveBack
            }
            (Kind::WriteAndDelete, Some((to, new_name))) => {
                self.write_and_delete(to, new_name)?;
                Undo::RemoveAndPutBack
            }
            // Only moves have these kinds.
            (Kind::Rename | Kind::WriteAndDelete, None) => {
                return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
            }
        })
    }

    fn write_and_delete(&self, to: &Folder, name: &OsStr) -> io::Result<()> {
        let folder = &self.folder;
        to.rename_new(&self.beside.new, to, name)?;
        let gone = folder.rename_new(&self.name, folder, &self.beside.old);
        if gone.is_err() {
            to.remove(name)?;
        }
        gone
    }

    /// Writes into the file itself. The whole new text lies beside it until that is done; where it is cut
    /// off, it still does.
    fn write_into(&self) -> Result<(), Failure> {
        let (Some(old), Some(new)) = (&self.plan.old, &self.plan.new) else {
            return Ok(());
        };
        let mut file = self.folder.file_to_write(&self.name)?;
        let written = overwrite(&mut file, new).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // The disk is full, most likely. What was there has its room still.
            overwrite(&mut file, old).map_err(Failure::Torn)?;
            return Err(error.into());
        }
        if let Some(mode) = self.plan.mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Takes back what was done; answers what is wrong with the file if that cannot be.
    fn take_back(&self, undo: &Undo, limit: u64) -> Option<String> {
        let shown = &self.plan.file.shown;
        let at = match &self.to {
            Some((folder, name)) => (folder, name.as_os_str()),
            None => (&self.folder, self.name.as_os_str()),
        };
        let now = at.0.read(at.1, limit);
        let is_ours = match (&now, &self.plan.new) {
            (Ok(now), Some(new)) => now.as_ref() == Some(new),
            (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
            (Ok(_), None) | (Err(_), Some(_)) => false,
        };
        let kept = || match self.folder.has(&self.beside.old) {
            Ok(true) => {
                let kept = self.folder.path().join(&self.beside.old);
                format!("; what it was is in {}", kept.display())
            }
            Ok(false) | Err(_) => String::new(),
        };
        if !is_ours {
            let kept = kept();
            return Some(format!(
                "{shown} was changed by another program right after, so it is left as it is{kept}"
            ));
        }
        let (folder, name, beside) = (&self.folder, self.name.as_os_str(), &self.beside);
        let done = match undo {
            Undo::PutBack if self.kind == Kind::Delete => {
                folder.rename_new(&beside.old, folder, name)
            }
            Undo::PutBack => folder.rename_over(&beside.old, name),
            Undo::WriteBack => self.write_back(),
            Undo::Remove => folder.remove(name),
            Undo::MoveBack => at.0.rename_new(at.1, folder, name),
            Undo::RemoveAndPutBack => folder
                .rename_new(&beside.old, folder, name)
                .and_then(|()| at.0.remove(at.1)),
        };
        let state = match self.kind {
            Kind::Create => "is made",
            Kind::Replace | Kind::WriteInto => "has its new text",
            Kind::Delete => "is deleted",
            Kind::Rename | Kind::WriteAndDelete => "is moved",
        };
        let error = done.err()?;
        let kept = kept();
        Some(format!(
            "{shown} {state} and could not be put back ({error}){kept}"
        ))
    }

    fn write_back(&self) -> io::Result<()> {
        let old = self.plan.old.as_deref().unwrap_or_default();
        let mut file = self.folder.file_to_write(&self.name)?;
        overwrite(&mut file, old)?;
        file.sync_all()
    }

    /// Takes away what lies beside.
    fn clear(&self) {
        if self.is_torn {
            return;
        }
        let at = self.to.as_ref().map_or(&self.folder, |(it, _)| it);
        for (folder, name) in [(at, &self.beside.new), (&self.folder, &self.beside.old)] {
            match folder.remove(name) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(%error, ?name, "a file beside another was not removed")
                }
            }
        }
    }
}

fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}
