//! What the loop does with each message of the editor, one file a group of methods.

mod actions;
mod answers;
mod documents;
mod lifecycle;
mod prompt;
mod sessions;

use crate::main_loop::Host;
use serde_json::json;

impl Host {
    /// Says something once, by `window/showMessage`; `kind` is LSP's MessageType.
    pub(crate) fn show_message(&mut self, kind: u8, text: &str) {
        self.out.notify(
            "window/showMessage",
            &json!({"type": kind, "message": text}),
        );
    }

    pub(crate) fn show_error(&mut self, text: &str) {
        self.show_message(1, text);
    }

    /// Says a warning, and the same one never again.
    pub(crate) fn warn_once(&mut self, text: String) {
        if !self.said.contains(&text) {
            self.show_message(2, &text);
            self.said.push(text);
        }
    }
}
