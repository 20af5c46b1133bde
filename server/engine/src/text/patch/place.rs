//! Finds where the hunks of one file belong and makes one change set of them.

use std::{borrow::Cow, fmt::Write};

use super::{
    FileKind, FilePatch, HunkFailure, LineKind, PatchHunk, PatchLine, PlaceError, Why,
    anchor::Anchors,
    choose::{Choice, choose},
    doubt::{doubts, explain},
    find::{Found, find},
    lines::View,
    search::{Needle, search},
    write::{self, LineEdit, Patchwide},
};
use crate::text::ChangeSet;

/// A file's patch with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub changes: ChangeSet,
    /// In the order of the patch.
    pub hunks: Vec<PlacedHunk>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedHunk {
    /// The first line it was matched with, from 1; of an insertion without context, the line that it pushes
    /// down. Where hunks build on each other, of the text that those before have made.
    pub line: usize,
    /// Lines between the stated place and this one; less than 0 is further up. `None` if none was stated.
    pub moved_by: Option<isize>,
    /// The strictest pass that found it.
    pub likeness: Likeness,
    /// Whether anything but line endings was overlooked to find it, in its lines or in its anchors.
    pub is_fuzzy: bool,
}

/// How a hunk's lines are like those of the file. Line endings never count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    Exact,
    /// But for blanks at the ends of lines.
    TrailingBlanks,
    /// But for blanks at both ends. New lines get the indentation of the file.
    Indentation,
    /// But for these, and for dashes, quotes and blanks that only look alike.
    Typography,
}

impl Placed {
    /// What a model should look at again, in a sentence a hunk; empty if all stood where it was said to stand.
    pub fn note(&self) -> String {
        let mut out = String::new();
        for (at, hunk) in self.hunks.iter().enumerate() {
            let like = match (hunk.likeness, hunk.is_fuzzy) {
                (Likeness::Exact, false) => continue,
                (Likeness::Exact, true) => "not quite as written",
                (Likeness::TrailingBlanks, _) => "but for blanks at the ends of lines",
                (Likeness::Indentation, _) => "but for indentation",
                (Likeness::Typography, _) => "but for typographic characters",
            };
            let n = at + 1;
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "hunk {n} fits at line {} {like}; verify it there",
                hunk.line
            );
        }
        out
    }
}

/// A hunk's place.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// From 0.
    pub(super) start: usize,
    /// Context and old lines that were matched, from the first.
    pub(super) n_old: usize,
    pub(super) likeness: Likeness,
    pub(super) is_fuzzy: bool,
}

/// Places the hunks of `file` in `text`: all of them or none.
///
/// For an update, and for a deletion that says what it deletes; a new file has [`FilePatch::content`]. Each hunk
/// is found by the strictest pass that finds it anywhere, and must then have one place only: for its anchors, for
/// the order of the hunks, or for its stated line by a clear margin. Endings stay as they are line by line, and
/// the final newline stays as it is unless the patch marks it. A change set that changes nothing is an error,
/// except for a rename.
pub fn place(file: &FilePatch, text: &str) -> Result<Placed, PlaceError> {
    let refused = |failures: Vec<HunkFailure>| PlaceError {
        path: file.path.clone(),
        n_hunks: file.hunks.len(),
        failures,
    };
    let placed = place_hunks(&file.hunks, text).map_err(refused)?;
    let only = |why: Why| {
        vec![HunkFailure {
            hunk: 1,
            line: file.hunks.first().map_or(file.line, |it| it.line),
            why,
        }]
    };
    match file.kind {
        FileKind::Update if placed.changes.is_identity() && file.new_path.is_none() => {
            Err(refused(only(Why::Unchanged)))
        }
        FileKind::Delete if file.hunks.is_empty() => {
            let changes = ChangeSet::between(text, "");
            Ok(Placed { changes, ..placed })
        }
        FileKind::Delete if placed.changes.new_len() > 0 => Err(refused(only(Why::RestLeft))),
        FileKind::Update | FileKind::Delete | FileKind::Create => Ok(placed),
    }
}

