//! Follows the edits of one file and keeps apart what the person accepted and what the agent did.

use std::ops::Range;

use ropey::{Rope, RopeSlice};

use super::{
    Author, Fate,
    align::aligned,
    past::Past,
    region::{Borders, End, Layer, Piece, Region, join},
    report::Verdict,
};
use crate::text::{ChangeSet, Edit, Misfit, hunks};

/// One file under review. See the module for its rules.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub(super) live: Rope,
    pub(super) regions: Vec<Region>,
    pub(super) file: Option<FileChange>,
    /// The number of the turn at work, counted over the file's life here.
    pub(super) stint: u64,
    /// Whose turn that is; nobody's once the person has changed the agent's work.
    pub(super) at_work: Option<Author>,
    /// What the model was not told yet, with the session it is for.
    pub(super) verdicts: Vec<(String, Verdict)>,
    pub(super) past: Past,
}

/// Whose an edit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By<'a> {
    Agent(&'a Author),
    /// The person, or anything else that is not ours: another program, a formatter, undo.
    Person,
    /// A revert of this ledger's own making, on its way back.
    Review,
}

/// What the agent did to the file as a whole and the person has not yet judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    Created(Author),
    Deleted(Author),
}

impl Ledger {
    /// A file in which nothing is the agent's.
    pub fn new(text: Rope) -> Ledger {
        Ledger {
            live: text,
            regions: Vec::new(),
            file: None,
            stint: 0,
            at_work: None,
            verdicts: Vec::new(),
            past: Past::default(),
        }
    }

    /// A file that the agent has just made.
    pub fn created(text: &str, author: &Author) -> Ledger {
        let mut ledger = Ledger::new(Rope::new());
        ledger.edit(0..0, text, Some(author));
        ledger.file = Some(FileChange::Created(author.clone()));
        ledger
    }

    /// The text was changed. A change of the person's that leads to a text from around one of the agent's latest edits
    /// or a review's is undo or redo: what was to be reviewed then is again, but for what was accepted since. An error means that the edit is for another text, and nothing was done; then
    /// [`replaced`](Self::replaced) brings the ledger up to date.
    pub fn edited(&mut self, changes: &ChangeSet, by: By<'_>) -> Result<(), Misfit> {
        let mut edits = changes.edits();
        self.check(changes, &edits)?;
        let before = match by {
            By::Agent(_) | By::Review => Some(self.state(changes)),
            By::Person if changes.is_identity() || self.returns(changes) => return Ok(()),
            By::Person => None,
        };
        // A review's edit is its own word; beside its hunk it would be another.
        if let ([_], By::Agent(_) | By::Person) = (&edits[..], by) {
            edits = edits
                .into_iter()
                .map(|it| aligned(&self.live, it))
                .collect();
        }
        let (edits, author) = match by {
            By::Agent(author) => (edits, Some(author)),
            // What is left of a review's edit is not what was asked for. As the person's it loses nothing.
            By::Person | By::Review => (self.settle(edits), None),
        };
        let mut shift = 0;
        for Edit { range, text } in edits {
            let range = range.start.strict_add_signed(shift)..range.end.strict_add_signed(shift);
            shift += text.len() as isize - range.len() as isize;
            self.edit(range, &text, author);
        }
        if let Some(before) = before {
            let after = self.state(changes);
            self.past.remember(before, after);
        }
        Ok(())
    }

    /// The text was exchanged as a whole; only what differs counts as an edit. Diffs both texts.
    pub fn replaced(&mut self, text: &str, by: By<'_>) {
        let changes = ChangeSet::between(&self.live.to_string(), text);
        self.edited(&changes, by)
            .expect("the change set was made from the live text");
    }

    /// The file is gone. The agent's deletion waits for review; anyone else's leaves nothing to review.
    pub fn deleted(&mut self, by: By<'_>) {
        match by {
            By::Agent(author) => {
                let was_new = matches!(self.file, Some(FileChange::Created(_)));
                self.edit(0..self.live.len_bytes(), "", Some(author));
                let deleted = FileChange::Deleted(author.clone());
                self.file = (!was_new || !self.regions.is_empty()).then_some(deleted);
            }
            By::Person | By::Review => {
                for i in 0..self.regions.len() {
                    self.say(i, Fate::Reverted);
                }
                self.regions.clear();
                self.live = Rope::new();
                self.file = None;
                self.forget();
            }
        }
    }

    /// A file that the agent had deleted is there again. The person's bringing it back settles it.
    pub fn restored(&mut self, text: &str, by: By<'_>) {
        match by {
            By::Person => {
                self.deleted(By::Person);
                self.live = Rope::from_str(text);
            }
            By::Review => self.replaced(text, by),
            By::Agent(_) => {
                self.replaced(text, by);
                if self.regions.len() == 1 {
                    self.split(0);
                }
            }
        }
        self.file = None;
    }

