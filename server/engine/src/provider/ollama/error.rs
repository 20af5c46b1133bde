//! What an error of Ollama's says: `{"error": "text"}`, and nothing else but its status.

use protocol::config::Reasoning;
use serde_json::Value;

use crate::provider::failure::{self, MAX_BODY};
use crate::provider::{Feature, ModelError, ModelErrorKind, Refusal};

/// The error behind an HTTP answer whose status is not 2xx.
pub(super) fn from_http(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
    let mut error = failure::from_http(status, headers, body);
    let said = serde_json::from_slice::<Value>(&body[..body.len().min(MAX_BODY)]);
    let said = said.unwrap_or_default();
    let Some(said) = said["error"].as_str() else {
        return error;
    };
    if let Some(other) = in_its_words(status, said) {
        return other;
    }
    if matches!(status, 400 | 422) {
        error.refusal = refusal(said);
    }
    error
}

/// The error that a stream reports after it had begun well. `line` is the line it stands in.
pub(super) fn from_stream(line: &Value) -> ModelError {
    let said = line["error"].as_str().unwrap_or_default();
    in_its_words(200, said).unwrap_or_else(|| failure::from_stream(line))
}

/// The error of a model that Ollama has not downloaded.
pub fn not_there(model: &str) -> ModelError {
    let message = format!(
        "Ollama does not have the model {model}; download it with `undine models pull {model}`, or choose another"
    );
    ModelError::new(ModelErrorKind::BadRequest, message)
}

/// Errors whose status tells another story than their words.
fn in_its_words(status: u16, said: &str) -> Option<ModelError> {
    // Once with "try pulling it first" behind it, and once without.
    if status == 404 && said.starts_with("model ") && said.contains("not found") {
        let name = said.split(['"', '\'']).nth(1).unwrap_or_default();
        return Some(not_there(name));
    }
    // A 500, but waiting does not make memory.
    if said.contains("more system memory") {
        return Some(failure::worded(ModelErrorKind::BadRequest, status, said));
    }
    None
}

/// What of the request was refused by name.
fn refusal(said: &str) -> Option<Refusal> {
    if said.contains("does not support thinking") {
        Some(Refusal::Drop(Feature::Thinking))
    } else if said.contains("does not support tools") {
        Some(Refusal::Drop(Feature::Tools))
    } else if said.contains("invalid think value") {
        // `max` is the youngest word.
        Some(Refusal::Level {
            highest: Some(Reasoning::High),
        })
    } else if said.contains("cannot unmarshal") && said.contains("think") {
        // From before there were levels.
        Some(Refusal::Drop(Feature::Reasoning))
    } else {
        None
    }
}
