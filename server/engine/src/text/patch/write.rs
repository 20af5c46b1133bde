//! Makes the change set of hunks whose places are known: endings, indentation and the end of the file as they were.

use std::ops::Range;

use super::{
    LineKind, PatchHunk, PatchLine, Why,
    indent::Indents,
    lines::{View, indentation},
    place::{Likeness, Spot},
};
use crate::text::{ChangeSet, endings::adopt};

/// Lines of the file that give way to others.
#[derive(Debug)]
pub(super) struct LineEdit {
    pub(super) range: Range<usize>,
    /// Without endings.
    new: Vec<(String, bool)>,
    /// From 0.
    pub(super) hunk: usize,
    /// The patch and the file agree in every ending here, so those of the new lines were meant.
    has_own_endings: bool,
    /// Whether the file's last line has no ending afterwards, where this reaches it.
    leaves_open: bool,
}

/// What all hunks of a file's patch tell, for the one that has no line to tell it.
pub(super) struct Patchwide<'a> {
    /// Some endings are `\r\n`, and all are those of the lines they stand for: so they were meant.
    writes_endings: bool,
    /// Some hunk was found only without looking at indentation.
    is_indented_anew: bool,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Patchwide<'a> {
    pub(super) fn of(view: &View<'a>, hunks: &'a [PatchHunk], spots: &[Spot]) -> Patchwide<'a> {
        let mut lines = hunks.iter().flat_map(|it| &it.lines);
        let mut all = hunks.iter().zip(spots);
        let is_indented_anew = spots.iter().any(|it| it.likeness >= Likeness::Indentation);
        let pairs = match is_indented_anew {
            true => all
                .clone()
                .flat_map(|(hunk, spot)| pairs(view, hunk, spot))
                .collect(),
            false => Vec::new(),
        };
        Patchwide {
            writes_endings: lines.any(|it| it.has_cr)
                && all.all(|(hunk, spot)| has_same_endings(view, hunk, spot).unwrap_or(true)),
            is_indented_anew,
            pairs,
        }
    }
}

/// Whether the lines of the hunk end as those of the text do. `None` if no line tells.
fn has_same_endings(view: &View<'_>, hunk: &PatchHunk, spot: &Spot) -> Option<bool> {
    let tells = hunk
        .old_side()
        .take(spot.n_old)
        .zip(spot.start..)
        .filter_map(|(line, here)| match view.ending(here) {
            "" => None,
            "\n" => Some(!line.has_cr),
            "\r\n" => Some(line.has_cr),
            _ => Some(false),
        });
    let is_exact = spot.likeness == Likeness::Exact;
    tells.reduce(|all, it| all && it).map(|it| it && is_exact)
}

/// The edits of one hunk at its place, in order, none beside another.
pub(super) fn edits(
    view: &View<'_>,
    at: usize,
    hunk: &PatchHunk,
    spot: &Spot,
    patch: &Patchwide<'_>,
) -> Result<Vec<LineEdit>, Why> {
    let has_own_endings = has_same_endings(view, hunk, spot).unwrap_or(patch.writes_endings);
    let leaves_open = match hunk.old_is_open == hunk.new_is_open {
        true => view.is_open(),
        false => hunk.new_is_open,
    };
    let indents = indents(view, hunk, spot, patch);
    let fresh = |start: usize| LineEdit {
        range: start..start,
        new: Vec::new(),
        hunk: at,
        has_own_endings,
        leaves_open,
    };

    let mut edits = Vec::new();
    let mut here = spot.start;
    let mut edit = fresh(here);
    let mut flush = |edit: &mut LineEdit, next: usize| {
        let done = std::mem::replace(edit, fresh(next));
        if !done.range.is_empty() || !done.new.is_empty() {
            edits.push(done);
        }
    };
    let old_end = spot.start + spot.n_old;
    for line in &hunk.lines {
        match line.kind {
            // Context that was left out of the search, at the end.
            LineKind::Context if here == old_end => {}
            LineKind::Context => {
                here += 1;
                flush(&mut edit, here);
            }
            LineKind::Old => {
                here += 1;
                edit.range.end = here;
            }
            LineKind::New => {
                let text = indented(line, indents.as_ref()).ok_or(Why::Indentation {
                    line: spot.start + 1,
                })?;
                edit.new.push((text, line.has_cr));
            }
        }
    }
    flush(&mut edit, here);
    Ok(edits)
}

