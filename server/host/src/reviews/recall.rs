//! Reading what an earlier server knew of a file, beside the main loop.
//!
//! A record can be as large as its file, and finding its hunks again takes a look through both. What happens to the file
//! meanwhile is kept in order and then done.

use super::keeper::Kept;
use super::shelf::Shelf;
use super::{Late, Reviews};
use crate::documents::{Changed, Document};
use crate::event::{Whose, Written};
use engine::review::{By, FileChange, Ledger};
use std::path::{Path, PathBuf};

/// What is to be read.
#[derive(Debug)]
pub struct Recall {
    pub(super) shelf: Shelf,
    pub(super) path: PathBuf,
}

/// What has happened to a file.
#[derive(Debug)]
pub(super) enum Happened {
    Changed(Box<(Changed, Document)>, bool),
    Reached(Whose, Box<Document>),
    Landed(Box<(Late, Document)>),
    Document(Box<Document>),
    Disk(Option<String>),
    Written(Box<Written>),
}

impl Recall {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Blocks. `live` answers the text as it is now; `None`: there is no file. The error is for the person.
    pub fn read(self, live: impl FnOnce() -> Option<String>) -> Result<Option<Kept>, String> {
        let records = self.shelf.take(&self.path)?;
        if records.is_empty() {
            return Ok(None);
        }
        let live = live();
        let mut all: Option<Kept> = None;
        for (record, was) in records {
            let ledger = Ledger::from_record(&record, live.as_deref().unwrap_or_default());
            let mut ledger = ledger.map_err(|it| format!("{}: {it}.", self.path.display()))?;
            let was_deleted = matches!(ledger.file_change(), Some(FileChange::Deleted(_)));
            match &live {
                // Somebody made it again.
                Some(live) if was_deleted => ledger.restored(live, By::Person),
                None if !was_deleted => ledger.deleted(By::Person),
                Some(_) | None => {}
            }
            match &mut all {
                Some((all, _)) => all.adopt(ledger),
                // The latest comes first.
                None => all = Some((ledger, was)),
            }
        }
        Ok(all)
    }
}

impl Reviews {
    /// Keeps what has happened to a file until its record is read; answers whether it does.
    pub(super) fn waits(&mut self, path: &Path, what: impl FnOnce() -> Happened) -> bool {
        match self.recalling.get_mut(path) {
            Some(all) => {
                all.push(what());
                true
            }
            None => false,
        }
    }

    pub(super) fn happened(&mut self, path: &Path, what: Happened) {
        match what {
            Happened::Changed(it, expected) => self.changed(&it.0, &it.1, expected),
            Happened::Reached(whose, now) => self.reached(path, &whose, &now),
            Happened::Landed(it) => self.landed(&it.0, &it.1),
            Happened::Document(now) => self.document(path, &now),
            Happened::Disk(text) => self.disk(path, text.as_deref()),
            Happened::Written(written) => self.written(&written),
        }
    }
}
