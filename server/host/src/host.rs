//! Does what the engine decides.

pub mod lsp;
