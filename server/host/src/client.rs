//! What the editor can do, read once from `initialize`: which rung of the ladder serves it.

use crate::plan::FileOperations;
use engine::text::Encoding;
use protocol::config::Limits;
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
    /// The least version of a document that the editor compares with its own before it makes an edit.
    least_checked_version: i32,
    /// It may tell of an edit that it has made long after it has said so.
    tells_late: bool,
    /// Its message requests are answered with the first choice when the person just presses Enter.
    pub first_choice_is_default: bool,
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
            least_checked_version: i32::MIN,
            tells_late: false,
            first_choice_is_default: false,
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
            least_checked_version: Self::default().least_checked_version,
            tells_late: false,
            first_choice_is_default: false,
        }
    }

    /// Takes into account what is known of an editor by its name.
    ///
    /// Neovim (tried with 0.11.4) makes edits with versions though it does not declare them, and only those with
    /// a version are safe from landing in other lines when they cross the person's typing. But it opens documents
    /// with version 0 and makes edits for that version unseen. Its next version is larger than 1: an edit
    /// for 1 is made as long as nothing was typed, and dropped afterwards.
    ///
    /// Emacs (tried with 30.1, Eglot 1.17.30) tells of changes when it is idle. Where the question before an edit
    /// was answered in the minibuffer, it counts as idle only after the next key. Until then the document has its old
    /// version for Emacs too: the same edit sent once more would be made twice. Its question begins with the first
    /// choice written in, which a stray Enter gives; so that is No.
    pub fn named(self, info: Option<&lsp::ClientInfo>) -> Self {
        match info {
            // One that declares versions checks them itself, as our plugin does.
            Some(info) if info.name == "Neovim" && !self.document_changes => Self {
                document_changes: true,
                least_checked_version: 1,
                ..self
            },
            Some(info) if info.name == "Eglot" => Self {
                tells_late: true,
                first_choice_is_default: true,
                ..self
            },
            Some(_) | None => self,
        }
    }

    /// The limits that hold with this editor.
    pub fn limits(&self, limits: &Limits) -> Limits {
        let mut limits = limits.clone();
        if self.tells_late {
            limits.edit_settle_ms = limits.edit_settle_ms.max(LATE_MS);
        }
        limits
    }

    /// The version to say in an edit that was made for this version of a document.
    pub fn edit_version(&self, version: i32) -> i32 {
        version.max(self.least_checked_version)
    }

    /// Whether an agent method may be sent to this editor.
    pub fn takes(&self, method: &str) -> bool {
        self.methods.contains(method)
    }
}

/// Until a person who has answered a question has pressed another key, for certain.
const LATE_MS: u64 = 600_000;

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
    fn neovim_is_never_told_the_version_that_it_does_not_check() {
        let info = |name: &str| serde_json::from_value(json!({"name": name})).unwrap();
        let version = |name: &str, version| {
            let client = client(json!({})).named(Some(&info(name)));
            client.edit_version(version)
        };
        assert_eq!((version("Neovim", 0), version("Neovim", 4)), (1, 4));
        assert_eq!((version("helix", 0), version("helix", 4)), (0, 4));
        let declared = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
        let plugin = client(declared).named(Some(&info("Neovim")));
        assert_eq!(plugin.edit_version(0), 0);
    }

    #[test]
    fn an_edit_is_not_given_up_soon_where_it_is_told_late() {
        let settle = |name: &str| {
            let info = serde_json::from_value(json!({"name": name})).unwrap();
            let client = client(json!({})).named(Some(&info));
            client.limits(&Limits::default()).edit_settle_ms
        };
        assert_eq!((settle("Eglot"), settle("helix")), (600_000, 5_000));
    }

    #[test]
    fn only_listed_methods_are_sent() {
        let client = client(json!({"experimental": {"agent": {"methods": ["session/update"]}}}));
        assert!(client.takes("session/update"));
        assert!(!client.takes("session/request_permission"));
    }
}
