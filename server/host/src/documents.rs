//! The editor's open documents: their text, version and identity.
//!
//! The main loop owns them; tools get snapshots. A rope's clone costs nothing, so a snapshot is a
//! clone of the map behind an `Arc`.

use crate::workspace;
use engine::text::Encoding;
use engine::text::position::{apply_change, offset};
use protocol::lsp;
use ropey::Rope;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One document that the editor has open.
#[derive(Clone, Debug)]
pub struct Document {
    /// As the editor spelled it; goes back to the editor as it is.
    pub uri: lsp::Uri,
    pub version: i32,
    pub content: Content,
    /// What the disk had when it was last known to have this document's text; `None`: that was never known.
    pub saved: Option<Content>,
    /// It was changed since it was opened or saved.
    pub is_touched: bool,
    /// Another document that shows the same file, with another text: nobody can say which one counts.
    pub differs_from: Option<lsp::Uri>,
}

/// What is known of a document's text.
#[derive(Clone, Debug)]
pub enum Content {
    Text(Rope),
    /// The editor sent half a character; what it shows is not known until it saves.
    Tainted(Rope),
    /// Larger than `[limits] document_bytes`; its text is not kept.
    TooLarge,
}

/// What a `didChange` did to a document.
#[derive(Clone, Debug)]
pub struct Changed {
    pub path: PathBuf,
    /// What was known of the text before.
    pub before: Content,
    /// Each is for the text that the one before has left.
    pub steps: Vec<Step>,
    /// This document stands for its file.
    pub stands: bool,
}

/// One content change.
#[derive(Clone, Debug)]
pub struct Step {
    /// Bytes of the text before; `None`: its text as a whole gave way, or was not known.
    pub range: Option<(usize, Range<usize>)>,
    pub text: String,
}

/// Open documents by the file they show. Documents without a file (untitled ones) are not in it.
pub type Snapshot = Arc<HashMap<PathBuf, Document>>;

#[derive(Debug, Default)]
pub struct Documents {
    open: Snapshot,
    /// Each document under the URI the editor used, with its file, so that resolving happens once, at
    /// `didOpen`. Two may show one file, through a symlink for instance, and differ.
    all: HashMap<lsp::Uri, (PathBuf, Document)>,
    /// Which those are, in the order they were opened.
    of_file: HashMap<PathBuf, Vec<lsp::Uri>>,
}

impl Documents {
    pub fn snapshot(&self) -> Snapshot {
        self.open.clone()
    }

    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub fn path(&self, uri: &lsp::Uri) -> Option<&Path> {
        self.all.get(uri).map(|(path, _)| path.as_path())
    }

    /// This very document, whatever else shows its file.
    pub fn document(&self, uri: &lsp::Uri) -> Option<&Document> {
        self.all.get(uri).map(|(_, it)| it)
    }

    /// What this very document holds, whatever else shows its file.
    pub fn content(&self, uri: &lsp::Uri) -> Option<&Content> {
        self.all.get(uri).map(|(_, it)| &it.content)
    }

    /// Takes in a document; answers its file, if it has one. `limit` in bytes.
    pub fn opened(
        &mut self,
        item: lsp::TextDocumentItem,
        tainted: bool,
        limit: usize,
    ) -> Option<PathBuf> {
        let path = workspace::path_of(&item.uri)?;
        let content = if item.text.len() > limit {
            Content::TooLarge
        } else if tainted {
            Content::Tainted(Rope::from_str(&item.text))
        } else {
            Content::Text(Rope::from_str(&item.text))
        };
        // An editor that opens one twice has closed it in between, whether it said so or not.
        self.closed(&item.uri);
        let document = Document {
            uri: item.uri.clone(),
            version: item.version,
            content,
            saved: None,
            is_touched: false,
            differs_from: None,
        };
        let of_file = self.of_file.entry(path.clone()).or_default();
        of_file.push(item.uri.clone());
        self.all.insert(item.uri, (path.clone(), document));
        self.refresh(&path);
        Some(path)
    }

