//! Reads files, from the editor's buffer where one is open there (spec 1.1).

mod head;
mod listing;

use super::Tool;
use crate::documents::Content;
use crate::files;
use crate::pdf;
use crate::plan::{Done, Lines, Plan, Run, TextHash, View, World, text_hash};
use crate::store::Pictures;
use crate::store::pictures::MAX_PICTURE;
use crate::workspace::FilePath;
use engine::provider::Image;
use engine::text::file::shown;
use head::Head;
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// The most files of one call.
const MAX_PATHS: usize = 32;

pub struct ReadFile;

/// Read a file, or several. Open files are read as the person sees them, unsaved changes included. A
/// folder is listed, two levels deep. A picture (PNG, JPEG, GIF, WebP) is shown to you;
/// of a PDF you get the text.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the file, relative to the project.
    #[serde(default)]
    path: Option<String>,
    /// Paths of several files, at most 32, instead of path.
    #[serde(default)]
    paths: Option<Vec<String>>,
    /// First and last line to read, counted from 1; -1 is the end. Everything if missing.
    #[serde(default)]
    view_range: Option<(i64, i64)>,
    /// Puts a number before each line, as a range does.
    #[serde(default)]
    #[schemars(skip)]
    line_numbers: bool,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let (range, is_numbered) = (input.view_range, input.line_numbers);
        let paths = paths(input)?;
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let file = world.workspace.resolve(&path)?;
            files.push((path, file));
        }
        let names: Vec<&str> = files.iter().map(|(_, it)| it.shown.as_str()).collect();
        let mut plan = Plan::build(format!("Read {}", names.join(", ")));
        for (_, file) in &files {
            plan = plan.reads_at(file, world.place_to_read(file));
        }
        Ok(plan.then(async move |run: Run| {
            tokio::select! {
                biased;
                () = run.token.cancelled() => Ok(Done::Cancelled),
                done = read_all(files, range, is_numbered, &run) => done,
            }
        }))
    }
}

/// The paths of a call: of one or of several.
fn paths(input: Input) -> Result<Vec<String>, String> {
    let several = input.paths.unwrap_or_default();
    // Small models fill in both.
    let path = input.path.filter(|it| !it.is_empty() || several.is_empty());
    match (path, &several[..]) {
        (Some(path), []) => Ok(vec![path]),
        (Some(path), [same]) if path == *same => Ok(vec![path]),
        (Some(_), [..]) => Err("Give read_file either path or paths, not both.".to_owned()),
        (None, []) => Err("read_file needs path, or paths for several files.".to_owned()),
        (None, all) if all.len() > MAX_PATHS => Err(format!(
            "paths has {} entries; read_file takes at most {MAX_PATHS} at once.",
            all.len()
        )),
        (None, [..]) => Ok(several),
    }
}

async fn read_all(
    files: Vec<(String, FilePath)>,
    range: Option<(i64, i64)>,
    is_numbered: bool,
    run: &Run,
) -> Result<Done, String> {
    let limit = run.world.limits.read_bytes;
    let is_one = files.len() == 1;
    let n_files = files.len();
    let (mut text, mut saw, mut n_lines) = (String::new(), Vec::new(), 0);
    let mut images: Vec<Image> = Vec::new();
    for (path, file) in files {
        if !run.world.workspace.still(&file) {
            return Ok(Done::Moved);
        }
        if !is_one {
            run.output.say(format!("Reading {}\n", file.shown)).await;
        }
        let read = read(&file, range, is_numbered, run).await?;
        saw.extend(read.saw);
        n_lines = read.n_lines;
        images.extend(read.image);
        if is_one {
            text = read.text;
        } else {
            let end = if read.text.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("=== {path} ===\n{}{end}\n", read.text));
        }
    }
    let shown = match is_one {
        true => match images.first() {
            Some(image) => image.picture.to_string(),
            None => format!("{n_lines} lines"),
        },
        false => format!("{n_files} files"),
    };
    Ok(Done::Success {
        // One file was cut by itself, with its own footer.
        text: if is_one {
            text
        } else {
            without_middle(text, limit)
        },
        shown: Some(shown),
        exit_code: None,
        saw,
        fuzzy: false,
        images,
        lines: Lines::default(),
    })
}

/// What the model gets of one file.
struct Read {
    text: String,
    n_lines: usize,
    /// The file, if the whole of it was read.
    saw: Option<(PathBuf, TextHash)>,
    image: Option<Image>,
}

impl Read {
    fn note(text: String) -> Self {
        Self {
            n_lines: text.lines().count(),
            text,
            saw: None,
            image: None,
        }
    }
}

