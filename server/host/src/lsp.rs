//! The editor's side of the host: JSON-RPC over stdin and stdout.
//!
//! `tower-lsp-server` gives the trait, the router, the lifecycle and the types; it is named in this
//! file and in `pump` only, so that its next release is a small change. Its own stdio loop is not used:
//! it starts handlers out of order, stalls when handlers wait for the editor, and ends at the first
//! malformed frame. [`serve`] drives the service instead. Two threads are ours: one reads stdin and
//! starts every handler in arrival order, one writes stdout.
//!
//! Nothing is decided here. A handler puts an event into the main loop's inbox and waits for the reply.

mod current;
mod door;
mod frame;
mod message;
mod out;
mod pump;
mod repair;
mod stdio;

pub use current::{current_message_repaired, current_request_id};
pub use door::{Door, DoorFront, FrontEvent, Incoming, Notice, Reply, cancelled, service};
pub use frame::{Frame, Frames};
pub use message::{Answer, Message};
pub use out::{BEHIND, Chunk, ChunkKind, HIGH_WATER, Out};
pub use pump::{Front, Limits, serve, serve_on};
pub use repair::repair_surrogates;

pub use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Result};
pub use tower_lsp_server::{LanguageServer, LspService, gen_lsp_types as types};

/// JSON-RPC error codes which LSP defines and the router's own list lacks.
/// Source: LSP 3.18, "ErrorCodes".
pub mod code {
    use super::ErrorCode;

    /// A request came before `initialize` was answered.
    pub const NOT_INITIALIZED: ErrorCode = ErrorCode::ServerError(-32002);
    /// The text is another than the one that the request is about.
    pub const CONTENT_MODIFIED: ErrorCode = ErrorCode::ServerError(-32801);
    /// The request was valid, but the server cannot serve it now.
    pub const REQUEST_FAILED: ErrorCode = ErrorCode::ServerError(-32803);
}

/// An error with its own words, for a person who reads the editor's log.
pub fn error(code: ErrorCode, message: impl Into<String>) -> Error {
    Error {
        code,
        message: message.into().into(),
        data: None,
    }
}
