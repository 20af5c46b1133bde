//! The open files of a change.
//!
//! All of them go into one workspace edit: one undo step, with versions, in the smallest edits. What an
//! editor answers counts for little: some say "applied" for an edit they skipped, one before the person has
//! agreed, and a refusal can cross an edit that was made. So each file itself is looked at.

use super::{FileChange, gone};
use crate::documents::{Content, Snapshot};
use crate::event::Whose;
use crate::files;
use crate::plan::World;
use crate::regular;
use crate::workspace::{FilePath, uri_of};
use engine::review::{By, Ledger, Which};
use engine::text::{ChangeSet, Encoding, FileText, Form, file::is_latin, position};
use protocol::config::Save;
use protocol::lsp;
use protocol::review::Author;
use protocol::session::{CallId, TurnId};
use ropey::Rope;
use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::time::Instant;

/// A change to one open file: changed, deleted (`new` missing) or moved.
#[derive(Clone, Debug)]
pub struct InEditor {
    /// Its place in the list of changes.
    pub index: usize,
    pub file: FilePath,
    pub to: Option<FilePath>,
    pub old: String,
    pub new: Option<String>,
    uri: lsp::Uri,
    version: i32,
    /// What the disk has of it, or would have if it were saved.
    pub kept: Vec<u8>,
    /// How the file lies on the disk, and its permission bits.
    pub form: Form,
    pub mode: Option<u32>,
    /// The buffer had no unsaved work.
    clean: bool,
}

/// How far an open file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Old,
    New,
    /// The person typed meanwhile, or the editor did something else.
    Other,
}

/// How an edit went, before anything is made of it.
pub struct Sent {
    /// For each file, in order.
    pub states: Vec<State>,
    pub said: Said,
}

/// What the editor answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Applied,
    /// Why not, if it said so.
    Refused(Option<String>),
    /// An error, or nothing at all.
    Failed(String),
}

/// Plans a change to an open file. The error is for the model: not every editor can do everything.
pub fn planned(
    world: &World,
    index: usize,
    change: &FileChange,
    uri: lsp::Uri,
    version: i32,
    (kept, form): (Vec<u8>, Form),
    clean: bool,
) -> Result<InEditor, String> {
    let shown = &change.file.shown;
    let operations = world.file_operations;
    let refusal = match (&change.new, &change.to) {
        (None, _) if !operations.delete => Some(
            "is open in the editor, which does not delete files when asked to, so it is left alone; it \
             can be deleted once the person has closed it there",
        ),
        (None, _) if !clean => Some(
            "has unsaved work in the editor, so it is not deleted; it can be once the person has \
             saved or closed it",
        ),
        (Some(_), Some(_)) if !operations.rename => Some(
            "is open in the editor, which does not move files when asked to, so it is left alone; it \
             can be moved once the person has closed it there",
        ),
        (Some(_), Some(_)) if !clean => Some(
            "has unsaved work in the editor, so it is not moved; it can be once the person has \
             saved or closed it",
        ),
        (None, _) | (Some(_), _) => None,
    };
    if let Some(why) = refusal {
        return Err(format!("{shown} {why}. Nothing was changed."));
    }
    let mode = change.file.real.metadata().ok();
    Ok(InEditor {
        index,
        file: change.file.clone(),
        to: change.to.clone(),
        old: change.old.clone().unwrap_or_default(),
        new: change.new.clone(),
        uri,
        version,
        kept,
        form,
        mode: mode.map(|it| it.permissions().mode() & 0o7777),
        clean,
    })
}

impl InEditor {
    /// Where the file is when all is done.
    pub fn at(&self) -> &FilePath {
        self.to.as_ref().unwrap_or(&self.file)
    }

