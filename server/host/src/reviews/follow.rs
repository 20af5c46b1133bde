//! Follows the texts of files, in the editor and on the disk, and says whose each change is.
//!
//! An edit of ours comes back as a `didChange`, and some editors say one edit in several. So while one is on its
//! way, what happens to its document is held back: when the text is the awaited one, all of it is the edit's; when
//! nobody waits any more, all of it is the person's. That errs on the person's side: what they typed is never
//! taken for the agent's, at the worst an edit of the agent's counts as theirs.

use super::recall::Happened;
use super::{Late, Review, Reviews, by};
use crate::documents::{Changed, Content, Document, Step};
use crate::event::{Whose, Written};
use engine::review::{By, FileChange, Ledger};
use engine::text::{ChangeSet, Edit};
use ropey::Rope;
use std::path::Path;

/// What happened to a document while an edit of ours was on its way.
#[derive(Debug)]
pub(super) struct Hold {
    before: Rope,
    /// `None`: the text was exchanged as a whole.
    changes: Option<ChangeSet>,
}

impl Reviews {
    /// A document has changed. `expected`: an edit of ours is on its way to it.
    pub fn changed(&mut self, changed: &Changed, now: &Document, expected: bool) {
        let path = &changed.path;
        let waits = || Happened::Changed(Box::new((changed.clone(), now.clone())), expected);
        if self.waits(path, waits) {
            return;
        }
        if !changed.stands || !expected && !self.files.contains_key(path) {
            return;
        }
        let (Content::Text(before), Content::Text(after)) = (&changed.before, &now.content) else {
            return self.document(path, now);
        };
        let changes = composed(&changed.steps, before.len_bytes());
        if expected {
            let hold = self.holds.entry(path.clone()).or_insert_with(|| Hold {
                before: before.clone(),
                changes: Some(ChangeSet::identity(before.len_bytes())),
            });
            let both = hold.changes.take().zip(changes);
            hold.changes = both.and_then(|(first, next)| first.compose(&next).ok());
            return;
        }
        self.release(path);
        if let Some(review) = self.files.get_mut(path) {
            let was_settled = review.ledger.is_settled();
            review.follow(changes.as_ref(), after, By::Person);
            review.version = Some(now.version);
            if !was_settled || !review.ledger.is_settled() {
                self.touch(path, false);
            }
        }
    }

    /// The text that an edit of ours was to make is there.
    pub fn reached(&mut self, path: &Path, whose: &Whose, now: &Document) {
        let waits = || Happened::Reached(whose.clone(), Box::new(now.clone()));
        if self.waits(path, waits) {
            return;
        }
        if let Content::Text(after) = &now.content {
            self.made(path, whose, after, now.version);
        }
    }

    /// As [`reached`](Self::reached), if the person has typed on it and the editor said both at once. Answers
    /// whether that is so.
    pub fn passed(&mut self, path: &Path, made: &str, whose: &Whose, now: &Document) -> bool {
        let (Content::Text(after), Some(hold)) = (&now.content, self.holds.get_mut(path)) else {
            return false;
        };
        if after.len_bytes().max(made.len()) > MAX_COMPARED {
            return false;
        }
        let Some((agents, typed)) = apart(&hold.before.to_string(), made, &after.to_string())
        else {
            return false;
        };
        hold.changes = Some(agents);
        self.made(path, whose, &Rope::from_str(made), now.version);
        if let Some(review) = self.files.get_mut(path) {
            review.follow(Some(&typed), after, By::Person);
        }
        true
    }

    fn made(&mut self, path: &Path, whose: &Whose, after: &Rope, version: i32) {
        let hold = self.holds.remove(path);
        if !self.files.contains_key(path) {
            let (Some(hold), Whose::Agent(_)) = (&hold, whose) else {
                return;
            };
            let ledger = Ledger::new(hold.before.clone());
            self.files.insert(path.to_path_buf(), Review::new(ledger));
        }
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        let intended = match whose {
            Whose::Review => self.intended.remove(path),
            Whose::Agent(_) | Whose::Person => None,
        };
        if !intended.is_some_and(|it| review.reverted(&it, after)) {
            let changes = hold.and_then(|it| it.changes);
            review.follow(changes.as_ref(), after, by(whose));
        }
        review.version = Some(version);
        self.touch(path, true);
    }

