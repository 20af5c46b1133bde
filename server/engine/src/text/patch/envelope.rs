//! Reads the `*** Begin Patch` envelope and the V4A body of one file (spec 2.1).

use super::{
    FileKind, FilePatch, LineKind, ParseError, PatchHunk, Stated,
    header::{Header, header},
};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Whether any line is one of the envelope's, so that a broken envelope is not taken for an empty diff.
pub(super) fn is_one(lines: &[&str]) -> bool {
    let marks = [BEGIN, END, ADD, DELETE, UPDATE];
    // Inside a diff of a text about patches the marks stand behind a `+` or a blank, never at the start.
    lines
        .iter()
        .any(|line| marks.iter().any(|it| line.starts_with(it)))
}

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, ParseError> {
    let Some(begin) = lines.iter().position(|it| it.trim_end() == BEGIN) else {
        return Err(ParseError::whole(format!(
            "there is no line `{BEGIN}`; put the sections between `{BEGIN}` and `{END}`"
        )));
    };
    let Some(n_inside) = lines[begin..].iter().position(|it| it.trim_end() == END) else {
        return Err(ParseError::whole(format!(
            "there is no line `{END}`, so the patch may be cut off; send it whole, with `{END}` as its last line"
        )));
    };
    let mut reader = Reader {
        lines: &lines[..begin + n_inside],
        at: begin + 1,
    };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        match line.trim().is_empty() {
            true => reader.at += 1,
            false => files.push(section(&mut reader)?),
        }
    }
    match files.is_empty() {
        true => Err(ParseError::at(
            begin + 1,
            format!(
                "the patch has no section; add one that begins with `{UPDATE} path`, `{ADD} path` or `{DELETE} path`"
            ),
        )),
        false => Ok(files),
    }
}

/// Reads the diff of one file as OpenAI's `apply_patch` call carries it: the body of an Add or Update section,
/// without envelope and section line. A deletion has no body.
pub fn v4a(path: &str, kind: FileKind, diff: &str) -> Result<FilePatch, ParseError> {
    let mut lines: Vec<&str> = diff.split('\n').collect();
    lines.pop_if(|it| it.trim().is_empty());
    // Some models write the envelope in here as well.
    let is_frame = |it: &&str| {
        let it = it.trim_end();
        it == BEGIN || it == END || it.starts_with(UPDATE) || it.starts_with(ADD)
    };
    let n_before = lines.iter().take_while(|it| is_frame(it)).count();
    if lines.last().is_some_and(is_frame) && n_before < lines.len() {
        lines.pop();
    }
    let mut reader = Reader {
        lines: &lines,
        at: n_before,
    };
    let file = body(&mut reader, path, kind, 1)?;
    match reader.peek() {
        None => Ok(file),
        Some(line) => Err(ParseError::in_file(
            reader.number(),
            path,
            format!(
                "`{line}` does not belong into the diff of one file; send one call for each file"
            ),
        )),
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line, without a `\r`.
    fn peek(&self) -> Option<&'a str> {
        self.lines
            .get(self.at)
            .map(|it| it.strip_suffix('\r').unwrap_or(it))
    }

    /// The number of the next line in the patch, from 1.
    fn number(&self) -> usize {
        self.at + 1
    }
}

fn section(reader: &mut Reader<'_>) -> Result<FilePatch, ParseError> {
    let number = reader.number();
    let line = reader.peek().unwrap_or_default();
    let start = [
        (ADD, FileKind::Create),
        (UPDATE, FileKind::Update),
        (DELETE, FileKind::Delete),
    ];
    let found = start
        .iter()
        .find_map(|(mark, kind)| Some((line.strip_prefix(mark)?.trim(), *kind)));
    let Some((path, kind)) = found else {
        return Err(ParseError::at(
            number,
            format!(
                "`{}` stands outside of any section; begin with `{UPDATE} path`, `{ADD} path` or `{DELETE} path`",
                shortened(line)
            ),
        ));
    };
    if path.is_empty() {
        return Err(ParseError::at(
            number,
            format!("`{line}` names no file; write its path after the colon"),
        ));
    }
    reader.at += 1;
    body(reader, path, kind, number)
}

