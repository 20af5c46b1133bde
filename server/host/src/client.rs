//! What the editor can do, read once from `initialize`: which rung of the ladder serves it.

use crate::plan::FileOperations;
use engine::text::Encoding;
use protocol::lsp;
use serde_json::Value;
use std::collections::HashSet;

/// The editor's abilities, as far as this build uses them.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    pub encoding: Encoding,
    /// Agent methods that the editor answers or wants to receive; empty without
    /// `capabilities.experimental.agent`. What is not listed is not sent.
    methods: HashSet<String>,
    /// Its settings may set trusted options.
    pub trusted_settings: bool,
    pub apply_edit: bool,
    pub document_changes: bool,
    /// What it does to whole files in a workspace edit.
    pub file_operations: FileOperations,
    pub progress: bool,
    /// Code actions as literals, not only as commands.
    pub action_literals: bool,
    /// Code actions may say that a language model made them.
    pub action_tags: bool,
    /// The edit of a code action may be asked for when the person has chosen it.
    pub action_resolve: bool,
    /// Edits of code actions may say what they are about.
    pub action_annotations: bool,
    /// Edits of ours may.
    pub annotations: bool,
    pub publish_diagnostics: bool,
    pub pull_diagnostics: bool,
    pub diagnostics_refresh: bool,
    pub code_lens: bool,
    pub code_lens_refresh: bool,
    pub inlay_hint: bool,
    pub inlay_hint_refresh: bool,
    /// `workspace/textDocumentContent`, which has its refresh.
    pub virtual_documents: bool,
    pub show_document: bool,
}

impl Default for Client {
    /// An editor that has said nothing yet.
    fn default() -> Self {
        Self {
            encoding: Encoding::Utf16,
            methods: HashSet::new(),
            trusted_settings: false,
            apply_edit: false,
            document_changes: false,
            file_operations: FileOperations::default(),
            progress: false,
            action_literals: false,
            action_tags: false,
            action_resolve: false,
            action_annotations: false,
            annotations: false,
            publish_diagnostics: false,
            pull_diagnostics: false,
            diagnostics_refresh: false,
            code_lens: false,
            code_lens_refresh: false,
            inlay_hint: false,
            inlay_hint_refresh: false,
            virtual_documents: false,
            show_document: false,
        }
    }
}

impl Client {
    pub fn new(capabilities: &lsp::ClientCapabilities) -> Self {
        // Read as JSON: what an editor got wrong elsewhere must not matter here.
        let all = serde_json::to_value(capabilities).unwrap_or_default();
        let is = |pointer: &str| all.pointer(pointer) == Some(&Value::Bool(true));
        let has = |pointer: &str| all.pointer(pointer).is_some_and(|it| !it.is_null());
        let texts = |pointer: &str| -> HashSet<String> {
            let items = all.pointer(pointer).and_then(Value::as_array);
            items
                .into_iter()
                .flatten()
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect()
        };
        let offered = texts("/general/positionEncodings");
        let operations = texts("/workspace/workspaceEdit/resourceOperations");
        Self {
            encoding: encoding(&offered),
            methods: texts("/experimental/agent/methods"),
            trusted_settings: is("/experimental/agent/trustedSettings"),
            apply_edit: is("/workspace/applyEdit"),
            document_changes: is("/workspace/workspaceEdit/documentChanges"),
            file_operations: FileOperations {
                delete: operations.contains("delete"),
                rename: operations.contains("rename"),
            },
            progress: is("/window/workDoneProgress"),
            action_literals: has("/textDocument/codeAction/codeActionLiteralSupport"),
            action_tags: has("/textDocument/codeAction/tagSupport"),
            action_resolve: is("/textDocument/codeAction/dataSupport")
                && texts("/textDocument/codeAction/resolveSupport/properties").contains("edit"),
            action_annotations: is("/textDocument/codeAction/honorsChangeAnnotations"),
            annotations: has("/workspace/workspaceEdit/changeAnnotationSupport"),
            publish_diagnostics: has("/textDocument/publishDiagnostics"),
            pull_diagnostics: has("/textDocument/diagnostic"),
            diagnostics_refresh: is("/workspace/diagnostics/refreshSupport"),
            code_lens: has("/textDocument/codeLens"),
            code_lens_refresh: is("/workspace/codeLens/refreshSupport"),
            inlay_hint: has("/textDocument/inlayHint"),
            inlay_hint_refresh: is("/workspace/inlayHint/refreshSupport"),
            virtual_documents: has("/workspace/textDocumentContent"),
            show_document: is("/window/showDocument/support"),
        }
    }

    /// Whether an agent method may be sent to this editor.
    pub fn takes(&self, method: &str) -> bool {
        self.methods.contains(method)
    }
}

/// UTF-8 when offered, since that is how text lies in memory; UTF-16 is what every editor speaks.
fn encoding(offered: &HashSet<String>) -> Encoding {
    if offered.contains("utf-8") {
        Encoding::Utf8
    } else if offered.contains("utf-32") && !offered.contains("utf-16") {
        Encoding::Utf32
    } else {
        Encoding::Utf16
    }
}

/// The encoding's name on the wire.
pub fn encoding_kind(encoding: Encoding) -> lsp::PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
        Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        Encoding::Utf32 => lsp::PositionEncodingKind::UTF32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn client(capabilities: Value) -> Client {
        Client::new(&serde_json::from_value(capabilities).unwrap())
    }

    #[test]
    fn utf_8_is_chosen_when_offered_and_utf_16_when_nothing_is() {
        let with =
            |offered: Value| client(json!({"general": {"positionEncodings": offered}})).encoding;
        assert_eq!(with(json!(["utf-16", "utf-8"])), Encoding::Utf8);
        assert_eq!(with(json!(["utf-32", "utf-16"])), Encoding::Utf16);
        assert_eq!(with(json!(["utf-32"])), Encoding::Utf32);
        assert_eq!(client(json!({})).encoding, Encoding::Utf16);
    }

    #[test]
    fn only_listed_methods_are_sent() {
        let client = client(json!({"experimental": {"agent": {"methods": ["session/update"]}}}));
        assert!(client.takes("session/update"));
        assert!(!client.takes("session/request_permission"));
    }
}