    /// An edit of the agent's has come after nobody waited for it any more, and its parts counted as the person's.
    pub fn landed(&mut self, late: &Late, now: &Document) {
        let Late {
            path,
            old,
            text,
            author,
        } = late;
        let waits = || Happened::Landed(Box::new((late.clone(), now.clone())));
        if self.waits(path, waits) {
            return;
        }
        let review = self.files.entry(path.clone());
        let review = review.or_insert_with(|| Review::new(Ledger::new(Rope::from_str(old))));
        review.is_suspended = false;
        review.ledger.replaced(old, By::Person);
        review.ledger.replaced(text, By::Agent(author));
        review.version = Some(now.version);
        self.touch(path, true);
        self.note_landed(path, author, old, text);
    }

    /// Documents in which something was held back.
    pub fn held(&self) -> Vec<std::path::PathBuf> {
        self.holds.keys().cloned().collect()
    }

    /// No edit of ours is on its way to a document any more: what was held back was the person's.
    pub fn release(&mut self, path: &Path) {
        let Some(hold) = self.holds.remove(path) else {
            return;
        };
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        let after = match &hold.changes {
            Some(changes) => {
                let mut after = hold.before.clone();
                changes.apply_rope(&mut after).ok().map(|()| after)
            }
            None => None,
        };
        match after {
            Some(after) => review.follow(hold.changes.as_ref(), &after, By::Person),
            // The next look at the document's text says what it is.
            None => review.is_suspended = true,
        }
        self.touch(path, false);
    }

    /// Brings a file's ledger to its document's text, whatever happened to it: it was opened, or its text is
    /// known again.
    pub fn document(&mut self, path: &Path, now: &Document) {
        if self.waits(path, || Happened::Document(Box::new(now.clone()))) {
            return;
        }
        self.holds.remove(path);
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        // Once it is closed, the disk is looked at whatever it was like before.
        review.stamp = None;
        match &now.content {
            Content::Text(after) => {
                review.anchor(after);
                review.version = Some(now.version);
            }
            Content::Tainted(_) | Content::TooLarge => review.is_suspended = true,
        }
        self.touch(path, false);
    }

    /// The last document of a file was closed: the disk's text counts again. `None`: there is no file.
    pub fn disk(&mut self, path: &Path, text: Option<&str>) {
        if self.waits(path, || Happened::Disk(text.map(str::to_owned))) {
            return;
        }
        self.holds.remove(path);
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        if review.version.take().is_none() && text.is_some_and(|it| *review.ledger.live() == it) {
            // Nothing has happened.
            return;
        }
        match text {
            Some(text) => review.anchor(&Rope::from_str(text)),
            None => match review.ledger.file_change() {
                Some(FileChange::Deleted(_)) => return,
                Some(FileChange::Created(_)) | None => review.ledger.deleted(By::Person),
            },
        }
        self.touch(path, false);
    }

    /// A file was changed on the disk.
    pub fn written(&mut self, written: &Written) {
        let Written {
            path,
            old,
            new,
            changes,
            was,
            by: whose,
        } = written;
        if self.waits(path, || Happened::Written(Box::new(written.clone()))) {
            return;
        }
        if !self.files.contains_key(path) {
            if !matches!(whose, Whose::Agent(_)) {
                return;
            }
            let ledger = Ledger::new(old.clone().unwrap_or_default());
            self.files.insert(path.clone(), Review::new(ledger));
        }
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        // The first time counts: that is how the accepted text lay there.
        review.was = review.was.or(*was);
        review.stamp = None;
        if let Some(old) = old {
            review.anchor(old);
        }
        let intended = match whose {
            Whose::Review => self.intended.remove(path),
            Whose::Agent(_) | Whose::Person => None,
        };
        let was_deleted = matches!(review.ledger.file_change(), Some(FileChange::Deleted(_)));
        match (old, new, whose) {
            (_, None, _) => review.ledger.deleted(by(whose)),
            (_, Some(new), _) if was_deleted => {
                review.is_remade |= matches!(whose, Whose::Agent(_));
                review.ledger.restored(&new.to_string(), by(whose));
            }
            (None, Some(new), Whose::Agent(author)) => {
                review.ledger = Ledger::created(&new.to_string(), author);
            }
            (_, Some(new), _) => {
                if !intended.is_some_and(|it| review.reverted(&it, new)) {
                    review.follow(changes.as_ref(), new, by(whose));
                }
            }
        }
        self.touch(path, true);
    }
}

