//! Statuses, bodies and headers as providers send them, to the sentence a person reads.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::provider::{Feature, Refusal};
use protocol::config::Reasoning;

fn check(status: u16, headers: &[(&str, &str)], body: &str, expected: Expect) {
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let error = from_http(status, &headers, body.as_bytes());
    let wait = error
        .retry_after_ms
        .map_or(String::new(), |it| format!(" after {it} ms"));
    expected.assert_eq(&format!("{:?}{wait}: {}", error.kind, error.message));
}

#[test]
fn a_refused_key_is_told_without_the_key() {
    check(
        401,
        &[("X-Request-Id", "req_123")],
        r#"{"error":{"message":"Incorrect API key provided: sk-proj-abc123DEF***wxyz. You can find\nyour \"API key\" here.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
        expect![[
            r#"Auth: the provider refused the API key (HTTP 401): "Incorrect API key provided: ***. You can find your 'API key' here"; check the key and what it may be used for (request id req_123)"#
        ]],
    );
    check(
        403,
        &[],
        "Authorization: Bearer abc, token 0123456789abcdef0123456789abcdef!",
        expect![[
            r#"Auth: the provider refused the API key (HTTP 403): "Authorization: Bearer *** token ***!"; check the key and what it may be used for"#
        ]],
    );
}

#[test]
fn a_bad_key_and_an_empty_account_are_known_by_words_behind_a_bad_request() {
    check(
        400,
        &[],
        r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***fg. You can obtain an API key from https://console.x.ai."}"#,
        expect![[
            r#"Auth: the provider refused the API key (HTTP 400): "Incorrect API key provided: xa***fg. You can obtain an API key from https://console.x.ai"; check the key and what it may be used for"#
        ]],
    );
    check(
        400,
        &[],
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
        expect![[
            r#"Quota: the provider's account has no quota left (HTTP 400): "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits"; check its plan and billing"#
        ]],
    );
}

#[test]
fn a_redirect_is_told_as_one() {
    check(
        302,
        &[],
        "<html>Moved</html>",
        expect![
            "BadRequest: the server redirects to another address, where nothing was sent (HTTP 302); set base_url to the one that is meant"
        ],
    );
}

#[test]
fn an_error_in_a_list_of_one_is_read_like_any_other() {
    check(
        400,
        &[],
        r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#,
        expect![[
            r#"Auth: the provider refused the API key (HTTP 400): "API key not valid"; check the key and what it may be used for"#
        ]],
    );
}

#[test]
fn too_long_a_conversation_is_known_by_code_type_or_words() {
    check(
        400,
        &[],
        r#"{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        expect![[
            r#"ContextOverflow: the conversation is longer than the model can read (HTTP 400): "too long"; compact it or start a new one"#
        ]],
    );
    check(
        400,
        &[],
        r#"{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens)","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}"#,
        expect![[
            r#"ContextOverflow: the conversation is longer than the model can read (HTTP 400): "request (9000 tokens) exceeds the available context size (8192 tokens)"; compact it or start a new one"#
        ]],
    );
    check(
        400,
        &[],
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
        expect![[
            r#"ContextOverflow: the conversation is longer than the model can read (HTTP 400): "This model's maximum context length is 4096 tokens"; compact it or start a new one"#
        ]],
    );
}

