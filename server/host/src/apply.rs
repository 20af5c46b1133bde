//! Changes to files, all of them or none, into the editor and onto the disk.
//!
//! Open files are changed by the editor, closed ones beneath a handle of their folder; nothing is ever written
//! behind an open document. Every file is looked at before any is touched; the new texts of closed files lie
//! beside them before the first is renamed over; a checkpoint and a journal stand before all of it. What fails
//! in the middle is taken back by the same routes.

mod check;
mod disk;
mod editor;
mod rollback;

use crate::event::{Gone, Whose, Written};
use crate::plan::World;
use crate::store::checkpoints::{Before, Cause};
use crate::store::journal::{Entry, Journal, Journals};
use crate::workspace::FilePath;
pub use check::edited;

use check::{Checked, Was};
use disk::{Broken, Staged, Unplaced};
use editor::{InEditor, Said, Sent, State};
use engine::text::Form;
use protocol::record::EditedFile;
use serde::{Deserialize, Serialize};
use std::path::Path;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

/// Changes to files that are made together: all of them or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// What is done, in one line; the editor's undo step and the checkpoint are called so.
    pub label: String,
    /// No file is named twice, as source or as target.
    pub files: Vec<FileChange>,
    pub by: Whose,
}

/// A change to one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChange {
    pub file: FilePath,
    /// What the plan was made on; `None`: the file is new.
    pub old: Option<String>,
    /// `None`: the file is deleted.
    pub new: Option<String>,
    /// Where the file moves to, with its change. There is nothing there.
    pub to: Option<FilePath>,
    /// How the new text is to lie on the disk. As the old one does, if missing.
    pub exact: Option<Exact>,
}

/// How a text lies on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact {
    pub form: Form,
    /// Permission bits; those that the file has or would get, if missing.
    pub mode: Option<u32>,
}

impl FileChange {
    /// A file's text becomes another, or a file is made.
    pub fn text(file: FilePath, old: Option<String>, new: String) -> Self {
        Self {
            file,
            old,
            new: Some(new),
            to: None,
            exact: None,
        }
    }
}

/// What became of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// All are made.
    Done {
        /// Which of the files only the editor's buffers hold, by their place in the list.
        unsaved: Vec<usize>,
        /// Which were written into and not replaced.
        in_place: Vec<usize>,
    },
    /// A text was another than the plan's; nothing is changed.
    Moved,
    /// Nothing is changed.
    Cancelled,
}

/// Applies changes. The error is for the model, and says what is changed.
pub async fn apply(world: &World, changes: &Changes) -> Result<Applied, String> {
    apply_until(world, changes, &CancellationToken::new()).await
}

/// As [`apply`], and stops before the next file when it is cancelled; what was done is taken back then.
pub async fn apply_until(
    world: &World,
    changes: &Changes,
    token: &CancellationToken,
) -> Result<Applied, String> {
    let (world, changes, token) = (world.clone(), changes.clone(), token.clone());
    // In a task that nobody aborts: whoever waits for it may be gone, and still all is done or nothing.
    let work = tokio::spawn(async move {
        let applied = run(&world, &changes, &token).await;
        match applied {
            Err(Fault::Left(text)) => {
                if token.is_cancelled() {
                    world.editor.trouble(text.clone()).await;
                }
                Err(text)
            }
            Err(Fault::Clean(text)) => Err(text),
            Ok(applied) => Ok(applied),
        }
    });
    work.await.unwrap_or_else(|_| {
        Err("The change was broken off; look at the files before you go on.".to_owned())
    })
}

/// Why changes were not made.
enum Fault {
    /// Nothing is changed.
    Clean(String),
    /// Something is, and the text says what.
    Left(String),
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self::Clean(text)
    }
}

fn gone(_: Gone) -> String {
    "The editor is gone; nothing was done.".to_owned()
}

fn broken_off(_: tokio::task::JoinError) -> Fault {
    Fault::Left("Writing was broken off; look at the files before you go on.".to_owned())
}

async fn run(
    world: &World,
    changes: &Changes,
    token: &CancellationToken,
) -> Result<Applied, Fault> {
    let paths = changes.files.iter().flat_map(check::paths);
    let turns = world.locks.files(paths.map(|it| it.real.as_path()));
    let _turns = tokio::select! {
        biased;
        () = token.cancelled() => return Ok(Applied::Cancelled),
        turns = turns => turns,
    };
    let Some(checked) = check::check(world, changes).await? else {
        return Ok(Applied::Moved);
    };
    if token.is_cancelled() {
        return Ok(Applied::Cancelled);
    }
    let Checked {
        editor,
        disk,
        before,
        was,
    } = checked;
    let id = Journals::new_id();
    let checkpoint = checkpoint(world, changes, before).await?;
    let entry = entry(world, changes, checkpoint, disk::beside(&disk, &id));
    let (files, checkpoint) = (entry.files.clone(), entry.checkpoint.clone());
    // The editor does one thing whole, and what it holds outlasts this process.
    let is_alone = changes.files.len() == 1;
    let journal = match is_alone && disk.is_empty() {
        true => None,
        false => Some(begin(world, id.clone(), entry).await?),
    };
    if !noted(world, changes, files, checkpoint).await {
        journal.into_iter().for_each(Journal::end);
        return Ok(Applied::Cancelled);
    }
    let (staged, journal) = stage(world, disk, id, journal, is_alone).await?;
    let applied = write(world, changes, (&editor, &was), staged, is_alone, token).await;
    if let Some(journal) = journal {
        journal.end();
    }
    applied
}