/// Hunks speak of the text as it was. Where one is not found in it, those before are applied and the rest is
/// looked for in the result, since models also write hunks that build on each other.
fn place_hunks(hunks: &[PatchHunk], text: &str) -> Result<Placed, Vec<HunkFailure>> {
    const MAX_ROUNDS: usize = 8;
    let mut text = Cow::Borrowed(text);
    let mut all = Placed {
        changes: ChangeSet::identity(text.len()),
        hunks: Vec::new(),
    };
    let mut first_failures = None;
    for round in 1.. {
        let done = all.hunks.len();
        let failures = match place_at_once(&hunks[done..], &text) {
            Ok(placed) => return Ok(followed_by(all, placed)),
            Err(failures) => failures,
        };
        let is_missing =
            |(hunk, why): &&(usize, Why)| *hunk > 0 && matches!(why, Why::NotFound { .. });
        let n_before = failures.first().filter(is_missing).map(|(hunk, _)| *hunk);
        // What is wrong is told about the text that the model knows.
        first_failures.get_or_insert_with(|| {
            let failures = failures.into_iter().map(|(hunk, why)| HunkFailure {
                hunk: done + hunk + 1,
                line: hunks[done + hunk].line,
                why,
            });
            failures.collect()
        });
        let before = n_before
            .filter(|_| round < MAX_ROUNDS)
            .and_then(|n| place_at_once(&hunks[done..done + n], &text).ok());
        let next = before.and_then(|it| Some((it.changes.apply(&text).ok()?, it)));
        let Some((next, placed)) = next else {
            break;
        };
        all = followed_by(all, placed);
        text = Cow::Owned(next);
    }
    Err(first_failures.unwrap_or_default())
}

/// The second was placed in the text that the first makes.
fn followed_by(mut first: Placed, second: Placed) -> Placed {
    if let Ok(changes) = first.changes.compose(&second.changes) {
        first.changes = changes;
        first.hunks.extend(second.hunks);
    }
    first
}

pub(super) type Failures = Vec<(usize, Why)>;

fn place_at_once(hunks: &[PatchHunk], text: &str) -> Result<Placed, Failures> {
    let mut lines = hunks.iter().flat_map(|it| &it.lines);
    let has_mark = lines.any(|it| it.text.starts_with('\u{feff}'));
    let view = View::of(text, has_mark);
    if is_for_empty(&view, hunks) {
        return Err(vec![(0, Why::OnlyNumber)]);
    }
    let spots = match stated_spots(&view, hunks) {
        Some(spots) => spots,
        None => searched_spots(&view, hunks)?,
    };
    let changes = write::change_set(&view, all_edits(&view, hunks, &spots)?);
    let placed = |(hunk, spot): (&PatchHunk, &Spot)| PlacedHunk {
        line: spot.start + 1,
        moved_by: first_line(hunk).map(|it| spot.start as isize - it as isize),
        likeness: spot.likeness,
        is_fuzzy: spot.is_fuzzy,
    };
    Ok(Placed {
        changes,
        hunks: hunks.iter().zip(&spots).map(placed).collect(),
    })
}

/// The line that a hunk states, from 0: of its first line, or the one that an insertion pushes down.
pub(super) fn first_line(hunk: &PatchHunk) -> Option<usize> {
    let stated = hunk.stated?;
    Some(match hunk.old_side().next() {
        Some(_) => stated.line.saturating_sub(1),
        None => stated.line,
    })
}

