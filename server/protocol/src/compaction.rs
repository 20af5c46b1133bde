//! What the model says when it wants older history summarised (spec 12.2).

use schemars::JsonSchema;
use serde::Deserialize;

/// Have older history summarised before your next step, when a part of the work is done and its details are not needed any more. The
/// whole of it stays readable by `context_archive`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct CompactContext {
    /// What the summary must keep.
    #[serde(default)]
    pub focus: Option<String>,
}

impl CompactContext {
    /// The tool's name.
    pub const NAME: &'static str = "compact_context";
}