/// Makes a checkpoint, where one is wanted; answers its id.
async fn checkpoint(
    world: &World,
    changes: &Changes,
    before: Vec<Before>,
) -> Result<Option<String>, String> {
    let author = match &changes.by {
        Whose::Agent(author) => Some(author.clone()),
        Whose::Review => None,
        // Whoever restores has made one.
        Whose::Person => return Ok(None),
    };
    if !world.checkpoint_first {
        return Ok(None);
    }
    let cause = Cause {
        title: changes.label.clone(),
        action: world
            .action
            .as_deref()
            .filter(|_| author.is_some())
            .cloned(),
        author,
    };
    let (checkpoints, workspace) = (world.checkpoints.clone(), world.workspace.clone());
    let made = spawn_blocking(move || checkpoints.make(workspace.root(), &cause, &before));
    let made = made.await.unwrap_or_else(|_| {
        Err("Making a checkpoint was broken off; nothing was changed.".to_owned())
    });
    made.map(Some)
}

fn entry(
    world: &World,
    changes: &Changes,
    checkpoint: Option<String>,
    beside: Vec<crate::store::journal::Beside>,
) -> Entry {
    Entry {
        session: world.session.to_string(),
        call: match &changes.by {
            Whose::Agent(author) => Some(author.call),
            Whose::Review | Whose::Person => None,
        },
        title: changes.label.clone(),
        root: world.workspace.root().to_path_buf(),
        checkpoint,
        files: edited(&changes.files),
        beside,
    }
}

async fn begin(world: &World, id: String, entry: Entry) -> Result<Journal, String> {
    let journals = world.journals.clone();
    let begun = spawn_blocking(move || journals.begin(&id, &entry));
    match begun.await {
        Ok(begun) => begun.map_err(unwritten),
        Err(_) => Err("Writing the journal was broken off; nothing was changed.".to_owned()),
    }
}

fn unwritten(error: std::io::Error) -> String {
    format!(
        "What is about to be changed cannot be written down in Undine's data folder ({error}), so nothing was \
         changed. Ask the person to see to it."
    )
}

/// Writes into the session's log what a call is about to change; false: the call has ended meanwhile.
async fn noted(
    world: &World,
    changes: &Changes,
    files: Vec<EditedFile>,
    checkpoint: Option<String>,
) -> bool {
    match &changes.by {
        Whose::Agent(author) => {
            let session = world.session.clone();
            let noted = world
                .editor
                .note_edit(session, author.call, files, checkpoint);
            noted.await.is_ok()
        }
        Whose::Review | Whose::Person => true,
    }
}

/// Brings the new texts beside their files, and the journal onto the disk meanwhile.
///
/// One file alone is replaced by one rename, which a loss of power cannot halve, so that its journal need
/// only outlast the process.
async fn stage(
    world: &World,
    disk: Vec<disk::OnDisk>,
    id: String,
    journal: Option<Journal>,
    is_alone: bool,
) -> Result<(Staged, Option<Journal>), Fault> {
    let workspace = world.workspace.clone();
    let staging = spawn_blocking(move || disk::stage(disk, &id, &workspace));
    let syncing = spawn_blocking(move || match &journal {
        Some(it) if !is_alone => (it.sync(), journal),
        Some(_) | None => (Ok(()), journal),
    });
    let (staged, synced) = tokio::join!(staging, syncing);
    let (synced, journal) = synced.map_err(broken_off)?;
    let staged = staged
        .map_err(broken_off)?
        .and_then(|it| synced.map(|()| it).map_err(unwritten));
    match staged {
        Ok(staged) => Ok((staged, journal)),
        Err(text) => {
            journal.into_iter().for_each(Journal::end);
            Err(Fault::Clean(text))
        }
    }
}

/// Changes the files: those that are open, then the others.
async fn write(
    world: &World,
    changes: &Changes,
    (editor, was): (&[InEditor], &[Option<Was>]),
    staged: Staged,
    is_alone: bool,
    token: &CancellationToken,
) -> Result<Applied, Fault> {
    if token.is_cancelled() {
        return Ok(Applied::Cancelled);
    }
    if !editor.is_empty() {
        let sent = editor::send(world, editor, &changes.label, &changes.by).await?;
        if let Some(end) = ended(world, changes, editor, sent).await {
            return end;
        }
    }
    let in_place = staged.in_place();
    if let Err(Broken { why, left }) = place(world, changes, staged, is_alone, token).await? {
        let all: Vec<&InEditor> = editor.iter().collect();
        let mut all_left = rollback::editor(world, changes, &all).await;
        all_left.extend(left);
        let told = match &why {
            Unplaced::Moved => "A file was changed by someone else meanwhile",
            Unplaced::Cancelled => "Cancelled",
            Unplaced::Failed(text) => text,
        };
        let told = rollback::told(told, &all_left);
        return match (why, told) {
            (_, Some(text)) => Err(Fault::Left(text)),
            (Unplaced::Moved, None) => Ok(Applied::Moved),
            (Unplaced::Cancelled, None) => Ok(Applied::Cancelled),
            (Unplaced::Failed(text), None) => {
                Err(Fault::Clean(format!("{text}; nothing was changed.")))
            }
        };
    }
    world.editor.written(written(changes, editor, was)).await;
    let mut unsaved = Vec::new();
    for change in editor {
        if !editor::save(world, change).await {
            unsaved.push(change.index);
        }
    }
    Ok(Applied::Done { unsaved, in_place })
}

