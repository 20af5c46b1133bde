//! What a person does to documents.

use super::{Buffer, Editor, OnEdit};
use crate::support::workspace::uri;
use protocol::lsp;
use serde_json::{Value, json};

impl Editor {
    fn uri(&self, path: &str) -> String {
        uri(&self.root.join(path.trim_start_matches('/')))
    }

    /// Opens a file of the project as it is on disk.
    #[track_caller]
    pub fn open(&self, path: &str) {
        let text = std::fs::read_to_string(self.root.join(path.trim_start_matches('/'))).unwrap();
        self.connection.state().open(self.uri(path), text);
    }

    /// Opens a document with a text of its own.
    pub fn open_text(&self, path: &str, text: String) {
        self.connection.state().open(self.uri(path), text);
    }

    pub fn close(&self, path: &str) {
        self.connection.state().close(&self.uri(path));
    }

    /// Replaces the only occurrence of `old` in a buffer, as a person would.
    #[track_caller]
    pub fn type_over(&self, path: &str, old: &str, new: &str) {
        let uri = self.uri(path);
        let mut state = self.connection.state();
        let buffer = state.buffer(&uri);
        let start = buffer
            .text
            .find(old)
            .unwrap_or_else(|| panic!("{old:?} is not in {:?}", buffer.text));
        state.change(&uri, &[(start..start + old.len(), new.to_owned())]);
    }

    /// Changes a buffer in some steps which are sent as one.
    pub fn type_in_steps(
        &self,
        path: &str,
        step: impl FnMut(&str) -> Option<(std::ops::Range<usize>, String)>,
    ) {
        self.connection
            .state()
            .change_in_steps(&self.uri(path), step);
    }

    /// Saves a buffer.
    pub fn save(&self, path: &str) {
        self.connection.state().save(&self.uri(path));
    }

    /// What a buffer holds.
    pub fn buffer(&self, path: &str) -> Buffer {
        self.connection.state().buffer(&self.uri(path)).clone()
    }

    /// How the next edits are taken, one each; after that they are applied.
    pub fn on_edit(&self, script: impl IntoIterator<Item = OnEdit>) {
        self.connection.state().script.extend(script);
    }

    /// From now on it says that it saves, and does not.
    pub fn forget_to_save(&self) {
        self.connection.state().forgets_to_save = true;
    }

    /// Whether it saves from now on when the server asks.
    pub fn let_save(&self, it_does: bool) {
        self.connection.state().refuses_to_save = !it_does;
    }

    /// Takes an edit that was held.
    pub fn take_held(&self, held: &Value) {
        let params = serde_json::from_value(held["params"].clone()).unwrap();
        self.connection
            .state()
            .apply_and_answer(&held["id"], &params);
    }

    /// Applies the edit of a code action, as editors do it by themselves; or why this one does not.
    pub fn apply_own(&self, edit: &Value) -> Result<(), Option<String>> {
        let params = serde_json::from_value(json!({"edit": edit})).unwrap();
        self.connection.state().apply(&params)
    }

    /// From now on, the test answers `undine/diagnostics`.
    pub fn find_problems(&self) {
        self.connection.state().asks_for_problems = true;
    }

    /// The commands that were announced last, once some were.
    #[track_caller]
    pub fn commands(&self) -> Vec<Value> {
        self.round_trip();
        let state = self.connection.state();
        let last = state.commands.last().expect("no commands were announced");
        let commands = &last["params"]["update"]["availableCommands"];
        commands.as_array().unwrap().clone()
    }

    /// The edits that the server has sent so far.
    pub fn edits(&self) -> Vec<lsp::ApplyWorkspaceEditParams> {
        self.connection.state().edits.clone()
    }
}
