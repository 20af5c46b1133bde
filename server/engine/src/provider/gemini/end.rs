//! How an answer ends: why, at what cost, and what is said when it does not end well.

use serde_json::Value;

use super::error;
use crate::provider::sse::MAX_EVENT;
use crate::provider::{ModelError, ModelErrorKind, StopReason, Usage};

/// What a finish reason means; an error where the answer is of no use.
pub(super) fn stop_reason(finish: &str, has_called: bool) -> Result<StopReason, ModelError> {
    Ok(match finish {
        // The last is a mock server's.
        "STOP" | "FINISH_REASON_UNSPECIFIED" | "FUNCTION_CALL" if has_called => {
            StopReason::ToolCalls
        }
        "STOP" | "FINISH_REASON_UNSPECIFIED" | "FUNCTION_CALL" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Refusal,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            let message = format!(
                "the model wrote a tool call that its provider cannot read ({finish}); try again"
            );
            return Err(ModelError::new(ModelErrorKind::Overloaded, message));
        }
        "MISSING_THOUGHT_SIGNATURE" => return Err(error::signature(finish)),
        other => StopReason::Other(other.to_owned()),
    })
}

/// Reads `usageMetadata`; nothing if it counts nothing.
pub(super) fn usage(wire: &Value) -> Option<Usage> {
    let count = |name: &str| wire[name].as_u64();
    let prompt = count("promptTokenCount");
    let output = count("candidatesTokenCount");
    let reasoning = count("thoughtsTokenCount");
    prompt.or(output).or(reasoning)?;
    let prompt = prompt.unwrap_or(0);
    let cached = count("cachedContentTokenCount").unwrap_or(0).min(prompt);
    let of_tools = count("toolUsePromptTokenCount").unwrap_or(0);
    Some(Usage {
        input: (prompt - cached).saturating_add(of_tools),
        cached,
        cache_write: 0,
        output: output.unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
    })
}

pub(super) fn cut() -> ModelError {
    let message = "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on";
    ModelError::new(ModelErrorKind::Cut, message)
}

pub(super) fn too_long() -> ModelError {
    let message = format!(
        "the model's server sent more than {} MiB in one event; ask for smaller steps",
        MAX_EVENT >> 20
    );
    ModelError::new(ModelErrorKind::Limit, message)
}

pub(super) fn limit(what: &str) -> ModelError {
    let message = format!("the model {what}; ask for smaller steps");
    ModelError::new(ModelErrorKind::Limit, message)
}

pub(super) fn not_json() -> ModelError {
    let message = "the model's server sent something that is no answer of Gemini's; check the base URL, or try again";
    ModelError::new(ModelErrorKind::Protocol, message)
}