/// How all ends because of what the editor did; `None`: it did everything. What it did in part is taken back.
async fn ended(
    world: &World,
    changes: &Changes,
    editor: &[InEditor],
    sent: Sent,
) -> Option<Result<Applied, Fault>> {
    let Sent { states, said } = sent;
    let of = |state: State| {
        let all = editor.iter().zip(&states);
        all.filter(move |(_, it)| **it == state)
            .map(|(change, _)| change)
            .collect::<Vec<_>>()
    };
    let (new, other) = (of(State::New), of(State::Other));
    if new.len() == editor.len() {
        return None;
    }
    let left = rollback::editor(world, changes, &new).await;
    let first = of(State::Old).first().map(|it| it.file.shown.clone());
    let shown = first.unwrap_or_else(|| changes.label.clone());
    let end = match (said, other.first()) {
        (Said::Applied, Some(it)) => Err(Fault::Left(format!(
            "The edit of {} was sent, but the editor's text is another than expected. Look at the file before you go on.",
            it.file.shown
        ))),
        // It skipped what it said that it applied, or the person typed meanwhile.
        (Said::Applied, None) | (Said::Refused(_) | Said::Failed(_), Some(_)) => Ok(Applied::Moved),
        (Said::Refused(reason), None) => {
            let reason = reason.map(|it| format!(" ({it})")).unwrap_or_default();
            Err(Fault::Clean(format!(
                "The editor did not apply the edit to {shown}{reason}; nothing was changed."
            )))
        }
        (Said::Failed(why), None) => Err(Fault::Clean(format!(
            "The editor did not apply the edit to {shown} ({why}); nothing is changed so far. Look at the file before you go on."
        ))),
    };
    Some(
        match rollback::told("The editor applied a part of the edit", &left) {
            Some(text) => Err(Fault::Left(text)),
            None => end,
        },
    )
}

/// Changes the closed files, if the person's side still is what it was: whether the editor has opened one
/// meanwhile, for instance.
async fn place(
    world: &World,
    changes: &Changes,
    staged: Staged,
    is_alone: bool,
    token: &CancellationToken,
) -> Result<Result<(), Broken>, Fault> {
    if staged.is_empty() {
        return Ok(Ok(()));
    }
    let documents = world.editor.documents().await.map_err(gone);
    let workspace = &world.workspace;
    let stands = documents.is_ok_and(|documents| {
        staged
            .paths()
            .all(|it| !documents.contains_key(&it.real) && workspace.still(it))
    });
    if !stands {
        let (why, left) = (Unplaced::Moved, Vec::new());
        return Ok(Err(Broken { why, left }));
    }
    let (limit, token) = (world.limits.edit_bytes, token.clone());
    tracing::debug!(label = changes.label, "the closed files are changed");
    let placed = spawn_blocking(move || {
        let placed = staged.place(limit, &token)?;
        match is_alone {
            // Nobody need wait for it: without it there would be the old file, as whole as the new one.
            true => drop(spawn_blocking(move || placed.sync())),
            // Before the journal goes.
            false => placed.sync(),
        }
        Ok(())
    });
    placed.await.map_err(broken_off)
}

/// What was changed on the disk, and not in a document.
fn written(changes: &Changes, editor: &[InEditor], was: &[Option<Was>]) -> Vec<Written> {
    let is_text = |index: usize| {
        let open = editor.iter().find(|it| it.index == index);
        open.is_some_and(|it| it.new.is_some() && it.to.is_none())
    };
    let mut all = Vec::new();
    for (index, change) in changes.files.iter().enumerate() {
        if is_text(index) {
            continue;
        }
        let was = was.get(index).and_then(Option::as_ref);
        let one = |path: &Path, old: Option<&String>, new: Option<&String>| Written {
            path: path.to_path_buf(),
            old: old.cloned(),
            new: new.cloned(),
            was: old.and(was).map(|it| it.exact),
            by: changes.by.clone(),
        };
        // A file that goes is remembered as the disk had it: that is what a revert must give back.
        let old = was.and_then(|it| it.disk.as_ref()).or(change.old.as_ref());
        let new = change.new.as_ref();
        match &change.to {
            None => all.push(one(&change.file.real, old, new)),
            Some(to) => all.extend([one(&change.file.real, old, None), one(&to.real, None, new)]),
        }
    }
    all
}
