//! Which open documents a command would not see as they are, because only the editor has their text.
//!
//! Looked at when a command is planned and again when it runs. A document that nobody has changed since it was
//! opened or saved costs nothing and never counts: if its file is another one by now, that is the file's news, not
//! the person's work.

use crate::apply::is_clean;
use crate::documents::{Content, Document};
use crate::plan::World;
use crate::regular;
use protocol::lsp;
use protocol::tool::Place;
use std::io;
use std::path::{Path, PathBuf};

/// A document with unsaved work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    pub path: PathBuf,
    /// As the editor spelled it.
    pub uri: lsp::Uri,
    /// As the session names the file.
    pub shown: String,
}

/// Those in the session's folders, by their names. Reads files, off the runtime.
pub async fn in_session(world: &World) -> Vec<Unsaved> {
    let maybe: Vec<(PathBuf, Document)> = world
        .documents
        .iter()
        .filter(|(_, it)| it.has_unsaved() != Some(false))
        .map(|(path, it)| (path.clone(), it.clone()))
        .collect();
    if maybe.is_empty() {
        return Vec::new();
    }
    let (workspace, limit) = (world.workspace.clone(), world.limits.document_bytes);
    let looking = tokio::task::spawn_blocking(move || {
        let (mut unsaved, mut saved) = (Vec::new(), Vec::new());
        for (path, document) in maybe {
            let file = workspace.classify(path);
            match file.place {
                Place::Project | Place::AddedDir | Place::Scratchpad => {}
                Place::Protected | Place::Memory | Place::External => continue,
            }
            match is_unsaved(&file.real, &document, limit) {
                true => unsaved.push(Unsaved {
                    path: file.real,
                    uri: document.uri,
                    shown: file.shown,
                }),
                false => saved.push(document),
            }
        }
        unsaved.sort_by(|a, b| a.shown.cmp(&b.shown));
        (unsaved, saved)
    });
    // A panic has been reported already; the command is not kept from running by it.
    let (unsaved, saved) = looking.await.unwrap_or_default();
    for it in saved {
        // So that what the command makes of the file is not taken for the person's work.
        if let Content::Text(rope) = it.content {
            world.editor.agrees(it.uri, rope).await;
        }
    }
    unsaved
}

/// Whether the editor's text of a file is another than the disk's because of unsaved work. May read the disk, up to
/// `limit` bytes.
pub fn is_unsaved(path: &Path, document: &Document, limit: u64) -> bool {
    match (document.has_unsaved(), &document.content) {
        (Some(known), _) => known,
        (None, Content::Text(rope)) => !has_disk(path, &rope.to_string(), limit),
        (None, Content::Tainted(_) | Content::TooLarge) => true,
    }
}

/// Whether the disk has this text of a file. A file that is not there has the empty one.
pub fn has_disk(path: &Path, text: &str, limit: u64) -> bool {
    match regular::read_capped(path, limit) {
        Ok(Some(bytes)) => is_clean(bytes, text),
        Ok(None) => false,
        Err(error) => error.kind() == io::ErrorKind::NotFound && matches!(text, "" | "\n" | "\r\n"),
    }
}
