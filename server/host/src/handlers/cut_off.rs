//! What a server that died was writing: told to the person, file by file, and cleared up.

use crate::documents::Content;
use crate::main_loop::Host;
use crate::regular;
use crate::store::journal::{Journals, Orphan};
use engine::text::{FileText, visible_line};
use protocol::lsp::MessageType;
use protocol::record::{EditedFile, Stands};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// The most files that are told one by one.
const MAX_FILES: usize = 20;

impl Host {
    /// Tells what a dead server was changing in a project, if one was. `root` is resolved.
    pub(crate) fn report_cut_off(&mut self, root: &Path) {
        let orphans = Journals::new(&self.folders.data).orphans(root);
        for orphan in orphans {
            self.report_orphan(orphan, root);
        }
    }

    fn report_orphan(&mut self, orphan: Orphan, root: &Path) {
        let entry = orphan.entry.clone();
        let stands: Vec<Stands> = entry.files.iter().map(|it| self.stands(it)).collect();
        let kept = orphan.clear(&stands);
        let title = visible_line(&entry.title, 200);
        let mut text = format!("Undine stopped while it worked on \"{title}\".");
        let shown = |path: &Path| {
            let path = path.strip_prefix(root).unwrap_or(path).display();
            visible_line(&path.to_string(), 200)
        };
        for (file, stands) in entry.files.iter().zip(&stands).take(MAX_FILES) {
            let what = match (stands, &file.before, &file.after) {
                (Stands::AtNew, None, _) => "new, it was created",
                (Stands::AtNew, _, None) => "new, it is gone",
                (Stands::AtNew, Some(_), Some(_)) => "new",
                (Stands::AtOld, None, _) => "old, it was not created",
                (Stands::AtOld, Some(_), _) => "old",
                (Stands::AtOther, _, _) => "another text, neither old nor new",
            };
            // When a server starts, no document is open yet, and an editor may hold what the disk does not.
            let place = match self.documents.get(&file.path) {
                Some(_) => "in the editor",
                None => "on the disk",
            };
            // Writing to a string does not fail.
            let _ = write!(text, "\n{}: {place} {what}", shown(&file.path));
        }
        let more = entry.files.len().saturating_sub(MAX_FILES);
        if more > 0 {
            let _ = write!(text, "\nand {more} more files");
        }
        for path in kept {
            let _ = write!(text, "\nA whole new text is kept in {}.", shown(&path));
        }
        let is_whole = |end: Stands| stands.iter().all(|it| *it == end);
        let kind = match is_whole(Stands::AtOld) || is_whole(Stands::AtNew) {
            true => MessageType::Info,
            false => MessageType::Warning,
        };
        if let Some(checkpoint) = &entry.checkpoint
            && !is_whole(Stands::AtOld)
        {
            let _ = write!(text, "\nThe checkpoint {checkpoint} takes it back.");
        }
        tracing::warn!(text, "a dead server was writing");
        self.show_message(kind, &text);
    }

    /// How far an edit that was cut off came with a file: by the editor's text where it is open.
    pub(crate) fn stands(&self, file: &EditedFile) -> Stands {
        let limit = self.limits.edit_bytes;
        let text = match self.documents.get(&file.path).map(|it| &it.content) {
            Some(Content::Text(rope)) => Ok(Some(rope.to_string())),
            Some(Content::Tainted(_) | Content::TooLarge) => Err(()),
            None => match regular::read_capped(&file.path, limit) {
                Ok(Some(bytes)) => Ok(Some(FileText::decode(bytes).text)),
                Ok(None) => Err(()),
                Err(_) if file.path.symlink_metadata().is_err() => Ok(None),
                Err(_) => Err(()),
            },
        };
        let hash = |text: String| -> String {
            let hash = Sha256::digest(text.as_bytes());
            hash.iter().map(|it| format!("{it:02x}")).collect()
        };
        match text {
            Ok(text) => file.stands(text.map(hash).as_deref()),
            Err(()) => Stands::AtOther,
        }
    }
}
