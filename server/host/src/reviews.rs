//! The review store: the ledger of each file in which the agent has changes that the person has not judged.
//!
//! Belongs to the main loop, which tells it what happens to texts. It follows them all the same way, whether the
//! editor has the file open or not, and never compares whole texts while a person types. A file that is not in
//! it has nothing to review.

mod follow;
mod keeper;
mod news;
mod recall;
mod shelf;
#[cfg(test)]
mod tests;
mod wish;

use crate::apply::Exact;
use crate::event::{Event, Whose};
use engine::review::{Author, By, FileChange, HunkState, Ledger, ReviewHunk};
use engine::text::ChangeSet;
use follow::Hold;
use keeper::Keeper;
pub use keeper::Kept;
use recall::Happened;
use shelf::Shelf;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

pub use news::{News, told};
pub use recall::Recall;
pub use wish::{Plan, Reversal, Scope, Wish, wire_id};

#[derive(Debug, Default)]
pub struct Reviews {
    files: BTreeMap<PathBuf, Review>,
    /// What happens to documents while an edit of ours is on its way to them.
    holds: BTreeMap<PathBuf, Hold>,
    /// Reverts that are on their way.
    intended: BTreeMap<PathBuf, ChangeSet>,
    /// Files of which the editor may have to hear.
    moved: BTreeSet<PathBuf>,
    /// Something happened that a person waits to see: an edit of ours, a verdict.
    is_urgent: bool,
    /// What sessions were not told yet; also those that an earlier server left, once they were asked for.
    news: BTreeMap<String, Vec<News>>,
    /// Where it is kept, if it is.
    shelf: Option<Shelf>,
    keeper: Option<Keeper>,
    /// What the disk does not know yet.
    unsaved: BTreeSet<PathBuf>,
    news_moved: BTreeSet<String>,
    /// Files whose records were looked for; from then on this is what counts.
    known: HashSet<PathBuf>,
    /// What has happened to files while their records are read.
    recalling: BTreeMap<PathBuf, Vec<Happened>>,
    is_listed: bool,
    is_searching: bool,
}

/// One file under review.
#[derive(Debug)]
pub struct Review {
    pub ledger: Ledger,
    /// How the accepted text lay on the disk, where that was seen.
    pub was: Option<Exact>,
    /// The agent has deleted the file and made it again, perhaps in another form.
    pub is_remade: bool,
    /// The document's version that the ledger's text is of; `None` for a file that is not open.
    pub version: Option<i32>,
    /// The text is not known at the moment; the ledger waits for it.
    is_suspended: bool,
    /// The file on the disk when it was looked at last, while it is not open.
    stamp: Option<Stamp>,
    /// What the editor was told last.
    told: Vec<Told>,
    told_change: Option<FileChange>,
}

/// An edit of the agent's that has come after nobody waited for it any more.
#[derive(Clone, Debug)]
pub struct Late {
    pub path: PathBuf,
    pub old: String,
    pub text: String,
    pub author: Author,
}

/// Tells two states of a file apart, mostly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: (i64, i64),
    n_bytes: u64,
    inode: u64,
}

impl Stamp {
    /// `None`: there is no such file.
    pub fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Self {
            modified: (meta.mtime(), meta.mtime_nsec()),
            n_bytes: meta.len(),
            inode: meta.ino(),
        })
    }
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
            was: None,
            is_remade: false,
            version: None,
            is_suspended: false,
            stamp: None,
            told: Vec::new(),
            told_change: None,
        }
    }
}

impl Reviews {
    /// A store that is kept in a folder.
    pub fn kept(folder: PathBuf, inbox: mpsc::Sender<Event>) -> std::io::Result<Self> {
        let shelf = Shelf::new(folder);
        Ok(Self {
            keeper: Some(Keeper::start(shelf.clone(), inbox)?),
            shelf: Some(shelf),
            ..Self::default()
        })
    }

    /// The most bytes that may be kept.
    pub fn limit(&self, n_bytes: u64) {
        if let Some(keeper) = &self.keeper {
            keeper.limit(n_bytes);
        }
    }

    /// Whether there may be something to read of a file that an earlier server knew. From then on what happens to the
    /// file waits until [`recalled`](Self::recalled) is told what it was.
    pub fn recall(&mut self, path: &Path) -> Option<Recall> {
        let shelf = self.shelf.as_ref()?;
        let is_new = self.known.insert(path.to_path_buf());
        if !is_new || self.files.contains_key(path) || !shelf.may_have(path) {
            return None;
        }
        self.recalling.insert(path.to_path_buf(), Vec::new());
        Some(Recall {
            shelf: shelf.clone(),
            path: path.to_path_buf(),
        })
    }

