//! What errors mean, and what is learned from them.

use expect_test::expect;
use serde_json::json;

use crate::provider::anthropic::Messages;
use crate::provider::{ModelError, ModelErrorKind, Provider as _};

fn error(status: u16, kind: &str, message: &str, headers: &[(&str, &str)]) -> ModelError {
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let body = json!({
        "type": "error",
        "error": { "type": kind, "message": message },
        "request_id": "req_1"
    });
    Messages.error(status, &headers, body.to_string().as_bytes())
}

#[test]
fn a_refusal_names_what_to_leave_out() {
    let messages = [
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-haiku",
        "'claude-9' does not support tool types: text_editor_20250728. Did you mean one of bash_20250124, computer_toolset_20260801?",
        "'claude-9' does not support tool types: bash_20250124. Did you mean one of text_editor_20250728?",
        "tools.0: Input tag 'bash_20250124' found using 'type' does not match any of the expected tags: 'custom', 'text_editor_20250728'",
        "tools.3.cache_control: Extra inputs are not permitted",
        "`temperature` is not supported with this version.",
        "temperature: may only be set to 1 when thinking is enabled",
        "Unexpected value(s) `thinking-display-updates-2026-08-18` for the `anthropic-beta` header",
        "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header",
        "invalid beta flag",
        "thinking.adaptive.display: Extra inputs are not permitted",
        "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
        "thinking.adaptive.block_binding: Extra inputs are not permitted",
        "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
        "adaptive thinking is not supported on this model",
        "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'enabled', 'disabled'",
        "This model does not support effort level 'xhigh'. Supported levels: low, medium, high.",
        "This model does not support effort level 'max'.",
        "output_config.effort: Input should be 'low' or 'medium'",
        "This model does not support the effort parameter.",
        "claude-1 does not support tools.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "messages: roles must alternate",
    ];
    let lines: String = messages
        .iter()
        .map(|it| {
            let error = error(400, "invalid_request_error", it, &[]);
            format!("{:?} {:?}\n", error.kind, error.refusal)
        })
        .collect();
    expect![[r#"
        BadRequest Some(MaxTokens(8192))
        BadRequest Some(Drop(TextEditor))
        BadRequest Some(Drop(Bash))
        BadRequest Some(Drop(Bash))
        BadRequest Some(Drop(CacheMarkers))
        BadRequest Some(Drop(Temperature))
        BadRequest Some(Drop(Temperature))
        BadRequest Some(Drop(ThoughtDisplay))
        BadRequest Some(Drop(ThoughtBinding))
        BadRequest Some(Drop(Thinking))
        BadRequest Some(Drop(Thinking))
        BadRequest Some(Drop(ThoughtDisplay))
        BadRequest Some(Drop(ThoughtBinding))
        BadRequest Some(Level { highest: None })
        BadRequest Some(Drop(Thinking))
        BadRequest Some(Drop(Thinking))
        BadRequest Some(Level { highest: Some(High) })
        BadRequest Some(Level { highest: None })
        BadRequest Some(Level { highest: Some(Medium) })
        BadRequest Some(Drop(Reasoning))
        BadRequest Some(Drop(Tools))
        ContextOverflow None
        BadRequest None
    "#]]
    .assert_eq(&lines);
}

#[test]
fn only_what_is_wrong_with_a_request_is_learned_from() {
    for status in [401, 403, 404, 413, 429, 500, 529] {
        let error = error(
            status,
            "api_error",
            "temperature bash_20250124 thinking",
            &[],
        );
        assert_eq!(error.refusal, None, "{status}");
    }
}

#[test]
fn refused_signatures_are_of_a_kind_of_their_own() {
    for message in [
        "messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "The block is bound to a different conversation than the one it was sent in.",
    ] {
        let error = error(400, "invalid_request_error", message, &[]);
        assert_eq!(
            (error.kind, error.refusal),
            (ModelErrorKind::Signature, None),
            "{message}"
        );
    }
}

#[test]
fn kinds_waits_and_request_ids_are_read() {
    let lines: String = [
        error(401, "authentication_error", "invalid x-api-key", &[]),
        error(402, "billing_error", "Your credit balance is too low", &[]),
        error(403, "permission_error", "not for you", &[]),
        error(404, "not_found_error", "model: claude-0", &[]),
        error(
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            &[],
        ),
        error(
            429,
            "rate_limit_error",
            "too many",
            &[("Retry-After", "7"), ("request-id", "req_9")],
        ),
        error(
            429,
            "rate_limit_error",
            "too many",
            &[("retry-after-ms", "250"), ("retry-after", "1")],
        ),
        error(
            429,
            "rate_limit_error",
            "used up",
            &[("x-should-retry", "false")],
        ),
        error(500, "api_error", "Internal server error", &[]),
        error(500, "api_error", "never", &[("x-should-retry", "false")]),
        error(504, "timeout_error", "too slow", &[]),
        error(529, "overloaded_error", "Overloaded", &[]),
        error(
            400,
            "invalid_request_error",
            "once more",
            &[("x-should-retry", "true")],
        ),
        error(
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            &[],
        ),
        error(
            400,
            "invalid_request_error",
            "messages.1.content.0.image: image exceeds 5 MB maximum",
            &[],
        ),
    ]
    .iter()
    .map(|it| format!("{:?} {:?} {}\n", it.kind, it.retry_after_ms, it.message))
    .collect();
    expect![[r#"
        Auth None the provider refused the API key (HTTP 401): "invalid x-api-key"; check the key and what it may be used for
        Quota None the provider's account has no quota left (HTTP 402): "Your credit balance is too low"; check its plan and billing
        Auth None the provider refused the API key (HTTP 403): "not for you"; check the key and what it may be used for
        BadRequest None the provider does not know this model or address (HTTP 404): "model: claude-0"; check the model's name and the base URL
        ContextOverflow None the conversation is longer than the model can read (HTTP 413): "Request exceeds the maximum size"; compact it or start a new one
        RateLimit Some(7000) the provider's rate limit is reached (HTTP 429): "too many"; wait a moment and try again (request id req_9)
        RateLimit Some(250) the provider's rate limit is reached (HTTP 429): "too many"; wait a moment and try again
        RateLimit None the provider's rate limit is reached (HTTP 429): "used up"; wait a moment and try again
        Overloaded None the provider has a problem of its own (HTTP 500): "Internal server error"; try again in a moment
        Overloaded None the provider has a problem of its own (HTTP 500): "never"; try again in a moment
        Overloaded None the provider has a problem of its own (HTTP 504): "too slow"; try again in a moment
        Overloaded None the provider has a problem of its own (HTTP 529): "Overloaded"; try again in a moment
        Overloaded None the provider did not accept the request (HTTP 400): "once more"; check the model's settings
        ContextOverflow None the conversation is longer than the model can read (HTTP 400): "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"; compact it or start a new one
        Pictures None the provider did not accept a picture (HTTP 400): "messages.1.content.0.image: image exceeds 5 MB maximum"; choose a model that takes pictures to have it seen
    "#]].assert_eq(&lines);
}

#[test]
fn a_body_that_is_no_error_of_theirs_is_still_an_error() {
    for body in [
        "",
        "<html>gone</html>",
        "[]",
        "{\"error\":\"no\"}",
        "{\"message\":\"thinking\"}",
    ] {
        let error = Messages.error(400, &[], body.as_bytes());
        assert_eq!(error.kind, ModelErrorKind::BadRequest, "{body}");
    }
}
