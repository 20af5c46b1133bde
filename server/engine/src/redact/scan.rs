//! Goes through a text once and stops where a rule may begin.

use super::{assign, known, pem, token};
use std::ops::Range;

/// Whether the text goes on behind its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Here,
    /// More may come: what reaches the end is not decided yet.
    Perhaps,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Scan {
    /// In order, apart from each other.
    pub spans: Vec<Range<usize>>,
    /// From here on nothing is decided. The text's length where it ends here.
    pub open: usize,
}

/// What a rule says of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Secret(Range<usize>),
    /// It depends on what comes; what is at stake begins here.
    Open(usize),
}

/// A text under the scanner.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub bytes: &'a [u8],
    pub ends: Ends,
}

impl Text<'_> {
    /// The byte at a place; 0 outside.
    pub fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The byte before a place; 0 at the beginning.
    pub fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |it| self.at(it))
    }

    /// Whether the letters `\n`, `\r` or `\t` stand before a place: a blank that was escaped.
    pub fn is_behind_escape(&self, at: usize) -> bool {
        matches!(self.before(at), b'n' | b'r' | b't') && self.before(at.saturating_sub(1)) == b'\\'
    }

    /// Whether a place is the end of a text that may go on.
    pub fn is_open(&self, at: usize) -> bool {
        self.ends == Ends::Perhaps && at >= self.bytes.len()
    }

    /// The first place from `at` on, but before `most` more bytes, whose byte is not of the kind.
    pub fn skip(&self, at: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
        let end = self.bytes.len().min(at.saturating_add(most));
        let rest = self.bytes.get(at..end).unwrap_or_default();
        at + rest.iter().position(|it| !is(*it)).unwrap_or(rest.len())
    }

    /// Whether the text goes on with these small ASCII letters, in any case.
    pub fn says(&self, at: usize, small: &[u8]) -> bool {
        self.bytes
            .get(at..at + small.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(small))
    }
}

/// The rule that looks at a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Rule {
    None,
    Assigned,
    Colon,
    Dash,
    Underscore,
    Letter,
}

/// Bytes at which a rule begins. Those that are frequent are cheap to reject.
const RULES: [Rule; 256] = {
    let mut rules = [Rule::None; 256];
    rules[b'=' as usize] = Rule::Assigned;
    rules[b':' as usize] = Rule::Colon;
    rules[b'-' as usize] = Rule::Dash;
    rules[b'_' as usize] = Rule::Underscore;
    // `eyJ`, `AKIA`, `ASIA`, `AIza`, `Bearer`, `Basic`.
    rules[b'J' as usize] = Rule::Letter;
    rules[b'K' as usize] = Rule::Letter;
    rules[b'S' as usize] = Rule::Letter;
    rules[b'z' as usize] = Rule::Letter;
    rules[b'B' as usize] = Rule::Letter;
    rules[b'b' as usize] = Rule::Letter;
    rules
};

pub(super) fn scan(text: &str, ends: Ends) -> Scan {
    scan_from(text, 0, ends)
}

/// Finds what begins from a place on; rules still look back to what is before it.
pub(super) fn scan_from(text: &str, from: usize, ends: Ends) -> Scan {
    let mut scan = by_rules(text, from, ends);
    known::add(text, from, ends, &mut scan);
    scan
}

fn by_rules(text: &str, from: usize, ends: Ends) -> Scan {
    let text = Text {
        bytes: text.as_bytes(),
        ends,
    };
    let mut found = Spans::default();
    let mut at = from;
    loop {
        let rest = text.bytes[at..].iter();
        let skipped = rest.take_while(|it| RULES[usize::from(**it)] == Rule::None);
        at += skipped.count();
        if let Some(end) = found.reach(at) {
            at = end;
            continue;
        }
        if at >= text.bytes.len() {
            let open = at;
            let spans = found.done;
            return Scan { spans, open };
        }
        match judge(&text, at, found.floor) {
            Found::Nothing => at += 1,
            Found::Secret(span) => {
                found.add(span);
                at += 1;
            }
            Found::Open(open) => {
                let open = open.max(found.floor);
                let spans = found.done;
                return Scan { spans, open };
            }
        }
    }
}

/// The secrets found so far.
#[derive(Default)]
struct Spans {
    done: Vec<Range<usize>>,
    /// Where the last of them ends.
    floor: usize,
    /// One that begins further on: another may lie before it, such as a key as the user of a URL.
    next: Option<Range<usize>>,
}

impl Spans {
    fn add(&mut self, span: Range<usize>) {
        let span = span.start.max(self.floor)..span.end;
        self.next = match self.next.take() {
            None => Some(span),
            Some(next) if span.end <= next.start => {
                self.push(span);
                Some(next)
            }
            Some(next) => Some(next.start.min(span.start)..next.end.max(span.end)),
        };
    }

    /// The scanner comes to a place; where it goes on if that lies in a secret.
    fn reach(&mut self, at: usize) -> Option<usize> {
        let next = self.next.take_if(|it| it.start <= at)?;
        let end = next.end;
        self.push(next);
        Some(end)
    }

    fn push(&mut self, span: Range<usize>) {
        if span.start < span.end {
            self.floor = span.end;
            self.done.push(span);
        }
    }
}

fn judge(text: &Text<'_>, at: usize, floor: usize) -> Found {
    match RULES[usize::from(text.bytes[at])] {
        Rule::None => Found::Nothing,
        Rule::Assigned => assign::assigned(text, at),
        Rule::Colon => match text.at(at + 1) == b'/' && text.at(at + 2) == b'/' {
            true => token::user_of_url(text, at),
            false => assign::colon(text, at),
        },
        Rule::Dash => match text.at(at + 1) == b'-' {
            true => dashes(text, at, floor),
            false => token::with_dash(text, at),
        },
        Rule::Underscore => token::with_underscore(text, at),
        Rule::Letter => token::with_letter(text, at),
    }
}

/// `--password x`, or the line before or behind a private key. All dashes of a run are looked at from its first.
fn dashes(text: &Text<'_>, at: usize, floor: usize) -> Found {
    if text.before(at) == b'-' && at > floor {
        return Found::Nothing;
    }
    match text.at(at + 2) == b'-' {
        true => pem::key(text, at, floor),
        false => assign::flag(text, at),
    }
}
