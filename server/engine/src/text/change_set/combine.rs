//! Two change sets: one after the other, or both made for one text.

use super::{ChangeSet, Misfit, Op, Side, part};

impl ChangeSet {
    /// This change and then `next` as one.
    pub fn compose(&self, next: &ChangeSet) -> Result<ChangeSet, Misfit> {
        self.check_len(next.old_len, self.new_len)?;
        let mut steps = ChangeSet::default();
        let (mut first, mut second) = (Cursor::new(self), Cursor::new(next));
        loop {
            match (first.peek(), second.peek()) {
                (None, None) => return Ok(steps),
                (Some(Step::Delete(n)), _) => {
                    steps.delete(n);
                    first.advance(n);
                }
                (_, Some(Step::Insert(text))) => {
                    steps.insert(text);
                    second.advance(text.len());
                }
                (Some(Step::Keep(a)), Some(Step::Keep(b))) => {
                    let n = a.min(b);
                    steps.keep(n);
                    first.advance(n);
                    second.advance(n);
                }
                (Some(Step::Keep(a)), Some(Step::Delete(b))) => {
                    let n = a.min(b);
                    steps.delete(n);
                    first.advance(n);
                    second.advance(n);
                }
                (Some(Step::Insert(text)), Some(Step::Keep(b))) => {
                    let n = text.len().min(b);
                    steps.insert(part(text, 0, n)?);
                    first.advance(n);
                    second.advance(n);
                }
                (Some(Step::Insert(text)), Some(Step::Delete(b))) => {
                    let n = text.len().min(b);
                    part(text, 0, n)?;
                    first.advance(n);
                    second.advance(n);
                }
                // The lengths were compared and every step takes as much from both.
                (None, Some(Step::Keep(_) | Step::Delete(_)))
                | (Some(Step::Keep(_) | Step::Insert(_)), None) => {
                    unreachable!("both change sets speak of a text of {} bytes", self.new_len)
                }
            }
        }
    }

    /// The same change for the text that `over` makes, where both were made for the same text.
    ///
    /// Converges: `a` then `b.rebase(a, After)` gives the same text as `b` then `a.rebase(b, Before)`. What
    /// both delete is deleted once; what one inserts into text that the other deletes stays.
    pub fn rebase(&self, over: &ChangeSet, side: Side) -> Result<ChangeSet, Misfit> {
        self.check_len(over.old_len, self.old_len)?;
        let mut steps = ChangeSet::default();
        let (mut mine, mut theirs) = (Cursor::new(self), Cursor::new(over));
        loop {
            match (mine.peek(), theirs.peek(), side) {
                (None, None, _) => return Ok(steps),
                (_, Some(Step::Insert(text)), Side::After) => {
                    steps.keep(text.len());
                    theirs.advance(text.len());
                }
                (Some(Step::Insert(text)), _, _) => {
                    steps.insert(text);
                    mine.advance(text.len());
                }
                (_, Some(Step::Insert(text)), Side::Before) => {
                    steps.keep(text.len());
                    theirs.advance(text.len());
                }
                (Some(Step::Keep(a)), Some(Step::Keep(b)), _) => {
                    let n = a.min(b);
                    steps.keep(n);
                    mine.advance(n);
                    theirs.advance(n);
                }
                (Some(Step::Delete(a)), Some(Step::Keep(b)), _) => {
                    let n = a.min(b);
                    steps.delete(n);
                    mine.advance(n);
                    theirs.advance(n);
                }
                (Some(Step::Keep(a) | Step::Delete(a)), Some(Step::Delete(b)), _) => {
                    let n = a.min(b);
                    mine.advance(n);
                    theirs.advance(n);
                }
                // The lengths were compared and every step takes as much from both.
                (None, Some(Step::Keep(_) | Step::Delete(_)), _)
                | (Some(Step::Keep(_) | Step::Delete(_)), None, _) => {
                    unreachable!("both change sets speak of a text of {} bytes", self.old_len)
                }
            }
        }
    }
}

/// What is left of a step.
enum Step<'a> {
    Keep(usize),
    Delete(usize),
    Insert(&'a str),
}

/// Walks over the steps and may stop inside one.
struct Cursor<'a> {
    ops: &'a [Op],
    taken: usize,
}

impl<'a> Cursor<'a> {
    fn new(changes: &'a ChangeSet) -> Cursor<'a> {
        Cursor {
            ops: &changes.ops,
            taken: 0,
        }
    }

    fn peek(&self) -> Option<Step<'a>> {
        Some(match self.ops.first()? {
            Op::Keep(n) => Step::Keep(n - self.taken),
            Op::Delete(n) => Step::Delete(n - self.taken),
            Op::Insert(text) => Step::Insert(&text[self.taken..]),
        })
    }

    fn advance(&mut self, n: usize) {
        self.taken += n;
        let len = match self.ops.first() {
            Some(Op::Keep(n) | Op::Delete(n)) => *n,
            Some(Op::Insert(text)) => text.len(),
            None => 0,
        };
        if self.taken >= len {
            self.ops = self.ops.get(1..).unwrap_or_default();
            self.taken = 0;
        }
    }
}
