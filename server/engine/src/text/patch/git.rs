//! Reads plain unified diffs: of git, of `diff -u`, and as models write them from memory.
//!
//! Counts in headers are often wrong. They are used where they are right, because only they tell whether a line
//! after a hunk belongs to it; where they are wrong, the marks of the lines decide. No line with a mark is
//! passed over in silence: a patch that is half done is worse than one that is refused.

use super::{
    FileKind, FilePatch, LineKind, ParseError, PatchHunk, Stated,
    envelope::{git_combined, mark_open, shortened},
    header::{Header, header},
    names::{NotUtf8, git_names, has_git_prefixes, header_name, whole_name, without_prefix},
};

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, ParseError> {
    let mut reader = Reader {
        lines,
        at: 0,
        in_fence: false,
    };
    let mut files = Vec::new();
    let mut current: Option<Draft> = None;
    while let Some(line) = reader.peek(0) {
        let number = reader.at + 1;
        let is_header = current.as_ref().is_some_and(|it| it.in_git_header);
        if let Some(rest) = line.strip_prefix("diff --git ") {
            finish(&mut files, current.take())?;
            let names = git_names(rest).map_err(|it| not_utf8(number, it))?;
            current = Some(Draft {
                line: number,
                names,
                in_git_header: true,
                ..Draft::default()
            });
        } else if reader.is_file_header() {
            let draft = match current.take() {
                Some(draft) if draft.in_git_header => draft,
                other => {
                    finish(&mut files, other)?;
                    Draft {
                        line: number,
                        ..Draft::default()
                    }
                }
            };
            current = Some(reader.file_header(draft)?);
            continue;
        } else if line.starts_with("@@") {
            let Some(draft) = &mut current else {
                return Err(ParseError::at(
                    number,
                    format!(
                        "the hunk `{}` stands before any file; put `--- a/path` and `+++ b/path` above it",
                        shortened(line)
                    ),
                ));
            };
            draft.in_git_header = false;
            let path = draft.shown_path();
            let is_git = draft.names.is_some();
            draft.hunks.push(reader.hunk(&path, is_git)?);
            continue;
        } else if is_header && let Some(draft) = &mut current {
            draft.git_header(line, number)?;
        } else if is_stray(line)
            && let Some(draft) = &current
        {
            return Err(ParseError::in_file(
                number,
                &draft.shown_path(),
                format!(
                    "`{}` stands outside of any hunk; begin each hunk with `@@` and each of its lines with a blank, \
                     `-` or `+`",
                    shortened(line)
                ),
            ));
        } else if let Some(what) = binary(line) {
            return Err(ParseError::at(number, what));
        } else if line.starts_with("```") {
            reader.in_fence = !reader.in_fence;
        }
        reader.at += 1;
    }
    finish(&mut files, current.take())?;
    match files.is_empty() {
        true => Err(ParseError::whole(
            "there is no patch in this text; send a unified diff with `--- a/path`, `+++ b/path` and `@@` lines, \
             or sections between `*** Begin Patch` and `*** End Patch`"
                .to_owned(),
        )),
        false => Ok(files),
    }
}

fn binary(line: &str) -> Option<String> {
    let is_binary = line == "GIT binary patch"
        || line.starts_with("Binary files ") && line.ends_with(" differ");
    is_binary.then(|| {
        "this is a change to a binary file, which a patch cannot make here; leave that file out, or write it by a \
         command"
            .to_owned()
    })
}

/// A changed line where there is no hunk. A list in prose has one blank after its `-`, and `---` is a rule.
fn is_stray(line: &str) -> bool {
    match line.as_bytes() {
        [b'+', ..] => true,
        [b'-', b'-', ..] | [b'-'] => false,
        [b'-', b' ', third, ..] => *third == b' ' || *third == b'\t',
        [b'-', ..] => true,
        _ => false,
    }
}

fn not_utf8(number: usize, NotUtf8: NotUtf8) -> ParseError {
    ParseError::at(
        number,
        "the name of this file is not UTF-8; rename it by a command first".to_owned(),
    )
}

/// A file whose patch is being read.
#[derive(Default)]
struct Draft {
    line: usize,
    /// Of the line `diff --git`, with their prefixes.
    names: Option<(String, String)>,
    /// Of `---` and `+++`, with their prefixes; `None` inside for `/dev/null`.
    headers: Option<(Option<String>, Option<String>)>,
    rename: (Option<String>, Option<String>),
    is_new: bool,
    is_deleted: bool,
    mode: Option<String>,
    /// Between `diff --git` and the first hunk.
    in_git_header: bool,
    hunks: Vec<PatchHunk>,
}

impl Draft {
    fn git_header(&mut self, line: &str, number: usize) -> Result<(), ParseError> {
        let name = |it: &str| whole_name(it).map_err(|it| not_utf8(number, it));
        if let Some(mode) = line.strip_prefix("new file mode ") {
            self.is_new = true;
            self.mode = Some(mode.trim().to_owned());
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.mode = Some(mode.trim().to_owned());
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            self.rename.0 = Some(name(path)?);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            self.rename.1 = Some(name(path)?);
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(ParseError::in_file(
                number,
                &self.shown_path(),
                "the patch copies a file, which is not possible here; create the new file with all its lines"
                    .to_owned(),
            ));
        } else if let Some(what) = binary(line) {
            return Err(ParseError::in_file(number, &self.shown_path(), what));
        } else if line.trim().is_empty() {
            self.in_git_header = false;
        }
        Ok(())
    }