impl Review {
    /// Takes a change in. `changes` is missing where the text was exchanged as a whole.
    fn follow(&mut self, changes: Option<&ChangeSet>, after: &Rope, by: By<'_>) {
        let is_done = !self.is_suspended
            && changes.is_some_and(|it| self.ledger.edited(it, by).is_ok())
            && self.ledger.live().len_bytes() == after.len_bytes();
        if !is_done {
            self.is_suspended = false;
            self.ledger.replaced(&after.to_string(), by);
        }
    }

    /// Takes a revert in as it was meant, if that is what was made.
    fn reverted(&mut self, changes: &ChangeSet, after: &Rope) -> bool {
        let mut meant = self.ledger.live().clone();
        !self.is_suspended
            && changes.apply_rope(&mut meant).is_ok()
            && meant == *after
            && self.ledger.edited(changes, By::Review).is_ok()
    }

    /// The text is this one now, by whatever way it came to be.
    fn anchor(&mut self, after: &Rope) {
        self.is_suspended = false;
        if matches!(self.ledger.file_change(), Some(FileChange::Deleted(_))) {
            self.ledger.restored(&after.to_string(), By::Person);
        } else if self.ledger.live() != after {
            self.ledger.replaced(&after.to_string(), By::Person);
        }
    }
}

/// The largest text that is compared while an edit is on its way, in bytes: the person types meanwhile.
const MAX_COMPARED: usize = 1 << 20;

/// Takes what happened to a text apart into the edit that was to make `made` of it and what was typed after;
/// `None`: the edit is not in it, or not for certain. It is when less was typed on it than had to be typed
/// without it, and nothing of that touches it.
fn apart(before: &str, made: &str, after: &str) -> Option<(ChangeSet, ChangeSet)> {
    let agents = ChangeSet::between(before, made);
    let typed = ChangeSet::between(made, after);
    let cost = |it: &ChangeSet| -> usize {
        let edits = it.edits();
        edits.iter().map(|it| it.range.len() + it.text.len()).sum()
    };
    if cost(&typed) >= cost(&ChangeSet::between(before, after)) {
        return None;
    }
    let typed_at: Vec<_> = typed.edits().into_iter().map(|it| it.range).collect();
    let mut shift: usize = 0;
    for edit in agents.edits() {
        let start = edit.range.start.wrapping_add(shift);
        let end = start + edit.text.len();
        if typed_at.iter().any(|it| it.start <= end && it.end >= start) {
            return None;
        }
        shift = shift
            .wrapping_add(edit.text.len())
            .wrapping_sub(edit.range.len());
    }
    Some((agents, typed))
}

/// The steps as one change of a text of so many bytes.
fn composed(steps: &[Step], len: usize) -> Option<ChangeSet> {
    let mut all: Option<ChangeSet> = None;
    for Step { range, text } in steps {
        let (len, range) = range.clone()?;
        let edit = Edit {
            range,
            text: text.clone(),
        };
        let step = ChangeSet::of_edits(len, &[edit])?;
        all = Some(match all {
            Some(before) => before.compose(&step).ok()?,
            None => step,
        });
    }
    Some(all.unwrap_or_else(|| ChangeSet::identity(len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_and_the_typing_after_it_are_told_apart_only_when_both_are_certain() {
        let (before, made) = ("one\ntwo\nthree\n", "one\nTWO\nthree\n");
        let typed = |after: &str| apart(before, made, after).map(|(_, typed)| typed.edits().len());
        assert_eq!(typed("zero\none\nTWO\nthree\nfour\n"), Some(2));
        assert_eq!(typed(made), Some(0));
        // Typed, and the edit is not there; typed into it; nothing has happened.
        assert_eq!(typed("zero\none\ntwo\nthree\n"), None);
        assert_eq!(typed("one\nTWO!\nthree\n"), None);
        assert_eq!(typed(before), None);
    }
}
