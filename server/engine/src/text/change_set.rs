//! A change to a text as a value: it can be applied, undone, joined with the next one, and moved over another.

mod combine;

use std::ops::Range;

use ropey::Rope;

use super::diff;

/// A change to a UTF-8 text whose length is known.
///
/// Normalised: no empty step, no two steps of one kind side by side, an insertion before the deletion it meets.
/// So two change sets with the same steps are equal. It does not hold the text it was made for; every method
/// that is given another one says so with a [`Misfit`] if the length or a character boundary gives it away, so
/// keep a version or a hash beside it where the text may move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    ops: Vec<Op>,
    old_len: usize,
    new_len: usize,
}

/// One step through the old text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// The next bytes stay.
    Keep(usize),
    /// The next bytes go.
    Delete(usize),
    /// This text comes in here.
    Insert(String),
}

/// `range` of the old text, in bytes, gives way to `text`. The edits of one change set are in order and do not
/// touch, and all ranges speak of the text before any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// Whose insertion comes first when two change sets insert at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one being rebased.
    Before,
    /// The one it is rebased over.
    After,
}

/// The change set was made for another text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error(
        "the change is for a text of {expected} bytes and this one has {found}; make it again from the current text"
    )]
    Length { expected: usize, found: usize },
    #[error(
        "the change cuts a character at byte {at}, so it is for another text; make it again from the current text"
    )]
    Boundary { at: usize },
}

impl ChangeSet {
    /// Changes nothing in a text of `len` bytes.
    pub fn identity(len: usize) -> ChangeSet {
        let mut steps = ChangeSet::default();
        steps.keep(len);
        steps
    }

    /// The small change that makes `new` of `old`: a line diff, and inside what it finds only what differs. No
    /// edit starts or ends inside a character or a CRLF. About linear in time, also for a file rewritten whole.
    pub fn between(old: &str, new: &str) -> ChangeSet {
        let mut steps = ChangeSet::default();
        for (removed, added) in diff::small_changes(old, new) {
            steps.keep(removed.start - steps.old_len);
            steps.insert(&new[added]);
            steps.delete(removed.len());
        }
        steps.keep(old.len() - steps.old_len);
        steps
    }

    /// The change that these edits make of a text of `old_len` bytes. `None` if they are not in order, overlap, or
    /// reach past its end.
    pub fn of_edits(old_len: usize, edits: &[Edit]) -> Option<ChangeSet> {
        let mut steps = ChangeSet::default();
        for Edit { range, text } in edits {
            steps.keep(range.start.checked_sub(steps.old_len)?);
            steps.insert(text);
            steps.delete(range.end.checked_sub(range.start)?);
        }
        steps.keep(old_len.checked_sub(steps.old_len)?);
        Some(steps)
    }

    /// The text after the change.
    pub fn apply(&self, old: &str) -> Result<String, Misfit> {
        self.check_len(self.old_len, old.len())?;
        let mut new = String::with_capacity(self.new_len);
        let mut at = 0;
        for op in &self.ops {
            match op {
                Op::Keep(n) => new.push_str(part(old, at, *n)?),
                Op::Delete(n) => drop(part(old, at, *n)?),
                Op::Insert(text) => new.push_str(text),
            }
            at += consumed(op);
        }
        Ok(new)
    }

    /// Changes `rope` in place; each edit costs a logarithm. Nothing is changed when it does not fit.
    pub fn apply_rope(&self, rope: &mut Rope) -> Result<(), Misfit> {
        self.check_len(self.old_len, rope.len_bytes())?;
        let edits = self.edits();
        for at in edits.iter().flat_map(|it| [it.range.start, it.range.end]) {
            if rope.char_to_byte(rope.byte_to_char(at)) != at {
                return Err(Misfit::Boundary { at });
            }
        }
        // From the end, so that the places of the others stay as they were counted.
        for Edit { range, text } in edits.iter().rev() {
            let start = rope.byte_to_char(range.start);
            let end = rope.byte_to_char(range.end);
            rope.remove(start..end);
            rope.insert(start, text);
        }
        Ok(())
    }

