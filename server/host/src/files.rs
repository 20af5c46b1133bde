//! The text of a file: the editor's buffer when it is open there, else the disk.
//!
//! Every tool that reads or writes goes through this one place.

use crate::documents::{Content, Snapshot};
use crate::regular;
use crate::workspace::FilePath;
use engine::text::file::has_bytes;
use engine::text::{FileText, Form};
use protocol::lsp;
use std::io;
use std::path::Path;

/// A file's text as the person sees it.
#[derive(Clone, Debug)]
pub struct Live {
    pub text: String,
    /// How the text lies on the disk, if that is where it is from.
    pub form: Form,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Buffer { uri: lsp::Uri, version: i32 },
    Disk,
}

/// The live text, whole, for an edit. `None`: there is no such file. `limit` in bytes. The error is
/// for the model. Reading the disk may take long, so this runs off the runtime.
pub async fn live(
    documents: &Snapshot,
    file: &FilePath,
    limit: u64,
) -> Result<Option<Live>, String> {
    if documents.contains_key(&file.real) {
        return live_now(documents, file, limit);
    }
    let (documents, closed) = (documents.clone(), file.clone());
    let read = tokio::task::spawn_blocking(move || live_now(&documents, &closed, limit));
    read.await
        .unwrap_or_else(|_| Err(format!("Reading {} was broken off; try again.", file.shown)))
}

/// As [`live`], for who is off the runtime already: changing threads once more takes longer than reading most
/// files.
pub fn live_now(documents: &Snapshot, file: &FilePath, limit: u64) -> Result<Option<Live>, String> {
    let shown = &file.shown;
    if let Some(document) = documents.get(&file.real) {
        if let Some(other) = &document.differs_from {
            return Err(format!(
                "{shown} is open twice in the editor, as {} and as {}, with different texts. \
                 It can be changed once the person has saved or closed one of them.",
                document.uri.as_ref(),
                other.as_ref()
            ));
        }
        return match &document.content {
            Content::Text(rope) if rope.len_bytes() as u64 > limit => Err(too_large(shown, limit)),
            Content::Text(rope) => Ok(Some(Live {
                text: rope.to_string(),
                form: Form::Utf8,
                source: Source::Buffer {
                    uri: document.uri.clone(),
                    version: document.version,
                },
            })),
            Content::Tainted(_) => Err(format!(
                "The editor's text of {shown} is not known exactly, because it arrived damaged. \
                 It can be changed once the person has saved it."
            )),
            Content::TooLarge => Err(format!(
                "{shown} is open in the editor and too large to follow there. It can be changed once the person has closed it there."
            )),
        };
    }
    match regular::read_capped(&file.real, limit).map(|it| it.map(FileText::decode)) {
        Ok(Some(FileText { text, form })) => Ok(Some(Live {
            text,
            form,
            source: Source::Disk,
        })),
        Ok(None) => Err(too_large(shown, limit)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{shown} cannot be read ({error}).")),
    }
}

/// Whether `new` may take the place of a live text, as far as its bytes go. The error is for the model.
pub async fn check(file: &FilePath, live: &Live, new: &str, limit: u64) -> Result<(), String> {
    if !must_look(file, live, new)? {
        return Ok(());
    }
    let path = file.real.clone();
    let lost = tokio::task::spawn_blocking(move || is_of_bytes(&path, limit));
    match lost.await {
        Ok(true) => Err(lossy(file)),
        Ok(false) | Err(_) => Ok(()),
    }
}

/// As [`check`], for who is off the runtime already.
pub fn check_now(file: &FilePath, live: &Live, new: &str, limit: u64) -> Result<(), String> {
    match must_look(file, live, new)? && is_of_bytes(&file.real, limit) {
        true => Err(lossy(file)),
        false => Ok(()),
    }
}

/// Whether the disk must be looked at to know. What an editor could not read it shows as U+FFFD, and saving it
/// would write that over the bytes.
fn must_look(file: &FilePath, live: &Live, new: &str) -> Result<bool, String> {
    live.form
        .check(&live.text, new)
        .map_err(|it| format!("{} is left as it is: {it}.", file.shown))?;
    if live.source != Source::Disk && has_bytes(new) && !has_bytes(&live.text) {
        return Err(format!(
            "{} is open in the editor, and what would be put there has bytes that are no text, which the editor would \
             write otherwise. Nothing was changed; it can be once the person has closed it there.",
            file.shown
        ));
    }
    Ok(match live.source {
        Source::Buffer { .. } => live.text.contains(char::REPLACEMENT_CHARACTER),
        Source::Disk => false,
    })
}

fn is_of_bytes(path: &Path, limit: u64) -> bool {
    let bytes = regular::read_capped(path, limit).ok().flatten();
    match bytes.map(|it| FileText::decode(it).form) {
        Some(Form::Bytes) => true,
        Some(Form::Utf8 | Form::Utf8Mark | Form::Utf16Le | Form::Utf16Be) | None => false,
    }
}

fn lossy(file: &FilePath) -> String {
    format!(
        "{} is open in the editor in an encoding that loses some of its bytes, so it is left alone. It can be \
          changed once the person has closed it, or opened it in its own encoding.",
        file.shown
    )
}

/// Computes with whole texts of so many bytes together. Large ones take long, so that the runtime's only
/// worker is first relieved of everything else; for small ones that would cost more than it gives.
pub fn compute<T>(n_bytes: usize, work: impl FnOnce() -> T) -> T {
    const LARGE: usize = 256 << 10;
    if n_bytes < LARGE {
        work()
    } else {
        tokio::task::block_in_place(work)
    }
}

fn too_large(shown: &str, limit: u64) -> String {
    format!(
        "{shown} is larger than {limit} bytes, the most that can be edited; use a command instead."
    )
}
