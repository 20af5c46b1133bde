//! Patches as models write them: read into one neutral form, and given a place in a text.
//!
//! [`parse`] reads the `*** Begin Patch` envelope and plain unified diffs; [`v4a`] reads the body of one file, as
//! OpenAI's native tool sends it. [`place`] finds where the hunks of one file belong and makes a change set of
//! them, all or nothing. When a place is in doubt it refuses: a refusal costs a model one more call, a wrong
//! place costs a person their file.

mod anchor;
mod choose;
mod doubt;
mod envelope;
mod error;
mod find;
mod git;
mod header;
mod indent;
mod lines;
mod names;
mod place;
mod search;
mod write;

pub use envelope::v4a;
pub use error::{HunkFailure, ParseError, PlaceError, Why};
pub use place::{Likeness, Placed, PlacedHunk, place};

/// What is to be done, file by file, in the order of the patch. No path is named twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    pub files: Vec<FilePatch>,
}

/// What is to be done to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// As written, without git's `a/`; nothing is resolved.
    pub path: String,
    /// Where the file moves to, with its changes.
    pub new_path: Option<String>,
    pub kind: FileKind,
    /// None for a pure rename, an empty new file, and mostly for a deletion.
    pub hunks: Vec<PatchHunk>,
    /// Where it begins in the patch, from 1.
    pub line: usize,
    /// The mode that git notes for a new file or a change of mode, such as `100755`. Noted; a patch sets no modes.
    pub mode: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Create,
    Update,
    Delete,
}

/// Lines that go and come together, with what stands around them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchHunk {
    /// Where it begins in the patch, from 1.
    pub line: usize,
    /// The texts after `@@`: lines of the file, outermost first, below which the hunk belongs.
    pub anchors: Vec<String>,
    /// The text after the second `@@` of a range: where git saw the hunk. A hint, no condition.
    pub heading: Option<String>,
    pub stated: Option<Stated>,
    pub lines: Vec<PatchLine>,
    /// `*** End of File`: its last line is the last of the file.
    pub at_end: bool,
    /// Some context came without its leading space, so it is open whether the other lines have theirs.
    pub has_bare_context: bool,
    /// `\ No newline at end of file` after the last old line.
    pub old_is_open: bool,
    /// The same after the last new line.
    pub new_is_open: bool,
}

/// The numbers of a range header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated {
    /// First line of the old text, from 1; for a range of no lines, the line before it.
    pub line: usize,
    /// Whether both counts are those of the lines that follow. Models get them wrong; then the line number is
    /// little evidence too.
    pub is_trusted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    pub kind: LineKind,
    /// Without mark and ending.
    pub text: String,
    /// Whether it ended with `\r\n` in the patch.
    pub has_cr: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Old,
    New,
}

impl FilePatch {
    /// The text of a file that is created. It ends with a newline unless the patch says otherwise (spec 2.3).
    pub fn content(&self) -> String {
        let mut out = String::new();
        for line in self.hunks.iter().flat_map(|it| &it.lines) {
            out.push_str(&line.text);
            out.push_str(if line.has_cr { "\r\n" } else { "\n" });
        }
        let last = self.hunks.last().filter(|it| it.new_is_open);
        if let Some(line) = last.and_then(|it| it.lines.last()) {
            out.truncate(out.len() - if line.has_cr { 2 } else { 1 });
        }
        out
    }
}

impl PatchHunk {
    /// Context and old lines: what has to stand in the file.
    fn old_side(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|it| it.kind != LineKind::New)
    }

    /// Context and new lines: what stands in the file afterwards.
    fn new_side(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|it| it.kind != LineKind::Old)
    }

    fn push(&mut self, kind: LineKind, text: &str) {
        let (text, has_cr) = match text.strip_suffix('\r') {
            Some(it) => (it, true),
            None => (text, false),
        };
        self.lines.push(PatchLine {
            kind,
            text: text.to_owned(),
            has_cr,
        });
    }
}

/// Reads a whole patch: an envelope if there is one, else a unified diff. Text around it is left aside.
pub fn parse(text: &str) -> Result<Patch, ParseError> {
    let lines: Vec<&str> = text.split('\n').collect();
    let files = match envelope::is_one(&lines) {
        true => envelope::parse(&lines)?,
        false => git::parse(&lines)?,
    };
    Ok(Patch {
        files: once_each(files)?,
    })
}

/// Hunks for one file in two sections are joined; anything else that names a path twice is refused, because what
/// it means depends on the order in which it is done.
fn once_each(files: Vec<FilePatch>) -> Result<Vec<FilePatch>, ParseError> {
    let mut out: Vec<FilePatch> = Vec::new();
    for file in files {
        let named =
            |it: &FilePatch, path: &str| it.path == path || it.new_path.as_deref() == Some(path);
        let other = out.iter_mut().find(|it| {
            named(it, &file.path) || file.new_path.as_deref().is_some_and(|path| named(it, path))
        });
        let is_plain = |it: &FilePatch| it.kind == FileKind::Update && it.new_path.is_none();
        match other {
            None => out.push(file),
            Some(other) if is_plain(other) && is_plain(&file) => other.hunks.extend(file.hunks),
            Some(other) => {
                return Err(ParseError::at(
                    file.line,
                    format!(
                        "{} is named by another section too, at line {} of the patch; \
                         name each file once, with all its changes",
                        file.path, other.line
                    ),
                ));
            }
        }
    }
    Ok(out)
}