/// What follows a section's first line.
fn body(
    reader: &mut Reader<'_>,
    path: &str,
    kind: FileKind,
    line: usize,
) -> Result<FilePatch, ParseError> {
    let mut file = FilePatch {
        path: path.to_owned(),
        new_path: None,
        kind,
        hunks: Vec::new(),
        line,
        mode: None,
    };
    match kind {
        FileKind::Delete => {}
        FileKind::Create => file.hunks.extend(added(reader, path)?),
        FileKind::Update => update(reader, &mut file)?,
    }
    Ok(file)
}

fn is_section(line: &str) -> bool {
    [ADD, UPDATE, DELETE].iter().any(|it| line.starts_with(it))
}

/// The lines of a new file. None for an empty one.
fn added(reader: &mut Reader<'_>, path: &str) -> Result<Option<PatchHunk>, ParseError> {
    let mut hunk = PatchHunk {
        line: reader.number(),
        ..PatchHunk::default()
    };
    while let Some(line) = reader.peek() {
        if is_section(line) {
            break;
        }
        let Some(text) = reader.lines[reader.at].strip_prefix('+') else {
            // Blank lines between sections are no lines of the file.
            let rest = &reader.lines[reader.at..];
            let next = rest.iter().find(|it| !it.trim().is_empty());
            if next.is_none_or(|it| is_section(it)) {
                break;
            }
            return Err(ParseError::in_file(
                reader.number(),
                path,
                format!(
                    "`{}` is a line of a new file without its `+`; every line of it begins with `+`, empty ones too",
                    shortened(line)
                ),
            ));
        };
        hunk.push(LineKind::New, text);
        reader.at += 1;
    }
    Ok((!hunk.lines.is_empty()).then_some(hunk))
}

