//! What the loop does with each message of the editor, one file a group of methods.

mod actions;
mod answers;
mod checkpoints;
mod commands;
mod commits;
mod cut_off;
mod documents;
mod lifecycle;
mod prompt;
mod reverting;
mod review;
mod sessions;

pub(crate) use checkpoints::{line as checkpoint_line, wire as wire_checkpoint};
pub(crate) use lifecycle::read_layer;
pub(crate) use reverting::Reviewing;

use crate::main_loop::Host;
use protocol::lsp::{MessageType, ShowMessageParams};

impl Host {
    /// Says something once, by `window/showMessage`.
    pub(crate) fn show_message(&mut self, kind: MessageType, text: &str) {
        let message = text.to_owned();
        let params = ShowMessageParams { kind, message };
        self.out.notify("window/showMessage", &params);
    }

    pub(crate) fn show_error(&mut self, text: &str) {
        self.show_message(MessageType::Error, text);
    }

    /// Says a warning, and the same one never again.
    pub(crate) fn warn_once(&mut self, text: String) {
        if !self.said.contains(&text) {
            self.show_message(MessageType::Warning, &text);
            self.said.push(text);
        }
    }
}
