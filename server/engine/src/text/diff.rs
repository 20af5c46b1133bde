//! Which lines changed, and inside them which bytes.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::lines::{is_inside_crlf, lines};

/// Lines of the old text which give way to lines of the new one; one of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// What differs between two lists of lines, in order, never two neighbours. Histogram diff with git's rules for
/// hunks that could as well stand elsewhere; about linear in the input, whatever it is.
pub(super) fn changes<'a>(
    old: impl Iterator<Item = &'a str>,
    new: impl Iterator<Item = &'a str>,
) -> Vec<Change> {
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(old);
    input.update_after(new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    diff.hunks()
        .map(|it| Change {
            old: it.before.start as usize..it.before.end as usize,
            new: it.after.start as usize..it.after.end as usize,
        })
        .collect()
}

/// Byte ranges of the old text and of the new text that take their place, in order, as small as line diff and
/// trimming make them. No range starts or ends inside a character or inside a CRLF, in either text.
pub(super) fn small_changes(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let same_start = same_first_lines(old, new);
    let same_end = same_last_lines(&old[same_start..], &new[same_start..]);
    let old_middle = &old[same_start..old.len() - same_end];
    let new_middle = &new[same_start..new.len() - same_end];
    let old_lines: Vec<&str> = lines(old_middle).collect();
    let new_lines: Vec<&str> = lines(new_middle).collect();
    let old_starts = starts(&old_lines, same_start);
    let new_starts = starts(&new_lines, same_start);

    let mut small = Vec::new();
    let all = changes(old_lines.into_iter(), new_lines.into_iter());
    for Change { old: a, new: b } in all {
        // A name changed in several lines running: each line is trimmed by itself. Bounded, because an editor
        // takes one large edit better than thousands of small ones.
        if a.len() == b.len() && a.len() <= PAIRED_LINES {
            for (a, b) in a.zip(b) {
                let a = old_starts[a]..old_starts[a + 1];
                let b = new_starts[b]..new_starts[b + 1];
                small.push(trimmed(old, a, new, b));
            }
        } else {
            let a = old_starts[a.start]..old_starts[a.end];
            let b = new_starts[b.start]..new_starts[b.end];
            small.push(trimmed(old, a, new, b));
        }
    }
    small
}

const PAIRED_LINES: usize = 64;

/// The two ranges without the characters they have in common at their start and at their end.
fn trimmed(
    old: &str,
    old_range: Range<usize>,
    new: &str,
    new_range: Range<usize>,
) -> (Range<usize>, Range<usize>) {
    let (a, b) = (&old[old_range.clone()], &new[new_range.clone()]);
    let mut start = same_bytes(a.bytes(), b.bytes());
    // Equal bytes before it make a boundary of one a boundary of the other.
    while !(a.is_char_boundary(start) && b.is_char_boundary(start)) {
        start -= 1;
    }
    if is_inside_crlf(a, start) || is_inside_crlf(b, start) {
        start -= 1;
    }
    let (a, b) = (&a[start..], &b[start..]);
    let mut end = same_bytes(a.bytes().rev(), b.bytes().rev());
    while !(a.is_char_boundary(a.len() - end) && b.is_char_boundary(b.len() - end)) {
        end -= 1;
    }
    if is_inside_crlf(a, a.len() - end) || is_inside_crlf(b, b.len() - end) {
        end -= 1;
    }
    (
        old_range.start + start..old_range.end - end,
        new_range.start + start..new_range.end - end,
    )
}

fn same_bytes(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// Where each line starts, and where the last one ends, counted from `base`.
fn starts(lines: &[&str], base: usize) -> Vec<usize> {
    let mut starts = Vec::with_capacity(lines.len() + 1);
    let mut at = base;
    starts.push(at);
    for line in lines {
        at += line.len();
        starts.push(at);
    }
    starts
}

/// Bytes of the lines, ended by `\n`, with which both texts start. Block by block, since most edits of a large
/// file leave most of it alone.
fn same_first_lines(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let n_same = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let n_same = n_same + same_bytes(a[n_same..].iter().copied(), b[n_same..].iter().copied());
    let last_lf = a[..n_same].iter().rposition(|it| *it == b'\n');
    last_lf.map_or(0, |it| it + 1)
}

/// Bytes of the lines with which both texts end, each after a `\n` that both have.
fn same_last_lines(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let blocks = a.rchunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK));
    let n_same = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let n_same = n_same
        + same_bytes(
            a[..a.len() - n_same].iter().rev().copied(),
            b[..b.len() - n_same].iter().rev().copied(),
        );
    let first_lf = a[a.len() - n_same..].iter().position(|it| *it == b'\n');
    first_lf.map_or(0, |it| n_same - it - 1)
}

const BLOCK: usize = 256;
