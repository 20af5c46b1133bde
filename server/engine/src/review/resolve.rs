//! Keeping and reverting.

use std::ops::Range;

use protocol::session::TurnId;
use ropey::Rope;

use super::{
    Author, By, Fate, FileChange, HunkId, Ledger,
    region::{Layer, Region},
};
use crate::text::{ChangeSet, Edit};

/// What to keep or revert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// These very hunks, mixed or not. Unknown ids are passed over.
    Hunks(&'a [HunkId]),
    Turn {
        session: &'a str,
        turn: TurnId,
    },
    Session(&'a str),
    /// The whole file.
    All,
}

/// What a keep did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// Hunks that are settled, or smaller because a turn's part of them is.
    pub settled: Vec<HunkId>,
    /// Hunks of the turn or session that stand on others' unreviewed work.
    pub left: Vec<HunkId>,
}

/// What a revert would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    /// For the live text. The identity when there is nothing to revert.
    pub changes: ChangeSet,
    /// What is to be done with the file besides.
    pub file: Option<FileStep>,
    /// Hunks that are reverted, or set back to before a turn.
    pub hunks: Vec<HunkId>,
    /// Hunks that were meant too and are not reverted: the person's work is in them, or others' stands on them.
    pub left: Vec<HunkId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStep {
    /// Delete it: every byte was the agent's. Tell the ledger with [`Ledger::deleted`].
    Delete,
    /// Make it again with the text that the changes give. Tell the ledger with [`Ledger::restored`].
    Create,
}

impl Ledger {
    /// The person accepts changes: their lines are the base's now. No file changes.
    pub fn keep(&mut self, which: Which<'_>) -> Kept {
        self.name_all();
        let mut kept = Kept::default();
        let mut layers = Vec::new();
        for index in (0..self.regions.len()).rev() {
            let region = &self.regions[index];
            // Given to all of them just now.
            let Some(id) = region.id.clone() else {
                continue;
            };
            let n_kept = which.n_kept(region);
            if n_kept > 0 {
                let is_part = n_kept < region.layers.len();
                layers.push((id.clone(), is_part.then_some(n_kept)));
                kept.settled.push(id);
                self.keep_layers(index, n_kept);
            } else if which.concerns(region) {
                kept.left.push(id);
            }
        }
        let is_accepted = match &self.file {
            // A file of which the person keeps a part is there to stay.
            Some(FileChange::Created(author)) => which.covers(author) || !kept.settled.is_empty(),
            Some(FileChange::Deleted(author)) => {
                self.regions.is_empty() && (which.covers(author) || !kept.settled.is_empty())
            }
            None => false,
        };
        let file = self.file.take_if(|_| is_accepted);
        self.keep_in_past(&layers, file.as_ref());
        kept.settled.reverse();
        kept.left.reverse();
        kept
    }

    /// The edit that takes changes back. It is for the caller to apply; the ledger settles when the edit comes back
    /// by [`edited`](Self::edited) as the review's.
    pub fn revert(&mut self, which: Which<'_>) -> Revert {
        self.name_all();
        let mut edits = Vec::new();
        let (mut hunks, mut left) = (Vec::new(), Vec::new());
        for (region, span) in self.regions.iter().zip(self.spans()) {
            // Given to all of them just now.
            let Some(id) = region.id.clone() else {
                continue;
            };
            let n_left = which.n_left(region);
            if let Some(layer) = region.layers.get(n_left) {
                edits.extend(self.setting_back(&span, &layer.before));
                hunks.push(id.clone());
            }
            let rest = &region.layers[..n_left];
            if rest
                .iter()
                .flat_map(|it| &it.authors)
                .any(|it| which.covers(it))
            {
                left.push(id);
            }
        }
        let changes = ChangeSet::of_edits(self.live.len_bytes(), &edits)
            .expect("regions are in order and within the live text");
        let file = match &self.file {
            Some(FileChange::Created(author)) => {
                let is_meant = which.covers(author) || which.is_hunks() && !hunks.is_empty();
                (is_meant && changes.new_len() == 0).then_some(FileStep::Delete)
            }
            Some(FileChange::Deleted(author)) => {
                (which.covers(author) || changes.new_len() > 0).then_some(FileStep::Create)
            }
            None => None,
        };
        Revert {
            changes,
            file,
            hunks,
            left,
        }
    }

