//! The hunks as a person is shown them.

use std::{
    fmt::{self, Write},
    ops::Range,
};

use ropey::{Rope, RopeSlice};
use sha2::{Digest, Sha256};

use super::{Author, Ledger, region::Region};

/// Names a hunk by its content and the turn that made it, so it stays the same while the hunk moves. Another content
/// is another id: what a person has not seen, they can't revert. Of equal ones the second has `-2` behind it, and
/// keeps that when the first is settled.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HunkId(pub String);

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One hunk, in whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewHunk {
    pub id: HunkId,
    /// Lines of the live text, from 0, the end not included. Empty for a deletion: before which line.
    pub lines: Range<u32>,
    /// The accepted lines, with their endings.
    pub base_text: String,
    /// The lines in their place, with their endings.
    pub live_text: String,
    /// The oldest first.
    pub authors: Vec<Author>,
    pub state: HunkState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HunkState {
    /// The agent's work only.
    Pending,
    /// The person's work is in it too.
    Mixed,
}

impl Ledger {
    /// All hunks in the order of the text. Costs what is new: ids are remembered.
    pub fn hunks(&mut self) -> Vec<ReviewHunk> {
        self.name_all();
        let regions = self.regions.iter().zip(self.spans());
        regions
            .filter_map(|(region, span)| {
                Some(ReviewHunk {
                    // There for all of them, by now.
                    id: region.id.clone()?,
                    lines: self.lines(&span),
                    base_text: region.base().to_string(),
                    live_text: self.slice(&span).to_string(),
                    authors: region.authors(),
                    state: match region.is_mixed() {
                        true => HunkState::Mixed,
                        false => HunkState::Pending,
                    },
                })
            })
            .collect()
    }

    /// Gives an id to each region that has none.
    pub(super) fn name_all(&mut self) {
        let ids = self.regions.iter().filter_map(|it| it.id.clone());
        let mut taken: std::collections::HashSet<HunkId> = ids.collect();
        let spans: Vec<Range<usize>> = self.spans().collect();
        for (region, span) in self.regions.iter_mut().zip(spans) {
            if region.id.is_some() {
                continue;
            }
            let name = name(region, self.live.byte_slice(span));
            let twins = (2..).map(|n: u64| HunkId(format!("{name}-{n}")));
            let mut names = std::iter::once(HunkId(name.clone())).chain(twins);
            region.id = names.find(|it| taken.insert(it.clone()));
        }
    }

    /// The live lines of a region's bytes.
    pub(super) fn lines(&self, span: &Range<usize>) -> Range<u32> {
        let line = |at| self.live.byte_to_line(at);
        let start = line(span.start);
        let ends_open = match span.end.checked_sub(1) {
            Some(last) if !span.is_empty() => !matches!(self.live.byte(last), b'\n' | b'\r'),
            Some(_) | None => false,
        };
        let end = line(span.end) + usize::from(ends_open);
        // A text of more than 4 Gi lines is beyond LSP's `uinteger`.
        let narrow = |it| u32::try_from(it).unwrap_or(u32::MAX);
        narrow(start)..narrow(end)
    }
}

/// 16 hexadecimal digits of both texts' and the turn's hash.
fn name(region: &Region, live: RopeSlice<'_>) -> String {
    let mut hash = Sha256::new();
    feed(&mut hash, region.base().slice(..));
    feed(&mut hash, live);
    if let Some(last) = region.layers.last().and_then(|it| it.authors.last()) {
        hash.update(last.turn.0.to_be_bytes());
        hash.update(last.session.as_bytes());
    }
    hex(&hash.finalize()[..8])
}

/// Hex SHA-256 of a text.
pub(super) fn text_hash(text: &Rope) -> String {
    let mut hash = Sha256::new();
    for chunk in text.chunks() {
        hash.update(chunk);
    }
    hex(&hash.finalize())
}

/// Behind its length, so that no two lists of texts look the same.
fn feed(hash: &mut Sha256, text: RopeSlice<'_>) {
    hash.update((text.len_bytes() as u64).to_be_bytes());
    for chunk in text.chunks() {
        hash.update(chunk);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a String has no error");
        hex
    })
}
