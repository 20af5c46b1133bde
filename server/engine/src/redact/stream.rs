//! A text that comes in pieces, redacted as the whole would be.
//!
//! What may be a part of a secret is held back until it is decided: a word that begins like a key, a value behind a
//! name that says so, the lines of a private key. All else goes on at once, so that an answer appears word by word.

use super::scan::{Ends, scan, scan_from};
use super::{MASK, masked};
use std::ops::Range;

/// Bytes before the present place that a rule may look back to: a name and its sign.
pub(super) const CONTEXT: usize = 96;

/// Bytes before what was given out in which a rule may have begun: a flag's or a sign's longest name, a key's first
/// line.
const UNDECIDED: usize = 80;

/// The most that is held back; no key is longer. Beyond it the text is taken as ended here.
pub(super) const MOST_HELD: usize = 64 * 1024;

/// The text so far, as far as it matters still.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    text: String,
    /// What was given out of it, in bytes.
    given: usize,
}

impl Stream {
    /// Takes a piece; answers what can be shown now, perhaps nothing.
    pub fn push(&mut self, piece: &str) -> String {
        let from = self.given.saturating_sub(UNDECIDED);
        self.text.push_str(piece);
        let scan = scan_from(&self.text, from, Ends::Perhaps);
        if self.text.len() - scan.open.min(self.text.len()) > MOST_HELD {
            return self.end();
        }
        let open = floor_char(&self.text, scan.open);
        let out = self.give(&scan.spans, open);
        self.forget();
        out
    }

    /// The text ends here: what was held back. Then another may begin.
    pub fn end(&mut self) -> String {
        let scan = scan(&self.text, Ends::Here);
        let out = self.give(&scan.spans, self.text.len());
        *self = Self::default();
        out
    }

    /// Whether something is held back.
    pub fn is_holding(&self) -> bool {
        self.given < self.text.len()
    }

    fn give(&mut self, spans: &[Range<usize>], until: usize) -> String {
        // A secret whose beginning was not known for one: its mask stands for the rest.
        let until = until.max(self.given);
        let out = match spans.is_empty() {
            true => self.text[self.given..until].to_owned(),
            false => masked(&self.text, spans, self.given..until),
        };
        debug_assert!(out.len() <= self.text.len() + spans.len() * MASK.len());
        self.given = until;
        out
    }

    /// Lets go of what no rule looks back to, from a blank on so that no word becomes another.
    fn forget(&mut self) {
        if self.given <= 2 * CONTEXT {
            return;
        }
        let most = floor_char(&self.text, self.given - CONTEXT);
        let cut = self.text[..most].rfind([' ', '\n', '\t']);
        // A word as long as that is no name.
        let cut = cut.unwrap_or(if most > 4 * CONTEXT { most } else { 0 });
        self.text.drain(..cut);
        self.given -= cut;
    }
}

pub(super) fn floor_char(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|it| text.is_char_boundary(*it))
        .unwrap_or(0)
}
