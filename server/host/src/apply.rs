//! An edit into the editor or onto the disk.
//!
//! An open document is changed by the editor, with its version, in the smallest edits; the editor's
//! "applied" is believed only when the text comes back as expected. A closed file is written beside
//! and renamed over. Nothing is ever written behind an open document.

use crate::documents::Content;
use crate::event::{Gone, Whose};
use crate::files::{self, Source};
use crate::plan::World;
use crate::regular;
use crate::workspace::{FilePath, Workspace};
use engine::text::{ChangeSet, Encoding, FileText, Form, file::is_latin, position};
use protocol::config::Save;
use protocol::lsp;
use ropey::Rope;
use std::fs;
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::sync::OwnedMutexGuard;

/// Changes to files that are made together: all of them or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// What the editor calls the undo step.
    pub label: String,
    /// No file is named twice, as source or as target.
    pub files: Vec<FileChange>,
    pub by: Whose,
}

/// A change to one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChange {
    pub file: FilePath,
    /// What the plan was made on; `None`: the file is new.
    pub old: Option<String>,
    /// `None`: the file is deleted.
    pub new: Option<String>,
    /// Where the file moves to, with its change. There is nothing there.
    pub to: Option<FilePath>,
    /// How the new text is to lie on the disk. As the old one does, if missing.
    pub exact: Option<Exact>,
}

/// How a text lies on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    pub form: Form,
    /// Permission bits; those that the file has or would get, if missing.
    pub mode: Option<u32>,
}

impl FileChange {
    /// A file's text becomes another, or a file is made.
    pub fn text(file: FilePath, old: Option<String>, new: String) -> Self {
        Self {
            file,
            old,
            new: Some(new),
            to: None,
            exact: None,
        }
    }
}

/// What became of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// All are made.
    Done {
        /// Which of the files only the editor's buffers hold, by their place in the list.
        unsaved: Vec<usize>,
    },
    /// A text was another than the plan's; nothing was done.
    Moved,
}

/// Applies changes. The error is for the model.
pub async fn apply(world: &World, changes: &Changes) -> Result<Applied, String> {
    let [change] = &changes.files[..] else {
        return Err("Several files cannot be changed in one step yet.".to_owned());
    };
    let (Some(new), None) = (&change.new, &change.to) else {
        return Err("Files cannot be deleted or moved in one step yet.".to_owned());
    };
    let change = Single {
        file: change.file.clone(),
        old: change.old.clone(),
        new: new.clone(),
    };
    Ok(
        match single(world, &change, &changes.label, &changes.by).await? {
            Landed::Saved => Applied::Done {
                unsaved: Vec::new(),
            },
            Landed::Unsaved => Applied::Done { unsaved: vec![0] },
            Landed::Moved => Applied::Moved,
        },
    )
}

