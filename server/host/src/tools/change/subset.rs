//! A part of proposed changes: the hunks that the person is offered, and what is left when some are refused.

use super::MAX_DIFF_BYTES;
use crate::apply::FileChange;
use crate::files;
use crate::plan::Accepted;
use crate::workspace::uri_of;
use engine::text::{self, Hunk};
use protocol::hunks::ProposedHunk;
use protocol::lsp;
use ropey::Rope;
use std::collections::HashSet;
use std::fmt::Write;

/// The hunks of changes, in their order.
#[derive(Debug, Default)]
pub(super) struct Proposed {
    all: Vec<ProposedHunk>,
    n_bytes: usize,
}

impl Proposed {
    /// Adds a file's. `hunks` are those between its texts.
    pub(super) fn add(&mut self, change: &FileChange, hunks: Vec<Hunk>) {
        for part in parts(change, || hunks) {
            self.n_bytes += part.removed.len() + part.added.len();
            if self.n_bytes > MAX_DIFF_BYTES {
                return;
            }
            let line = |line| lsp::Position { line, character: 0 };
            self.all.push(ProposedHunk {
                id: self.all.len().to_string(),
                uri: uri_of(&change.file.real),
                range: lsp::Range {
                    start: line(part.old.start),
                    end: line(part.old.end),
                },
                removed: part.removed,
                added: part.added,
            });
        }
    }

    /// Empty where they are too large to be sent one by one; then there is only all or nothing.
    pub(super) fn hunks(self) -> Vec<ProposedHunk> {
        match self.n_bytes > MAX_DIFF_BYTES {
            true => Vec::new(),
            false => self.all,
        }
    }
}

/// One place of a change.
struct Part {
    old: std::ops::Range<u32>,
    removed: String,
    added: String,
}

/// A file that comes, goes or moves does so as a whole.
fn parts(change: &FileChange, hunks: impl FnOnce() -> Vec<Hunk>) -> Vec<Part> {
    let (old, new) = (change.old.as_deref(), change.new.as_deref());
    if let (Some(_), Some(_), None, None) = (old, new, &change.to, &change.exact) {
        let parts = hunks().into_iter().map(|it| Part {
            old: it.old,
            removed: it.removed.concat(),
            added: it.added.concat(),
        });
        return parts.collect();
    }
    let removed = old.unwrap_or_default().to_owned();
    let n_lines = u32::try_from(removed.lines().count()).unwrap_or(u32::MAX);
    vec![Part {
        old: 0..n_lines,
        removed,
        added: new.unwrap_or_default().to_owned(),
    }]
}

/// The changes without what was refused, and what the model is told of that.
pub(super) fn accepted(changes: Vec<FileChange>, accepted: &Accepted) -> (Vec<FileChange>, String) {
    let ids: HashSet<&str> = accepted.hunks.iter().map(String::as_str).collect();
    let mut next = 0;
    let mut left = Vec::new();
    let mut refused = String::new();
    for change in changes {
        let old = change.old.as_deref().unwrap_or_default();
        let new = change.new.as_deref().unwrap_or_default();
        let hunks = || files::compute(old.len() + new.len(), || text::hunks(old, new));
        let parts: Vec<(Part, bool)> = parts(&change, hunks)
            .into_iter()
            .map(|it| {
                next += 1;
                (it, ids.contains((next - 1).to_string().as_str()))
            })
            .collect();
        for (part, _) in parts.iter().filter(|it| !it.1) {
            // Writing to a String has no error.
            let _ = write!(refused, "\n{}", shown(&change.file.shown, part));
        }
        if parts.iter().all(|it| it.1) {
            left.push(change);
        } else if parts.iter().any(|it| it.1) {
            left.push(without_refused(change, &parts));
        }
    }
    if refused.is_empty() {
        return (left, refused);
    }
    let mut told = format!(
        "\nThe person refused a part of this change, and it was not made; do not try it again unasked:{refused}"
    );
    match accepted.note.as_deref().map(str::trim) {
        Some(note) if !note.is_empty() => {
            let _ = write!(told, "\nThe person's words: {note}");
        }
        Some(_) | None => {}
    }
    (left, told)
}

fn without_refused(change: FileChange, parts: &[(Part, bool)]) -> FileChange {
    let old = change.old.unwrap_or_default();
    let rope = Rope::from_str(&old);
    let mut new = String::with_capacity(old.len());
    let mut at = 0;
    for (part, is_accepted) in parts {
        let start = rope.line_to_byte(part.old.start as usize);
        new.push_str(&old[at..start]);
        new.push_str(match is_accepted {
            true => &part.added,
            false => &part.removed,
        });
        at = start + part.removed.len();
    }
    new.push_str(&old[at..]);
    FileChange {
        old: Some(old),
        new: Some(new),
        ..change
    }
}

/// The most lines of a refused place that the model is shown.
const MAX_LINES: usize = 20;

fn shown(name: &str, part: &Part) -> String {
    let removed = part.removed.lines().map(|it| format!("-{it}"));
    let added = part.added.lines().map(|it| format!("+{it}"));
    let mut lines = removed.chain(added);
    let mut text = format!("{name}, line {}:", part.old.start.saturating_add(1));
    for line in lines.by_ref().take(MAX_LINES) {
        let _ = write!(text, "\n{line}");
    }
    if lines.next().is_some() {
        text.push_str("\n[it goes on]");
    }
    text
}
