//! What an error's body means: its kind, its wait, and what of the request it refused.

use expect_test::expect;

use crate::provider::gemini::GenerateContent;
use crate::provider::{ModelError, Provider as _};

fn error(status: u16, body: &str) -> ModelError {
    let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
    GenerateContent.error(status, &headers, body.as_bytes())
}

fn line(error: &ModelError) -> String {
    let ModelError {
        kind,
        message,
        is_final: _,
        retry_after_ms,
        refusal,
    } = error;
    let mut line = format!("{kind:?}");
    if let Some(ms) = retry_after_ms {
        line += &format!(", wait {ms}");
    }
    if let Some(refusal) = refusal {
        line += &format!(", {refusal:?}");
    }
    format!("{line}: {message}\n")
}

fn invalid(message: &str) -> String {
    serde_json::json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
        .to_string()
}

#[test]
fn a_rate_limit_says_how_long_to_wait_and_a_days_quota_that_waiting_is_vain() {
    let body = |quota: &str| {
        format!(
            r#"{{"error":{{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[
              {{"@type":"type.googleapis.com/google.rpc.Help","links":[]}},
              {{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{quota}"}}]}},
              {{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}}]}}}}"#
        )
    };
    let minute = body("GenerateRequestsPerMinutePerProjectPerModel");
    let day = body("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    let said = [
        error(429, &minute),
        error(429, &format!("[{minute}]")),
        error(429, &day),
    ];
    let said: String = said.iter().map(line).collect();
    expect![[r#"
        RateLimit, wait 34400: the provider's rate limit is reached (HTTP 429): "You exceeded your current quota"; wait a moment and try again
        RateLimit, wait 34400: the provider's rate limit is reached (HTTP 429): "You exceeded your current quota"; wait a moment and try again
        Quota, wait 34400: the provider's account has no quota left (HTTP 429): "You exceeded your current quota"; check its plan and billing
    "#]].assert_eq(&said);
}

#[test]
fn each_kind_of_error_is_told_from_the_others() {
    let of = |code: u16, status: &str, message: &str| {
        let body =
            serde_json::json!({"error": {"code": code, "message": message, "status": status}});
        line(&error(code, &body.to_string()))
    };
    let said = [
        of(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
        ),
        of(
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers.",
        ),
        of(
            404,
            "NOT_FOUND",
            "models/x is not found for API version v1beta.",
        ),
        of(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        of(
            400,
            "INVALID_ARGUMENT",
            "Function call is missing a thought_signature in functionCall parts.",
        ),
        of(400, "INVALID_ARGUMENT", "Corrupted thought signature."),
        of(400, "INVALID_ARGUMENT", "Unable to process input image."),
        of(500, "INTERNAL", "An internal error has occurred."),
        of(503, "UNAVAILABLE", "The model is overloaded."),
        line(&error(502, "<html>Bad Gateway</html>")),
        line(&error(400, "{\"error\": \"no\"}")),
    ];
    expect![[r#"
        Auth: the provider refused the API key (HTTP 400): "API key not valid. Please pass a valid API key"; check the key and what it may be used for
        Auth: the provider refused the API key (HTTP 403): "Method doesn't allow unregistered callers"; check the key and what it may be used for
        BadRequest: the provider does not know this model or address (HTTP 404): "models/x is not found for API version v1beta"; check the model's name and the base URL
        ContextOverflow: the conversation is longer than the model can read (HTTP 400): "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"; compact it or start a new one
        Signature: the provider refused what it had sent itself earlier (HTTP 400): "Function call is missing a thought_signature in functionCall parts"; start a new session if this comes again
        Signature: the provider refused what it had sent itself earlier (HTTP 400): "Corrupted thought signature"; start a new session if this comes again
        Pictures: the provider did not accept a picture (HTTP 400): "Unable to process input image"; choose a model that takes pictures to have it seen
        Overloaded: the provider has a problem of its own (HTTP 500): "An internal error has occurred"; try again in a moment
        Overloaded: the provider has a problem of its own (HTTP 503): "The model is overloaded"; try again in a moment
        Overloaded: the provider has a problem of its own (HTTP 502); try again in a moment
        BadRequest: the provider did not accept the request (HTTP 400): "no"; check the model's settings
    "#]].assert_eq(&said.concat());
}

#[test]
fn what_is_refused_by_name_can_be_left_out() {
    let said = [
        r#"Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field."#,
        "Thinking level MEDIUM is not supported for this model. Please retry with other thinking level.",
        "Thinking level is not supported for this model.",
        r#"Invalid JSON payload received. Unknown name "thinkingLevel" at 'generation_config.thinking_config': Cannot find field."#,
        "Budget 0 is invalid. This model only works in thinking mode.",
        r#"Invalid JSON payload received. Unknown name "thinkingConfig" at 'generation_config': Cannot find field."#,
        "Thinking is not enabled for models/gemini-x",
        "Unable to submit request because include_thoughts is only enabled when thinking is enabled.",
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
        "max_output_tokens must be positive",
        "temperature must be in the range [0.0, 2.0]",
        "Function calling is not enabled for models/gemma-x",
        "Please ensure that function call turn comes immediately after a user turn.",
    ];
    let said: String = said
        .iter()
        .map(|it| line(&error(400, &invalid(it))))
        .collect();
    expect![[r#"
        BadRequest, Drop(JsonSchema): the provider did not accept the request (HTTP 400): "Invalid JSON payload received. Unknown name 'parametersJsonSchema' at 'tools[0].function_declarations[0]': Cannot find field"; check the model's settings
        BadRequest, Level { highest: None }: the provider did not accept the request (HTTP 400): "Thinking level MEDIUM is not supported for this model. Please retry with other thinking level"; check the model's settings
        BadRequest, Drop(Reasoning): the provider did not accept the request (HTTP 400): "Thinking level is not supported for this model"; check the model's settings
        BadRequest, Drop(Reasoning): the provider did not accept the request (HTTP 400): "Invalid JSON payload received. Unknown name 'thinkingLevel' at 'generation_config.thinking_config': Cannot find field"; check the model's settings
        BadRequest, Level { highest: None }: the provider did not accept the request (HTTP 400): "Budget 0 is invalid. This model only works in thinking mode"; check the model's settings
        BadRequest, Drop(Thinking): the provider did not accept the request (HTTP 400): "Invalid JSON payload received. Unknown name 'thinkingConfig' at 'generation_config': Cannot find field"; check the model's settings
        BadRequest, Drop(Thinking): the provider did not accept the request (HTTP 400): "Thinking is not enabled for models/gemini-x"; check the model's settings
        BadRequest, Drop(ThoughtDisplay): the provider did not accept the request (HTTP 400): "Unable to submit request because include_thoughts is only enabled when thinking is enabled"; check the model's settings
        BadRequest, MaxTokens(65536): the provider did not accept the request (HTTP 400): "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again"; check the model's settings
        BadRequest, Drop(MaxTokens): the provider did not accept the request (HTTP 400): "max_output_tokens must be positive"; check the model's settings
        BadRequest, Drop(Temperature): the provider did not accept the request (HTTP 400): "temperature must be in the range [0.0, 2.0]"; check the model's settings
        BadRequest, Drop(Tools): the provider did not accept the request (HTTP 400): "Function calling is not enabled for models/gemma-x"; check the model's settings
        BadRequest: the provider did not accept the request (HTTP 400): "Please ensure that function call turn comes immediately after a user turn"; check the model's settings
    "#]].assert_eq(&said);
}

#[test]
fn a_key_that_an_error_quotes_is_not_repeated() {
    let key = format!("AIza{}", "Sy0".repeat(12));
    let error = error(400, &invalid(&format!("bad key {key} given")));
    assert!(!error.message.contains(&key), "{}", error.message);
}