#[test]
fn limits_quotas_and_troubles_differ() {
    check(
        429,
        &[("Retry-After", "20")],
        r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#,
        expect![[
            r#"RateLimit after 20000 ms: the provider's rate limit is reached (HTTP 429): "Rate limit reached"; wait a moment and try again"#
        ]],
    );
    check(
        429,
        &[("retry-after-ms", "150.5"), ("retry-after", "1")],
        "slow down",
        expect![[
            r#"RateLimit after 151 ms: the provider's rate limit is reached (HTTP 429): "slow down"; wait a moment and try again"#
        ]],
    );
    check(
        429,
        &[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")],
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        expect![[
            r#"Quota: the provider's account has no quota left (HTTP 429): "You exceeded your current quota"; check its plan and billing"#
        ]],
    );
    check(
        402,
        &[],
        r#"{"error":{"code":402,"message":"Insufficient credits"}}"#,
        expect![[
            r#"Quota: the provider's account has no quota left (HTTP 402): "Insufficient credits"; check its plan and billing"#
        ]],
    );
    check(
        503,
        &[("retry-after", "-3")],
        r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
        expect![[
            r#"Overloaded: the provider has a problem of its own (HTTP 503): "Loading model"; try again in a moment"#
        ]],
    );
    check(
        502,
        &[],
        "<html><body>Bad gateway</body></html>",
        expect![
            "Overloaded: the provider has a problem of its own (HTTP 502); try again in a moment"
        ],
    );
}

#[test]
fn what_the_provider_does_not_accept_is_told() {
    check(
        400,
        &[],
        r#"{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_parameter"}}"#,
        expect![[
            r#"BadRequest: the provider did not accept the request (HTTP 400): "Unsupported parameter: 'temperature' is not supported with this model"; check the model's settings"#
        ]],
    );
    check(
        404,
        &[],
        r#"{"error":"model 'x' not found, try pulling it first"}"#,
        expect![[
            r#"BadRequest: the provider does not know this model or address (HTTP 404): "model 'x' not found, try pulling it first"; check the model's name and the base URL"#
        ]],
    );
    check(
        422,
        &[],
        r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#,
        expect![[
            r#"BadRequest: the provider did not accept the request (HTTP 422): "[{'loc':['body'],'msg':'field required'}]"; check the model's settings"#
        ]],
    );
    check(
        400,
        &[],
        "",
        expect![
            "BadRequest: the provider did not accept the request (HTTP 400); check the model's settings"
        ],
    );
}

#[test]
fn a_body_beyond_the_cap_is_not_read_and_a_long_message_is_shortened() {
    let body = format!("{}{}", "é".repeat(MAX_BODY), "sk-0123456789");
    let error = from_http(500, &[], body.as_bytes());
    assert_eq!(
        error.message.chars().filter(|it| *it == 'é').count(),
        MAX_QUOTE
    );
    assert!(
        error.message.ends_with("…\"; try again in a moment"),
        "{}",
        error.message
    );
}

#[test]
fn an_error_of_a_stream_goes_by_its_code() {
    assert_eq!(
        from_stream(&json!({ "message": "x", "code": 401 })).kind,
        ModelErrorKind::Auth
    );
    assert_eq!(
        from_stream(&json!({ "message": "x", "code": "502" })).kind,
        ModelErrorKind::Overloaded
    );
    assert_eq!(
        from_stream(&json!({ "type": "invalid_request_error" })).kind,
        ModelErrorKind::BadRequest
    );
    assert_eq!(from_stream(&json!("x")).kind, ModelErrorKind::Overloaded);
}

#[test]
fn words_that_are_no_keys_are_kept() {
    let text = "model meta-llama/Llama-3.3-70B-Instruct-Turbo in risk-free 2026-11-30 task sk- req_01kh52nmbjem9bfhxdbabnjv0x";
    assert_eq!(quote(text), text);
    assert_eq!(
        quote("key=gsk_0123456789abc, AIzaSyD-0123456789 (eyJhbGciOiJI.eyJzdWIiOiIx.sig)"),
        "key=***, *** (***.***.sig)"
    );
}

#[test]
fn a_picture_that_is_not_taken_is_told_from_other_refusals() {
    let kind = |status: u16, body: &str| from_http(status, &[], body.as_bytes()).kind;
    let pictures = [
        (
            400,
            r#"{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error"}}"#,
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
        ),
        (
            400,
            r#"{"object":"error","message":"tiny is not a multimodal model","code":400}"#,
        ),
        (
            404,
            r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#,
        ),
    ];
    for (status, body) in pictures {
        assert_eq!(kind(status, body), ModelErrorKind::Pictures, "{body}");
    }
    let others = [
        (404, "model image-1 not found", ModelErrorKind::BadRequest),
        (
            500,
            "the image of the container is gone",
            ModelErrorKind::Overloaded,
        ),
        (401, "no key for image input", ModelErrorKind::Auth),
    ];
    for (status, body, expected) in others {
        assert_eq!(kind(status, body), expected, "{body}");
    }
}

fn refused(status: u16, message: &str, param: &str) -> Option<Refusal> {
    let body =
        json!({ "error": { "message": message, "type": "invalid_request_error", "param": param } });
    from_http(status, &[], body.to_string().as_bytes()).refusal
}

#[test]
fn what_is_refused_by_name_is_known() {
    use Refusal::{Drop, Level, MaxTokens};
    let level = |highest| Some(Level { highest });
    let cases = [
        (
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
            Some(Drop(Feature::Temperature)),
        ),
        (
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
            "temperature",
            Some(Drop(Feature::Temperature)),
        ),
        (
            "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
            "temperature",
            None,
        ),
        (
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning.effort",
            Some(Drop(Feature::Reasoning)),
        ),
        (
            "Unsupported value: 'reasoning.effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium'.",
            "reasoning.effort",
            level(Some(Reasoning::Medium)),
        ),
        (
            "Unsupported value: 'xhigh' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
            "reasoning.effort",
            level(Some(Reasoning::High)),
        ),
        ("Invalid value: 'max'.", "reasoning.effort", level(None)),
        (
            "`reasoning_effort` must be one of `none` or `default`",
            "",
            Some(Drop(Feature::Reasoning)),
        ),
        (
            "Unrecognized request argument supplied: reasoning_effort",
            "",
            Some(Drop(Feature::Reasoning)),
        ),
        (
            "Unknown parameter: 'reasoning'.",
            "reasoning",
            Some(Drop(Feature::Reasoning)),
        ),
        (
            "Your organization must be verified to generate reasoning summaries.",
            "reasoning.summary",
            Some(Drop(Feature::ThoughtSummary)),
        ),
        (
            "Encrypted content is not supported with this model.",
            "include",
            Some(Drop(Feature::EncryptedThought)),
        ),
        (
            "Unknown parameter: 'prompt_cache_key'.",
            "prompt_cache_key",
            Some(Drop(Feature::CacheKey)),
        ),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            Some(Drop(Feature::MaxTokens)),
        ),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "",
            Some(Drop(Feature::MaxTokens)),
        ),
        (
            "Unsupported parameter: max_output_tokens",
            "",
            Some(Drop(Feature::MaxTokens)),
        ),
        (
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
            "max_tokens",
            Some(MaxTokens(16384)),
        ),
        (
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            "",
            Some(MaxTokens(8192)),
        ),
        (
            "`max_completion_tokens` must be less than or equal to `40,960`, the maximum value",
            "",
            Some(MaxTokens(40960)),
        ),
        (
            "Tool 'apply_patch' is not supported with gpt-4o.",
            "tools",
            Some(Drop(Feature::ApplyPatch)),
        ),
        (
            "Invalid value: 'apply_patch'. Supported values are: 'function' and 'custom'.",
            "tools[3].type",
            Some(Drop(Feature::ApplyPatch)),
        ),
        (
            "Invalid schema for function 'apply_patch': unknown type.",
            "tools[0].parameters",
            None,
        ),
        (
            "registry.test/tiny does not support tools",
            "",
            Some(Drop(Feature::Tools)),
        ),
        (
            "Extra inputs are not permitted: stream_options",
            "",
            Some(Drop(Feature::StreamUsage)),
        ),
        ("The model does not support tool_choice", "", None),
        ("The model 'temperature-1' does not exist", "", None),
        (
            "Invalid type for 'input[0].content'.",
            "input[0].content",
            None,
        ),
    ];
    for (message, param, expected) in cases {
        assert_eq!(refused(400, message, param), expected, "{message}");
    }
    assert_eq!(refused(500, cases[0].0, cases[0].1), None);
    let fields = r#"{"detail":[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]}"#;
    let error = from_http(422, &[], fields.as_bytes());
    assert_eq!(error.refusal, Some(Drop(Feature::Reasoning)));
}