/// How a hunk's new lines are to be indented; `None` if that is not clear.
fn indents<'a>(
    view: &View<'a>,
    hunk: &'a PatchHunk,
    spot: &Spot,
    patch: &Patchwide<'a>,
) -> Option<Indents<'a>> {
    let own = || pairs(view, hunk, spot);
    match spot.likeness {
        Likeness::Indentation | Likeness::Typography => Indents::of(own()),
        // It is as the file is, or has no indentation that would tell. Then it is as the others are.
        Likeness::Exact | Likeness::TrailingBlanks => {
            match own().any(|(it, _)| !it.is_empty()) || !patch.is_indented_anew {
                true => Indents::of(std::iter::empty()),
                false => Indents::of(patch.pairs.iter().copied()),
            }
        }
    }
}

/// The indentation of a hunk's old lines, and that of the lines they stand for.
fn pairs<'a>(
    view: &View<'a>,
    hunk: &'a PatchHunk,
    spot: &Spot,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines: Vec<&str> = view.contents[spot.start..spot.start + spot.n_old].to_vec();
    hunk.old_side()
        .zip(lines)
        .filter(|(line, _)| !line.text.trim().is_empty())
        .map(|(line, here)| (indentation(&line.text), indentation(here)))
}

fn indented(line: &PatchLine, indents: Option<&Indents<'_>>) -> Option<String> {
    let content = line.text.trim_start();
    if content.is_empty() {
        return Some(line.text.clone());
    }
    let indentation = indents?.file(indentation(&line.text))?;
    Some(format!("{indentation}{content}"))
}

/// One change set of all edits, which are in order and do not overlap.
pub(super) fn change_set(view: &View<'_>, edits: Vec<LineEdit>) -> ChangeSet {
    let mut steps = ChangeSet::default();
    for edit in joined(edits) {
        let (range, new) = bytes(view, &edit);
        steps.keep(range.start - steps.old_len());
        steps.append(&ChangeSet::between(&view.text[range], &new));
    }
    steps.keep(view.text.len() - steps.old_len());
    steps
}

/// Edits that touch become one, so that none has to know of its neighbour.
fn joined(edits: Vec<LineEdit>) -> Vec<LineEdit> {
    let mut out: Vec<LineEdit> = Vec::new();
    for edit in edits {
        match out.last_mut() {
            Some(last) if last.range.end == edit.range.start => {
                last.range.end = edit.range.end;
                last.new.extend(edit.new);
                last.has_own_endings &= edit.has_own_endings;
                last.leaves_open = edit.leaves_open;
            }
            Some(_) | None => out.push(edit),
        }
    }
    out
}

/// What goes, in bytes of the text, and what comes.
fn bytes(view: &View<'_>, edit: &LineEdit) -> (Range<usize>, String) {
    let LineEdit { range, new, .. } = edit;
    let mut start = view.starts[range.start];
    let end = view.starts[range.end];
    let near = view.ending_near(range.start);
    let mut text = String::new();
    for (line, has_cr) in new {
        text.push_str(line);
        text.push_str(match edit.has_own_endings && *has_cr {
            true => "\r\n",
            false => "\n",
        });
    }
    if !edit.has_own_endings {
        text = adopt(&view.text[start..end], &text, near);
    }
    if range.end == view.len() {
        if edit.leaves_open {
            let n_ending = match text.as_bytes() {
                [.., b'\n'] if new.last().is_some_and(|(it, _)| it.ends_with('\r')) => 1,
                [.., b'\r', b'\n'] => 2,
                [.., b'\n' | b'\r'] => 1,
                _ => 0,
            };
            text.truncate(text.len() - n_ending);
            if new.is_empty() && range.start > 0 {
                // The line above becomes the last one.
                start -= view.ending(range.start - 1).len();
            }
        }
        if range.is_empty() && !new.is_empty() && view.is_open() {
            text.insert_str(0, near);
        }
    }
    (start..end, text)
}