    /// The text as it is.
    pub fn live(&self) -> &Rope {
        &self.live
    }

    /// The text that the person has accepted: the live one without the agent's unreviewed work. Costs a
    /// logarithm a hunk.
    pub fn base(&self) -> Rope {
        let mut base = Rope::new();
        let mut at = 0;
        for (region, span) in self.regions.iter().zip(self.spans()) {
            base.append(Rope::from(self.live.byte_slice(at..span.start)));
            base.append(region.base().clone());
            at = span.end;
        }
        base.append(Rope::from(self.live.byte_slice(at..)));
        base
    }

    pub fn file_change(&self) -> Option<&FileChange> {
        self.file.as_ref()
    }

    /// Nothing is left to review. Verdicts may still wait to be told.
    pub fn is_settled(&self) -> bool {
        self.regions.is_empty() && self.file.is_none()
    }
}

/// One edit.
impl Ledger {
    fn check(&self, changes: &ChangeSet, edits: &[Edit]) -> Result<(), Misfit> {
        let (expected, found) = (changes.old_len(), self.live.len_bytes());
        if expected != found {
            return Err(Misfit::Length { expected, found });
        }
        for at in edits.iter().flat_map(|it| [it.range.start, it.range.end]) {
            if self.live.char_to_byte(self.live.byte_to_char(at)) != at {
                return Err(Misfit::Boundary { at });
            }
        }
        Ok(())
    }

    /// `author` is missing when it is the person's.
    fn edit(&mut self, range: Range<usize>, text: &str, author: Option<&Author>) {
        if range.is_empty() || text.is_empty() {
            self.small_edit(range, text, author);
            return;
        }
        // A large edit often leaves most lines as they were; those stay whose they are.
        let old = self.live.byte_slice(range.clone()).to_string();
        let mut shift = 0;
        for small in ChangeSet::between(&old, text).edits() {
            let start = (range.start + small.range.start).strict_add_signed(shift);
            shift += small.text.len() as isize - small.range.len() as isize;
            self.small_edit(start..start + small.range.len(), &small.text, author);
        }
    }

    fn small_edit(&mut self, range: Range<usize>, text: &str, author: Option<&Author>) {
        let touched = self.touched(&range, text);
        if author.is_none() && touched.regions.is_empty() {
            self.edit_beside(range, text, touched.regions.start);
        } else {
            self.edit_within(range, text, author, touched);
        }
    }

    /// The person's edit of shared text, before the region `next`: it belongs to every version.
    fn edit_beside(&mut self, range: Range<usize>, text: &str, next: usize) {
        self.splice_live(&range, text);
        if let Some(region) = self.regions.get_mut(next) {
            region.common = region.common + text.len() - range.len();
            if next > 0 && region.common == 0 {
                self.tidy(next, By::Person);
            }
        }
    }

    /// An edit of the agent's, or the person's in the agent's work: all that it touches becomes one region.
    fn edit_within(
        &mut self,
        range: Range<usize>,
        text: &str,
        author: Option<&Author>,
        touched: Touched,
    ) {
        let Touched { regions, after } = touched;
        let spans: Vec<Range<usize>> = self.spans_of(regions.clone(), after).collect();
        let start = spans
            .first()
            .map_or(range.start, |it| it.start.min(range.start));
        let end = spans.last().map_or(range.end, |it| it.end.max(range.end));
        let old_end = spans.last().map_or(after, |it| it.end);

        let mut pieces = Vec::new();
        let mut at = start;
        let slice = |range: Range<usize>| Rope::from(self.live.byte_slice(range));
        for (region, span) in self.regions[regions.clone()].iter().zip(spans) {
            pieces.push(Piece::shared(slice(at..span.start)));
            at = span.end;
            pieces.push(Piece::of(region, slice(span)));
        }
        pieces.push(Piece::shared(slice(at..end)));

        let mut region = match author {
            Some(author) => join(&pieces, Some((self.stint_of(author), author))),
            None => {
                self.at_work = None;
                mixed(join(&pieces, None), slice(start..end))
            }
        };
        region.common = start - after;
        region.live = end - start + text.len() - range.len();
        if let Some(next) = self.regions.get_mut(regions.end) {
            next.common -= end - old_end;
        }
        let index = regions.start;
        self.splice_live(&range, text);
        self.regions.splice(regions, [region]);
        self.tidy(index, author.map_or(By::Person, By::Agent));
    }

    fn splice_live(&mut self, range: &Range<usize>, text: &str) {
        let start = self.live.byte_to_char(range.start);
        let end = self.live.byte_to_char(range.end);
        self.live.remove(start..end);
        self.live.insert(start, text);
    }