#[test]
fn what_the_provider_had_sent_itself_is_told_from_other_faults() {
    for (message, code) in [
        (
            "The encrypted content gAAA...w== could not be verified.",
            "invalid_encrypted_content",
        ),
        (
            "The encrypted content for item rs_1 could not be verified.",
            "",
        ),
        (
            "No tool call found for function call output with call_id call_1.",
            "",
        ),
        ("No tool output found for function call call_1.", ""),
    ] {
        let body = json!({ "error": { "message": message, "code": code } });
        let error = from_http(400, &[], body.to_string().as_bytes());
        assert_eq!(error.kind, ModelErrorKind::Signature, "{message}");
    }
}

#[test]
fn a_wait_is_found_where_no_header_asks_for_one() {
    let wait = |status: u16, headers: &[(&str, &str)], message: &str| {
        let headers: Vec<(String, String)> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let body = json!({ "error": { "message": message } });
        from_http(status, &headers, body.to_string().as_bytes()).retry_after_ms
    };
    let requests = ("x-ratelimit-reset-requests", "6m0s");
    let tokens = ("x-ratelimit-reset-tokens", "1.5s");
    assert_eq!(wait(429, &[requests, tokens], ""), Some(360_000));
    let used_up = ("x-ratelimit-remaining-tokens", "0");
    assert_eq!(wait(429, &[requests, tokens, used_up], ""), Some(1500));
    assert_eq!(wait(429, &[requests, ("retry-after", "2")], ""), Some(2000));
    assert_eq!(
        wait(
            429,
            &[requests],
            "Limit. Please try again in 1m20.25s. More"
        ),
        Some(80_250)
    );
    assert_eq!(
        wait(429, &[requests], "Please try again in 150ms"),
        Some(150)
    );
    assert_eq!(wait(503, &[requests], "try again in 1s"), None);
    assert_eq!(wait(429, &[("x-ratelimit-reset-tokens", "soon")], ""), None);
}