#[derive(Clone)]
struct Single {
    file: FilePath,
    old: Option<String>,
    new: String,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landed {
    /// The disk holds it.
    Saved,
    /// The editor's buffer holds it, unsaved.
    Unsaved,
    /// The text was another than the plan's; nothing was done.
    Moved,
}

async fn single(world: &World, change: &Single, label: &str, by: &Whose) -> Result<Landed, String> {
    let turn = world.locks.file(&change.file.real).await;
    if !world.workspace.still(&change.file) {
        return Ok(Landed::Moved);
    }
    let documents = world.editor.documents().await.map_err(gone)?;
    let live = files::live(&documents, &change.file, world.limits.edit_bytes).await?;
    if live.as_ref().map(|it| it.text.as_str()) != change.old.as_deref() {
        return Ok(Landed::Moved);
    }
    if let Some(live) = &live {
        files::check(&change.file, live, &change.new, world.limits.edit_bytes).await?;
    }
    let form = live.as_ref().map(|it| it.form).unwrap_or_default();
    match live.map(|it| it.source) {
        Some(Source::Buffer { uri, version }) => {
            in_editor(world, change, uri, version, label, by).await
        }
        Some(Source::Disk) | None => on_disk(world, change, form, turn).await,
    }
}

fn gone(_: Gone) -> String {
    "The editor is gone; nothing was done.".to_owned()
}

async fn in_editor(
    world: &World,
    change: &Single,
    uri: lsp::Uri,
    version: i32,
    label: &str,
    by: &Whose,
) -> Result<Landed, String> {
    let shown = &change.file.shown;
    let old = change.old.as_deref().unwrap_or_default();
    let clean = regular::read_capped(&change.file.real, world.limits.edit_bytes)
        .is_ok_and(|it| it.is_some_and(|it| is_clean(it, old)));
    let edits = files::compute(old.len() + change.new.len(), || {
        text_edits(old, &change.new, world.encoding)
    });
    let edit = workspace_edit(uri.clone(), version, edits, world.versioned_edits);
    // Asked for before the edit is sent, so that a `didChange` that overtakes the answer is seen.
    let text = world
        .editor
        .text(change.file.real.clone(), change.new.clone(), by.clone())
        .await
        .map_err(gone)?;
    let settle = Duration::from_millis(world.limits.edit_settle_ms);
    let answer =
        tokio::time::timeout(settle, world.editor.apply_edit(edit, label.to_owned())).await;
    let said = match answer {
        Ok(answer) => answer.map_err(gone)?,
        Err(_) => Err("it did not answer".to_owned()),
    };
    // Only the text itself tells: some editors answer "applied" for an edit they skipped, one answers
    // before the person has agreed, and a refusal can cross an edit that was made.
    let wait = if said.as_ref().is_ok_and(|it| it.applied) {
        settle
    } else {
        Duration::ZERO
    };
    if tokio::time::timeout(wait, text)
        .await
        .is_ok_and(|it| it.is_ok())
    {
        return Ok(saved(world, clean, uri).await);
    }
    let now = world.editor.documents().await.map_err(gone)?;
    match now.get(&change.file.real).map(|it| &it.content) {
        Some(Content::Text(rope)) if *rope == change.new.as_str() => {
            Ok(saved(world, clean, uri).await)
        }
        Some(Content::Text(rope)) if *rope == old && said.as_ref().is_ok_and(|it| it.applied) => {
            Ok(Landed::Moved)
        }
        Some(Content::Text(rope)) if *rope == old => Err(match said {
            Ok(result) => format!(
                "The editor did not apply the edit to {shown}{}; nothing was changed.",
                result
                    .failure_reason
                    .map(|it| format!(" ({it})"))
                    .unwrap_or_default()
            ),
            Err(why) => format!(
                "The editor did not apply the edit to {shown} ({why}); nothing is changed so far. Read the file before you go on."
            ),
        }),
        // The person typed meanwhile.
        Some(Content::Text(_)) if !said.is_ok_and(|it| it.applied) => Ok(Landed::Moved),
        Some(_) | None => Err(format!(
            "The edit of {shown} was sent, but the editor's text is another than expected. Read the file before you go on."
        )),
    }
}

/// Whether the editor's text has no unsaved work. Neovim's text of an empty file is one line break, editors
/// keep a byte order mark to themselves, and some take what is no UTF-8 for Latin-1.
fn is_clean(disk: Vec<u8>, text: &str) -> bool {
    if is_latin(&disk, text) {
        return FileText::decode(disk).form == Form::Bytes || text.is_ascii();
    }
    let disk = FileText::decode(disk).text;
    disk == text.strip_prefix('\u{feff}').unwrap_or(text)
        || disk.is_empty() && matches!(text, "\n" | "\r\n")
}

/// Saves a buffer that was clean before, where the editor can.
async fn saved(world: &World, clean: bool, uri: lsp::Uri) -> Landed {
    let wanted = match world.edits.save {
        Save::Clean => clean,
        Save::Always => true,
        Save::Never => false,
    };
    if !wanted {
        return Landed::Unsaved;
    }
    let wait = Duration::from_millis(world.limits.save_ms);
    match tokio::time::timeout(wait, world.editor.save(uri)).await {
        Ok(Ok(true)) => Landed::Saved,
        Ok(Ok(false) | Err(Gone)) | Err(_) => Landed::Unsaved,
    }
}

/// The smallest edits from one text to another, in the editor's positions.
fn text_edits(old: &str, new: &str, encoding: Encoding) -> Vec<lsp::TextEdit> {
    let rope = Rope::from_str(old);
    let at = |byte: usize| {
        let (line, character) = position::position(&rope, byte, encoding);
        lsp::Position { line, character }
    };
    ChangeSet::between(old, new)
        .edits()
        .into_iter()
        .map(|edit| lsp::TextEdit {
            range: lsp::Range {
                start: at(edit.range.start),
                end: at(edit.range.end),
            },
            new_text: edit.text,
        })
        .collect()
}

fn workspace_edit(
    uri: lsp::Uri,
    version: i32,
    edits: Vec<lsp::TextEdit>,
    versioned: bool,
) -> lsp::WorkspaceEdit {
    if !versioned {
        return lsp::WorkspaceEdit {
            changes: Some([(uri, edits)].into()),
            ..lsp::WorkspaceEdit::default()
        };
    }
    let document = lsp::TextDocumentEdit {
        text_document: lsp::OptionalVersionedTextDocumentIdentifier {
            text_document_identifier: lsp::TextDocumentIdentifier { uri },
            version: Some(version),
        },
        edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
    };
    lsp::WorkspaceEdit {
        document_changes: Some(vec![lsp::DocumentChange::TextDocumentEdit(document)]),
        ..lsp::WorkspaceEdit::default()
    }
}

/// Writes beside and renames over, so that a crash leaves the old or the new file, never a mix
/// (spec 1.5).
///
/// Writing takes long where the disk is slow, so the person's side is looked at after it and right before
/// the renaming: whether the editor has opened the file meanwhile, and whether its bytes are still those
/// of the plan. The file's turn ends with the renaming, also when this is dropped before it.
async fn on_disk(
    world: &World,
    change: &Single,
    form: Form,
    turn: OwnedMutexGuard<()>,
) -> Result<Landed, String> {
    let broken_off = |_| "Writing was broken off; read the file before you go on.".to_owned();
    let written = change.clone();
    let beside = match tokio::task::spawn_blocking(move || beside(&written, form)).await {
        Ok(beside) => beside?,
        Err(error) => return Err(broken_off(error)),
    };
    let documents = world.editor.documents().await.map_err(gone)?;
    if documents.contains_key(&change.file.real) || !world.workspace.still(&change.file) {
        return Ok(Landed::Moved);
    }
    let (change, limit) = (change.clone(), world.limits.edit_bytes);
    let workspace = world.workspace.clone();
    let placed = tokio::task::spawn_blocking(move || {
        let placed = place(&change, form, beside, limit, &workspace);
        drop(turn);
        placed
    });
    placed.await.map_err(broken_off)?
}

fn unwritten(change: &Single, error: &io::Error) -> String {
    format!(
        "{} cannot be written ({error}); nothing was changed.",
        change.file.shown
    )
}

/// The new text in a file beside the old one, with the old one's mode.
fn beside(change: &Single, form: Form) -> Result<NamedTempFile, String> {
    let path = &change.file.real;
    let fail = |error: io::Error| unwritten(change, &error);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let old = fs::metadata(path).ok().map(|it| it.permissions());
    // Renaming asks only the folder; that the person has locked the file itself counts too.
    if old.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(format!(
            "{} is read-only, so it is left alone; nothing was changed. Ask the person to make it writable.",
            change.file.shown
        ));
    }
    if change.old.is_none() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut beside = tempfile::Builder::new()
        .prefix(".undine-")
        .tempfile_in(folder)
        .map_err(fail)?;
    beside.write_all(&form.encode(&change.new)).map_err(fail)?;
    let permissions = old.unwrap_or_else(|| {
        use std::os::unix::fs::PermissionsExt;
        fs::Permissions::from_mode(0o666 & !umask())
    });
    beside
        .as_file()
        .set_permissions(permissions)
        .map_err(fail)?;
    beside.as_file().sync_all().map_err(fail)?;
    Ok(beside)
}