async fn read(
    file: &FilePath,
    range: Option<(i64, i64)>,
    is_numbered: bool,
    run: &Run,
) -> Result<Read, String> {
    let limits = &run.world.limits;
    if file.real.is_dir() {
        let (folder, token) = (file.real.clone(), run.token.clone());
        let listing = tokio::task::spawn_blocking(move || listing::listing(&folder, &token)).await;
        return listing
            .map(Read::note)
            .map_err(|_| "The listing was broken off; try again.".to_owned());
    }
    // Lines far behind are found only by reading what is before them.
    let most = range.map_or(limits.read_bytes, |_| limits.edit_bytes);
    // What is taken out of a file is not what may be written to it.
    let mut is_whole = true;
    let (text, total) = match beginning(file, most, run).await? {
        Head::Text { text, total } => (text, total),
        Head::LargePicture { total } => {
            return Err(format!(
                "{} is a picture of {total} bytes; the most that can be looked at is {MAX_PICTURE} bytes.",
                file.shown
            ));
        }
        Head::Picture { kind, bytes } => {
            let name = file.shown.clone();
            let image = files::compute(bytes.len(), || Pictures::image(name, kind, &bytes));
            return Ok(Read {
                text: image.picture.to_string(),
                n_lines: 1,
                saw: None,
                image: Some(image),
            });
        }
        Head::Pdf { total } if total > pdf::MAX_BYTES => {
            return Err(format!(
                "{} is a PDF of {total} bytes; the most that is read is {} bytes.",
                file.shown,
                pdf::MAX_BYTES
            ));
        }
        Head::Pdf { total } => {
            let text = pdf::text(&file.real, limits.edit_bytes).await;
            let text = text.map_err(|it| {
                let shown = &file.shown;
                format!(
                    "{shown} is a PDF of {total} bytes, and its text cannot be taken out: {it}."
                )
            })?;
            if text.trim().is_empty() {
                return Ok(Read::note(format!(
                    "[application/pdf, {total} bytes]\nThere is no text in it; its pages are pictures, perhaps scanned."
                )));
            }
            is_whole = false;
            (text, None)
        }
    };
    let is_whole = is_whole && total.is_none() && range.is_none();
    let saw = is_whole.then(|| (file.real.clone(), text_hash(&text)));
    let text = shown(&text);
    let n_lines = text.lines().count();
    let text = match range {
        Some(range) => Cow::Owned(numbered(&text, range, n_lines)?),
        None if is_numbered && n_lines > 0 => Cow::Owned(numbered(&text, (1, -1), n_lines)?),
        None => text,
    };
    let view = View {
        path: file.real.clone(),
        range,
        is_numbered,
    };
    // Also a text that is cut is the same text again.
    let text = if n_lines > 0 && run.world.given.again(view, text_hash(&text)) {
        format!(
            "{} is unchanged since it was read in this turn; its {n_lines} lines are already above.",
            file.shown
        )
    } else {
        capped(text.into_owned(), limits.read_bytes, total)
    };
    Ok(Read {
        text,
        n_lines,
        saw,
        image: None,
    })
}

/// The beginning of a file, at most so many bytes of it.
async fn beginning(file: &FilePath, most: u64, run: &Run) -> Result<Head, String> {
    let documents = run.world.editor.documents().await;
    let documents = documents.map_err(|_| "The editor is gone; nothing was read.".to_owned())?;
    let shown = &file.shown;
    if let Some(document) = documents.get(&file.real)
        // A picture that was opened by mistake is a picture still.
        && !(may_be_no_text(&document.content) && is_no_text(file).await)
    {
        if let Content::Text(rope) = &document.content
            && document.differs_from.is_none()
        {
            return Ok(head::of_rope(rope, most));
        }
        // It says what is wrong.
        files::live(&documents, file, most).await?;
    }
    let (path, token) = (file.real.clone(), run.token.clone());
    match tokio::task::spawn_blocking(move || head::of_file(&path, most, &token)).await {
        Ok(Ok(head)) => Ok(head),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("There is no file {shown}."))
        }
        Ok(Err(error)) => Err(format!("{shown} cannot be read ({error}).")),
        Err(_) => Err(format!("Reading {shown} was broken off; try again.")),
    }
}

/// Whether a document begins as what is no text does: with one of four words, or with bytes that no editor shows
/// as ASCII.
fn may_be_no_text(content: &Content) -> bool {
    let Content::Text(rope) = content else {
        return false;
    };
    let start: String = rope.chars().take(4).collect();
    ["GIF8", "RIFF", "%PDF"].contains(&start.as_str()) || !start.is_ascii()
}

async fn is_no_text(file: &FilePath) -> bool {
    let path = file.real.clone();
    let looked = tokio::task::spawn_blocking(move || head::is_no_text(&path));
    looked.await.unwrap_or(false)
}

/// The first bytes of a text, with a footer that says so if there are more. `total` are the file's bytes if
/// not all of it was read.
fn capped(mut text: String, limit: u64, total: Option<u64>) -> String {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let read = text.len();
    text.truncate(text.floor_char_boundary(limit));
    let cut = text.len();
    if cut < read || total.is_some() {
        let of = total.map_or(read.to_string(), |it| it.to_string());
        text.push_str(&format!(
            "\n[cut after {cut} of {of} bytes; read on with view_range]"
        ));
    }
    text
}

/// The beginning and the end of a text that is too long.
fn without_middle(text: String, limit: u64) -> String {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if text.len() <= limit {
        return text;
    }
    let head = &text[..text.floor_char_boundary(limit / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - limit / 2)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[{left_out} bytes left out here; read fewer files at once]\n{tail}")
}

/// Lines of a range, each behind its number (spec 1.1).
fn numbered(text: &str, (first, last): (i64, i64), n_lines: usize) -> Result<String, String> {
    let n_lines = i64::try_from(n_lines).unwrap_or(i64::MAX);
    let last = if last == -1 {
        n_lines
    } else {
        last.min(n_lines)
    };
    if first < 1 || first > n_lines || last < first {
        return Err(format!(
            "view_range must lie within lines 1 to {n_lines}, first before last."
        ));
    }
    let skipped = usize::try_from(first - 1).unwrap_or(0);
    let count = usize::try_from(last - first + 1).unwrap_or(0);
    let lines = text.lines().skip(skipped).take(count);
    Ok(lines
        .zip(first..)
        .map(|(line, number)| format!("{number:>6}\t{line}\n"))
        .collect())
}