    /// The person committed this text: hunks that are in it unchanged are settled. `plain`: what was committed has
    /// `\n` wherever the file has `\r\n`, as git is told to keep it. Diffs both texts.
    pub fn committed(&mut self, text: &str, plain: bool) -> Kept {
        self.name_all();
        let live = self.live.to_string();
        let (edits, n_returns) = match plain && live.contains("\r\n") {
            true => {
                let edits = ChangeSet::between(&live.replace("\r\n", "\n"), text).edits();
                let returns = live.match_indices("\r\n").map(|it| it.0);
                (edits, returns.collect())
            }
            false => (ChangeSet::between(&live, text).edits(), Vec::new()),
        };
        let plain_at = |at: usize| at - n_returns.partition_point(|it| *it < at);
        let mut kept = Kept::default();
        let mut layers = Vec::new();
        for index in (0..self.regions.len()).rev() {
            let span = self.span(index);
            let span = plain_at(span.start)..plain_at(span.end);
            // An insertion right beside a hunk may be lines that it had deleted.
            let moved = |it: &Edit| it.range.start <= span.end && it.range.end >= span.start;
            if !edits.iter().any(moved) {
                let region = &self.regions[index];
                let n_layers = region.layers.len();
                layers.extend(region.id.clone().map(|it| (it, None)));
                kept.settled.extend(region.id.clone());
                self.keep_layers(index, n_layers);
            }
        }
        let is_accepted = self.regions.is_empty();
        let is_new = |it: &mut FileChange| matches!(it, FileChange::Created(_));
        let file = self.file.take_if(|it| is_accepted && is_new(it));
        self.keep_in_past(&layers, file.as_ref());
        kept.settled.reverse();
        kept
    }

    /// Settles the regions that an edit sets back to what they were before some turn: a review's edit that came
    /// back, or the person's undo. Returns the other edits, for the text as it then is.
    pub(super) fn settle(&mut self, edits: Vec<Edit>) -> Vec<Edit> {
        if let [edit] = &edits[..] {
            return match self.settle_across(edit) {
                true => Vec::new(),
                false => edits,
            };
        }
        let mut steps: Vec<(usize, usize, Rope)> = Vec::new();
        let mut others: Vec<Edit> = Vec::new();
        let mut shift = 0;
        let mut rest = edits.into_iter().peekable();
        for (index, (region, span)) in self.regions.iter().zip(self.spans()).enumerate() {
            while let Some(before) = rest.next_if(|it| it.range.start < span.start) {
                others.push(shifted(before, shift));
            }
            let mut own = Vec::new();
            while let Some(within) = rest.next_if(|it| it.range.end <= span.end) {
                own.push(within);
            }
            if own.is_empty() {
                continue;
            }
            let text = self.edited_slice(&span, &own);
            match region.layers.iter().position(|it| it.before == text) {
                Some(layer) => {
                    shift += text.len_bytes() as isize - span.len() as isize;
                    steps.push((index, layer, text));
                }
                None => others.extend(own.into_iter().map(|it| shifted(it, shift))),
            }
        }
        others.extend(rest.map(|it| shifted(it, shift)));
        for (index, layer, text) in steps.into_iter().rev() {
            self.set_back(index, layer, &text);
        }
        others
    }

    /// Settles all regions that one edit reaches, if together with what is between them they are what they were
    /// before some turn: many editors say an undo as one edit, however many the change had been.
    fn settle_across(&mut self, edit: &Edit) -> bool {
        let reached: Vec<(usize, Range<usize>)> = self
            .spans()
            .enumerate()
            .skip_while(|(_, it)| it.end < edit.range.start)
            .take_while(|(_, it)| it.start <= edit.range.end)
            .collect();
        let (Some((_, first)), Some((_, last))) = (reached.first(), reached.last()) else {
            return false;
        };
        let window = first.start.min(edit.range.start)..last.end.max(edit.range.end);
        let new = self.edited_slice(&window, std::slice::from_ref(edit));
        let layers = reached.iter().flat_map(|it| &self.regions[it.0].layers);
        let mut stints: Vec<u64> = layers.map(|it| it.stint).collect();
        stints.sort_unstable();
        stints.dedup();
        let layer = |index: usize, stint: u64| {
            let layers = &self.regions[index].layers;
            layers.iter().position(|it| it.stint >= stint)
        };
        let is_as_before = |stint: &u64| {
            let mut old = Rope::new();
            let mut at = window.start;
            for (index, span) in &reached {
                old.append(Rope::from(self.slice(&(at..span.start))));
                old.append(match layer(*index, *stint) {
                    Some(layer) => self.regions[*index].layers[layer].before.clone(),
                    None => Rope::from(self.slice(span)),
                });
                at = span.end;
            }
            old.append(Rope::from(self.slice(&(at..window.end))));
            old == new
        };
        let Some(stint) = stints.into_iter().find(is_as_before) else {
            return false;
        };
        let steps: Vec<(usize, usize)> = reached
            .iter()
            .filter_map(|it| Some((it.0, layer(it.0, stint)?)))
            .collect();
        for (index, layer) in steps.into_iter().rev() {
            let text = self.regions[index].layers[layer].before.clone();
            self.set_back(index, layer, &text);
        }
        true
    }