    /// The name as far as it is known, for errors.
    fn shown_path(&self) -> String {
        let headers = self.headers.clone();
        let name = headers
            .and_then(|(old, new)| new.or(old))
            .or_else(|| self.names.clone().map(|(_, new)| new))
            .unwrap_or_default();
        match has_git_prefixes("a/x", &name) || name.starts_with("a/") {
            true => without_prefix(&name).to_owned(),
            false => name,
        }
    }
}

fn finish(files: &mut Vec<FilePatch>, draft: Option<Draft>) -> Result<(), ParseError> {
    let Some(draft) = draft else {
        return Ok(());
    };
    let (old, new) = match (&draft.headers, &draft.names) {
        (Some((old, new)), _) => (old.clone(), new.clone()),
        (None, Some((old, new))) => (
            (!draft.is_new).then(|| old.clone()),
            (!draft.is_deleted).then(|| new.clone()),
        ),
        (None, None) => (None, None),
    };
    let is_git = draft.names.is_some();
    let (kind, path, new_path) = match (old, new, &draft.rename) {
        (_, _, (Some(from), Some(to))) => (FileKind::Update, from.clone(), Some(to.clone())),
        (None, None, _) => {
            return Err(ParseError::at(
                draft.line,
                "it is not clear which file this is about; put `--- a/path` and `+++ b/path` above the hunks"
                    .to_owned(),
            ));
        }
        (None, Some(new), _) => (FileKind::Create, one_name(&new, is_git), None),
        (Some(old), None, _) => (FileKind::Delete, one_name(&old, is_git), None),
        (Some(old), Some(new), _) => {
            let kind = match (draft.is_new, draft.is_deleted) {
                (true, _) => FileKind::Create,
                (_, true) => FileKind::Delete,
                (false, false) => FileKind::Update,
            };
            (kind, two_names(&old, &new), None)
        }
    };
    if kind == FileKind::Create
        && let Some(hunk) = draft.hunks.iter().find(|it| it.old_side().next().is_some())
    {
        return Err(ParseError::in_file(
            hunk.line,
            &path,
            "a new file has only lines with `+`; give its path after `---` as well if it exists already".to_owned(),
        ));
    }
    let does_nothing = kind == FileKind::Update
        && draft.hunks.is_empty()
        && new_path.is_none()
        && draft.mode.is_none();
    if does_nothing {
        return Err(ParseError::in_file(
            draft.line,
            &path,
            "no hunk follows the header; add one that begins with `@@`".to_owned(),
        ));
    }
    files.push(FilePatch {
        path,
        new_path,
        kind,
        hunks: draft.hunks,
        line: draft.line,
        mode: draft.mode,
    });
    Ok(())
}

/// The name of a file that is only on one side. Outside of git's own diffs a folder may really be called `a`,
/// but hardly ever is.
fn one_name(name: &str, is_git: bool) -> String {
    let is_prefixed =
        name.starts_with("a/") || name.starts_with("b/") || is_git && has_git_prefixes("z/", name);
    match is_prefixed {
        true => without_prefix(name).to_owned(),
        false => name.to_owned(),
    }
}

