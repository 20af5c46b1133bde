//! What the server does for a person beside the turns: listing, making and restoring checkpoints.
//!
//! The disk is waited for in a task; who asked is remembered here until the task has answered.

use crate::event::SessionKey;
use crate::lsp::{Id, Reply};

/// One thing that a person asked for.
pub struct Errand {
    pub session: SessionKey,
    pub asker: Asker,
    /// The request by which the person is being asked whether it shall be done.
    pub question: Option<i64>,
    /// The checkpoint that the person was asked about.
    pub checkpoint: Option<String>,
    /// Whether files are being changed: then it is not broken off.
    pub is_changing: bool,
}

/// Who asked, and is told.
pub enum Asker {
    /// A request of the errand's own method.
    Request(Reply),
    /// A prompt that is a command, `text`.
    Prompt { id: Id, reply: Reply, text: String },
    /// `workspace/executeCommand`, which was answered already.
    Command,
}

/// A wish for the list of models.
pub struct ListWish {
    /// The session whose configuration counts; the editor's first folder without one.
    pub session: Option<SessionKey>,
    pub asker: ListAsker,
}

/// Who wants to know which models there are.
pub enum ListAsker {
    Request(Reply),
    /// A command, by its errand's number.
    Errand(u64),
}