    /// Applies changes strictly in order; answers what they did.
    pub fn changed(
        &mut self,
        params: lsp::DidChangeTextDocumentParams,
        encoding: Encoding,
        tainted: bool,
        limit: usize,
    ) -> Option<Changed> {
        let uri = &params.text_document.text_document_identifier.uri;
        let (path, document) = self.all.get_mut(uri)?;
        let path = path.clone();
        let before = document.content.clone();
        let mut steps = Vec::with_capacity(params.content_changes.len());
        document.version = params.text_document.version;
        document.is_touched = true;
        for change in params.content_changes {
            let (range, text) = match change {
                lsp::TextDocumentContentChangeEvent::TextDocumentContentChangePartial(it) => {
                    let (start, end) = (it.range.start, it.range.end);
                    (
                        Some(((start.line, start.character), (end.line, end.character))),
                        it.text,
                    )
                }
                lsp::TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(it) => {
                    (None, it.text)
                }
            };
            let bytes = match (&document.content, range) {
                (Content::Text(rope), Some((start, end))) => {
                    let at = |it: (u32, u32)| offset(rope, it.0, it.1, encoding);
                    let (a, b) = (at(start), at(end));
                    Some((rope.len_bytes(), a.min(b)..a.max(b)))
                }
                (Content::Text(_) | Content::Tainted(_) | Content::TooLarge, _) => None,
            };
            document.content = match (
                std::mem::replace(&mut document.content, Content::TooLarge),
                range,
            ) {
                // A whole text says all there is to say.
                (_, None) if text.len() > limit => Content::TooLarge,
                (_, None) => Content::Text(Rope::from_str(&text)),
                (Content::TooLarge, Some(_)) => Content::TooLarge,
                (Content::Text(mut rope), Some(range)) => {
                    apply_change(&mut rope, Some(range), &text, encoding);
                    Content::Text(rope)
                }
                (Content::Tainted(mut rope), Some(range)) => {
                    apply_change(&mut rope, Some(range), &text, encoding);
                    Content::Tainted(rope)
                }
            };
            steps.push(Step { range: bytes, text });
        }
        if let Content::Text(rope) | Content::Tainted(rope) = &document.content {
            let rope = rope.clone();
            if rope.len_bytes() > limit {
                document.content = Content::TooLarge;
            } else if tainted {
                document.content = Content::Tainted(rope);
            }
        }
        let of_file = self.of_file.get(&path).and_then(|it| it.first());
        let stands = of_file == Some(uri);
        self.refresh(&path);
        Some(Changed {
            path,
            before,
            steps,
            stands,
        })
    }

    /// Whether a document's text must be read again from the disk now that it was saved.
    pub fn is_tainted(&self, uri: &lsp::Uri) -> bool {
        matches!(self.content(uri), Some(Content::Tainted(_)))
    }

    /// The disk had this text of a document, and so had the editor.
    pub fn agreed(&mut self, uri: &lsp::Uri, text: Rope) {
        self.note_saved(uri, |document| {
            let text = Content::Text(text);
            if document.content.agrees(&text) {
                document.saved = Some(text);
                document.is_touched = false;
            } else if document.is_touched {
                // Untouched and another text: it was closed and opened again meanwhile.
                document.saved.get_or_insert(text);
            }
        });
    }

    /// The editor has written a document.
    pub fn saved(&mut self, uri: &lsp::Uri) {
        self.note_saved(uri, |document| {
            document.saved = Some(document.content.clone());
            document.is_touched = false;
        });
    }

    fn note_saved(&mut self, uri: &lsp::Uri, note: impl FnOnce(&mut Document)) {
        let Some((path, document)) = self.all.get_mut(uri) else {
            return;
        };
        note(document);
        let path = path.clone();
        self.refresh(&path);
    }

    /// The text that the editor saved, after a taint.
    pub fn restored(&mut self, uri: &lsp::Uri, text: &str) {
        let Some((path, document)) = self.all.get_mut(uri) else {
            return;
        };
        document.content = Content::Text(Rope::from_str(text));
        document.saved = Some(document.content.clone());
        let path = path.clone();
        self.refresh(&path);
    }

    pub fn closed(&mut self, uri: &lsp::Uri) -> Option<PathBuf> {
        let (path, _) = self.all.remove(uri)?;
        if let Some(of_file) = self.of_file.get_mut(&path) {
            of_file.retain(|it| it != uri);
        }
        self.refresh(&path);
        Some(path)
    }

    /// Brings what tools see of a file up to date: the document that was opened first stands for it, as
    /// long as all that show it agree.
    fn refresh(&mut self, path: &Path) {
        let of_file: &[lsp::Uri] = self.of_file.get(path).map_or(&[], Vec::as_slice);
        let mut shown = of_file.iter().filter_map(|it| self.all.get(it));
        let Some((_, first)) = shown.next() else {
            self.of_file.remove(path);
            Arc::make_mut(&mut self.open).remove(path);
            return;
        };
        let other = shown.find(|(_, it)| !it.content.agrees(&first.content));
        let document = Document {
            differs_from: other.map(|(_, it)| it.uri.clone()),
            ..first.clone()
        };
        Arc::make_mut(&mut self.open).insert(path.to_path_buf(), document);
    }
}

impl Document {
    /// Whether it has unsaved work, as far as that is known without looking at the disk.
    pub fn has_unsaved(&self) -> Option<bool> {
        match (&self.saved, &self.content) {
            (Some(_), _) if !self.is_touched => Some(false),
            (Some(saved), now) if now.agrees(saved) => Some(false),
            (_, Content::Text(_)) => None,
            // Nobody can compare these.
            (_, Content::Tainted(_) | Content::TooLarge) => Some(self.is_touched),
        }
    }
}

impl Content {
    /// Whether both are known to be the same text.
    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Text(_) | Self::Tainted(_) | Self::TooLarge, _) => false,
        }
    }
}
