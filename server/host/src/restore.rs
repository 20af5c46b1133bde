//! Checkpoints that a person makes by hand, and giving files back what a checkpoint holds of them (spec 3.4, 3.5).
//!
//! A restore is a change set like any other, of the person's: it goes through open documents, is made whole or
//! not at all, and a checkpoint of its own comes first, which undoes it.

use crate::apply::{self, Applied, Changes, Exact, FileChange};
use crate::event::Whose;
use crate::files::{self, Live, Source};
use crate::plan::World;
use crate::regular;
use crate::store::checkpoints::{Action, Before, Cause, Entry, Loaded, Manifest};
use crate::workspace::FilePath;
use engine::text::{FileText, Form, file::is_latin, visible_line};
use protocol::tool::Place;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// What a restore would do.
#[derive(Debug)]
pub struct Planned {
    pub manifest: Manifest,
    pub changes: Vec<FileChange>,
    pub skipped: Vec<Skipped>,
    /// The files as they are now.
    before: Vec<Before>,
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// The checkpoint that was restored.
    pub id: String,
    pub title: String,
    /// The checkpoint that was made right before.
    pub undo: String,
    /// Files that have their old content again, as they are shown.
    pub restored: Vec<String>,
    pub removed: Vec<String>,
    /// Those of them that only the editor's buffers hold.
    pub unsaved: Vec<String>,
    pub skipped: Vec<Skipped>,
    /// What the call asked for that the checkpoint was made for: it is undone now, and may be wanted again (spec 3.6). Only of a
    /// checkpoint that is as we wrote it.
    pub action: Option<Action>,
}

/// A file that a restore passes over, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: String,
}

/// Restores a checkpoint. The error is a sentence for the person; then nothing was changed.
pub async fn restore(world: &World, id: &str) -> Result<Restored, String> {
    for _ in 0..world.limits.edit_rounds.max(1) {
        let planned = plan(world, id).await?;
        let Planned {
            manifest:
                Manifest {
                    id,
                    title,
                    action,
                    is_ours,
                    ..
                },
            changes,
            skipped,
            before,
        } = planned;
        let cause = Cause {
            // What was undone and undone again has a long history.
            title: visible_line(&format!("Restore {id}: {title}"), 200),
            author: None,
            action: None,
        };
        // Made here and not by `apply`, since its id is told.
        let undo = make(world, cause, before).await?;
        let changes = Changes {
            label: format!("Restore {title}"),
            files: changes,
            by: Whose::Person,
        };
        let unsaved = if changes.files.is_empty() {
            Vec::new()
        } else {
            match apply::apply(world, &changes).await? {
                Applied::Done { unsaved, .. } => unsaved,
                // Nothing cancels it; as ever, nothing is done then.
                Applied::Moved | Applied::Cancelled => continue,
            }
        };
        let name = |it: &FileChange| it.file.shown.clone();
        let is_kept = |it: &&FileChange| it.new.is_some();
        let (kept, gone): (Vec<_>, Vec<_>) = changes.files.iter().partition(is_kept);
        return Ok(Restored {
            id,
            title,
            undo,
            restored: kept.into_iter().map(name).collect(),
            removed: gone.into_iter().map(name).collect(),
            unsaved: unsaved
                .into_iter()
                .filter_map(|at| changes.files.get(at).map(name))
                .collect(),
            skipped,
            action: action.filter(|_| is_ours),
        });
    }
    Err("The files changed again and again meanwhile; nothing was restored. Try again.".to_owned())
}

/// What restoring a checkpoint would do now. Nothing has happened yet.
pub async fn plan(world: &World, id: &str) -> Result<Planned, String> {
    let (checkpoints, project) = (world.checkpoints.clone(), project(world));
    let start = id.to_owned();
    let Loaded { manifest, bytes } = off_loop(move || {
        let id = checkpoints.find(&project, &start)?;
        checkpoints.load(&project, &id)
    })
    .await?;
    let documents = world.editor.documents().await;
    let documents = documents.map_err(|_| "The editor is gone; nothing was done.".to_owned())?;
    let mut planned = Planned {
        changes: Vec::new(),
        skipped: Vec::new(),
        before: Vec::new(),
        manifest,
    };
    for (entry, bytes) in planned.manifest.files.iter().zip(bytes) {
        let judged = judge(world, &planned.manifest, entry).and_then(|file| {
            let is_named = planned.changes.iter().any(|it| it.file.real == file.real);
            match is_named {
                true => Err("the checkpoint names it twice"),
                false => Ok(file),
            }
        });
        let file = match judged {
            Ok(file) => file,
            Err(reason) => {
                planned.skipped.push(Skipped {
                    path: entry.path.clone(),
                    reason: reason.to_owned(),
                });
                continue;
            }
        };
        let live = files::live(&documents, &file, world.limits.edit_bytes).await?;
        // Not even a program's special rights are given back on a stranger's word.
        let rights = if planned.manifest.is_ours {
            0o7777
        } else {
            0o777
        };
        let mode = entry.mode.map(|it| it & rights);
        let Some(change) = change(&file, live.as_ref(), bytes, mode)? else {
            continue;
        };
        planned.before.push(before(&file, live)?);
        planned.changes.push(change);
    }
    Ok(planned)
}