#[test]
fn an_error_in_a_stream_that_would_come_again_is_not_waited_for() {
    let kind = |code: &str| from_stream(&json!({ "code": code, "message": "m" })).kind;
    assert_eq!(kind("invalid_prompt"), ModelErrorKind::BadRequest);
    assert_eq!(kind("bio_policy"), ModelErrorKind::BadRequest);
    assert_eq!(
        kind("misalignment_policy_violation"),
        ModelErrorKind::BadRequest
    );
    assert_eq!(kind("invalid_image_format"), ModelErrorKind::Pictures);
    assert_eq!(kind("server_error"), ModelErrorKind::Overloaded);
}

#[test]
fn a_provider_that_says_so_is_not_asked_again() {
    for (value, is_final) in [("false", true), ("true", false)] {
        let headers = [("X-Should-Retry".to_owned(), value.to_owned())];
        assert_eq!(from_http(503, &headers, b"{}").is_final, is_final);
    }
    assert!(!from_http(503, &[], b"{}").is_final);
}

#[test]
fn refused_signatures_are_told_from_other_errors() {
    let kind = |status, message: &str| {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        from_http(status, &[], body.as_bytes()).kind
    };
    for message in [
        "messages.5.content.2: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "Function call is missing a thought_signature in functionCall parts.",
    ] {
        assert_eq!(kind(400, message), ModelErrorKind::Signature, "{message}");
        assert_ne!(kind(500, message), ModelErrorKind::Signature, "{message}");
    }
    for message in ["thinking is not supported", "invalid request"] {
        assert_eq!(kind(400, message), ModelErrorKind::BadRequest, "{message}");
    }
}