    fn stint_of(&mut self, author: &Author) -> u64 {
        let same = |it: &Author| (&it.session, it.turn) == (&author.session, author.turn);
        if !self.at_work.as_ref().is_some_and(same) {
            self.stint += 1;
            self.at_work = Some(author.clone());
        }
        self.stint
    }

    /// The regions that an edit would change: those it reaches into, those at whose border no line would start any
    /// more, and those whose old lines it puts back. Empty when there are none; then it says before which region the edit lies.
    fn touched(&self, range: &Range<usize>, text: &str) -> Touched {
        let mut found = Touched {
            regions: 0..0,
            after: 0,
        };
        for (i, (region, span)) in self.regions.iter().zip(self.spans()).enumerate() {
            if span.start > range.end {
                break;
            }
            let is_after = range.start >= span.end;
            let is_touched = if span.end < range.start {
                false
            } else if range.start < span.end && range.end > span.start {
                true
            } else {
                self.breaks_border(i, region, &span, range, text, is_after)
                    || range.is_empty()
                        && region.takes_back(self.slice(&span), text, range.start == span.start)
            };
            if is_touched {
                found.regions.end = i + 1;
            } else if is_after {
                found.regions = i + 1..i + 1;
                found.after = span.end;
            }
        }
        found
    }

    /// Whether an edit that ends at a region's start, or begins at its end, changes where its lines start or end.
    fn breaks_border(
        &self,
        index: usize,
        region: &Region,
        span: &Range<usize>,
        range: &Range<usize>,
        text: &str,
        is_after: bool,
    ) -> bool {
        let (mut previous, mut next) = self.around(span);
        // Nothing is left between two regions: they become one, and there is no border.
        if is_after {
            let neighbour = self.regions.get(index + 1);
            let reached = span.end + neighbour.map_or(usize::MAX - span.end, |it| it.common);
            if text.is_empty() && range.end == reached {
                return false;
            }
            next = text.bytes().next().or(self.live.get_byte(range.end));
        } else {
            if text.is_empty() && index > 0 && range.start + region.common == span.start {
                return false;
            }
            let kept = range.start.checked_sub(1).map(|it| self.live.byte(it));
            previous = text.bytes().next_back().or(kept);
        }
        let live = self.live.byte_slice(span.clone());
        let Borders { start, end } = region.borders(live, previous, next);
        !(start && end)
    }

    /// The bytes before and after a range of the live text.
    fn around(&self, span: &Range<usize>) -> (Option<u8>, Option<u8>) {
        let previous = span.start.checked_sub(1).map(|it| self.live.byte(it));
        (previous, self.live.get_byte(span.end))
    }
}

struct Touched {
    regions: Range<usize>,
    /// Where the region before them ends in the live text; 0 if there is none.
    after: usize,
}

/// The person changed what the agent had made of these lines: its turns can't be told apart any more.
fn mixed(mut region: Region, agents: Rope) -> Region {
    let bottom = Layer {
        stint: region.layers[0].stint,
        before: region.layers[0].before.clone(),
        mixed: true,
        authors: region.authors(),
    };
    region.layers = vec![bottom];
    region.wrote.get_or_insert(agents);
    region.untold = true;
    region
}

impl Piece {
    fn shared(live: Rope) -> Piece {
        Piece {
            live,
            ..Piece::default()
        }
    }

    fn of(region: &Region, live: Rope) -> Piece {
        Piece {
            live,
            layers: region.layers.clone(),
            wrote: region.wrote.clone(),
            untold: region.untold,
        }
    }
}

/// Keeping regions in the one form that everything relies on.
impl Ledger {
    /// Makes a changed region whole lines, one with what it now meets, and as small as it can be; takes it out when
    /// nothing of it is left.
    pub(super) fn tidy(&mut self, mut index: usize, by: By<'_>) {
        loop {
            if index > 0 && self.regions[index].common == 0 {
                index -= 1;
                self.join_next(index);
                continue;
            }
            if self.regions.get(index + 1).is_some_and(|it| it.common == 0) {
                self.join_next(index);
                continue;
            }
            let span = self.span(index);
            let (previous, next) = self.around(&span);
            let region = &self.regions[index];
            let borders = region.borders(self.slice(&span), previous, next);
            if !borders.start {
                self.absorb_line(index, span.start, End::Start);
            } else if !borders.end {
                self.absorb_line(index, span.end, End::End);
            } else {
                break;
            }
        }
        if self.trim(index) {
            match by {
                By::Person => self.say(index, Fate::Reverted),
                // The agent knows what it did itself, and a review has said what it did.
                By::Agent(_) | By::Review => {}
            }
            self.dissolve(index);
            return;
        }
        let live = self.live.byte_slice(self.span(index));
        let region = &mut self.regions[index];
        if region.layers.len() == 1 && region.wrote.as_ref().is_some_and(|it| *it == live) {
            // The person took it back.
            region.layers[0].mixed = false;
            region.wrote = None;
            region.untold = false;
        }
    }

