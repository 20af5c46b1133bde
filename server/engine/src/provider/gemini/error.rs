//! What an error of Google's says: `{"error": {"code", "message", "status", "details"}}`, at times in a list of one.

use serde_json::Value;

use crate::provider::failure::{self, MAX_BODY};
use crate::provider::{Feature, ModelError, ModelErrorKind, Refusal};

/// The error behind an HTTP answer whose status is not 2xx.
pub(super) fn from_http(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
    let plain = || failure::from_http(status, headers, body);
    let Ok(value) = serde_json::from_slice::<Value>(&body[..body.len().min(MAX_BODY)]) else {
        return plain();
    };
    let value = value.get(0).unwrap_or(&value);
    match value.get("error").filter(|it| it.is_object()) {
        Some(said) => {
            let mut error = explained(status, said);
            error.retry_after_ms = error.retry_after_ms.or(plain().retry_after_ms);
            error
        }
        None => plain(),
    }
}

/// The error that a stream reports after it had begun well.
pub(super) fn from_stream(said: &Value) -> ModelError {
    let status = said["code"]
        .as_u64()
        .and_then(|it| u16::try_from(it).ok())
        .filter(|it| (400..600).contains(it));
    explained(status.unwrap_or(200), said)
}

/// A signature of the provider's own was not taken, or is not there.
pub(super) fn signature(said: &str) -> ModelError {
    failure::worded(ModelErrorKind::Signature, 200, said)
}

fn explained(status: u16, said: &Value) -> ModelError {
    let message = said["message"].as_str().unwrap_or_default();
    // Names come in three spellings: thinking_level, thinkingLevel, "Thinking level".
    let plain: String = message
        .chars()
        .filter(|it| !matches!(it, ' ' | '_' | '-'))
        .map(|it| it.to_ascii_lowercase())
        .collect();
    let kind = kind(status, said, &plain);
    let mut error = failure::worded(kind, status, message);
    error.retry_after_ms = details(said).find_map(|it| delay_ms(it["retryDelay"].as_str()?));
    if kind == ModelErrorKind::BadRequest && matches!(status, 400 | 422) {
        error.refusal = refusal(&plain);
    }
    error
}

fn details(said: &Value) -> impl Iterator<Item = &Value> {
    said["details"].as_array().into_iter().flatten()
}

fn kind(status: u16, said: &Value, plain: &str) -> ModelErrorKind {
    if plain.contains("thoughtsignature") {
        return ModelErrorKind::Signature;
    }
    let has_bad_key = details(said).any(|it| it["reason"] == "API_KEY_INVALID");
    if has_bad_key || plain.contains("apikeynotvalid") || plain.contains("apikeyexpired") {
        return ModelErrorKind::Auth;
    }
    let is_too_long = ["inputtokencountexceeds", "tokencount("]
        .iter()
        .any(|it| plain.contains(it))
        && plain.contains("exceeds");
    if is_too_long {
        return ModelErrorKind::ContextOverflow;
    }
    match said["status"].as_str().unwrap_or_default() {
        "RESOURCE_EXHAUSTED" if is_used_up(said) => ModelErrorKind::Quota,
        "RESOURCE_EXHAUSTED" => ModelErrorKind::RateLimit,
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => ModelErrorKind::Auth,
        "UNAVAILABLE" | "INTERNAL" | "DEADLINE_EXCEEDED" | "UNKNOWN" | "ABORTED" => {
            ModelErrorKind::Overloaded
        }
        _ => failure::kind_of(status, said["message"].as_str().unwrap_or_default()),
    }
}

/// Whether a day's quota is: waiting for a minute does not help.
fn is_used_up(said: &Value) -> bool {
    let violations = details(said).filter_map(|it| it["violations"].as_array());
    violations
        .flatten()
        .filter_map(|it| it["quotaId"].as_str())
        .any(|it| it.contains("PerDay"))
}

/// A protobuf duration, `34.4s`, in milliseconds.
fn delay_ms(text: &str) -> Option<u64> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    // The cast saturates, and the filter keeps NaN and negative numbers out.
    Some(seconds)
        .filter(|it| *it >= 0.0)
        .map(|it| (it * 1000.0).ceil() as u64)
}

/// What of the request was refused by name. `plain` is the message in small letters without blanks and underscores.
fn refusal(plain: &str) -> Option<Refusal> {
    let says = |words: &[&str]| words.iter().any(|it| plain.contains(it));
    if says(&["parametersjsonschema"]) {
        Some(Refusal::Drop(Feature::JsonSchema))
    } else if says(&["includethoughts"]) {
        Some(Refusal::Drop(Feature::ThoughtDisplay))
    } else if says(&[
        "unknownname\"thinkinglevel\"",
        "unknownname\"thinkingbudget\"",
        "thinkinglevelisnotsupported",
        "thinkingbudgetisnotsupported",
    ]) {
        // Not this level but any.
        Some(Refusal::Drop(Feature::Reasoning))
    } else if says(&["thinkinglevel", "thinkingbudget", "onlyworksinthinkingmode"]) {
        Some(Refusal::Level { highest: None })
    } else if says(&["thinkingconfig", "thinkingisnot", "notsupportthinking"]) {
        Some(Refusal::Drop(Feature::Thinking))
    } else if says(&["maxoutputtokens"]) {
        Some(match most_tokens(plain) {
            Some(most) => Refusal::MaxTokens(most),
            None => Refusal::Drop(Feature::MaxTokens),
        })
    } else if says(&["temperature"]) {
        Some(Refusal::Drop(Feature::Temperature))
    } else if says(&["functioncalling", "tooluse", "toolsarenot"]) {
        Some(Refusal::Drop(Feature::Tools))
    } else {
        None
    }
}

/// The upper end of "the supported range is from 1 (inclusive) to 65537 (exclusive)".
fn most_tokens(plain: &str) -> Option<u32> {
    let (_, range) = plain.split_once("supportedrange")?;
    let (_, upper) = range.split_once("to")?;
    let end = upper.find(|it: char| !it.is_ascii_digit());
    let (digits, after) = upper.split_at(end.unwrap_or(upper.len()));
    let most: u32 = digits.parse().ok()?;
    match after.starts_with("(exclusive)") {
        true => most.checked_sub(1),
        false => Some(most),
    }
    .filter(|it| *it > 0)
}
