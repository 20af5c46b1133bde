//! `undine/selection`, `undine/diagnostics`, `undine/symbols`: what the server asks an editor of what the person sees there.

use crate::lsp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks what the person has selected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectionParams {}

/// The selection of the window that was a file's last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectionResult {
    /// Missing where nothing is selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<EditorSelection>,
}

/// A selected text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorSelection {
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
    /// First and last line, counted from 1.
    pub lines: (u32, u32),
    pub text: String,
}

/// Asks for the problems that the editor shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsParams {
    /// The document, spelled as the editor opened it; all files that have problems, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub uri: Option<lsp::Uri>,
    /// Wait until there are those of this version of the document, and then answer at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The longest wait, milliseconds. What there is by then is no answer for the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// Problems by file. Where a version was asked for and its problems are not known, its document is not among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsResult {
    pub files: Vec<FileProblems>,
}

/// The problems of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileProblems {
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
    /// The document's version that they are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    pub problems: Vec<Problem>,
}

/// One problem. The server's own diagnostics are none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Counted from 1.
    pub line: u32,
    /// As LSP counts: 1 error, 2 warning, 3 information, 4 hint.
    pub severity: u8,
    pub message: String,
    /// Who found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Asks where the workspace's symbols of a name are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolsParams {
    pub query: String,
}

/// The symbols, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolsResult {
    pub symbols: Vec<FoundSymbol>,
}

/// A symbol and its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundSymbol {
    pub name: String,
    #[schemars(with = "String")]
    pub uri: lsp::Uri,
    /// First and last line of its definition, counted from 1.
    pub lines: (u32, u32),
}