/// Makes a checkpoint of files that the person names.
pub async fn keep(world: &World, paths: &[String]) -> Result<Manifest, String> {
    keep_as(world, None, paths).await
}

/// As [`keep`], under a title of its own.
pub async fn keep_as(
    world: &World,
    title: Option<String>,
    paths: &[String],
) -> Result<Manifest, String> {
    if paths.is_empty() {
        return Err("Name the files that the checkpoint is to hold.".to_owned());
    }
    let documents = world.editor.documents().await;
    let documents = documents.map_err(|_| "The editor is gone; nothing was done.".to_owned())?;
    let (mut kept, mut names) = (Vec::new(), Vec::new());
    for path in paths {
        let file = world.workspace.resolve(path)?;
        if file.place == Place::Protected {
            return Err(format!(
                "{} is one of Undine's own files, which checkpoints never hold.",
                file.shown
            ));
        }
        if world.workspace.is_scratch(&file.real) {
            return Err(format!(
                "{} lies in the scratchpad, of which checkpoints hold nothing.",
                file.shown
            ));
        }
        let live = files::live(&documents, &file, world.limits.edit_bytes).await?;
        kept.push(before(&file, live)?);
        names.push(file.shown);
    }
    let cause = Cause {
        title: title.unwrap_or_else(|| format!("By hand: {}", names.join(", "))),
        author: None,
        action: None,
    };
    let id = make(world, cause, kept).await?;
    let (checkpoints, project) = (world.checkpoints.clone(), project(world));
    off_loop(move || {
        let gone =
            || format!("The checkpoint {id} is gone already; there is too little room for it.");
        checkpoints.get(&project, &id).ok_or_else(gone)
    })
    .await
}

/// The checkpoints of the project, newest first.
pub async fn list(world: &World) -> Result<Vec<Manifest>, String> {
    let (checkpoints, project) = (world.checkpoints.clone(), project(world));
    off_loop(move || Ok(checkpoints.list(&project))).await
}

async fn make(world: &World, cause: Cause, files: Vec<Before>) -> Result<String, String> {
    let (checkpoints, project) = (world.checkpoints.clone(), project(world));
    off_loop(move || checkpoints.make(&project, &cause, &files)).await
}

async fn off_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let broken_off = |_| "Reading the checkpoints was broken off; nothing was changed.".to_owned();
    tokio::task::spawn_blocking(work)
        .await
        .map_err(broken_off)?
}

fn project(world: &World) -> PathBuf {
    world.workspace.root().to_path_buf()
}

/// The file that an entry means, or why it is passed over: a manifest can have been written by anyone.
fn judge(world: &World, manifest: &Manifest, entry: &Entry) -> Result<FilePath, &'static str> {
    let path = &entry.path;
    let is_plain = |path: &Path| {
        let mut parts = path.components();
        parts.all(|it| matches!(it, Component::Normal(_))) && path.components().next().is_some()
    };
    let path = match entry.external {
        false if is_plain(path) => world.workspace.root().join(path),
        false => return Err("it leads out of the project"),
        true if !manifest.is_ours => {
            return Err(
                "it lies outside the project, and the checkpoint is not as Undine wrote it",
            );
        }
        true if path.strip_prefix("/").is_ok_and(is_plain) => path.clone(),
        true => return Err("its path is no whole path"),
    };
    let is_git = path.components().any(|it| it.as_os_str() == ".git");
    if is_git && !manifest.is_ours {
        return Err("it is git's own, and the checkpoint is not as Undine wrote it");
    }
    let file = world.workspace.classify(path);
    if !world.workspace.still(&file) {
        return Err("a link stands on the way to it now");
    }
    match file.place {
        Place::Protected => Err("it is one of Undine's own settings or records"),
        Place::Scratchpad => {
            Err("it lies in the scratchpad, of which no checkpoint holds anything")
        }
        Place::External | Place::AddedDir | Place::Memory if !entry.external => {
            Err("it leads out of the project")
        }
        Place::External | Place::AddedDir | Place::Memory | Place::Project => Ok(file),
    }
}