/// The name of a file that `---` and `+++` call `old` and `new`.
fn two_names(old: &str, new: &str) -> String {
    if has_git_prefixes(old, new) {
        return without_prefix(new).to_owned();
    }
    // `diff -u` between two folders: what differs is no part of the path.
    match (old.split_once('/'), new.split_once('/')) {
        (Some((a, old)), Some((b, rest))) if old == rest && a != b => rest.to_owned(),
        _ => new.to_owned(),
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    /// Whether a fence of three backquotes was opened and not closed, outside of hunks.
    in_fence: bool,
}

impl<'a> Reader<'a> {
    /// The line so many after the next one, without a `\r`.
    fn peek(&self, ahead: usize) -> Option<&'a str> {
        let line = self.lines.get(self.at + ahead)?;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Whether `---` and `+++` stand here, and not two changed lines that look so: then no hunk follows.
    fn is_file_header(&self) -> bool {
        let starts =
            |ahead: usize, mark: &str| self.peek(ahead).is_some_and(|it| it.starts_with(mark));
        starts(0, "--- ") && starts(1, "+++ ") && starts(2, "@@")
    }

    fn file_header(&mut self, mut draft: Draft) -> Result<Draft, ParseError> {
        let mut name = |mark: &str| {
            let rest = self.peek(0).unwrap_or_default();
            let name = header_name(rest.strip_prefix(mark).unwrap_or(rest))
                .map_err(|it| not_utf8(self.at + 1, it));
            self.at += 1;
            name
        };
        draft.headers = Some((name("--- ")?, name("+++ ")?));
        draft.in_git_header = false;
        Ok(draft)
    }

    fn hunk(&mut self, path: &str, is_git: bool) -> Result<PatchHunk, ParseError> {
        let mut hunk = PatchHunk {
            line: self.at + 1,
            ..PatchHunk::default()
        };
        let mut counts = None;
        while let Some(line) = self.peek(0).filter(|it| it.starts_with("@@")) {
            match header(line) {
                Header::Bare => {}
                Header::Anchor(text) => hunk.anchors.push(text.to_owned()),
                Header::Range {
                    line,
                    n_old,
                    n_new,
                    heading,
                } => {
                    hunk.heading = (!heading.is_empty()).then(|| heading.to_owned());
                    hunk.stated = Some(Stated {
                        line,
                        is_trusted: false,
                    });
                    counts = Some((n_old, n_new));
                }
                Header::Combined => {
                    return Err(ParseError::in_file(
                        self.at + 1,
                        path,
                        git_combined().to_owned(),
                    ));
                }
            }
            self.at += 1;
        }
        let is_exact = self.hunk_lines(&mut hunk, counts, is_git);
        if let Some(stated) = &mut hunk.stated {
            stated.is_trusted = is_exact;
        }
        match hunk.lines.is_empty() {
            true => Err(ParseError::in_file(
                hunk.line,
                path,
                "no line follows this `@@`; add lines that begin with a blank, `-` or `+`".to_owned(),
            )),
            false if hunk.stated.is_none() && hunk.anchors.is_empty() && hunk.old_side().next().is_none() => {
                Err(ParseError::in_file(
                    hunk.line,
                    path,
                    "this hunk only adds lines and does not say where; add a line of context above or below them"
                        .to_owned(),
                ))
            }
            false => Ok(hunk),
        }
    }

    /// Reads the lines of a hunk; whether they are as many as the counts say.
    fn hunk_lines(
        &mut self,
        hunk: &mut PatchHunk,
        counts: Option<(usize, usize)>,
        is_git: bool,
    ) -> bool {
        let (mut n_old, mut n_new) = (0, 0);
        // Lines without a mark at the end, which may as well be what somebody wrote below the patch.
        let mut n_unmarked = 0;
        while let Some(line) = self.peek(0) {
            let is_full = counts == Some((n_old, n_new));
            // In a diff of git a file begins with another line, so what looks like its names may be lines.
            let may_be_names = is_full || counts.is_none() || !is_git;
            if self.ends_hunk(line, is_full) || may_be_names && self.is_file_header() {
                break;
            }
            let raw = self.lines[self.at];
            let (kind, text, is_marked) = match raw.as_bytes().first() {
                Some(b'\\') => {
                    mark_open(hunk, raw);
                    self.at += 1;
                    continue;
                }
                Some(b' ') => (LineKind::Context, &raw[1..], true),
                Some(b'-') => (LineKind::Old, &raw[1..], true),
                Some(b'+') => (LineKind::New, &raw[1..], true),
                Some(_) | None => (LineKind::Context, raw, false),
            };
            if !is_marked && is_full && !self.goes_on(line) {
                break;
            }
            n_old += usize::from(kind != LineKind::New);
            n_new += usize::from(kind != LineKind::Old);
            n_unmarked = match is_marked {
                true => 0,
                false => n_unmarked + 1,
            };
            // An empty line lost its blank on the way; any other never had one.
            hunk.has_bare_context |= !is_marked && !line.is_empty();
            hunk.push(kind, text);
            self.at += 1;
        }
        if counts != Some((n_old, n_new)) {
            hunk.lines.truncate(hunk.lines.len() - n_unmarked);
            n_old -= n_unmarked;
            n_new -= n_unmarked;
        }
        counts == Some((n_old, n_new))
    }

    /// What never is a line of a hunk.
    fn ends_hunk(&self, line: &str, is_full: bool) -> bool {
        line.starts_with("@@")
            || line.starts_with("diff --git ")
            || self.in_fence && line.starts_with("```")
            // The end of a mail from `git format-patch`; a removed `- ` would be inside of the counts.
            || is_full && line == "-- "
            || is_full && ["Index: ", "diff ", "Only in "].iter().any(|it| line.starts_with(it))
    }

    /// The counts say that the hunk is over and here is a line without a mark. Whether more lines of the hunk
    /// follow, so that the counts were wrong: after blank lines the very next one, else any before the next blank.
    fn goes_on(&self, line: &str) -> bool {
        let rest = self.lines[self.at..]
            .iter()
            .map(|it| it.trim_end_matches('\r'));
        let starts_marked = |it: &str| match it.as_bytes() {
            [b'+' | b' ', ..] => !it.trim().is_empty(),
            [b'-', ..] => it != "-- " && !it.starts_with("--- ") && is_stray(it),
            _ => false,
        };
        match line.is_empty() {
            true => rest
                .skip_while(|it| it.is_empty())
                .take(1)
                .any(starts_marked),
            false => rest
                .take_while(|it| {
                    !it.is_empty() && !it.starts_with("diff --git") && !it.starts_with("@@")
                })
                .any(|it| starts_marked(it) && !it.starts_with(' ')),
        }
    }
}
