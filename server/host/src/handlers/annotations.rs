//! Says in an edit who made it, where the editor shows that (LSP 3.16, `ChangeAnnotation`).
//!
//! `needsConfirmation` is never set: what is sent has been approved, an editor's own confirmation could not
//! be told from a refusal, and two of three editors that were tried apply such an edit unasked.

use crate::event::Whose;
use protocol::lsp;

/// Annotates every text edit of a workspace edit. `changes` without versions can't be annotated and stays.
pub(super) fn annotated(mut edit: lsp::WorkspaceEdit, label: &str, by: &str) -> lsp::WorkspaceEdit {
    let Some(changes) = &mut edit.document_changes else {
        return edit;
    };
    for change in changes {
        match change {
            lsp::DocumentChange::TextDocumentEdit(document) => {
                for it in &mut document.edits {
                    if let lsp::Edit::TextEdit(text_edit) = it {
                        *it = lsp::Edit::AnnotatedTextEdit(lsp::AnnotatedTextEdit {
                            annotation_id: ID.to_owned(),
                            text_edit: text_edit.clone(),
                        });
                    }
                }
            }
            lsp::DocumentChange::CreateFile(it) => it.annotation_id = Some(ID.to_owned()),
            lsp::DocumentChange::RenameFile(it) => it.annotation_id = Some(ID.to_owned()),
            lsp::DocumentChange::DeleteFile(it) => it.annotation_id = Some(ID.to_owned()),
        }
    }
    let annotation = lsp::ChangeAnnotation {
        label: label.to_owned(),
        needs_confirmation: None,
        description: Some(by.to_owned()),
    };
    edit.change_annotations = Some([(ID.to_owned(), annotation)].into());
    edit
}

/// Whether a workspace edit changes a document's text.
pub(super) fn changes(edit: &lsp::WorkspaceEdit, uri: &lsp::Uri) -> bool {
    edit.document_changes.iter().flatten().any(|it| match it {
        lsp::DocumentChange::TextDocumentEdit(it) => {
            it.text_document.text_document_identifier.uri == *uri
        }
        lsp::DocumentChange::CreateFile(_)
        | lsp::DocumentChange::RenameFile(_)
        | lsp::DocumentChange::DeleteFile(_) => false,
    })
}

/// There is one a workspace edit.
const ID: &str = "undine";

/// Whose an edit is, for a person.
pub(super) fn named(by: &Whose) -> String {
    match by {
        Whose::Agent(author) => {
            format!(
                "Undine, turn {} of session {}",
                author.turn.0, author.session
            )
        }
        Whose::Review => "Undine, as you asked in the review".to_owned(),
        Whose::Person => "Undine, as you asked".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::{Value, json};

    fn check(edit: Value, expected: expect_test::Expect) {
        let edit = serde_json::from_value(edit).unwrap();
        let edit = annotated(edit, "Undine: Edit a.txt", "Undine, turn 3");
        expected.assert_eq(&serde_json::to_string_pretty(&edit).unwrap());
    }

    #[test]
    fn each_edit_names_the_annotation_and_none_needs_a_confirmation() {
        let position = json!({"line": 0, "character": 0});
        let range = json!({"start": position, "end": position});
        check(
            json!({"documentChanges": [
                {"kind": "create", "uri": "file:///b"},
                {"textDocument": {"uri": "file:///a", "version": 3}, "edits": [{"range": range, "newText": "x"}]},
            ]}),
            expect![[r#"
                {
                  "documentChanges": [
                    {
                      "uri": "file:///b",
                      "annotationId": "undine",
                      "kind": "create"
                    },
                    {
                      "textDocument": {
                        "version": 3,
                        "uri": "file:///a"
                      },
                      "edits": [
                        {
                          "annotationId": "undine",
                          "range": {
                            "start": {
                              "line": 0,
                              "character": 0
                            },
                            "end": {
                              "line": 0,
                              "character": 0
                            }
                          },
                          "newText": "x"
                        }
                      ]
                    }
                  ],
                  "changeAnnotations": {
                    "undine": {
                      "label": "Undine: Edit a.txt",
                      "description": "Undine, turn 3"
                    }
                  }
                }"#]],
        );
    }

    #[test]
    fn edits_without_versions_stay_as_they_are() {
        check(
            json!({"changes": {"file:///a": []}}),
            expect![[r#"
            {
              "changes": {
                "file:///a": []
              }
            }"#]],
        );
    }
}
