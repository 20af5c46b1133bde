//! Finds the part of a text that is most like another, to show what a model may have meant.

use std::collections::HashSet;

use super::lines::{lines, split_ending};

/// The most similar run of lines: its first line, from 1, and its text, cut to a dozen lines. The work is
/// bounded: only so many lines of the text are looked at, and only so much of each.
pub(super) fn nearest(text: &str, target: &str) -> Option<(u32, String)> {
    let wanted: Vec<&str> = lines(target).map(content).collect();
    let here: Vec<&str> = lines(text).map(content).take(MAX_LINES).collect();
    let size = wanted.len().min(here.len());
    if size == 0 {
        return None;
    }
    let start = best_window(&here, &wanted, size).or_else(|| best_line(&here, &wanted))?;
    let end = (start + size.clamp(1, SHOWN_LINES)).min(here.len());
    let shown: Vec<&str> = here[start..end].iter().map(|it| cut(it)).collect();
    // At most MAX_LINES.
    Some((start as u32 + 1, shown.join("\n")))
}

const MAX_LINES: usize = 50_000;
const MAX_LINE_BYTES: usize = 300;
const SHOWN_LINES: usize = 12;

/// Where most lines are lines of the target but for indentation.
fn best_window(here: &[&str], wanted: &[&str], size: usize) -> Option<usize> {
    let known: HashSet<&str> = wanted
        .iter()
        .map(|it| it.trim())
        .filter(|it| says_something(it))
        .collect();
    let hits: Vec<bool> = here.iter().map(|it| known.contains(it.trim())).collect();
    let mut n_hits = hits.iter().take(size).filter(|it| **it).count();
    let mut best = (n_hits, 0);
    for start in 1..=here.len() - size {
        n_hits = n_hits + usize::from(hits[start + size - 1]) - usize::from(hits[start - 1]);
        // Of equals, the one that starts with a hit; a window that only slides away from it is no better.
        let starts_better = n_hits == best.0 && hits[start] && !hits[best.1];
        if n_hits > best.0 || starts_better {
            best = (n_hits, start);
        }
    }
    (best.0 > 0).then_some(best.1)
}

/// The line most like the most telling line of the target, set back by as many lines as stand before that.
fn best_line(here: &[&str], wanted: &[&str]) -> Option<usize> {
    let (before, telling) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(at, it)| (it.trim().len().min(MAX_LINE_BYTES), std::cmp::Reverse(*at)))?;
    if !says_something(telling) {
        return None;
    }
    let telling = Pairs::of(telling);
    let (likeness, at) = here
        .iter()
        .enumerate()
        .map(|(at, it)| (telling.likeness(&Pairs::of(it)), at))
        .max_by_key(|(likeness, at)| (*likeness, std::cmp::Reverse(*at)))?;
    (likeness >= ENOUGH).then(|| at.saturating_sub(before))
}

/// In percent.
const ENOUGH: usize = 50;

/// Braces and blank lines are everywhere.
fn says_something(line: &str) -> bool {
    line.chars()
        .filter(|it| it.is_alphanumeric())
        .nth(2)
        .is_some()
}

/// The pairs of neighbouring bytes of a line, counted in few enough buckets to be cheap.
struct Pairs {
    counts: [u16; 256],
    total: usize,
}

impl Pairs {
    fn of(line: &str) -> Pairs {
        let bytes = cut(line.trim()).as_bytes();
        let mut pairs = Pairs {
            counts: [0; 256],
            total: 0,
        };
        for pair in bytes.windows(2) {
            let bucket = pair[0].wrapping_mul(31).wrapping_add(pair[1]);
            pairs.counts[usize::from(bucket)] += 1;
            pairs.total += 1;
        }
        pairs
    }

    /// Twice what they share out of all they have, in percent.
    fn likeness(&self, other: &Pairs) -> usize {
        let shared: usize = self
            .counts
            .iter()
            .zip(&other.counts)
            .map(|(a, b)| usize::from(*a.min(b)))
            .sum();
        (200 * shared)
            .checked_div(self.total + other.total)
            .unwrap_or(0)
    }
}

fn content(line: &str) -> &str {
    split_ending(line).0
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE_BYTES)]
}
