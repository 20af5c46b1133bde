//! Finds the old lines of hunks, in every way in which they may be read.

use std::borrow::Cow;

use super::{
    LineKind, PatchHunk,
    lines::View,
    place::{Likeness, is_at_end},
    search::{Hits, Needle, PASSES, search},
};

/// A hunk's old lines, found.
pub(super) struct Found {
    pub(super) hits: Hits,
    pub(super) n_old: usize,
    pub(super) likeness: Likeness,
}

/// How the old lines of a hunk may be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    AsWritten,
    /// Some context came without its blank, so perhaps all did, and what looks like it is indentation.
    BareContext,
    /// Without an empty line at the end, which models add (spec 2.2).
    WithoutLastBlank,
    BareWithoutLastBlank,
}

/// Looks for all hunks at once: each is found by the strictest pass that finds it anywhere.
pub(super) fn find(view: &View<'_>, hunks: &[PatchHunk]) -> Vec<Option<Found>> {
    let mut found: Vec<Option<Found>> = hunks.iter().map(|_| None).collect();
    let plain = [Reading::AsWritten, Reading::BareContext];
    let cut = [Reading::WithoutLastBlank, Reading::BareWithoutLastBlank];
    for (readings, pass) in [plain, cut]
        .into_iter()
        .flat_map(|readings| PASSES.map(|pass| (readings, pass)))
    {
        for reading in readings {
            let wanted: Vec<(usize, Needle<'_>)> = hunks
                .iter()
                .enumerate()
                .filter(|(at, _)| found[*at].is_none())
                // Where marks are missing, blanks at the front say nothing sure.
                .filter(|(_, it)| !it.has_bare_context || pass <= Likeness::TrailingBlanks)
                .filter_map(|(at, it)| Some((at, needle(it, reading)?)))
                .collect();
            let (ids, needles): (Vec<usize>, Vec<Needle<'_>>) = wanted.into_iter().unzip();
            if needles.is_empty() {
                continue;
            }
            for ((at, needle), hits) in ids
                .into_iter()
                .zip(&needles)
                .zip(search(view, &needles, pass))
            {
                if !hits.is_empty() {
                    found[at] = Some(Found {
                        hits: with_same_endings(view, &hunks[at], hits, pass),
                        n_old: needle.lines.len(),
                        likeness: pass,
                    });
                }
            }
        }
    }
    found
}

/// `None` if the hunk cannot be read so.
fn needle(hunk: &PatchHunk, reading: Reading) -> Option<Needle<'_>> {
    let (is_bare, is_cut) = match reading {
        Reading::AsWritten => (false, false),
        Reading::BareContext => (true, false),
        Reading::WithoutLastBlank => (false, true),
        Reading::BareWithoutLastBlank => (true, true),
    };
    if is_bare && !hunk.has_bare_context {
        return None;
    }
    let mut old: Vec<_> = hunk.old_side().collect();
    if is_cut {
        old.pop_if(|it| it.kind == LineKind::Context && it.text.trim().is_empty())?;
    }
    let lines: Vec<Cow<'_, str>> = old
        .into_iter()
        .map(|it| {
            match is_bare && it.kind == LineKind::Context && it.text.starts_with([' ', '\t']) {
                true => Cow::Owned(format!(" {}", it.text)),
                false => Cow::Borrowed(it.text.as_str()),
            }
        })
        .collect();
    (!lines.is_empty()).then_some(Needle {
        lines,
        at_end: is_at_end(hunk),
    })
}

/// A patch that writes `\r` means the lines which have it.
fn with_same_endings(view: &View<'_>, hunk: &PatchHunk, hits: Hits, pass: Likeness) -> Hits {
    if pass != Likeness::Exact || hits.starts.len() < 2 || !hunk.old_side().any(|it| it.has_cr) {
        return hits;
    }
    let is_same = |start: &&usize| {
        hunk.old_side()
            .zip(**start..)
            .all(|(line, here)| (view.ending(here) == "\r\n") == line.has_cr)
    };
    let same: Vec<usize> = hits.starts.iter().filter(is_same).copied().collect();
    match same.is_empty() {
        true => hits,
        false => Hits {
            starts: same,
            ..hits
        },
    }
}