    fn state(&self, documents: &Snapshot, limit: u64) -> State {
        let path = &self.file.real;
        let text = |it: &FilePath| match documents.get(&it.real).map(|it| &it.content) {
            Some(Content::Text(rope)) => Some(rope.clone()),
            Some(Content::Tainted(_) | Content::TooLarge) | None => None,
        };
        let is_there = |it: &FilePath| it.real.symlink_metadata().is_ok();
        match (&self.new, &self.to) {
            (Some(new), None) => match text(&self.file) {
                Some(rope) if rope == new.as_str() => State::New,
                Some(rope) if rope == self.old.as_str() => State::Old,
                Some(_) | None => State::Other,
            },
            (None, _) => match is_there(&self.file) {
                false => State::New,
                true => match documents.get(path) {
                    Some(_) if text(&self.file).is_none_or(|it| it != self.old.as_str()) => {
                        State::Other
                    }
                    Some(_) | None => State::Old,
                },
            },
            (Some(new), Some(to)) => match (is_there(&self.file), is_there(to)) {
                (false, true) => match text(to) {
                    Some(rope) if rope == new.as_str() => State::New,
                    Some(_) => State::Other,
                    None if on_disk(to, limit).as_ref() == Some(new) => State::New,
                    None => State::Other,
                },
                (true, false) if text(&self.file).is_some_and(|it| it == self.old.as_str()) => {
                    State::Old
                }
                (_, _) => State::Other,
            },
        }
    }

    /// The change that takes this one back, if it only is one of text or place.
    fn inverse(&self, documents: &Snapshot) -> Option<Self> {
        let document = documents.get(&self.at().real)?;
        let Content::Text(now) = &document.content else {
            return None;
        };
        let new = self.new.as_ref()?;
        let (old, new) = match *now == new.as_str() {
            true => (new.clone(), self.old.clone()),
            // The person has typed since; that stays.
            false => {
                let now = now.to_string();
                let back = without(&self.old, new, &now)?;
                (now, back)
            }
        };
        Some(Self {
            file: self.at().clone(),
            to: self.to.as_ref().map(|_| self.file.clone()),
            old,
            new: Some(new),
            uri: document.uri.clone(),
            version: document.version,
            ..self.clone()
        })
    }

    fn operations(&self, world: &World, out: &mut Vec<lsp::DocumentChange>) {
        if let Some(new) = &self.new
            && *new != self.old
        {
            let edits = files::compute(self.old.len() + new.len(), || {
                text_edits(&self.old, new, world.encoding)
            });
            let uri = self.uri.clone();
            out.push(lsp::DocumentChange::TextDocumentEdit(
                lsp::TextDocumentEdit {
                    text_document: lsp::OptionalVersionedTextDocumentIdentifier {
                        text_document_identifier: lsp::TextDocumentIdentifier { uri },
                        version: Some(self.version),
                    },
                    edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
                },
            ));
        }
        match (&self.new, &self.to) {
            (None, _) => out.push(lsp::DocumentChange::DeleteFile(lsp::DeleteFile {
                uri: self.uri.clone(),
                options: None,
                annotation_id: None,
            })),
            (Some(_), Some(to)) => out.push(lsp::DocumentChange::RenameFile(lsp::RenameFile {
                old_uri: self.uri.clone(),
                new_uri: uri_of(&to.real),
                options: None,
                annotation_id: None,
            })),
            (Some(_), None) => {}
        }
    }
}

