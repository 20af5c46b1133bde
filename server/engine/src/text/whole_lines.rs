//! Finds a target as whole lines that need not be written the same, and fits its replacement to them.
//!
//! The passes of spec 1.3 after the plain search: a stricter one that has a hit wins over a looser one.

use std::{borrow::Cow, collections::VecDeque, ops::Range};

use super::{
    diff::{Change, changes},
    indent::{Indents, Steps},
    lines::{lines, split_ending},
};

/// What had to be overlooked to find the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Blanks at the ends of lines.
    TrailingBlanks,
    /// Blanks at both ends.
    Indentation,
    /// Blanks at both ends, and dashes, quotes and spaces of print for those of a keyboard.
    Typography,
}

/// Where a target stands as whole lines.
pub(super) struct Lines {
    /// Nothing had to be overlooked but a final line ending.
    pub(super) pass: Option<Pass>,
    /// Without the ending of the last line. In order; none overlap.
    pub(super) places: Vec<Range<usize>>,
    /// With those that overlap one of the places.
    pub(super) count: usize,
}

/// The hits of the strictest pass that has any.
pub(super) fn find(text: &str, target: &str) -> Option<Lines> {
    let wanted = contents(without_final_ending(target));
    // Blank lines are everywhere once blanks do not count.
    let says_something = wanted.iter().any(|it| !it.trim().is_empty());
    let passes = [
        None,
        Some(Pass::TrailingBlanks),
        Some(Pass::Indentation),
        Some(Pass::Typography),
    ];
    passes
        .into_iter()
        .filter(|_| says_something)
        .map(|pass| hits(text, &wanted, pass))
        .find(|it| it.count > 0)
}

/// Fits a replacement to lines that its target was found in.
pub(super) struct Fitting<'a> {
    wanted: Vec<&'a str>,
    coming: Vec<&'a str>,
    changes: Vec<Change>,
    /// Where indentation was overlooked.
    steps: Option<Steps<'a>>,
}

impl<'a> Fitting<'a> {
    /// `text` is the whole file.
    pub(super) fn new(
        text: &'a str,
        target: &'a str,
        replacement: &'a str,
        pass: Option<Pass>,
    ) -> Fitting<'a> {
        let wanted = contents(without_final_ending(target));
        let coming = contents(without_final_ending(replacement));
        let changes = changes(
            wanted.iter().map(|it| it.trim_end()),
            coming.iter().map(|it| it.trim_end()),
        );
        let steps = match pass {
            Some(Pass::Indentation | Pass::Typography) => {
                Some(Steps::new(text, wanted.iter().chain(&coming).copied()))
            }
            Some(Pass::TrailingBlanks) | None => None,
        };
        Fitting {
            wanted,
            coming,
            changes,
            steps,
        }
    }

    /// What comes into the place of these lines, in lines that end with `\n` but for the last. A line that the
    /// replacement has in common with the target stays as it is in the file, and a new one gets the
    /// indentation that lines of the target have there.
    pub(super) fn fit(&self, old: &str) -> String {
        let here = contents(old);
        let indents = self
            .steps
            .as_ref()
            .map(|it| Indents::new(&here, &self.wanted, it));
        let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(self.coming.len());
        let mut at = 0;
        for Change { old, new } in &self.changes {
            out.extend(here[at..old.start].iter().map(|it| Cow::Borrowed(*it)));
            at = old.end;
            for (n, line) in self.coming[new.clone()].iter().enumerate() {
                out.push(match &indents {
                    Some(indents) => Cow::Owned(indents.fit(line, old.start + n)),
                    None => Cow::Borrowed(line),
                });
            }
        }
        out.extend(here[at..].iter().map(|it| Cow::Borrowed(*it)));
        out.join("\n")
    }
}

/// The text without the ending of its last line, if that has one.
pub(super) fn without_final_ending(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    match text.strip_suffix('\r') {
        Some(it) => it,
        None => text,
    }
}

/// Lines without their endings; after a final ending there is an empty one.
fn contents(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = lines(text).map(|it| split_ending(it).0).collect();
    if text.is_empty() || text.ends_with(['\n', '\r']) {
        all.push("");
    }
    all
}

/// All places of one pass. Linear in the text, also where it repeats itself (Knuth, Morris and Pratt).
fn hits(text: &str, wanted: &[&str], pass: Option<Pass>) -> Lines {
    let wanted: Vec<Cow<'_, str>> = wanted.iter().map(|it| seen(it, pass)).collect();
    let back = fall_backs(&wanted);
    let mut found = Lines {
        pass,
        places: Vec::new(),
        count: 0,
    };
    let mut starts: VecDeque<usize> = VecDeque::with_capacity(wanted.len());
    let (mut at, mut n_matched) = (0, 0);
    for line in lines(text) {
        if starts.len() == wanted.len() {
            starts.pop_front();
        }
        starts.push_back(at);
        let content = split_ending(line).0;
        let line_seen = seen(content, pass);
        while n_matched > 0 && (n_matched == wanted.len() || wanted[n_matched] != line_seen) {
            n_matched = back[n_matched - 1];
        }
        if wanted[n_matched] == line_seen {
            n_matched += 1;
        }
        if n_matched == wanted.len() {
            found.count += 1;
            let start = starts[0];
            if found.places.last().is_none_or(|it| it.end < start) {
                found.places.push(start..at + content.len());
            }
        }
        at += line.len();
    }
    found
}

/// How many lines still match when the next one does not, by how many matched.
fn fall_backs(wanted: &[Cow<'_, str>]) -> Vec<usize> {
    let mut back = vec![0; wanted.len()];
    let mut n_matched = 0;
    for at in 1..wanted.len() {
        while n_matched > 0 && wanted[n_matched] != wanted[at] {
            n_matched = back[n_matched - 1];
        }
        if wanted[n_matched] == wanted[at] {
            n_matched += 1;
        }
        back[at] = n_matched;
    }
    back
}

/// What a pass sees of a line.
fn seen(line: &str, pass: Option<Pass>) -> Cow<'_, str> {
    match pass {
        None => Cow::Borrowed(line),
        Some(Pass::TrailingBlanks) => Cow::Borrowed(line.trim_end()),
        Some(Pass::Indentation) => Cow::Borrowed(line.trim()),
        Some(Pass::Typography) => match line.trim() {
            line if line.is_ascii() => Cow::Borrowed(line),
            line => Cow::Owned(line.chars().map(keyboard).collect()),
        },
    }
}

/// The character that a keyboard has for one of print.
fn keyboard(it: char) -> char {
    match it {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        it => it,
    }
}