/// What must happen to a file so that it holds these bytes, or is not there; `None`: nothing.
fn change(
    file: &FilePath,
    live: Option<&Live>,
    bytes: Option<Vec<u8>>,
    mode: Option<u32>,
) -> Result<Option<FileChange>, String> {
    let old = live.map(|it| it.text.clone());
    let Some(bytes) = bytes else {
        return Ok(live.is_some().then(|| FileChange {
            file: file.clone(),
            old,
            new: None,
            to: None,
            exact: None,
        }));
    };
    let FileText { mut text, form } = FileText::decode(bytes);
    let mut exact = Some(Exact { form, mode });
    match live {
        Some(Live {
            source: Source::Buffer { .. },
            text: shown,
            ..
        }) => {
            if form == Form::Bytes {
                return Err(format!(
                    "{} is open in the editor, and what the checkpoint holds of it is not text throughout; close it \
                     there and try again. Nothing was changed.",
                    file.shown
                ));
            }
            // Some editors keep the mark in their text.
            if form == Form::Utf8Mark && shown.starts_with(MARK) {
                text.insert(0, MARK);
            }
            if *shown == text {
                return Ok(None);
            }
            // The editor writes it, in its own form.
            exact = None;
        }
        Some(live)
            if live.text == text
                && live.form == form
                && (mode.is_none() || mode == mode_of(file)) =>
        {
            return Ok(None);
        }
        Some(_) | None => {}
    }
    Ok(Some(FileChange {
        file: file.clone(),
        old,
        new: Some(text),
        to: None,
        exact,
    }))
}

const MARK: char = '\u{feff}';

/// A file as a checkpoint holds it: a document's unsaved work counts, since that is what would be lost.
fn before(file: &FilePath, live: Option<Live>) -> Result<Before, String> {
    let bytes = live.map(|live| match live.source {
        Source::Disk => live.form.encode(&live.text),
        Source::Buffer { .. } => {
            let disk = regular::read_capped(&file.real, u64::MAX).ok().flatten();
            let Some(disk) = disk else {
                return live.text.into_bytes();
            };
            if is_latin(&disk, &live.text) {
                return disk;
            }
            let decoded = FileText::decode(disk.clone());
            match live.text.strip_prefix(MARK).unwrap_or(&live.text) {
                text if text == decoded.text => disk,
                text => decoded.form.encode(text),
            }
        }
    });
    Ok(Before {
        path: file.real.clone(),
        mode: bytes.as_ref().and_then(|_| mode_of(file)),
        bytes,
        is_external: file.place != Place::Project,
    })
}

fn mode_of(file: &FilePath) -> Option<u32> {
    let meta = fs::metadata(&file.real).ok()?;
    Some(meta.permissions().mode() & 0o7777)
}

impl Restored {
    /// For the person.
    pub fn said(&self) -> String {
        let mut lines = vec![format!("Restored checkpoint {} ({}).", self.id, self.title)];
        let mut line = |what: &str, files: &[String]| {
            if !files.is_empty() {
                lines.push(format!("{what}: {}.", files.join(", ")));
            }
        };
        line("Old content again", &self.restored);
        line("Removed", &self.removed);
        line("Not saved yet", &self.unsaved);
        if self.restored.is_empty() && self.removed.is_empty() {
            lines.push("The files already were as it holds them; nothing was changed.".to_owned());
        }
        lines.extend(self.skipped.iter().map(Skipped::said));
        lines.push(format!("To undo this, restore {}.", self.undo));
        lines.join("\n")
    }

    /// For the model, with the next prompt; nothing if no file was changed.
    pub fn told(&self) -> Option<String> {
        if self.restored.is_empty() && self.removed.is_empty() {
            return None;
        }
        let mut text = "Since your last turn the person restored a checkpoint.".to_owned();
        let mut say = |what: &str, files: &[String]| {
            if !files.is_empty() {
                text.push_str(&format!(" {what}: {}.", files.join(", ")));
            }
        };
        say("These files have an older content again", &self.restored);
        say("These were removed", &self.removed);
        text.push_str(
            " Do not make those changes again unasked, and read the files before you edit them.",
        );
        Some(text)
    }
}

impl Skipped {
    pub fn said(&self) -> String {
        format!("Passed over {}: {}.", self.path.display(), self.reason)
    }
}
