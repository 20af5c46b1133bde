//! What items of an answer are, to the decoder that takes them in and to the request that sends them back.

use serde_json::Value;

use crate::provider::native::NativeTool;

/// A field of an item that holds a text, else an empty one.
pub fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().unwrap_or_default()
}

/// What a message says: its texts and its refusals.
pub fn said(message: &Value) -> String {
    let parts = message["content"].as_array().into_iter().flatten();
    parts
        .map(|it| match text(it, "type") {
            "refusal" => text(it, "refusal"),
            _ => text(it, "text"),
        })
        .collect()
}

/// Whether a message declines.
pub fn declines(message: &Value) -> bool {
    let mut parts = message["content"].as_array().into_iter().flatten();
    parts.any(|it| text(it, "type") == "refusal")
}

/// What a reasoning item lets one read: its summary, else the thinking itself, paragraph by paragraph.
pub fn thought(reasoning: &Value) -> String {
    let of = |field: &str| {
        let parts = reasoning[field].as_array().into_iter().flatten();
        let texts: Vec<&str> = parts.map(|it| text(it, "text")).collect();
        texts.join(BETWEEN)
    };
    Some(of("summary"))
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| of("content"))
}

/// What stands between two messages, or two parts of a summary, where they are shown as one text.
pub const BETWEEN: &str = "\n\n";

/// The texts of all messages among these items, as they were shown.
pub fn all_said(items: &[Value]) -> String {
    let messages = items.iter().filter(|it| text(it, "type") == "message");
    let texts: Vec<String> = messages.map(said).filter(|it| !it.is_empty()).collect();
    texts.join(BETWEEN)
}

/// A call that is ours to run.
pub enum Runs {
    Function,
    Native(NativeTool),
}

/// Whether an item is a call that is run, and how. All other calls are kept and never run.
pub fn runs(item: &Value) -> Option<Runs> {
    match text(item, "type") {
        "function_call" => Some(Runs::Function),
        "apply_patch_call" => Some(Runs::Native(NativeTool::ApplyPatch)),
        _ => None,
    }
}

/// The ids of the calls that are run, in order.
pub fn run_ids(items: &[Value]) -> impl Iterator<Item = &str> {
    items
        .iter()
        .filter(|it| runs(it).is_some())
        .map(|it| text(it, "call_id"))
}
