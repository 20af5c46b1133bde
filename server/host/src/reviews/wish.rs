//! What the person wants kept or reverted, over all files.

use super::Reviews;
use crate::apply::Exact;
use engine::review::{Author, By, FileStep, HunkId, Ledger, Revert, Which};
use engine::text::file::has_bytes;
use engine::text::{ChangeSet, Form};
use protocol::session::TurnId;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which changes are meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Only those of this file.
    pub file: Option<PathBuf>,
    pub scope: Scope,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// Ids as [`wire_id`] makes them.
    Hunks(Vec<String>),
    Turn {
        session: String,
        turn: TurnId,
    },
    Session(String),
    All,
}

/// What a revert of some wishes would do.
#[derive(Debug, Default)]
pub struct Plan {
    pub files: Vec<Reversal>,
    /// Hunks that are reverted, or set back to before a turn.
    pub hunks: Vec<String>,
    /// Hunks that were meant too and stay.
    pub left: Vec<String>,
    /// Ids that no hunk has.
    pub unknown: Vec<String>,
    /// Whose work the hunks are.
    pub sessions: BTreeSet<String>,
}

/// One file's way back. `None`: there is no file.
#[derive(Clone, Debug, PartialEq)]
pub struct Reversal {
    pub path: PathBuf,
    pub old: Option<String>,
    pub new: Option<String>,
    /// How the new text is to lie on the disk, where that is another way than the old one's.
    pub exact: Option<Exact>,
    /// From the one text to the other. Where lines stand twice, the texts alone do not tell which of them came
    /// back.
    pub changes: ChangeSet,
}

/// A hunk's id outside of its file: the same change made to two files at once has one id in both.
pub fn wire_id(path: &Path, id: &HunkId) -> String {
    format!("{id}.{}", mark(path))
}

/// Eight hexadecimal digits.
fn mark(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hash[..4].iter().map(|it| format!("{it:02x}")).collect()
}

impl Wish {
    /// The ids of a file's hunks that are meant; `None` where they are not named.
    fn ids(&self, path: &Path) -> Option<Vec<HunkId>> {
        let Scope::Hunks(ids) = &self.scope else {
            return None;
        };
        let end = format!(".{}", mark(path));
        let own = ids.iter().filter_map(|it| it.strip_suffix(&end));
        Some(own.map(|it| HunkId(it.to_owned())).collect())
    }

    fn concerns(&self, path: &Path) -> bool {
        self.file.as_deref().is_none_or(|it| it == path)
    }

    fn which<'a>(&'a self, ids: &'a Option<Vec<HunkId>>) -> Which<'a> {
        match (&self.scope, ids) {
            (Scope::Hunks(_), ids) => Which::Hunks(ids.as_deref().unwrap_or_default()),
            (Scope::Turn { session, turn }, _) => Which::Turn {
                session,
                turn: *turn,
            },
            (Scope::Session(session), _) => Which::Session(session),
            (Scope::All, _) => Which::All,
        }
    }
}

impl Reviews {
    /// Keeps what is meant. Answers what is settled and what was meant and stays.
    pub fn keep(&mut self, wish: &Wish) -> (Vec<String>, Vec<String>) {
        let (mut settled, mut left) = (Vec::new(), Vec::new());
        let mut touched = Vec::new();
        for (path, review) in &mut self.files {
            if !wish.concerns(path) {
                continue;
            }
            let ids = wish.ids(path);
            let before = review.ledger.file_change().cloned();
            let kept = review.ledger.keep(wish.which(&ids));
            if !kept.settled.is_empty() || before.as_ref() != review.ledger.file_change() {
                touched.push(path.clone());
            }
            settled.extend(kept.settled.iter().map(|it| wire_id(path, it)));
            left.extend(kept.left.iter().map(|it| wire_id(path, it)));
        }
        left.extend(unknown(wish, |it| settled.contains(it)));
        touched.iter().for_each(|it| self.touch(it, true));
        (settled, left)
    }

    /// The person has committed this text of a file: what is in it unchanged is accepted. `plain`: whatever its line
    /// breaks are in the file, they are `\n` there.
    pub fn committed(&mut self, path: &Path, text: &str, plain: bool) {
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        let before = review.ledger.file_change().cloned();
        let kept = review.ledger.committed(text, plain);
        if !kept.settled.is_empty() || before.as_ref() != review.ledger.file_change() {
            self.touch(path, true);
        }
    }

