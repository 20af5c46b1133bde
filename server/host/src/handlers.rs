//! What the loop does with each message of the editor, one file a group of methods.

mod actions;
mod agents;
mod annotations;
mod answers;
mod approvals;
mod auth;
mod btw;
mod checkpoints;
mod command_files;
mod commands;
mod commits;
mod context;
mod cut_off;
mod diagnostics;
mod documents;
pub(crate) mod failing;
mod folders;
mod goal;
mod hints;
mod lenses;
mod lifecycle;
mod memory;
mod model_lists;
mod models;
mod permissions;
mod processes;
mod prompt;
mod refresh;
mod reverting;
mod review;
mod review_actions;
mod said;
mod saving;
mod sessions;
mod shown_hunks;
mod styles;
mod todos;
mod usage;
mod virtual_documents;

pub(crate) use approvals::{Approving, denied, line as approval_line, whole as whole_approval};
pub(crate) use checkpoints::{line as checkpoint_line, wire as wire_checkpoint};
pub(crate) use refresh::Shown;
pub(crate) use reverting::Reviewing;
pub(crate) use saving::SaveWaiter;
pub(crate) use sessions::{exported, rename, session_time};
pub(crate) use usage::report as usage_report;

use crate::main_loop::Host;
use engine::redact::redact;
use protocol::lsp::{MessageType, ShowMessageParams};

impl Host {
    /// Says something once, by `window/showMessage`.
    pub(crate) fn show_message(&mut self, kind: MessageType, text: &str) {
        let message = redact(text).into_owned();
        let params = ShowMessageParams { kind, message };
        self.out.notify("window/showMessage", &params);
    }

    pub(crate) fn show_error(&mut self, text: &str) {
        self.show_message(MessageType::Error, text);
    }

    /// Says a warning, and the same one never again.
    pub(crate) fn warn_once(&mut self, text: String) {
        self.say_once(MessageType::Warning, text);
    }

    /// As [`warn_once`](Self::warn_once), of what is as it should be.
    pub(crate) fn tell_once(&mut self, text: String) {
        self.say_once(MessageType::Info, text);
    }

    fn say_once(&mut self, kind: MessageType, text: String) {
        if !self.said.contains(&text) {
            self.show_message(kind, &text);
            self.said.push(text);
        }
    }
}
