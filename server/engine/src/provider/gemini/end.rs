//! How an answer ends: why, at what cost, and what is said when it does not end well.

use serde::Deserialize;
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

/// What `usageMetadata` counts.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    output: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    reasoning: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Option<u64>,
    #[serde(rename = "toolUsePromptTokenCount")]
    of_tools: Option<u64>,
}

impl Counts {
    pub(super) fn of(wire: &Value) -> Counts {
        let count = |name: &str| wire[name].as_u64();
        Counts {
            prompt: count("promptTokenCount"),
            output: count("candidatesTokenCount"),
            reasoning: count("thoughtsTokenCount"),
            cached: count("cachedContentTokenCount"),
            of_tools: count("toolUsePromptTokenCount"),
        }
    }

    /// In parts that are disjoint; nothing if nothing was counted.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.prompt.or(self.output).or(self.reasoning)?;
        let prompt = self.prompt.unwrap_or(0);
        let cached = self.cached.unwrap_or(0).min(prompt);
        Some(Usage {
            input: (prompt - cached).saturating_add(self.of_tools.unwrap_or(0)),
            cached,
            cache_write: 0,
            output: self.output.unwrap_or(0),
            reasoning: self.reasoning.unwrap_or(0),
        })
    }
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
