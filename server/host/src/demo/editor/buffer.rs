//! The one open document of the headless editor: its text, its version, and what edits make of it.

use engine::text::Encoding;
use engine::text::position;
use protocol::lsp;
use ropey::Rope;
use std::fs;
use std::io;
use std::path::PathBuf;

pub struct Buffer {
    pub uri: lsp::Uri,
    path: PathBuf,
    pub version: i32,
    text: Rope,
}

impl Buffer {
    /// Opens a document with this text, whatever the disk holds.
    pub fn open(path: PathBuf, text: &str) -> Self {
        Self {
            uri: crate::workspace::uri_of(&path),
            path,
            version: 1,
            text: Rope::from_str(text),
        }
    }

    pub fn text(&self) -> String {
        self.text.to_string()
    }

    /// Applies a workspace edit, all of it or nothing, and answers the changes for `didChange`, which hold one after
    /// the other. The error is the editor's reason for leaving its text alone.
    ///
    /// An edit for another version is refused: it was made for another text (LSP 3.18, "TextDocumentEdit").
    pub fn apply(
        &mut self,
        edit: &lsp::WorkspaceEdit,
        encoding: Encoding,
    ) -> Result<Vec<lsp::TextDocumentContentChangePartial>, String> {
        let documents = edit.document_changes.as_deref().unwrap_or_default();
        let [lsp::DocumentChange::TextDocumentEdit(edit)] = documents else {
            return Err("only a versioned edit of one open document is taken".to_owned());
        };
        let document = &edit.text_document;
        if document.text_document_identifier.uri != self.uri {
            return Err("that document is not open".to_owned());
        }
        if document.version != Some(self.version) {
            return Err(format!("the document has version {}", self.version));
        }
        let mut edits = edit
            .edits
            .iter()
            .map(plain)
            .collect::<Result<Vec<_>, _>>()?;
        // All ranges are those of the text before. Taken from its end, none moves another; edits at one place keep
        // their order, which is the reverse here.
        edits.sort_by_key(|it| (it.range.start.line, it.range.start.character));
        let at = |position: lsp::Position| {
            position::offset(&self.text, position.line, position.character, encoding)
        };
        let is_overlapping = edits
            .windows(2)
            .any(|it| at(it[0].range.end) > at(it[1].range.start));
        if is_overlapping {
            return Err("the edits overlap".to_owned());
        }
        let mut changes = Vec::new();
        for it in edits.into_iter().rev() {
            let range = (
                (it.range.start.line, it.range.start.character),
                (it.range.end.line, it.range.end.character),
            );
            position::apply_change(&mut self.text, Some(range), &it.new_text, encoding);
            changes.push(lsp::TextDocumentContentChangePartial::new(
                it.range,
                None,
                it.new_text,
            ));
        }
        self.version += 1;
        Ok(changes)
    }

    pub fn save(&self) -> io::Result<()> {
        fs::write(&self.path, self.text())
    }
}

fn plain(edit: &lsp::Edit) -> Result<lsp::TextEdit, String> {
    match edit {
        lsp::Edit::TextEdit(it) => Ok(it.clone()),
        lsp::Edit::AnnotatedTextEdit(it) => Ok(it.text_edit.clone()),
        lsp::Edit::SnippetTextEdit(_) => Err("snippets are not taken".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn buffer() -> Buffer {
        Buffer::open(PathBuf::from("/p/a.sh"), "one\ntwo\nthree\n")
    }

    fn edit(version: i32, edits: Value) -> lsp::WorkspaceEdit {
        let document = json!({"uri": "file:///p/a.sh", "version": version});
        serde_json::from_value(
            json!({"documentChanges": [{"textDocument": document, "edits": edits}]}),
        )
        .unwrap()
    }

    fn replace(line: u32, from: u32, to: u32, text: &str) -> Value {
        json!({"range": {"start": {"line": line, "character": from}, "end": {"line": line, "character": to}}, "newText": text})
    }

    #[test]
    fn all_ranges_are_those_of_the_text_before_and_the_changes_hold_one_after_the_other() {
        let mut buffer = buffer();
        let edits = json!([
            replace(0, 0, 3, "1\n1.5"),
            replace(0, 3, 3, "a"),
            replace(0, 3, 3, "b"),
            replace(2, 0, 5, "3")
        ]);
        let changes = buffer.apply(&edit(1, edits), Encoding::Utf8).unwrap();
        assert_eq!(
            (buffer.text().as_str(), buffer.version),
            ("1\n1.5ab\ntwo\n3\n", 2)
        );
        let mut replayed = Rope::from_str("one\ntwo\nthree\n");
        for it in changes {
            let (start, end) = (it.range.start, it.range.end);
            let range = ((start.line, start.character), (end.line, end.character));
            position::apply_change(&mut replayed, Some(range), &it.text, Encoding::Utf8);
        }
        assert_eq!(replayed.to_string(), buffer.text());
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let one = || json!([replace(0, 0, 3, "x")]);
        let cases = [
            edit(2, one()),
            edit(1, json!([replace(0, 0, 3, "x"), replace(0, 2, 3, "y")])),
            serde_json::from_value(json!({"changes": {"file:///p/a.sh": one()}})).unwrap(),
            serde_json::from_value(json!({"documentChanges": [{"textDocument": {"uri": "file:///p/b.sh", "version": 1}, "edits": one()}]})).unwrap(),
        ];
        let mut buffer = buffer();
        let reasons: Vec<String> = cases
            .iter()
            .map(|it| buffer.apply(it, Encoding::Utf8).unwrap_err())
            .collect();
        assert_eq!(
            reasons,
            [
                "the document has version 1",
                "the edits overlap",
                "only a versioned edit of one open document is taken",
                "that document is not open",
            ]
        );
        assert_eq!(
            (buffer.text().as_str(), buffer.version),
            ("one\ntwo\nthree\n", 1)
        );
    }
}
