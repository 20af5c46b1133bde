//! Changes to files, all of them or none, into the editor and onto the disk.
//!
//! Open files are changed by the editor, closed ones beneath a handle of their folder; nothing is ever written
//! behind an open document. Every file is looked at before any is touched; the new texts of closed files lie
//! beside them before the first is renamed over; a checkpoint and a journal stand before all of it. What fails
//! in the middle is taken back by the same routes.

mod check;
mod disk;
mod editor;
mod prepare;
mod rollback;

use crate::event::{Gone, Whose, Written};
use crate::files;
use crate::plan::World;
use crate::store::journal::Journals;
use crate::workspace::FilePath;
pub use check::edited;
pub use editor::is_clean;

use check::Was;
use disk::{Broken, Staged, Unplaced};
use editor::{InEditor, Said, Sent, State};
use engine::text::Form;
use prepare::{Prepared, Records, prepare};
use protocol::record::EditedFile;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
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
    let (world, changes, token) = (world.clone(), Arc::new(changes.clone()), token.clone());
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
    changes: &Arc<Changes>,
    token: &CancellationToken,
) -> Result<Applied, Fault> {
    let paths = changes.files.iter().flat_map(check::paths);
    let turns = world.locks.files(paths.map(|it| it.real.as_path()));
    let _turns = tokio::select! {
        biased;
        () = token.cancelled() => return Ok(Applied::Cancelled),
        turns = turns => turns,
    };
    let documents = world.editor.documents().await.map_err(gone)?;
    if token.is_cancelled() {
        return Ok(Applied::Cancelled);
    }
    let id = Journals::new_id();
    let preparing = {
        let (world, changes, id) = (world.clone(), changes.clone(), id.clone());
        spawn_blocking(move || prepare(&world, &documents, &changes, &id))
    };
    let prepared = preparing.await.unwrap_or_else(|_| {
        Err("Looking at the files was broken off; nothing was changed.".to_owned())
    })?;
    let Some(prepared) = prepared else {
        return Ok(Applied::Moved);
    };
    let Prepared {
        editor,
        disk,
        was,
        files,
        records,
    } = prepared;
    let checkpoint = records.checkpoint();
    let is_open = |index| editor.iter().find(|it: &&InEditor| it.index == index);
    let (is_noted, staged, mut written) = tokio::join!(
        noted(world, changes, files, checkpoint),
        stage(world, disk, id, &records),
        async { written(changes, is_open, &was) },
    );
    // Nobody reviews throw-away files.
    written.retain(|it| !world.workspace.is_scratch(&it.path));
    let applied = match staged {
        Ok(staged) if is_noted => write(world, changes, &editor, staged, written, token).await,
        Ok(staged) => {
            // Before the journal that names what lies beside.
            drop(staged);
            Ok(Applied::Cancelled)
        }
        Err(fault) => Err(fault),
    };
    if let Ok(Applied::Done { .. }) = &applied {
        // Whenever this server dies, the next one knows of the change by the journal or by the review.
        world.editor.reviewed().await;
    }
    records.end(world);
    applied
}

/// Writes into the session's log what a call is about to change; false: the call has ended meanwhile.
async fn noted(
    world: &World,
    changes: &Changes,
    files: Vec<EditedFile>,
    checkpoint: Option<String>,
) -> bool {
    match &changes.by {
        Whose::Agent(_) => {
            let session = world.session.clone();
            let noted = world
                .editor
                .note_edit(session, world.call, files, checkpoint);
            noted.await.is_ok()
        }
        Whose::Review | Whose::Person => true,
    }
}

/// Brings the new texts beside their files, and the records onto the disk meanwhile.
async fn stage(
    world: &World,
    disk: Vec<disk::OnDisk>,
    id: String,
    records: &Arc<Records>,
) -> Result<Staged, Fault> {
    let workspace = world.workspace.clone();
    let staging = spawn_blocking(move || disk::stage(disk, &id, &workspace));
    let (staged, synced) = tokio::join!(staging, records.sync());
    let staged = staged.map_err(broken_off)?;
    staged
        .and_then(|it| synced.map(|()| it))
        .map_err(Fault::Clean)
}

/// Changes the files: those that are open, then the others.
async fn write(
    world: &World,
    changes: &Changes,
    editor: &[InEditor],
    staged: Staged,
    written: Vec<Written>,
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
    if let Err(Broken { why, left }) = place(world, changes, staged, token).await? {
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
    world.editor.written(written).await;
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
    let is_alone = changes.files.len() == 1;
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

/// What will be changed on the disk, and not in a document.
fn written<'a>(
    changes: &Changes,
    is_open: impl Fn(usize) -> Option<&'a InEditor>,
    was: &[Option<Was>],
) -> Vec<Written> {
    let is_text = |index| is_open(index).is_some_and(|it| it.new.is_some() && it.to.is_none());
    let mut all = Vec::new();
    for (index, change) in changes.files.iter().enumerate() {
        if is_text(index) {
            continue;
        }
        let was = was.get(index).and_then(Option::as_ref);
        let one = |path: &Path, old: Option<&String>, new: Option<&String>| {
            let n_bytes = old.map_or(0, String::len) + new.map_or(0, String::len);
            let path = path.to_path_buf();
            let by = changes.by.clone();
            let exact = old.and(was).map(|it| it.exact);
            files::compute(n_bytes, || Written {
                was: exact,
                ..Written::new(path, old.map(String::as_str), new.map(String::as_str), by)
            })
        };
        // A file that goes is remembered as the disk had it: that is what a revert must give back.
        let old = was.and_then(|it| it.disk.as_ref());
        let (old, new) = (old.or(change.old.as_ref()), change.new.as_ref());
        match &change.to {
            None => all.push(one(&change.file.real, old, new)),
            Some(to) => all.extend([one(&change.file.real, old, None), one(&to.real, None, new)]),
        }
    }
    all
}