fn update(reader: &mut Reader<'_>, file: &mut FilePatch) -> Result<(), ParseError> {
    if let Some(path) = reader.peek().and_then(|it| it.strip_prefix(MOVE)) {
        let path = path.trim();
        if path.is_empty() {
            return Err(ParseError::in_file(
                reader.number(),
                &file.path,
                format!("`{MOVE}` names no file; write the new path after the colon"),
            ));
        }
        file.new_path = (path != file.path).then(|| path.to_owned());
        reader.at += 1;
    }
    skip_file_header(reader);
    while let Some(line) = reader.peek() {
        if is_section(line) {
            break;
        }
        let is_blank = line.trim().is_empty();
        let rest = &reader.lines[reader.at..];
        let next = rest.iter().find(|it| !it.trim().is_empty());
        if is_blank && next.is_none_or(|it| is_section(it)) {
            // Between two sections, or before the end.
            reader.at += rest.iter().take_while(|it| it.trim().is_empty()).count();
            break;
        }
        let hunk = chunk(reader, &file.path)?;
        file.hunks.push(hunk);
    }
    if file.hunks.is_empty() && file.new_path.is_none() {
        return Err(ParseError::in_file(
            file.line,
            &file.path,
            "the update changes nothing; add lines with `-` and `+`, and around them some lines of the file"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Some models put the header of a unified diff into the section.
fn skip_file_header(reader: &mut Reader<'_>) {
    if let [first, second, third, ..] = &reader.lines[reader.at..]
        && first.starts_with("--- ")
        && second.starts_with("+++ ")
        && third.starts_with("@@")
    {
        reader.at += 2;
    }
}

fn chunk(reader: &mut Reader<'_>, path: &str) -> Result<PatchHunk, ParseError> {
    let mut hunk = PatchHunk {
        line: reader.number(),
        ..PatchHunk::default()
    };
    let mut counts = None;
    while let Some(line) = reader.peek().filter(|it| it.starts_with("@@")) {
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
                counts = Some((n_old, n_new));
                hunk.stated = Some(Stated {
                    line,
                    is_trusted: false,
                });
            }
            Header::Combined => {
                return Err(ParseError::in_file(
                    reader.number(),
                    path,
                    git_combined().to_owned(),
                ));
            }
        }
        reader.at += 1;
    }
    chunk_lines(reader, path, &mut hunk)?;
    let real = (hunk.old_side().count(), hunk.new_side().count());
    if let Some(stated) = &mut hunk.stated {
        stated.is_trusted = counts == Some(real);
    }
    if hunk.lines.is_empty() {
        return Err(ParseError::in_file(
            hunk.line,
            path,
            "nothing follows this `@@`; add lines that begin with a blank, `-` or `+`".to_owned(),
        ));
    }
    Ok(hunk)
}

pub(super) fn git_combined() -> &'static str {
    "this is the diff of a merge, with two marks on each line; send a diff against one file, with one mark"
}

fn chunk_lines(
    reader: &mut Reader<'_>,
    path: &str,
    hunk: &mut PatchHunk,
) -> Result<(), ParseError> {
    while let Some(line) = reader.peek() {
        let raw = reader.lines[reader.at];
        if line.starts_with("@@") || is_section(line) {
            break;
        }
        if line.trim_end() == END_OF_FILE {
            hunk.at_end = true;
            reader.at += 1;
            break;
        }
        match raw.as_bytes().first() {
            Some(b' ') => hunk.push(LineKind::Context, &raw[1..]),
            Some(b'-') => hunk.push(LineKind::Old, &raw[1..]),
            Some(b'+') => hunk.push(LineKind::New, &raw[1..]),
            Some(b'\\') => mark_open(hunk, raw),
            None | Some(b'\r') => {
                let rest = &reader.lines[reader.at..];
                let next = rest.iter().find(|it| !it.trim().is_empty());
                let n_blank = rest.iter().take_while(|it| it.trim().is_empty()).count();
                let is_last = next.is_none_or(|it| is_section(it));
                // One may be context, if there is other; where the file has none the search goes on without it.
                if is_last && (n_blank > 1 || hunk.old_side().all(|it| it.text.trim().is_empty())) {
                    break;
                }
                hunk.push(LineKind::Context, raw);
            }
            Some(_) => {
                let hint = match line.starts_with(MOVE) {
                    true => format!("put it right below `{UPDATE} {path}`"),
                    false => "begin each line of a chunk with a blank if it stays, `-` if it goes, `+` if it comes"
                        .to_owned(),
                };
                return Err(ParseError::in_file(
                    reader.number(),
                    path,
                    format!("`{}` has no mark in front; {hint}", shortened(line)),
                ));
            }
        }
        reader.at += 1;
    }
    Ok(())
}

/// `\ No newline at end of file` speaks of the line before it.
pub(super) fn mark_open(hunk: &mut PatchHunk, mark: &str) {
    let last = hunk.lines.last_mut();
    // Unless the whole patch has such endings, a `\r` in front of no ending is a character of the file.
    if let Some(line) = last.filter(|it| it.has_cr && !mark.ends_with('\r')) {
        line.has_cr = false;
        line.text.push('\r');
    }
    match hunk.lines.last().map(|it| it.kind) {
        Some(LineKind::Context) => {
            hunk.old_is_open = true;
            hunk.new_is_open = true;
        }
        Some(LineKind::Old) => hunk.old_is_open = true,
        Some(LineKind::New) => hunk.new_is_open = true,
        None => {}
    }
}

/// A line as it is quoted in an error.
pub(super) fn shortened(line: &str) -> String {
    const SHOWN_BYTES: usize = 80;
    match line.len() > SHOWN_BYTES {
        true => format!("{}…", &line[..line.floor_char_boundary(SHOWN_BYTES)]),
        false => line.to_owned(),
    }
}