    /// What would take back what these mean, as one step. Nothing is done.
    pub fn plan(&mut self, wishes: &[Wish]) -> Plan {
        let mut plan = Plan::default();
        for (path, review) in &mut self.files {
            if !wishes.iter().any(|it| it.concerns(path)) {
                continue;
            }
            let mut undone = review.ledger.clone();
            let (mut hunks, mut left) = (Vec::new(), Vec::new());
            let mut step = None;
            let mut changes = ChangeSet::identity(undone.live().len_bytes());
            let mut is_meant = false;
            for wish in wishes.iter().filter(|it| it.concerns(path)) {
                let ids = wish.ids(path);
                let revert = undone.revert(wish.which(&ids));
                is_meant |= revert.file.is_some() || !revert.hunks.is_empty();
                step = revert.file.or(step);
                hunks.extend(revert.hunks.iter().map(|it| wire_id(path, it)));
                left.extend(revert.left.iter().map(|it| wire_id(path, it)));
                if let Ok(both) = changes.compose(&revert.changes) {
                    changes = both;
                }
                undo(&mut undone, &revert);
            }
            plan.left.append(&mut left);
            if !is_meant {
                continue;
            }
            plan.sessions
                .extend(sessions(&mut review.ledger, path, &hunks));
            plan.hunks.append(&mut hunks);
            let text = |it: &Ledger| it.live().to_string();
            let (old, new) = match step {
                Some(FileStep::Delete) => (Some(text(&review.ledger)), None),
                Some(FileStep::Create) => (None, Some(text(&undone))),
                None => (Some(text(&review.ledger)), Some(text(&undone))),
            };
            let exact = match step {
                // It comes back as it was.
                Some(FileStep::Create) => review.was,
                Some(FileStep::Delete) => None,
                None if review.is_remade && *undone.live() == undone.base() => review.was,
                // Bytes that are no text come back as bytes, even if none was left in the file.
                None => review
                    .was
                    .filter(|it| it.form == Form::Bytes && has_bytes(&text(&undone))),
            };
            let path = path.clone();
            plan.files.push(Reversal {
                path,
                old,
                new,
                exact,
                changes,
            });
        }
        for wish in wishes {
            plan.unknown
                .extend(unknown(wish, |it| plan.hunks.contains(it)));
        }
        plan
    }

    /// These are about to be made; it is theirs what then comes back.
    pub fn intend(&mut self, files: &[Reversal]) {
        for file in files {
            let changes = file.changes.clone();
            self.intended.insert(file.path.clone(), changes);
        }
    }

    /// Which of these hunks are still there.
    pub fn remaining(&mut self, hunks: &[String]) -> Vec<String> {
        let mut there = BTreeSet::new();
        for (path, review) in &mut self.files {
            there.extend(review.ledger.hunks().iter().map(|it| wire_id(path, &it.id)));
        }
        let there = hunks.iter().filter(|it| there.contains(*it));
        there.cloned().collect()
    }
}

fn undo(ledger: &mut Ledger, revert: &Revert) {
    match revert.file {
        Some(FileStep::Delete) => ledger.deleted(By::Review),
        Some(FileStep::Create) => {
            if let Ok(text) = revert.changes.apply(&ledger.live().to_string()) {
                ledger.restored(&text, By::Review);
            }
        }
        // Made for this very text.
        None => drop(ledger.edited(&revert.changes, By::Review)),
    }
}

/// The sessions whose work is in these hunks, and in the file as a whole.
fn sessions(ledger: &mut Ledger, path: &Path, hunks: &[String]) -> BTreeSet<String> {
    let meant = ledger.hunks().into_iter();
    let meant = meant.filter(|it| hunks.contains(&wire_id(path, &it.id)));
    let mut authors: Vec<Author> = meant.flat_map(|it| it.authors).collect();
    match ledger.file_change() {
        Some(
            engine::review::FileChange::Created(author)
            | engine::review::FileChange::Deleted(author),
        ) => authors.push(author.clone()),
        None => {}
    }
    authors.into_iter().map(|it| it.session).collect()
}

/// The ids of a wish that mean nothing.
fn unknown(wish: &Wish, is_known: impl Fn(&String) -> bool) -> Vec<String> {
    match &wish.scope {
        Scope::Hunks(ids) => ids.iter().filter(|it| !is_known(it)).cloned().collect(),
        Scope::Turn { .. } | Scope::Session(_) | Scope::All => Vec::new(),
    }
}
