//! Hunks that the person has committed unchanged are accepted.

use crate::event::{Committed, Event};
use crate::git::{self, Head, Repository};
use crate::main_loop::Host;
use engine::text::FileText;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the repositories of files under review stood when they were looked at last.
#[derive(Default)]
pub(crate) struct Commits {
    heads: BTreeMap<PathBuf, Head>,
    /// Files whose review is of an earlier server: there may have been commits since.
    recalled: BTreeSet<PathBuf>,
}

impl Host {
    /// A review of an earlier server was read.
    pub(super) fn note_recalled(&mut self, path: &Path) {
        self.reviewing.commits.recalled.insert(path.to_path_buf());
    }

    /// Has git asked for what was committed of files under review, where that may be something new.
    pub(crate) fn look_for_commits(&mut self) {
        let mut moved = Vec::new();
        let mut heads: BTreeMap<PathBuf, Head> = BTreeMap::new();
        let recalled = std::mem::take(&mut self.reviewing.commits.recalled);
        for (path, review) in self.reviews.iter() {
            if review.ledger.is_settled() {
                continue;
            }
            let Some(repository) = Repository::of(path) else {
                continue;
            };
            let head = heads
                .entry(repository.root.clone())
                .or_insert_with(|| repository.head());
            // One that was not looked at before says nothing: the agent's work is newer than what it has.
            let before = self.reviewing.commits.heads.get(&repository.root);
            if before.is_some_and(|it| it != head) || recalled.contains(path) {
                let live = review.ledger.live().clone();
                moved.push((path.to_path_buf(), live));
            }
        }
        self.reviewing.commits.heads.extend(heads);
        if moved.is_empty() {
            return;
        }
        let (inbox, limit) = (self.inbox.clone(), self.limits.edit_bytes);
        self.runtime.spawn(async move {
            let mut texts = Vec::new();
            for (path, live) in moved {
                if let Some(bytes) = git::committed(&path, limit).await {
                    let text = FileText::decode(bytes).text;
                    let may_differ = !text.contains('\r') && live.chars().any(|it| it == '\r');
                    let plain = may_differ && git::keeps_plain(&path).await;
                    texts.push(Committed { path, text, plain });
                }
            }
            // A loop that is gone has nothing to settle.
            let _ = inbox.send(Event::Committed(texts)).await;
        });
    }
}
