//! The ladder: how the agent's changes are shown to the editor at hand.
//!
//! One table, [`Surface::ALL`]: each surface, what an editor must have declared for it, and what serves where
//! it has not. The server advertises and sends what stands here, and nothing else.

use crate::client::Client;
use protocol::methods::{Notification, Request, RequestPermission, ReviewChanged};

/// A way to show the agent's unreviewed changes, or to judge them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Our own plugin draws the hunks.
    Plugin,
    Actions,
    /// Reverts carry their edit.
    EditsInActions,
    /// The edit is made when the action is chosen.
    ResolvedEdits,
    PulledDiagnostics,
    PublishedDiagnostics,
    Lenses,
    Hints,
    VirtualDocuments,
    /// A turn's diff as a file that the editor is asked to show.
    DiffFile,
    /// Edits say who made them and in which turn.
    Annotations,
}

impl Surface {
    pub const ALL: [Surface; 11] = [
        Surface::Plugin,
        Surface::Actions,
        Surface::EditsInActions,
        Surface::ResolvedEdits,
        Surface::PulledDiagnostics,
        Surface::PublishedDiagnostics,
        Surface::Lenses,
        Surface::Hints,
        Surface::VirtualDocuments,
        Surface::DiffFile,
        Surface::Annotations,
    ];

    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What the editor must have declared, in LSP's words.
    pub fn needs(self) -> &'static str {
        self.row().1
    }

    /// What serves an editor that has not.
    pub fn instead(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Surface::Plugin => (
                "the plugin's own view",
                "experimental.agent.methods: undine/review/changed",
                "diagnostics, lenses and hints",
            ),
            Surface::Actions => ("code actions", "nothing", "nothing"),
            Surface::EditsInActions => (
                "reverts as edits",
                "textDocument.codeAction.codeActionLiteralSupport, workspace.workspaceEdit.documentChanges",
                "reverts as commands",
            ),
            Surface::ResolvedEdits => (
                "edits made on choosing",
                "textDocument.codeAction.resolveSupport: edit, and dataSupport",
                "edits made with the list",
            ),
            Surface::PulledDiagnostics => (
                "pulled diagnostics",
                "textDocument.diagnostic, workspace.diagnostics.refreshSupport",
                "published diagnostics",
            ),
            Surface::PublishedDiagnostics => (
                "published diagnostics",
                "textDocument.publishDiagnostics",
                "code actions",
            ),
            Surface::Lenses => ("code lenses", "textDocument.codeLens", "code actions"),
            Surface::Hints => ("inlay hints", "textDocument.inlayHint", "diagnostics"),
            Surface::VirtualDocuments => (
                "virtual documents",
                "workspace.textDocumentContent",
                "a turn's diff as a file",
            ),
            Surface::DiffFile => (
                "a turn's diff as a file",
                "window.showDocument.support",
                "a message that names the file",
            ),
            Surface::Annotations => (
                "annotated edits",
                "workspace.workspaceEdit.changeAnnotationSupport",
                "the edit's label",
            ),
        }
    }

    /// Whether this editor is served by it.
    pub fn serves(self, client: &Client) -> bool {
        match self {
            Surface::Plugin => client.takes(ReviewChanged::METHOD),
            Surface::Actions => true,
            Surface::EditsInActions => client.action_literals && client.document_changes,
            Surface::ResolvedEdits => {
                Surface::EditsInActions.serves(client) && client.action_resolve
            }
            // Without the refresh a change that was kept would stay on the screen until the person types.
            Surface::PulledDiagnostics => {
                has_diagnostics(client) && client.pull_diagnostics && client.diagnostics_refresh
            }
            Surface::PublishedDiagnostics => {
                has_diagnostics(client)
                    && client.publish_diagnostics
                    && !Surface::PulledDiagnostics.serves(client)
            }
            Surface::Lenses => client.code_lens && !Surface::Plugin.serves(client),
            Surface::Hints => client.inlay_hint && !Surface::Plugin.serves(client),
            Surface::VirtualDocuments => client.virtual_documents,
            Surface::DiffFile => client.show_document && !client.virtual_documents,
            Surface::Annotations => client.annotations,
        }
    }
}

/// Whether there is anything that diagnostics would say and the plugin does not.
fn has_diagnostics(client: &Client) -> bool {
    !(Surface::Plugin.serves(client) && client.takes(RequestPermission::METHOD))
}

#[cfg(test)]
mod tests;
