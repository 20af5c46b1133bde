//! Says why a hunk has no place, and doubts some that have one.

use std::borrow::Cow;

use super::{
    LineKind, PatchHunk, PatchLine, Why,
    envelope::shortened,
    find::find,
    lines::View,
    place::{Failures, Likeness, Spot, core, first_line, is_at_end},
    search::{Needle, normal, search},
};
use crate::text::similar;

/// Fills in what failures tell, which costs more than finding does.
pub(super) fn explain(view: &View<'_>, hunks: &[PatchHunk], failures: &mut Failures) {
    /// No more are shown.
    const EXPLAINED: usize = 3;
    already_applied(view, hunks, failures);
    for (at, why) in failures.iter_mut().take(EXPLAINED) {
        let hunk = &hunks[*at];
        if let Why::AnchorNotFound { anchor, nearest } = why {
            *nearest = similar::nearest(view.text, anchor);
        }
        if let Why::NotFound { expected, nearest } = why {
            match elsewhere(view, hunk) {
                Some(lines) => *why = Why::NotAtEnd { lines },
                None => (*expected, *nearest) = expected_and_nearest(view, hunk),
            }
        }
    }
}

fn expected_and_nearest(view: &View<'_>, hunk: &PatchHunk) -> (String, Option<(u32, String)>) {
    const SHOWN_LINES: usize = 6;
    let old: Vec<&str> = hunk.old_side().map(|it| it.text.as_str()).collect();
    let shown: Vec<String> = old
        .iter()
        .take(SHOWN_LINES)
        .map(|it| shortened(it))
        .collect();
    let nearest = similar::nearest(view.text, &old.join("\n"));
    (shown.join("\n"), nearest)
}

/// Where a hunk for the end of the file stands that is not there.
fn elsewhere(view: &View<'_>, hunk: &PatchHunk) -> Option<Vec<usize>> {
    if !is_at_end(hunk) {
        return None;
    }
    let anywhere = PatchHunk {
        at_end: false,
        old_is_open: false,
        new_is_open: false,
        ..hunk.clone()
    };
    let [found] = &find(view, std::slice::from_ref(&anywhere))[..] else {
        return None;
    };
    let starts = &found.as_ref()?.hits.starts;
    Some(starts.iter().map(|it| it + 1).collect())
}

/// Says of hunks that are nowhere where what they make stands already, if that is sure: it says something, and
/// stands there once.
fn already_applied(view: &View<'_>, hunks: &[PatchHunk], failures: &mut Failures) {
    let mut missing: Vec<(&PatchHunk, &mut Why)> = failures
        .iter_mut()
        .filter(|(_, why)| matches!(why, Why::NotFound { .. }))
        .map(|(at, why)| (&hunks[*at], why))
        .filter(|(hunk, _)| is_telling(hunk))
        .collect();
    let needles: Vec<Needle<'_>> = missing
        .iter()
        .map(|(hunk, _)| Needle {
            lines: hunk
                .new_side()
                .map(|it| Cow::Borrowed(it.text.as_str()))
                .collect(),
            at_end: hunk.at_end,
        })
        .collect();
    let all_hits = search(view, &needles, Likeness::TrailingBlanks);
    for ((_, why), hits) in missing.iter_mut().zip(all_hits) {
        if let [start] = hits.starts[..] {
            **why = Why::AlreadyApplied { line: start + 1 };
        }
    }
}

/// Whether what a hunk makes would not stand there by chance.
fn is_telling(hunk: &PatchHunk) -> bool {
    let mut new = hunk.lines.iter().filter(|it| it.kind == LineKind::New);
    if new.next().is_some() {
        return says_something(hunk.lines.iter().filter(|it| it.kind == LineKind::New));
    }
    // A deletion: that its context is together now says it, if it stood on both sides.
    let core = core(hunk);
    core.start > 0 && core.end < hunk.old_side().count() && says_something(hunk.new_side())
}

fn says_something<'a>(mut lines: impl Iterator<Item = &'a PatchLine>) -> bool {
    lines.any(|it| {
        let mut telling = it.text.chars().filter(|it| it.is_alphanumeric());
        telling.nth(2).is_some()
    })
}

/// Refuses what was placed but is probably not meant so.
pub(super) fn doubts(view: &View<'_>, hunks: &[PatchHunk], spots: &[Spot]) -> Result<(), Failures> {
    let is_insertion = |it: &PatchHunk| it.old_side().next().is_none();
    let has_moved = hunks.iter().zip(spots).any(|(hunk, spot)| {
        !is_insertion(hunk) && first_line(hunk).is_some_and(|it| it != spot.start)
    });
    let mut failures = Vec::new();
    for (at, (hunk, spot)) in hunks.iter().zip(spots).enumerate() {
        let by_number = is_insertion(hunk) && hunk.anchors.is_empty() && hunk.stated.is_some();
        if by_number && has_moved {
            // The file is not the one that the number is about.
            failures.push((at, Why::OnlyNumber));
        } else if let Some(line) = is_doubled(view, hunk, spot) {
            failures.push((at, Why::AlreadyApplied { line }));
        }
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures),
    }
}

/// A hunk without context behind its new lines, or in front of them, fits also where it is applied already. Then
/// they stand there.
fn is_doubled(view: &View<'_>, hunk: &PatchHunk, spot: &Spot) -> Option<usize> {
    let is_context = |it: &PatchLine| it.kind == LineKind::Context;
    let stands_at = |start: Option<usize>, new: &[&PatchLine]| {
        let start = start?;
        let here = view.contents.get(start..start + new.len())?;
        let mut pairs = here.iter().zip(new);
        let like = spot.likeness;
        let is_same = pairs.all(|(here, it)| normal(here, like) == normal(&it.text, like));
        (is_same && says_something(new.iter().copied())).then_some(start + 1)
    };
    if is_at_end(hunk) {
        // Nothing follows that could be it.
        return None;
    }
    let first = hunk.lines.split(is_context).next().unwrap_or_default();
    let last = hunk.lines.rsplit(is_context).next().unwrap_or_default();
    let (first_new, last_new) = (new_lines(first), new_lines(last));
    let first_end = spot.start + first.len() - first_new.len();
    let last_start = (spot.start + spot.n_old).checked_sub(last.len() - last_new.len());
    stands_at(last_start, &last_new)
        .or_else(|| stands_at(first_end.checked_sub(first_new.len()), &first_new))
}

fn new_lines(lines: &[PatchLine]) -> Vec<&PatchLine> {
    lines.iter().filter(|it| it.kind == LineKind::New).collect()
}
