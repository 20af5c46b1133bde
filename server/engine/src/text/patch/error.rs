//! Why a patch cannot be read or has no place, in words for the model that wrote it.

use std::fmt;

use super::envelope::shortened;

/// The patch cannot be read. Displayed to the model: where, what is wrong, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the patch, from 1.
    pub line: Option<usize>,
    /// The file whose section it is, where there is one.
    pub path: Option<String>,
    pub problem: String,
}

impl ParseError {
    pub(super) fn whole(problem: String) -> ParseError {
        ParseError {
            line: None,
            path: None,
            problem,
        }
    }

    pub(super) fn at(line: usize, problem: String) -> ParseError {
        ParseError {
            line: Some(line),
            path: None,
            problem,
        }
    }

    pub(super) fn in_file(line: usize, path: &str, problem: String) -> ParseError {
        ParseError {
            line: Some(line),
            path: Some(path.to_owned()),
            problem,
        }
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{path}, line {line} of the patch: ")?,
            (Some(path), None) => write!(f, "{path}: ")?,
            (None, Some(line)) => write!(f, "line {line} of the patch: ")?,
            (None, None) => {}
        }
        f.write_str(&self.problem)
    }
}

/// Hunks of one file have no place; nothing of the file is changed. Displayed to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceError {
    pub path: String,
    pub n_hunks: usize,
    /// In the order of the patch, never empty.
    pub failures: Vec<HunkFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkFailure {
    /// From 1.
    pub hunk: usize,
    /// Where the hunk begins in the patch, from 1.
    pub line: usize,
    pub why: Why,
}

/// Line numbers are the file's and count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// `expected` is the first lines of the hunk's old side. `nearest` is the most similar part of the file, if
    /// any is: its first line and its text.
    NotFound {
        expected: String,
        nearest: Option<(u32, String)>,
    },
    /// It fits at each of these lines.
    Ambiguous { lines: Vec<usize> },
    /// It fits in so many places that they were not counted.
    TooMany,
    AnchorNotFound {
        anchor: String,
        nearest: Option<(u32, String)>,
    },
    /// The anchors are in the file, and the lines too, but not below them.
    NotBelowAnchor { anchor: String, lines: Vec<usize> },
    /// The lines are in the file, but `*** End of File` or a missing final newline says that they are its last.
    NotAtEnd { lines: Vec<usize> },
    /// What it would make stands there already.
    AlreadyApplied { line: usize },
    /// It changes lines that this other hunk, from 1, changes too, or inserts at the same place.
    Overlap { other: usize },
    /// It fits at `line` but for indentation, which differs in more than one way, so that it is not clear how
    /// the new lines are to be indented.
    Indentation { line: usize },
    /// It only adds lines and says where by a number alone, and the numbers are not to be trusted.
    OnlyNumber,
    /// The file that is to be deleted has other lines than the patch removes.
    RestLeft,
    /// Old and new lines are the same.
    Unchanged,
}

impl std::error::Error for PlaceError {}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        let is_done = |it: &HunkFailure| matches!(it.why, Why::AlreadyApplied { .. });
        if self.failures.len() == self.n_hunks && self.failures.iter().all(is_done) {
            return write!(
                f,
                "{}: the patch is applied already; the file is as it wants it, so go on",
                self.path
            );
        }
        for (at, failure) in self.failures.iter().take(SHOWN).enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            write!(
                f,
                "{}, hunk {} of {} (line {} of the patch): {}",
                self.path, failure.hunk, self.n_hunks, failure.line, failure.why
            )?;
        }
        if self.failures.len() > SHOWN {
            write!(
                f,
                "\n\n{} more hunks have no place",
                self.failures.len() - SHOWN
            )?;
        }
        f.write_str("\n\nNothing of this file was changed")
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NotFound { expected, nearest } => {
                write!(
                    f,
                    "its lines do not stand in the file one below the other. Expected:\n{expected}\n"
                )?;
                shown_nearest(f, nearest.as_ref())?;
                f.write_str("copy context and `-` lines exactly as they stand in the file")
            }
            Why::Ambiguous { lines } => write!(
                f,
                "it fits in several places, at lines {}; add lines of context, or `@@` with a line above the right one",
                listed(lines)
            ),
            Why::TooMany => f.write_str(
                "it fits in a great many places; add lines of context that stand in the file only once",
            ),
            Why::AnchorNotFound { anchor, nearest } => {
                writeln!(f, "the anchor `{}` is not in the file", shortened(anchor))?;
                shown_nearest(f, nearest.as_ref())?;
                f.write_str("write a line of the file after `@@`, or leave it out")
            }
            Why::NotBelowAnchor { anchor, lines } => write!(
                f,
                "its lines stand at {}, and not below the anchor `{}`; give the anchor that is above them",
                listed(lines),
                shortened(anchor)
            ),
            Why::NotAtEnd { lines } => write!(
                f,
                "it is to be at the end of the file, but its lines stand at {}; leave the mark for the end out, or \
                 copy the last lines of the file",
                listed(lines)
            ),
            Why::AlreadyApplied { line } => write!(
                f,
                "it is applied already, at line {line}; leave it out and send the others again"
            ),
            Why::Overlap { other } => write!(
                f,
                "it changes the same place as hunk {other}; make one hunk of the two"
            ),
            Why::Indentation { line } => write!(
                f,
                "it fits at line {line} but for indentation, and how its new lines are to be indented is not clear; \
                 write all its lines with the indentation of the file"
            ),
            Why::OnlyNumber => f.write_str(
                "it only adds lines, and its line number alone does not say surely where; add a line of context",
            ),
            Why::RestLeft => f.write_str(
                "the file has other lines than the patch removes, so it is not deleted; read it again, and use \
                 `*** Delete File:` if it is to go whatever is in it",
            ),
            Why::Unchanged => f.write_str(
                "its old and its new lines are the same, so nothing would change; give other lines, or go on if the \
                 file is as you want it",
            ),
        }
    }
}

fn shown_nearest(f: &mut fmt::Formatter<'_>, nearest: Option<&(u32, String)>) -> fmt::Result {
    match nearest {
        Some((line, text)) => write!(
            f,
            "The most similar text starts at line {line}:\n{text}\nTo go on, "
        ),
        None => f.write_str("Nothing in the file is like it. To go on, read the file and "),
    }
}

fn listed(lines: &[usize]) -> String {
    const SHOWN: usize = 8;
    let mut out: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    if lines.len() > SHOWN {
        out.push("…".to_owned());
    }
    out.join(", ")
}