    /// A part of the text after edits within it.
    fn edited_slice(&self, span: &Range<usize>, edits: &[Edit]) -> Rope {
        let mut text = Rope::from(self.slice(span));
        for Edit { range, text: new } in edits.iter().rev() {
            let start = text.byte_to_char(range.start - span.start);
            let end = text.byte_to_char(range.end - span.start);
            text.remove(start..end);
            text.insert(start, new);
        }
        text
    }

    /// A region is what it was before a layer.
    fn set_back(&mut self, index: usize, layer: usize, text: &Rope) {
        self.say(index, Fate::Reverted);
        let span = self.span(index);
        let start = self.live.byte_to_char(span.start);
        let end = self.live.byte_to_char(span.end);
        self.live.remove(start..end);
        for (at, chunk) in chunks_at(text, start) {
            self.live.insert(at, chunk);
        }
        let region = &mut self.regions[index];
        region.live = text.len_bytes();
        region.layers.truncate(layer);
        region.id = None;
        if layer == 0 {
            self.dissolve(index);
        } else {
            region.forget_unmixed();
            self.tidy(index, By::Review);
        }
        if self.regions.is_empty() && matches!(self.file, Some(FileChange::Deleted(_))) {
            self.file = None;
        }
    }

    /// Accepts a region's lowest layers.
    pub(super) fn keep_layers(&mut self, index: usize, n_layers: usize) {
        let now = match self.regions[index].layers.get(n_layers) {
            Some(next) => next.before.to_string(),
            None => self.slice(&self.span(index)).to_string(),
        };
        self.say(index, Fate::Kept { now });
        let region = &mut self.regions[index];
        region.layers.drain(..n_layers);
        region.id = None;
        if region.layers.is_empty() {
            self.dissolve(index);
        } else {
            region.forget_unmixed();
            self.tidy(index, By::Review);
        }
    }

    /// The small edits that make an older text of a region's.
    fn setting_back(&self, span: &Range<usize>, before: &Rope) -> Vec<Edit> {
        let live = self.slice(span).to_string();
        let mut edits = ChangeSet::between(&live, &before.to_string()).edits();
        for edit in &mut edits {
            edit.range = edit.range.start + span.start..edit.range.end + span.start;
        }
        edits
    }
}

impl Region {
    /// What the agent had written matters only beside what the person made of it.
    fn forget_unmixed(&mut self) {
        if !self.is_mixed() {
            self.wrote = None;
            self.untold = false;
        }
    }
}

impl Which<'_> {
    /// Whether all of an author's work is meant.
    fn covers(self, author: &Author) -> bool {
        match self {
            Which::Hunks(_) => false,
            Which::Turn { session, turn } => author.session == session && author.turn == turn,
            Which::Session(session) => author.session == session,
            Which::All => true,
        }
    }

    fn is_hunks(self) -> bool {
        match self {
            Which::Hunks(_) => true,
            Which::Turn { .. } | Which::Session(_) | Which::All => false,
        }
    }

    fn names(self, region: &Region) -> bool {
        match self {
            Which::Hunks(ids) => region.id.as_ref().is_some_and(|it| ids.contains(it)),
            Which::Turn { .. } | Which::Session(_) | Which::All => false,
        }
    }

    fn concerns(self, region: &Region) -> bool {
        let mut authors = region.layers.iter().flat_map(|it| &it.authors);
        authors.any(|it| self.covers(it))
    }

    /// How many layers, from the oldest on, a keep takes: only with everything below them.
    fn n_kept(self, region: &Region) -> usize {
        if self.names(region) {
            return region.layers.len();
        }
        let whole = |it: &&Layer| it.authors.iter().all(|it| self.covers(it));
        region.layers.iter().take_while(whole).count()
    }

    /// How many layers a revert leaves: it takes them from the newest on, none under another's, and none that the
    /// person has changed, unless this very hunk is meant.
    fn n_left(self, region: &Region) -> usize {
        if self.names(region) {
            return 0;
        }
        let clean = |it: &&Layer| !it.mixed && it.authors.iter().all(|it| self.covers(it));
        region.layers.len() - region.layers.iter().rev().take_while(clean).count()
    }
}

fn shifted(mut edit: Edit, shift: isize) -> Edit {
    let Range { start, end } = edit.range;
    edit.range = start.strict_add_signed(shift)..end.strict_add_signed(shift);
    edit
}

/// The text in pieces, each with the character it goes to when the first goes to `at`.
fn chunks_at(text: &Rope, at: usize) -> impl Iterator<Item = (usize, &str)> {
    text.chunks().scan(at, |at, chunk| {
        let here = *at;
        *at += chunk.chars().count();
        Some((here, chunk))
    })
}