fn all_edits(
    view: &View<'_>,
    hunks: &[PatchHunk],
    spots: &[Spot],
) -> Result<Vec<LineEdit>, Failures> {
    let patch = Patchwide::of(view, hunks, spots);
    let mut edits: Vec<LineEdit> = Vec::new();
    let mut failures = Vec::new();
    for (at, (hunk, spot)) in hunks.iter().zip(spots).enumerate() {
        match write::edits(view, at, hunk, spot, &patch) {
            Ok(more) => edits.extend(more),
            Err(why) => failures.push((at, why)),
        }
    }
    edits.sort_by_key(|it| (it.range.start, it.range.end));
    for pair in edits.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let both_insert = a.range.is_empty() && b.range.is_empty();
        if a.range.end > b.range.start || both_insert && a.range == b.range {
            let (first, second) = (a.hunk.min(b.hunk), a.hunk.max(b.hunk));
            failures.push((second, Why::Overlap { other: first + 1 }));
        }
    }
    match failures.is_empty() {
        true => Ok(edits),
        false => Err(failures),
    }
}

/// `@@ -0,0 +1,3 @@` and nothing else is what a diff says of a file that was empty, and this one is not.
fn is_for_empty(view: &View<'_>, hunks: &[PatchHunk]) -> bool {
    let [hunk] = hunks else {
        return false;
    };
    let is_at_top = hunk.stated.is_some_and(|it| it.line == 0);
    is_at_top && hunk.old_side().next().is_none() && view.len() > 0
}

/// Each at its stated line, if that fits for all of them: so a patch that a tool made is placed at once.
fn stated_spots(view: &View<'_>, hunks: &[PatchHunk]) -> Option<Vec<Spot>> {
    let mut end = 0;
    hunks
        .iter()
        .map(|hunk| {
            let start = first_line(hunk).filter(|_| hunk.stated.is_some_and(|it| it.is_trusted))?;
            let n_old = hunk.old_side().count();
            let here = view.contents.get(start..start + n_old)?;
            let is_last = start + n_old == view.len();
            let fits = start >= end
                && here
                    .iter()
                    .zip(hunk.old_side())
                    .all(|(here, it)| *here == it.text)
                && (is_last || !is_at_end(hunk))
                && (!is_last || n_old == 0 || hunk.old_is_open == view.is_open());
            end = start + n_old;
            fits.then_some(Spot {
                start,
                n_old,
                likeness: Likeness::Exact,
                is_fuzzy: false,
            })
        })
        .collect()
}

pub(super) fn is_at_end(hunk: &PatchHunk) -> bool {
    hunk.at_end || hunk.old_is_open || hunk.new_is_open
}

fn searched_spots(view: &View<'_>, hunks: &[PatchHunk]) -> Result<Vec<Spot>, Failures> {
    let found = find(view, hunks);
    let anchors = Anchors::of(view, hunks);
    let mut failures = Vec::new();
    let mut choices = Vec::new();
    for (at, (hunk, found)) in hunks.iter().zip(&found).enumerate() {
        match possible(view, hunk, found.as_ref(), &anchors) {
            Ok(places) => choices.push(Choice {
                hinted: hunk
                    .heading
                    .as_ref()
                    .filter(|_| places.len() > 1)
                    .and_then(|it| anchors.hinted(view, it, &places)),
                places,
                core: core(hunk),
                stated: first_line(hunk),
                is_trusted: hunk.stated.is_some_and(|it| it.is_trusted),
            }),
            Err(why) => failures.push((at, why)),
        }
    }
    if !failures.is_empty() {
        explain(view, hunks, &mut failures);
        return Err(failures);
    }
    let starts = choose(&choices)?;
    if !starts.is_sorted() {
        out_of_order(view, hunks)?;
    }
    let spot = |(at, start): (usize, usize)| Spot {
        start,
        n_old: found[at].as_ref().map_or(0, |it| it.n_old),
        likeness: found[at].as_ref().map_or(Likeness::Exact, |it| it.likeness),
        is_fuzzy: found[at]
            .as_ref()
            .is_some_and(|it| it.likeness != Likeness::Exact)
            || anchors.is_fuzzy(&hunks[at].anchors),
    };
    let spots: Vec<Spot> = starts.into_iter().enumerate().map(spot).collect();
    doubts(view, hunks, &spots)?;
    Ok(spots)
}