    /// Makes a region as small as it can be. True when nothing of it is left.
    fn trim(&mut self, index: usize) -> bool {
        let live = self.live.byte_slice(self.span(index));
        let region = &mut self.regions[index];
        if *region.base() == live {
            return true;
        }
        let end = region.trim(live);
        if let Some(next) = self.regions.get_mut(index + 1) {
            next.common += end;
        }
        false
    }

    /// The lines of a region become shared text.
    pub(super) fn dissolve(&mut self, index: usize) {
        let region = self.regions.remove(index);
        if let Some(next) = self.regions.get_mut(index) {
            next.common += region.common + region.live;
        }
    }

    /// One region of two with nothing between.
    fn join_next(&mut self, index: usize) {
        let span = self.span(index);
        let second = span.end..span.end + self.regions[index + 1].live;
        let pieces = [(index, span), (index + 1, second)]
            .map(|(i, span)| Piece::of(&self.regions[i], Rope::from(self.slice(&span))));
        let mut joined = join(&pieces, None);
        joined.common = self.regions[index].common;
        self.regions.splice(index..index + 2, [joined]);
    }

    /// Takes in the rest of the shared line at a region's border, but no more shared text than there is.
    fn absorb_line(&mut self, index: usize, at: usize, side: End) {
        let at_char = self.live.byte_to_char(at);
        let text = match side {
            End::Start => {
                let line = self.live.char_to_line(at_char - 1);
                let start = self.live.line_to_byte(line);
                start.max(at - self.regions[index].common)..at
            }
            End::End => {
                let line = self.live.char_to_line(at_char) + 1;
                let end = self.live.line_to_byte(line);
                match self.regions.get(index + 1) {
                    Some(next) => at..end.min(at + next.common),
                    None => at..end,
                }
            }
        };
        match side {
            End::Start => self.regions[index].common -= text.len(),
            End::End => {
                if let Some(next) = self.regions.get_mut(index + 1) {
                    next.common -= text.len();
                }
            }
        }
        self.regions[index].absorb(self.live.byte_slice(text), side);
    }

    /// Lines that are in both texts part a region. Only for a file that was written anew: elsewhere a diff could see
    /// a line of the person's as deleted here and inserted there, and keeping one and reverting the other lost it.
    fn split(&mut self, index: usize) {
        let span = self.span(index);
        let region = &self.regions[index];
        let base = region.base();
        let is_plain = region.layers.len() == 1 && !region.is_mixed();
        if !is_plain || base.len_bytes() + region.live > SPLIT_LIMIT {
            return;
        }
        let live = self.live.byte_slice(span.clone());
        let parts = hunks(&base.to_string(), &live.to_string());
        if parts.len() < 2 {
            return;
        }
        let mut at = span.start - region.common;
        let bytes = |lines: &[String]| -> usize { lines.iter().map(String::len).sum() };
        let regions: Vec<Region> = parts
            .iter()
            .map(|part| {
                let start = span.start + live.line_to_byte(part.new.start as usize);
                let old = base.line_to_byte(part.old.start as usize);
                let before = base.byte_slice(old..old + bytes(&part.removed));
                let mut layer = region.layers[0].clone();
                layer.before = Rope::from(before);
                let common = start - at;
                let live = bytes(&part.added);
                at = start + live;
                Region {
                    common,
                    live,
                    layers: vec![layer],
                    wrote: None,
                    untold: false,
                    id: None,
                }
            })
            .collect();
        if let Some(next) = self.regions.get_mut(index + 1) {
            next.common += span.end - at;
        }
        self.regions.splice(index..=index, regions);
    }

    /// The live bytes of each region.
    pub(super) fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        self.spans_of(0..self.regions.len(), 0)
    }

    /// The live bytes of some of them, the first of which comes after byte `after`.
    fn spans_of(&self, regions: Range<usize>, after: usize) -> impl Iterator<Item = Range<usize>> {
        self.regions[regions].iter().scan(after, |at, region| {
            let start = *at + region.common;
            *at = start + region.live;
            Some(start..*at)
        })
    }

    pub(super) fn span(&self, index: usize) -> Range<usize> {
        let before = &self.regions[..index];
        let at: usize = before.iter().map(|it| it.common + it.live).sum();
        let region = &self.regions[index];
        at + region.common..at + region.common + region.live
    }

    pub(super) fn slice(&self, span: &Range<usize>) -> RopeSlice<'_> {
        self.live.byte_slice(span.clone())
    }
}

/// Bytes of a region, both texts together, above which it is not looked at for lines in common.
const SPLIT_LIMIT: usize = 1 << 20;
