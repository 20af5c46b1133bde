//! What the file was like around the agent's latest edits and their reverts, so that undo and redo find the way back.
//!
//! An editor's undo gives back an earlier text, in whatever ranges and however many edits it says that. Whose the
//! lines are then is what it was at that time: they are looked up and not guessed from the ranges. What the person
//! has accepted since stays accepted, for keeping a hunk keeps it here too.

use std::{collections::VecDeque, sync::Arc};

use ropey::Rope;

use super::{Author, Fate, FileChange, HunkId, Ledger, region::Region};
use crate::text::ChangeSet;

/// The most states that are remembered, two for each edit of the agent's or the review's.
const MOST: usize = 64;
/// The most bytes of edits between them: they share what those leave alone.
const MAX_BYTES: usize = 32 << 20;

/// The states, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    states: VecDeque<Arc<State>>,
}

#[derive(Debug, Clone)]
pub(super) struct State {
    live: Rope,
    regions: Vec<Region>,
    file: Option<FileChange>,
    /// What the edit beside it put in and took out.
    n_bytes: usize,
}

impl Past {
    /// Remembers both sides of an edit.
    pub(super) fn remember(&mut self, before: State, after: State) {
        if !before.live.is_instance(&after.live) {
            self.push(before);
            self.push(after);
        }
    }

    fn push(&mut self, state: State) {
        let is_same = |it: &Arc<State>| it.live.is_instance(&state.live);
        // What has become of a text is what counts.
        self.states.retain(|it| !is_same(it));
        self.states.push_back(Arc::new(state));
        let n_bytes = |it: &VecDeque<Arc<State>>| it.iter().map(|it| it.n_bytes).sum::<usize>();
        while self.states.len() > MOST || n_bytes(&self.states) > MAX_BYTES {
            self.states.pop_front();
        }
    }

    /// The latest with this text.
    fn find(&self, text: &Rope) -> Option<&Arc<State>> {
        self.states.iter().rev().find(|it| it.live == *text)
    }

    fn has_length(&self, n_bytes: usize) -> bool {
        self.states.iter().any(|it| it.live.len_bytes() == n_bytes)
    }
}

impl Ledger {
    /// Whether an undo may bring something back that is to be reviewed again.
    pub fn remembers(&self) -> bool {
        let is_pending = |it: &Arc<State>| !it.regions.is_empty() || it.file.is_some();
        self.past.states.iter().any(is_pending)
    }

    /// How things stand beside an edit.
    pub(super) fn state(&mut self, edit: &ChangeSet) -> State {
        self.name_all();
        let edits = edit.edits();
        let n_bytes = edits.iter().map(|it| it.range.len() + it.text.len());
        State {
            live: self.live.clone(),
            regions: self.regions.clone(),
            file: self.file.clone(),
            n_bytes: n_bytes.sum(),
        }
    }

    pub(super) fn forget(&mut self) {
        self.past = Past::default();
    }

    /// Goes back, or forth, to where an edit leads, if that is a state that is remembered.
    pub(super) fn returns(&mut self, edit: &ChangeSet) -> bool {
        // A keystroke is not to cost a look through the text.
        if !self.past.has_length(edit.new_len()) {
            return false;
        }
        let mut text = self.live.clone();
        if edit.apply_rope(&mut text).is_err() {
            return false;
        }
        let Some(state) = self.past.find(&text).cloned() else {
            return false;
        };
        self.name_all();
        let before = self.works();
        let State {
            live,
            regions,
            file,
            n_bytes: _,
        } = Arc::unwrap_or_clone(state);
        let old = Ledger {
            live,
            regions,
            file,
            ..Ledger::new(Rope::new())
        };
        let after = old.works();
        for (index, work) in before.iter().enumerate() {
            if !after.iter().any(|it| it.has(work)) {
                self.say(index, Fate::Reverted);
            }
        }
        (self.live, self.regions, self.file) = (old.live, old.regions, old.file);
        // The next edit of the agent's stands on what came back.
        self.at_work = None;
        for (index, work) in after.iter().enumerate() {
            if !before.iter().any(|it| it.has(work)) {
                self.say(index, Fate::Restored);
            }
        }
        true
    }

    /// The person has accepted these hunks, or so many of the lowest layers of one: they stay accepted whatever comes back.
    pub(super) fn keep_in_past(
        &mut self,
        kept: &[(HunkId, Option<usize>)],
        file: Option<&FileChange>,
    ) {
        for state in &mut self.past.states {
            let is_kept = |it: &Region| kept.iter().any(|(id, _)| it.id.as_ref() == Some(id));
            let is_file = file.is_some() && state.file.as_ref() == file;
            if !is_file && !state.regions.iter().any(is_kept) {
                continue;
            }
            let state = Arc::make_mut(state);
            let mut then = Ledger {
                live: state.live.clone(),
                regions: std::mem::take(&mut state.regions),
                ..Ledger::new(Rope::new())
            };
            for index in (0..then.regions.len()).rev() {
                let region = &then.regions[index];
                let own = kept.iter().find(|(id, _)| region.id.as_ref() == Some(id));
                if let Some((_, n_layers)) = own {
                    let all = region.layers.len();
                    let n_layers = n_layers.map_or(all, |it| it.min(all));
                    then.keep_layers(index, n_layers);
                }
            }
            then.name_all();
            state.regions = then.regions;
            if is_file {
                state.file = None;
            }
        }
    }

    fn works(&self) -> Vec<Work> {
        let regions = self.regions.iter().zip(self.spans());
        let works = regions.map(|(region, span)| Work {
            id: region.id.clone(),
            authors: region.authors(),
            was: region.base().clone(),
            wrote: region
                .wrote
                .clone()
                .unwrap_or_else(|| Rope::from(self.slice(&span))),
        });
        works.collect()
    }
}

/// What the agent did at one place, to see whether it is there before and after.
#[derive(Debug, Clone)]
struct Work {
    id: Option<HunkId>,
    authors: Vec<Author>,
    was: Rope,
    wrote: Rope,
}

impl Work {
    /// Whether all of another is in it.
    fn has(&self, other: &Work) -> bool {
        self.id == other.id
            || other.authors.iter().all(|it| self.authors.contains(it))
                && (self.was == other.was || self.wrote == other.wrote)
    }
}