/// Puts the written file in the old one's place, if that still is what the plan was made on.
fn place(
    change: &Single,
    form: Form,
    beside: NamedTempFile,
    limit: u64,
    workspace: &Workspace,
) -> Result<Landed, String> {
    let path = &change.file.real;
    let fail = |error: io::Error| unwritten(change, &error);
    match (regular::read_capped(path, limit), &change.old) {
        (Ok(Some(bytes)), Some(old)) if bytes == form.encode(old) => {}
        (Err(error), None) if error.kind() == io::ErrorKind::NotFound => {}
        (Ok(_), _) | (Err(_), None | Some(_)) => return Ok(Landed::Moved),
    }
    if change.old.is_some() {
        let (old, new) = (fs::metadata(path), beside.as_file().metadata());
        let (old, new) = (old.map_err(fail)?, new.map_err(fail)?);
        if old.nlink() > 1 && workspace.protects_file(&old) {
            return Err(format!(
                "{} is another name of a file of Undine's own settings or history, which tools never write.",
                change.file.shown
            ));
        }
        if old.nlink() > 1 || (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            return in_place(change, form, &beside).map_err(fail);
        }
    }
    let placed = match change.old {
        Some(_) => beside.persist(path).map(drop),
        // A file that appeared meanwhile is not overwritten.
        None => beside.persist_noclobber(path).map(drop),
    };
    match placed {
        Ok(()) => Ok(Landed::Saved),
        Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => Ok(Landed::Moved),
        Err(it) => Err(fail(it.error)),
    }
}

