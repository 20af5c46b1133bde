//! What an error of this API says, and what of the request it refuses by name.
//!
//! Kinds come from the error's type and the status. A refusal is read from the message, because there is no code for it;
//! one that is not understood is an error like any other.

use protocol::config::Reasoning;
use serde_json::Value;

use super::{BETA, BINDING_BETA, COMPACTION_BETA, DISPLAY_BETA};
use crate::provider::failure::{self, header};
use crate::provider::{Feature, ModelError, ModelErrorKind, Refusal};

/// The error behind an HTTP answer whose status is not 2xx.
pub fn error(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
    let body = &body[..body.len().min(failure::MAX_BODY)];
    let is_of_request = matches!(status, 400 | 422);
    let mut error = failure::from_http_judged(status, headers, body, |message| {
        (is_of_request && is_signature(message)).then_some(ModelErrorKind::Signature)
    });
    // The server's word on this counts before its status.
    let is_to_retry = header(headers, "x-should-retry").is_some_and(|it| it.trim() == "true");
    if is_to_retry && error.kind == ModelErrorKind::BadRequest {
        error.kind = ModelErrorKind::Overloaded;
    }
    if is_of_request && error.kind != ModelErrorKind::Signature {
        error.refusal = message(body).as_deref().and_then(refusal);
    }
    error
}

fn message(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = body["error"]["message"].as_str();
    message.or(body["message"].as_str()).map(str::to_owned)
}

/// Whether signed thoughts are refused that were sent back: changed ones, or ones of another conversation.
fn is_signature(message: &str) -> bool {
    let message = message.to_ascii_lowercase().replace('`', "");
    let is_of_thought = message.contains("thinking") || message.contains("signature");
    message.contains("bound to a different")
        || message.contains("invalid signature")
        || (message.contains("cannot be modified") && is_of_thought)
        || (message.starts_with("messages.") && is_of_thought)
}

/// What a message refuses.
fn refusal(message: &str) -> Option<Refusal> {
    if let Some(most) = most_tokens(message) {
        return Some(Refusal::MaxTokens(most));
    }
    // What it offers instead is not what it refuses.
    let ends = [
        "Did you mean",
        "does not match any of the expected",
        "Use \"",
    ];
    let end = ends.iter().filter_map(|it| message.find(it)).min();
    let refused = message[..end.unwrap_or(message.len())].to_ascii_lowercase();
    let names = |it: &str| refused.contains(it);
    let drop = |it| Some(Refusal::Drop(it));
    if names(COMPACTION_BETA) || names("context_management") || names("compact_20") {
        return drop(Feature::Compaction);
    }
    if names(BINDING_BETA) {
        return drop(Feature::ThoughtBinding);
    }
    if names(DISPLAY_BETA) {
        return drop(Feature::ThoughtDisplay);
    }
    if names(BETA) || names("invalid beta") {
        // It does not say which. All of ours are about thinking.
        return drop(Feature::Thinking);
    }
    // Marks stand on tools, which are named as the place then.
    if names("cache_control") {
        return drop(Feature::CacheMarkers);
    }
    if names("text_editor_20") || names("str_replace_based_edit_tool") {
        return drop(Feature::TextEditor);
    }
    if names("bash_20") {
        return drop(Feature::Bash);
    }
    if names("temperature") {
        return drop(Feature::Temperature);
    }
    if names("block_binding") || names("prefix_mismatch_behavior") {
        return drop(Feature::ThoughtBinding);
    }
    if names("thinking") && names("display") {
        // Either the one way to show thoughts is refused, or there is no way at all.
        return match names("extra inputs") {
            false => drop(Feature::ThoughtDisplay),
            true => drop(Feature::Thinking),
        };
    }
    if names("thinking.type.disabled") {
        return Some(Refusal::Level { highest: None });
    }
    if names("effort") || names("output_config") {
        return Some(match highest(message) {
            Some(highest) => Refusal::Level {
                highest: Some(highest),
            },
            None if names("effort level") => Refusal::Level { highest: None },
            None => Refusal::Drop(Feature::Reasoning),
        });
    }
    if names("thinking") {
        return drop(Feature::Thinking);
    }
    let of_tools = [
        "not support tool",
        "tool use is not supported",
        "tools are not supported",
    ];
    match of_tools.iter().any(|it| names(it)) {
        true => drop(Feature::Tools),
        false => None,
    }
}

/// The most tokens that a model writes: `max_tokens: 64000 > 8192, which is the maximum …`.
fn most_tokens(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("max_tokens: ")?;
    let (asked, rest) = rest.split_once(" > ")?;
    asked.trim().parse::<u64>().ok()?;
    let end = rest
        .find(|it: char| !it.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The highest level of those that a message says there are.
fn highest(message: &str) -> Option<Reasoning> {
    let lists = ["Supported levels:", "should be"];
    let list = lists.iter().find_map(|it| message.split_once(it))?.1;
    let words = list.split(|it: char| !it.is_ascii_alphanumeric());
    words.filter_map(Reasoning::from_id).max()
}