    /// What an earlier server knew of a file was read. Answers whether it was something.
    pub fn recalled(&mut self, path: &Path, found: Option<Kept>) -> bool {
        let late = self.recalling.remove(path).unwrap_or_default();
        let is_found = found.is_some();
        if let Some((ledger, was)) = found {
            let mut review = Review::new(ledger);
            review.was = was;
            self.files.insert(path.to_path_buf(), review);
            self.touch(path, true);
        }
        late.into_iter().for_each(|it| self.happened(path, it));
        is_found
    }

    /// Whether something of an earlier server's is being read.
    pub fn is_recalling(&self) -> bool {
        self.is_searching || !self.recalling.is_empty()
    }

    /// Whether something has happened to a file whose record is being read.
    pub fn is_behind(&self) -> bool {
        self.recalling.values().any(|it| !it.is_empty())
    }

    /// Looks for the files of which an earlier server knew something, if that was not done before; then
    /// [`searched`](Self::searched) is to be called. The answer blocks.
    pub fn search(&mut self) -> Option<impl FnOnce() -> Vec<PathBuf> + Send + 'static> {
        let shelf = self
            .shelf
            .as_ref()
            .filter(|it| !self.is_listed && it.has_any())?;
        let shelf = shelf.clone();
        (self.is_listed, self.is_searching) = (true, true);
        Some(move || shelf.paths())
    }

    pub fn searched(&mut self) {
        self.is_searching = false;
    }

    /// Told when all that was to be saved is; `None`: it is.
    pub fn saved(&self) -> Option<oneshot::Receiver<()>> {
        self.keeper.as_ref().and_then(Keeper::idle)
    }

    /// Whether the disk does not know all yet, and whether that is more than typing.
    pub fn is_unsaved(&self) -> Option<bool> {
        let urgent = self.is_urgent || !self.news_moved.is_empty();
        let any = self.keeper.is_some() && (urgent || !self.unsaved.is_empty());
        any.then_some(urgent)
    }

    /// Has written what the disk does not know yet.
    pub fn save(&mut self) {
        let Some(keeper) = &self.keeper else {
            return;
        };
        for path in std::mem::take(&mut self.unsaved) {
            let review = self.files.get(&path);
            let review = review.filter(|it| !it.ledger.is_settled());
            keeper.file(path, review.map(|it| (it.ledger.clone(), it.was)));
        }
        for session in std::mem::take(&mut self.news_moved) {
            let news = self.news.get(&session).cloned().unwrap_or_default();
            keeper.news(session, news);
        }
    }

    /// Saves, and waits for it, but no longer than this.
    pub fn close(&mut self, patience: Duration) {
        self.save();
        if let Some(keeper) = &self.keeper {
            keeper.flush(patience);
        }
    }

    pub fn get(&mut self, path: &Path) -> Option<&mut Review> {
        self.files.get_mut(path)
    }

    /// All files, sorted by path.
    pub fn iter(&mut self) -> impl Iterator<Item = (&Path, &mut Review)> {
        self.files.iter_mut().map(|(path, it)| (path.as_path(), it))
    }

    /// The files under review that the editor does not have open.
    pub fn closed(&self) -> impl Iterator<Item = PathBuf> {
        let closed = self.files.iter().filter(|(_, it)| it.version.is_none());
        closed.map(|(path, _)| path.clone())
    }

    /// Whether a file that is not open may be another than when it was looked at last; from now on it was.
    pub fn is_news(&mut self, path: &Path, stamp: Option<Stamp>) -> bool {
        match self.files.get_mut(path) {
            Some(review) => {
                let is_same = stamp.is_some() && review.stamp == stamp;
                review.stamp = stamp;
                !is_same
            }
            None => false,
        }
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

    /// Forgets files in which nothing is left to review, and nothing that undo in the editor could bring back.
    pub fn forget_settled(&mut self) {
        self.files.retain(|_, it| {
            let may_return = it.version.is_some() && it.ledger.remembers();
            may_return || !it.ledger.is_settled()
        });
    }

    fn touch(&mut self, path: &Path, urgent: bool) {
        self.gather(path);
        self.is_urgent |= urgent;
        if !self.unsaved.contains(path) {
            self.unsaved.insert(path.to_path_buf());
        }
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
