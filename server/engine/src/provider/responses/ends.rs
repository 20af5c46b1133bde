//! What an answer ends with: what it cost, and the errors that are ours to tell.

use serde_json::Value;

use crate::provider::tally::Sums;
use crate::provider::{ModelError, ModelErrorKind, Usage};

/// What it cost.
pub fn usage(usage: &Value) -> Option<Usage> {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let read = &usage["input_tokens_details"];
    usage.is_object().then(|| {
        let sums = Sums {
            read: number(&usage["input_tokens"]),
            written: number(&usage["output_tokens"]),
            total: usage["total_tokens"].as_u64(),
            cached: number(&read["cached_tokens"]),
            cache_write: number(&read["cache_write_tokens"]),
            reasoning: number(&usage["output_tokens_details"]["reasoning_tokens"]),
        };
        sums.parts()
    })
}

/// The provider has ended it.
pub fn cancelled() -> ModelError {
    let message = "the provider cancelled the answer; what had arrived is kept, try again to go on";
    ModelError::new(ModelErrorKind::Cut, message)
}

/// It is not what the format says.
pub fn protocol(what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Protocol,
        format!("the model's server {what}; try again or use another model"),
    )
}

/// It is no answer of this format at all.
pub fn not_json() -> ModelError {
    let message = "the model's server sent something that is not a response of OpenAI's format; check the base URL and the provider's kind, or try again";
    ModelError::new(ModelErrorKind::Protocol, message)
}
