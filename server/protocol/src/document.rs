//! `undine/document/…`: what the server asks an editor about its documents.

use crate::lsp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks the editor to save one open document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaveDocumentParams {
    /// The document, spelled as the editor opened it.
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
}

/// Whether the document's text is on disk now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaveDocumentResult {
    pub saved: bool,
}
