//! What stands before a change of files: a checkpoint of them as they are, and a journal of what is done.
//!
//! Both are written at once and synced beside the new texts, so that a change waits for the disk once. A process that
//! dies loses nothing that is written; what a loss of power may take is said where it is synced.

use super::Changes;
use super::check::{self, Checked, Was, edited};
use super::disk::{self, OnDisk};
use super::editor::InEditor;
use crate::documents::Snapshot;
use crate::event::Whose;
use crate::plan::World;
use crate::store::checkpoints::{Before, Begun, Cause};
use crate::store::journal::{Entry, Journal};
use protocol::record::EditedFile;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Changes that may be made, and what stands before them.
pub struct Prepared {
    pub editor: Vec<InEditor>,
    pub disk: Vec<OnDisk>,
    pub was: Vec<Option<Was>>,
    pub files: Vec<EditedFile>,
    pub records: Arc<Records>,
}

/// What says how the files were and what is done to them. It outlasts a death of this process from the moment that
/// it is made, and a loss of power once it is synced.
pub struct Records {
    checkpoint: Option<Begun>,
    journal: Option<Journal>,
    /// One file alone is replaced by one rename, which a loss of power cannot halve, so that its journal need
    /// only outlast the process.
    is_alone: bool,
}

impl Records {
    /// Waits until all of it is on the disk. The threads wait at the same time, and the disk works once.
    pub async fn sync(self: &Arc<Self>) -> Result<(), String> {
        // A file's bytes, what names them, and the folders of both.
        const PARTS: usize = 4;
        let parts = match &self.checkpoint {
            Some(_) => PARTS,
            None => 1,
        };
        let mut syncing = Vec::with_capacity(parts);
        for part in 0..parts {
            let records = self.clone();
            syncing.push(spawn_blocking(move || records.sync_part(part, parts)));
        }
        let mut all = Ok(());
        for part in syncing {
            let broken_off =
                |_| Err("Writing to the disk was broken off; nothing was changed.".to_owned());
            all = all.and(part.await.unwrap_or_else(broken_off));
        }
        all
    }

    fn sync_part(&self, part: usize, n_parts: usize) -> Result<(), String> {
        // Of the bytes that were there, the checkpoint will hold the only copy: after a loss of power they must be
        // found, by name. A journal that is lost with the power costs only the word that a change was under way,
        // and of a file alone there is nothing to say: it is the old one or the new one.
        if let Some(it) = &self.checkpoint {
            it.sync(part, n_parts)?;
        }
        match &self.journal {
            Some(it) if part == 0 && !self.is_alone => it.sync().map_err(unwritten),
            Some(_) | None => Ok(()),
        }
    }

    /// The checkpoint's id.
    pub fn checkpoint(&self) -> Option<String> {
        self.checkpoint.as_ref().map(|it| it.id().to_owned())
    }

    /// All is done or taken back.
    pub fn end(self: Arc<Self>, world: &World) {
        self.journal.iter().for_each(Journal::end);
        let checkpoints = world.checkpoints.clone();
        // Nobody waits for what is old to be gone.
        drop(spawn_blocking(move || {
            if let Some(it) = &self.checkpoint {
                checkpoints.make_room(it);
            }
        }));
    }
}

/// Looks at the files, and writes down what is about to be done to them; `None` when one is not what its change was
/// planned on. The error is for the model. All of it waits for the disk, so it is one work: a change of
/// threads takes longer than each of its parts.
pub fn prepare(
    world: &World,
    documents: &Snapshot,
    changes: &Changes,
    id: &str,
) -> Result<Option<Prepared>, String> {
    let Some(checked) = check::check(world, documents, changes)? else {
        return Ok(None);
    };
    let Checked {
        editor,
        disk,
        before,
        was,
    } = checked;
    let checkpoint = checkpoint(world, changes, &before)?;
    let entry = Entry {
        session: world.session.to_string(),
        call: match &changes.by {
            Whose::Agent(_) => Some(world.call),
            Whose::Review | Whose::Person => None,
        },
        title: changes.label.clone(),
        root: world.workspace.root().to_path_buf(),
        checkpoint: checkpoint.as_ref().map(|it| it.id().to_owned()),
        files: edited(&changes.files),
        beside: disk::beside(&disk, id),
    };
    // The editor does one thing whole, and what it holds outlasts this process.
    let is_alone = changes.files.len() == 1;
    let journal = match is_alone && disk.is_empty() {
        true => None,
        false => Some(world.journals.begin(id, &entry).map_err(unwritten)?),
    };
    Ok(Some(Prepared {
        editor,
        disk,
        was,
        files: entry.files,
        records: Arc::new(Records {
            checkpoint,
            journal,
            is_alone,
        }),
    }))
}

/// Begins a checkpoint, where one is wanted.
fn checkpoint(
    world: &World,
    changes: &Changes,
    before: &[Before],
) -> Result<Option<Begun>, String> {
    let author = match &changes.by {
        Whose::Agent(author) => Some(author.clone()),
        Whose::Review => None,
        // Whoever restores has made one.
        Whose::Person => return Ok(None),
    };
    // Of the scratchpad nothing is kept.
    if !world.checkpoint_first || before.is_empty() {
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
    let root = world.workspace.root();
    world.checkpoints.begin(root, &cause, before).map(Some)
}

fn unwritten(error: std::io::Error) -> String {
    format!(
        "What is about to be changed cannot be written down in Undine's data folder ({error}), so nothing was \
         changed. Ask the person to see to it."
    )
}