/// Sends all changes as one edit and looks what became of each file. The error is for the model; nothing was
/// sent then.
pub async fn send(
    world: &World,
    changes: &[InEditor],
    label: &str,
    by: &Whose,
) -> Result<Sent, String> {
    let edit = workspace_edit(world, changes);
    // Asked for before the edit is sent, so that a `didChange` that overtakes the answer is seen.
    let mut texts = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        if let (Some(new), None) = (&change.new, &change.to) {
            let path = change.file.real.clone();
            let texts_of = (change.old.clone(), new.clone());
            let text = world.editor.text(path, texts_of, by.clone());
            texts.push((at, text.await.map_err(gone)?));
        }
    }
    let settle = Duration::from_millis(world.limits.edit_settle_ms);
    let label = format!("Undine: {label}");
    let answer = tokio::time::timeout(settle, world.editor.apply_edit(edit, label)).await;
    let said = match answer {
        Ok(answer) => match answer.map_err(gone)? {
            Ok(it) if it.applied => Said::Applied,
            Ok(it) => Said::Refused(it.failure_reason),
            Err(why) => Said::Failed(why),
        },
        Err(_) => Said::Failed("it did not answer".to_owned()),
    };
    let mut reached = HashSet::new();
    // An edit that crossed a refusal or an error may have come as well.
    let until = match said {
        Said::Applied => Instant::now() + settle,
        Said::Refused(_) | Said::Failed(_) => Instant::now(),
    };
    for (at, text) in texts {
        if let Ok(Ok(())) = tokio::time::timeout_at(until, text).await {
            reached.insert(at);
        }
    }
    if said == Said::Applied {
        wait_for_files(world, changes, until).await?;
    }
    let documents = world.editor.documents().await.map_err(gone)?;
    let limit = world.limits.edit_bytes;
    // A text that was there is made, whatever the person has typed since.
    let states = changes
        .iter()
        .enumerate()
        .map(|(at, it)| match reached.contains(&at) {
            true => State::New,
            false => it.state(&documents, limit),
        });
    Ok(Sent {
        states: states.collect(),
        said,
    })
}

