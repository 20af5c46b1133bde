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
    let path = file.real.clone();
    let read = tokio::task::spawn_blocking(move || {
        regular::read_capped(&path, limit).map(|it| it.map(FileText::decode))
    });
    match read.await {
        Ok(Ok(Some(FileText { text, form }))) => Ok(Some(Live {
            text,
            form,
            source: Source::Disk,
        })),
        Ok(Ok(None)) => Err(too_large(shown, limit)),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(Err(error)) => Err(format!("{shown} cannot be read ({error}).")),
        Err(_) => Err(format!("Reading {shown} was broken off; try again.")),
    }
}

/// Whether `new` may take the place of a live text, as far as its bytes go. The error is for the model.
pub async fn check(file: &FilePath, live: &Live, new: &str, limit: u64) -> Result<(), String> {
    let shown = &file.shown;
    live.form
        .check(&live.text, new)
        .map_err(|it| format!("{shown} is left as it is: {it}."))?;
    let is_in_editor = match live.source {
        Source::Buffer { .. } => true,
        Source::Disk => false,
    };
    if is_in_editor && has_bytes(new) && !has_bytes(&live.text) {
        return Err(format!(
            "{shown} is open in the editor, and what would be put there has bytes that are no text, which the editor \
             would write otherwise. Nothing was changed; it can be once the person has closed it there."
        ));
    }
    // What an editor could not read it shows so, and saving it would write that over the bytes.
    if !is_in_editor || !live.text.contains(char::REPLACEMENT_CHARACTER) {
        return Ok(());
    }
    let path = file.real.clone();
    let form = tokio::task::spawn_blocking(move || {
        let bytes = regular::read_capped(&path, limit).ok().flatten();
        bytes.map(|it| FileText::decode(it).form)
    });
    match form.await {
        Ok(Some(Form::Bytes)) => Err(format!(
            "{shown} is open in the editor in an encoding that loses some of its bytes, so it is left alone. It \
             can be changed once the person has closed it, or opened it in its own encoding."
        )),
        Ok(Some(Form::Utf8 | Form::Utf8Mark | Form::Utf16Le | Form::Utf16Be) | None) | Err(_) => {
            Ok(())
        }
    }
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
