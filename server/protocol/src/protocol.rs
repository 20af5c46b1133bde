//! The nouns of the wire: what leaves the process, and nothing else.
//!
//! Methods and their types, the records of a session's log, and every option of the configuration.
//! Nothing here decides or does; a session's state is never serialized.

pub mod agent;
pub mod approval;
pub mod auth;
pub mod btw;
pub mod checklist;
pub mod checkpoint;
pub mod compaction;
pub mod config;
pub mod context;
pub mod document;
pub mod goal;
pub mod hunks;
pub mod memory;
pub mod messages;
pub mod methods;
pub mod models;
pub mod permission;
pub mod process;
pub mod record;
pub mod retry;
pub mod review;
pub mod seen;
pub mod session;
pub mod sessions;
pub mod summary;
pub mod tool;
pub mod usage;

/// ACP version 1, from its maintained schema crate.
pub use agent_client_protocol_schema::v1 as acp;
/// LSP 3.18, generated from its official meta-model.
pub use gen_lsp_types as lsp;
