//! The editor's open documents: their text, version and identity.
//!
//! The main loop owns them; tools get snapshots. A rope's clone costs nothing, so a snapshot is a
//! clone of the map behind an `Arc`.

use crate::workspace;
use engine::text::Encoding;
use engine::text::position::apply_change;
use protocol::lsp;
use ropey::Rope;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One document that the editor has open.
#[derive(Clone, Debug)]
pub struct Document {
    /// As the editor spelled it; goes back to the editor as it is.
    pub uri: lsp::Uri,
    pub version: i32,
    pub content: Content,
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

/// Open documents by the file they show. Documents without a file (untitled ones) are not in it.
pub type Snapshot = Arc<HashMap<PathBuf, Document>>;

#[derive(Debug, Default)]
pub struct Documents {
    open: Snapshot,
    /// Files by the URI the editor used, so that resolving happens once, at `didOpen`.
    paths: HashMap<lsp::Uri, PathBuf>,
}

impl Documents {
    pub fn snapshot(&self) -> Snapshot {
        self.open.clone()
    }

    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub fn path(&self, uri: &lsp::Uri) -> Option<&Path> {
        self.paths.get(uri).map(PathBuf::as_path)
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
        self.paths.insert(item.uri.clone(), path.clone());
        let document = Document {
            uri: item.uri,
            version: item.version,
            content,
        };
        Arc::make_mut(&mut self.open).insert(path.clone(), document);
        Some(path)
    }

    /// Applies changes strictly in order; answers the file.
    pub fn changed(
        &mut self,
        params: lsp::DidChangeTextDocumentParams,
        encoding: Encoding,
        tainted: bool,
        limit: usize,
    ) -> Option<PathBuf> {
        let path = self
            .paths
            .get(&params.text_document.text_document_identifier.uri)?
            .clone();
        let document = Arc::make_mut(&mut self.open).get_mut(&path)?;
        document.version = params.text_document.version;
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
        }
        if let Content::Text(rope) | Content::Tainted(rope) = &document.content {
            let rope = rope.clone();
            if rope.len_bytes() > limit {
                document.content = Content::TooLarge;
            } else if tainted {
                document.content = Content::Tainted(rope);
            }
        }
        Some(path)
    }

    /// Whether a document's text must be read again from the disk now that it was saved.
    pub fn is_tainted(&self, uri: &lsp::Uri) -> bool {
        self.path(uri)
            .and_then(|it| self.get(it))
            .is_some_and(|it| matches!(it.content, Content::Tainted(_)))
    }

    /// The text that the editor saved, after a taint.
    pub fn restored(&mut self, uri: &lsp::Uri, text: &str) {
        let Some(path) = self.paths.get(uri) else {
            return;
        };
        if let Some(document) = Arc::make_mut(&mut self.open).get_mut(path) {
            document.content = Content::Text(Rope::from_str(text));
        }
    }

    pub fn closed(&mut self, uri: &lsp::Uri) -> Option<PathBuf> {
        let path = self.paths.remove(uri)?;
        // Two spellings of one file may be open; the file stays open with the other.
        let other = self
            .paths
            .iter()
            .find(|(_, it)| **it == path)
            .map(|(uri, _)| uri.clone());
        let open = Arc::make_mut(&mut self.open);
        match (open.get_mut(&path), other) {
            (Some(document), Some(other)) if document.uri == *uri => document.uri = other,
            (Some(_), Some(_)) | (None, _) => {}
            (Some(_), None) => drop(open.remove(&path)),
        }
        Some(path)
    }
}