    /// The change that takes this one back. `old` is the text this one is applied to.
    pub fn invert(&self, old: &str) -> Result<ChangeSet, Misfit> {
        self.check_len(self.old_len, old.len())?;
        let mut steps = ChangeSet::default();
        let mut at = 0;
        for op in &self.ops {
            match op {
                Op::Keep(n) => steps.keep(*n),
                Op::Delete(n) => steps.insert(part(old, at, *n)?),
                Op::Insert(text) => steps.delete(text.len()),
            }
            at += consumed(op);
        }
        Ok(steps)
    }

    /// The steps as replacements in the old text; what `workspace/applyEdit` wants.
    pub fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut at = 0;
        // Between two keeps there is at most one insertion and then at most one deletion.
        let mut inserted_here = false;
        for op in &self.ops {
            match op {
                Op::Keep(_) => inserted_here = false,
                Op::Insert(text) => {
                    edits.push(Edit {
                        range: at..at,
                        text: text.clone(),
                    });
                    inserted_here = true;
                }
                Op::Delete(n) => match edits.last_mut() {
                    Some(edit) if inserted_here => edit.range.end += n,
                    Some(_) | None => edits.push(Edit {
                        range: at..at + n,
                        text: String::new(),
                    }),
                },
            }
            at += consumed(op);
        }
        edits
    }

    /// The steps from the start of the text to its end.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    pub fn is_identity(&self) -> bool {
        matches!(self.ops[..], [] | [Op::Keep(_)])
    }

    /// Bytes of the text it is for.
    pub fn old_len(&self) -> usize {
        self.old_len
    }

    /// Bytes of the text it makes.
    pub fn new_len(&self) -> usize {
        self.new_len
    }

    fn check_len(&self, expected: usize, found: usize) -> Result<(), Misfit> {
        if expected == found {
            Ok(())
        } else {
            Err(Misfit::Length { expected, found })
        }
    }
}

/// Building, step by step, always normalised.
impl ChangeSet {
    pub(super) fn keep(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        self.old_len += n;
        self.new_len += n;
        match self.ops.last_mut() {
            Some(Op::Keep(last)) => *last += n,
            Some(Op::Delete(_) | Op::Insert(_)) | None => self.ops.push(Op::Keep(n)),
        }
    }

    pub(super) fn delete(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        self.old_len += n;
        match self.ops.last_mut() {
            Some(Op::Delete(last)) => *last += n,
            Some(Op::Keep(_) | Op::Insert(_)) | None => self.ops.push(Op::Delete(n)),
        }
    }

    pub(super) fn insert(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.new_len += text.len();
        match &mut self.ops[..] {
            [.., Op::Insert(last)] | [.., Op::Insert(last), Op::Delete(_)] => last.push_str(text),
            [.., Op::Delete(_)] => {
                self.ops
                    .insert(self.ops.len() - 1, Op::Insert(text.to_owned()));
            }
            [.., Op::Keep(_)] | [] => self.ops.push(Op::Insert(text.to_owned())),
        }
    }

    /// Goes on with the steps of a change to the text that follows.
    pub(super) fn append(&mut self, next: &ChangeSet) {
        for op in &next.ops {
            match op {
                Op::Keep(n) => self.keep(*n),
                Op::Delete(n) => self.delete(*n),
                Op::Insert(text) => self.insert(text),
            }
        }
    }
}

/// How much of the old text a step walks over.
fn consumed(op: &Op) -> usize {
    match op {
        Op::Keep(n) | Op::Delete(n) => *n,
        Op::Insert(_) => 0,
    }
}

fn part(text: &str, at: usize, n: usize) -> Result<&str, Misfit> {
    match text.get(at..at + n) {
        Some(it) => Ok(it),
        None if text.is_char_boundary(at) => Err(Misfit::Boundary { at: at + n }),
        None => Err(Misfit::Boundary { at }),
    }
}