/// Hunks in another order than that of the file may be meant so, or a looser match in order was meant. Then it is
/// sure only for lines that no pass finds twice.
fn out_of_order(view: &View<'_>, hunks: &[PatchHunk]) -> Result<(), Failures> {
    let needles: Vec<Needle<'_>> = hunks
        .iter()
        .map(|hunk| Needle {
            lines: hunk.old_side().map(|it| it.text.as_str().into()).collect(),
            at_end: is_at_end(hunk),
        })
        .collect();
    let hits = search(view, &needles, Likeness::Typography);
    let failures: Failures = hits
        .into_iter()
        .enumerate()
        .filter(|(at, hits)| {
            hits.starts.len() > 1 && !hunks[*at].stated.is_some_and(|it| it.is_trusted)
        })
        .map(|(at, hits)| {
            (
                at,
                Why::Ambiguous {
                    lines: hits.starts.iter().map(|it| it + 1).collect(),
                },
            )
        })
        .collect();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures),
    }
}

/// The places that a hunk may have.
fn possible(
    view: &View<'_>,
    hunk: &PatchHunk,
    found: Option<&Found>,
    anchors: &Anchors<'_>,
) -> Result<Vec<usize>, Why> {
    if let Some(anchor) = anchors.missing(&hunk.anchors) {
        return Err(Why::AnchorNotFound {
            anchor: anchor.to_owned(),
            nearest: None,
        });
    }
    let numbers = |places: &[usize]| places.iter().map(|it| it + 1).collect();
    let not_below = |places: &[usize]| Why::NotBelowAnchor {
        anchor: hunk.anchors.last().cloned().unwrap_or_default(),
        lines: numbers(places),
    };
    if hunk.old_side().next().is_none() {
        let below = match hunk.anchors.is_empty() {
            true => vec![insertion(view, hunk)?],
            false => anchors.below(view, &hunk.anchors),
        };
        return match below.is_empty() {
            true => Err(not_below(&[])),
            false => Ok(below),
        };
    }
    let Some(found) = found else {
        return Err(Why::NotFound {
            expected: String::new(),
            nearest: None,
        });
    };
    if found.hits.is_cut {
        return Err(Why::TooMany);
    }
    if hunk.anchors.is_empty() {
        return Ok(found.hits.starts.clone());
    }
    let n_before = core(hunk).start;
    let left = anchors.narrowed(view, &hunk.anchors, &found.hits.starts, n_before);
    match left.is_empty() {
        true => Err(not_below(&found.hits.starts)),
        false => Ok(left),
    }
}

/// Where lines go that have neither context nor anchor: where a trusted number says, else the end of the file,
/// before a blank last line (spec 2.2).
fn insertion(view: &View<'_>, hunk: &PatchHunk) -> Result<usize, Why> {
    match hunk.stated {
        Some(_) if view.len() == 0 => Ok(0),
        Some(it) if it.is_trusted && it.line <= view.len() => Ok(it.line),
        Some(_) => Err(Why::OnlyNumber),
        None => match view.contents.last() {
            Some(&"") if !hunk.at_end => Ok(view.len() - 1),
            Some(_) | None => Ok(view.len()),
        },
    }
}

/// The lines that a hunk changes, counted from its first old line.
pub(super) fn core(hunk: &PatchHunk) -> std::ops::Range<usize> {
    let is_context = |it: &&PatchLine| it.kind == LineKind::Context;
    let n_before = hunk.lines.iter().take_while(is_context).count();
    let n_after = hunk.lines.iter().rev().take_while(is_context).count();
    let n_old = hunk.old_side().count();
    // A hunk of context alone changes nothing anywhere.
    n_before.min(n_old)..n_old.saturating_sub(n_after).max(n_before.min(n_old))
}
