//! Finds every place where runs of lines stand, many at a time, each more tolerant pass only for those that no
//! stricter one has found (spec 1.3).

use std::{borrow::Cow, collections::HashMap};

use super::{lines::View, place::Likeness};

/// Lines that are looked for.
pub(super) struct Needle<'a> {
    pub(super) lines: Vec<Cow<'a, str>>,
    /// Only where the file ends.
    pub(super) at_end: bool,
}

/// Where a needle was found, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) starts: Vec<usize>,
    /// There are more, which were not listed.
    pub(super) is_cut: bool,
}

impl Hits {
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty() && !self.is_cut
    }
}

/// More hits than this say only that the lines are everywhere.
const MAX_HITS: usize = 1000;
/// Comparisons of one pass, so that a text of one line repeated cannot take minutes.
const MAX_COMPARED: usize = 4_000_000;

pub(super) const PASSES: [Likeness; 4] = [
    Likeness::Exact,
    Likeness::TrailingBlanks,
    Likeness::Indentation,
    Likeness::Typography,
];

/// One pass over the text for all needles. Needles without lines are found nowhere.
pub(super) fn search(view: &View<'_>, needles: &[Needle<'_>], likeness: Likeness) -> Vec<Hits> {
    let mut hits = vec![Hits::default(); needles.len()];
    let plain: Vec<Vec<Cow<'_, str>>> = needles
        .iter()
        .map(|it| it.lines.iter().map(|it| normal(it, likeness)).collect())
        .collect();
    // Each needle is tried only where its longest line stands.
    let mut by_key: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (at, lines) in plain.iter().enumerate() {
        let longest = lines
            .iter()
            .enumerate()
            .max_by_key(|(at, it)| (it.trim().len(), std::cmp::Reverse(*at)));
        let Some((offset, key)) = longest else {
            continue;
        };
        match needles[at].at_end {
            false => by_key.entry(key).or_default().push((at, offset)),
            true => hits[at].starts.extend(
                view.len()
                    .checked_sub(lines.len())
                    .filter(|start| stands_at(view, lines, *start, likeness)),
            ),
        }
    }
    if by_key.is_empty() {
        return hits;
    }
    let mut is_key = vec![false; FINGERPRINTS];
    for key in by_key.keys() {
        is_key[fingerprint(key)] = true;
    }
    let mut n_compared = 0;
    for (line, content) in view.contents.iter().enumerate() {
        let plain_line = normal(content, likeness);
        if !is_key[fingerprint(&plain_line)] {
            continue;
        }
        let Some(users) = by_key.get_mut(&*plain_line) else {
            continue;
        };
        users.retain(|(at, offset)| {
            let found = &mut hits[*at];
            if let Some(start) = line.checked_sub(*offset)
                && stands_at(view, &plain[*at], start, likeness)
            {
                found.starts.push(start);
            }
            n_compared += 1;
            found.is_cut = found.starts.len() > MAX_HITS || n_compared > MAX_COMPARED;
            !found.is_cut
        });
    }
    hits
}

const FINGERPRINTS: usize = 1 << 14;

/// Tells most lines apart at a fraction of what the map's hash costs, which most lines of a file never need.
fn fingerprint(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mix = |hash: u64, part: u64| {
        (hash ^ part)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let word = |at: usize| {
        let word: [u8; 8] = bytes[at..at + 8].try_into().unwrap_or_default();
        u64::from_le_bytes(word)
    };
    let n = bytes.len();
    let hash = match n {
        0..8 => bytes.iter().fold(0, |hash, it| mix(hash, u64::from(*it))),
        _ => [0, n / 2 - 4, n - 8]
            .into_iter()
            .fold(n as u64, |hash, at| mix(hash, word(at))),
    };
    hash as usize % FINGERPRINTS
}

fn stands_at(view: &View<'_>, lines: &[Cow<'_, str>], start: usize, likeness: Likeness) -> bool {
    view.contents
        .get(start..start + lines.len())
        .is_some_and(|here| {
            here.iter()
                .zip(lines)
                .all(|(here, line)| normal(here, likeness) == *line)
        })
}

/// The line as a pass compares it.
pub(super) fn normal(line: &str, likeness: Likeness) -> Cow<'_, str> {
    match likeness {
        Likeness::Exact => Cow::Borrowed(line),
        Likeness::TrailingBlanks => Cow::Borrowed(line.trim_end()),
        Likeness::Indentation => Cow::Borrowed(line.trim()),
        Likeness::Typography if line.is_ascii() => Cow::Borrowed(line.trim()),
        Likeness::Typography => {
            let plain: String = line.chars().map(plain_character).collect();
            Cow::Owned(plain.trim().to_owned())
        }
    }
}

/// What a keyboard has for a typographic character (spec 1.3, pass 4).
fn plain_character(it: char) -> char {
    match it {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}