/// Waits for files that the editor moves or deletes. Nothing tells when that is done, so they are looked at
/// again and again.
async fn wait_for_files(world: &World, changes: &[InEditor], until: Instant) -> Result<(), String> {
    let is_text = |it: &InEditor| it.new.is_some() && it.to.is_none();
    if changes.iter().all(is_text) {
        return Ok(());
    }
    loop {
        let documents = world.editor.documents().await.map_err(gone)?;
        let limit = world.limits.edit_bytes;
        let is_done = |it: &InEditor| is_text(it) || it.state(&documents, limit) == State::New;
        if changes.iter().all(is_done) || Instant::now() >= until {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Takes back in the editor what can be; answers the others.
pub async fn take_back<'a>(
    world: &World,
    changes: &[&'a InEditor],
    label: &str,
    by: &Whose,
) -> Result<Vec<&'a InEditor>, String> {
    let documents = world.editor.documents().await.map_err(gone)?;
    let mut sources = Vec::new();
    let (mut inverses, mut left) = (Vec::new(), Vec::new());
    for change in changes {
        match change.inverse(&documents) {
            Some(inverse) => {
                inverses.push(inverse);
                sources.push(*change);
            }
            None => left.push(*change),
        }
    }
    if inverses.is_empty() {
        return Ok(left);
    }
    let sent = send(world, &inverses, label, by).await?;
    let undone = sources.into_iter().zip(sent.states);
    left.extend(undone.filter_map(|(it, state)| (state != State::New).then_some(it)));
    Ok(left)
}

/// `now` without the change from `old` to `new`, if what was typed since lies beside all of that.
fn without(old: &str, new: &str, now: &str) -> Option<String> {
    let author = Author {
        session: String::new(),
        turn: TurnId(0),
        call: CallId(0),
    };
    let mut ledger = Ledger::new(Rope::from_str(old));
    ledger.replaced(new, By::Agent(&author));
    ledger.replaced(now, By::Person);
    let revert = ledger.revert(Which::All);
    let is_whole = revert.left.is_empty() && revert.file.is_none();
    is_whole.then(|| revert.changes.apply(now).ok()).flatten()
}

/// Saves what was clean before, where the editor can; answers whether the disk holds the change.
pub async fn save(world: &World, change: &InEditor) -> bool {
    if change.new.is_none() {
        return true;
    }
    let uri = match &change.to {
        None => change.uri.clone(),
        Some(to) => {
            let documents = world.editor.documents().await;
            let document = documents.ok().and_then(|it| it.get(&to.real).cloned());
            let is_saved = || on_disk(to, world.limits.edit_bytes) == change.new;
            match document {
                Some(it) if !is_saved() => it.uri,
                Some(_) | None => return true,
            }
        }
    };
    if change.to.is_none() && !is_shown(world, change).await {
        // The person types: what they have not saved is theirs to save.
        return false;
    }
    let wanted = match world.edits.save {
        Save::Clean => change.clean,
        Save::Always => true,
        Save::Never => false,
    };
    let wait = Duration::from_millis(world.limits.save_ms);
    let is_said = wanted
        && matches!(
            tokio::time::timeout(wait, world.editor.save(uri)).await,
            Ok(Ok(true))
        );
    // What a formatter made of it is saved as well; what was there before is not.
    let is_old = || {
        change.new.as_ref() != Some(&change.old)
            && on_disk(change.at(), world.limits.edit_bytes).as_ref() == Some(&change.old)
    };
    is_said && !is_old()
}

/// Whether the document still has just the text that it was given.
async fn is_shown(world: &World, change: &InEditor) -> bool {
    let Ok(documents) = world.editor.documents().await else {
        return false;
    };
    let document = documents.get(&change.file.real);
    match (document.map(|it| &it.content), &change.new) {
        (Some(Content::Text(rope)), Some(new)) => *rope == new.as_str(),
        (Some(_) | None, _) => false,
    }
}

fn on_disk(file: &FilePath, limit: u64) -> Option<String> {
    let bytes = regular::read_capped(&file.real, limit).ok().flatten()?;
    Some(FileText::decode(bytes).text)
}

/// Whether the editor's text has no unsaved work. Neovim's text of an empty file is one line break, editors
/// keep a byte order mark to themselves, and some take what is no UTF-8 for Latin-1.
pub fn is_clean(disk: Vec<u8>, text: &str) -> bool {
    if is_latin(&disk, text) {
        return FileText::decode(disk).form == Form::Bytes || text.is_ascii();
    }
    let disk = FileText::decode(disk).text;
    disk == text.strip_prefix('\u{feff}').unwrap_or(text)
        || disk.is_empty() && matches!(text, "\n" | "\r\n")
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

/// Whole files are only deleted and moved by editors that also take `documentChanges`.
fn workspace_edit(world: &World, changes: &[InEditor]) -> lsp::WorkspaceEdit {
    let mut all = Vec::new();
    for change in changes {
        change.operations(world, &mut all);
    }
    if world.versioned_edits {
        return lsp::WorkspaceEdit {
            document_changes: Some(all),
            ..lsp::WorkspaceEdit::default()
        };
    }
    let texts = all.into_iter().filter_map(|it| match it {
        lsp::DocumentChange::TextDocumentEdit(it) => {
            let edits = it.edits.into_iter().filter_map(|it| match it {
                lsp::Edit::TextEdit(it) => Some(it),
                // Ours are plain ones.
                lsp::Edit::AnnotatedTextEdit(_) | lsp::Edit::SnippetTextEdit(_) => None,
            });
            let uri = it.text_document.text_document_identifier.uri;
            Some((uri, edits.collect()))
        }
        lsp::DocumentChange::CreateFile(_)
        | lsp::DocumentChange::RenameFile(_)
        | lsp::DocumentChange::DeleteFile(_) => None,
    });
    lsp::WorkspaceEdit {
        changes: Some(texts.collect()),
        ..lsp::WorkspaceEdit::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Taking an edit back after the person had typed above it would have cut into what they typed.
    #[test]
    fn what_is_taken_back_leaves_what_was_typed_since() {
        let back = |now: &str| without("one\ntwo\nthree\n", "one\nTWO\nthree\n", now);
        assert_eq!(back("one\nTWO\nthree\n").unwrap(), "one\ntwo\nthree\n");
        let typed = back("zero\none\nTWO\nthree\nfour\n").unwrap();
        assert_eq!(typed, "zero\none\ntwo\nthree\nfour\n");
        // In the very lines of the edit: that is for the person to sort out.
        assert_eq!(back("one\nTWO!\nthree\n"), None);
    }

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
