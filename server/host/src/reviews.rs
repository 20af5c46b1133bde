//! The review store: the ledger of each file in which the agent has changes that the person has not judged.
//!
//! Belongs to the main loop, which tells it what happens to texts. It follows them all the same way, whether the
//! editor has the file open or not, and never compares whole texts while a person types. A file that is not in
//! it has nothing to review.

mod follow;
mod wish;

use crate::event::Whose;
use engine::review::{By, FileChange, HunkState, Ledger, ReviewHunk};
use follow::Hold;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use wish::{Plan, Reversal, Scope, Wish, wire_id};

#[derive(Debug, Default)]
pub struct Reviews {
    files: BTreeMap<PathBuf, Review>,
    /// What happens to documents while an edit of ours is on its way to them.
    holds: BTreeMap<PathBuf, Hold>,
    /// Files of which the editor may have to hear.
    moved: BTreeSet<PathBuf>,
    /// Something happened that a person waits to see: an edit of ours, a verdict.
    is_urgent: bool,
}

/// One file under review.
#[derive(Debug)]
pub struct Review {
    pub ledger: Ledger,
    /// The document's version that the ledger's text is of; `None` for a file that is not open.
    pub version: Option<i32>,
    /// The text is not known at the moment; the ledger waits for it.
    is_suspended: bool,
    /// What the editor was told last.
    told: Vec<Told>,
    told_change: Option<FileChange>,
}

/// What an editor marks of a hunk.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    id: String,
    lines: std::ops::Range<u32>,
    state: HunkState,
}

impl Told {
    fn of(hunk: &ReviewHunk) -> Self {
        Self {
            id: hunk.id.0.clone(),
            lines: hunk.lines.clone(),
            state: hunk.state,
        }
    }
}

impl Review {
    fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            version: None,
            is_suspended: false,
            told: Vec::new(),
            told_change: None,
        }
    }
}

impl Reviews {
    pub fn get(&mut self, path: &Path) -> Option<&mut Review> {
        self.files.get_mut(path)
    }

    /// All files, sorted by path.
    pub fn iter(&mut self) -> impl Iterator<Item = (&Path, &mut Review)> {
        self.files.iter_mut().map(|(path, it)| (path.as_path(), it))
    }

    /// Whether the editor may have to hear of something, and whether at once.
    pub fn news(&self) -> Option<bool> {
        (!self.moved.is_empty()).then_some(self.is_urgent)
    }

    /// The files whose hunks are others than the editor was told last, or stand on other lines. From now on it
    /// was told. What is settled is forgotten.
    pub fn take_moved(&mut self) -> Vec<PathBuf> {
        self.is_urgent = false;
        let mut changed = Vec::new();
        for path in std::mem::take(&mut self.moved) {
            let Some(review) = self.files.get_mut(&path) else {
                continue;
            };
            let now: Vec<Told> = review.ledger.hunks().iter().map(Told::of).collect();
            let change = review.ledger.file_change().cloned();
            if now != review.told || change != review.told_change {
                (review.told, review.told_change) = (now, change);
                changed.push(path);
            }
        }
        changed
    }

    /// Forgets files in which nothing is left to review.
    pub fn forget_settled(&mut self) {
        self.files.retain(|_, it| !it.ledger.is_settled());
    }

    fn touch(&mut self, path: &Path, urgent: bool) {
        self.is_urgent |= urgent;
        if !self.moved.contains(path) {
            self.moved.insert(path.to_path_buf());
        }
    }
}

/// The ledger's word for whose a change is.
fn by(whose: &Whose) -> By<'_> {
    match whose {
        Whose::Agent(author) => By::Agent(author),
        Whose::Review => By::Review,
        Whose::Person => By::Person,
    }
}