/// Writes into the file itself: renaming would part it from its other names, or from its owner. The whole
/// new text lies beside it until that is done; where that was cut off, it still does.
fn in_place(change: &Single, form: Form, beside: &NamedTempFile) -> io::Result<Landed> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&change.file.real)?;
    let new = form.encode(&change.new);
    let written = file
        .write_all(&new)
        .and_then(|()| file.set_len(new.len() as u64))
        .and_then(|()| file.sync_all());
    if let Err(error) = written {
        // The disk is full, most likely. What was there has its room still.
        let old = form.encode(change.old.as_deref().unwrap_or_default());
        file.rewind()?;
        file.write_all(&old)?;
        file.set_len(old.len() as u64)?;
        return Err(error);
    }
    tracing::debug!(beside = %beside.path().display(), "written in place");
    Ok(Landed::Saved)
}

/// The process's umask, which Linux tells without changing it.
fn umask() -> u32 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|it| {
            let line = it
                .lines()
                .find_map(|it| it.strip_prefix("Umask:"))?
                .trim()
                .to_owned();
            u32::from_str_radix(&line, 8).ok()
        })
        .unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_editor_shows_a_little_differently_is_clean() {
        let is = |disk: &[u8], text: &str| is_clean(disk.to_vec(), text);
        assert!(is(b"", "") && is(b"", "\n") && is(b"", "\r\n") && is(b"a\n", "a\n"));
        assert!(!is(b"", "\n\n") && !is(b"a", "a\n"));
        assert!(is(b"\xef\xbb\xbfa\n", "a\n") && is(b"\xef\xbb\xbfa\n", "\u{feff}a\n"));
        assert!(is(b"\xff\xfea\0\xe9\0", "a\u{e9}") && !is(b"\xff\xfea\0\xe9\0", "a"));
        assert!(is(b"caf\xe9\n", "caf\u{e9}\n") && !is(b"caf\xe9\n", "caf\u{fffd}\n"));
        assert!(is("\u{e9}".as_bytes(), "\u{e9}") && !is("\u{e9}".as_bytes(), "\u{c3}\u{a9}"));
    }
}
