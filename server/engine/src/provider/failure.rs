//! What a provider's error says, for the formats whose errors look like OpenAI's: `{"error": {"message", "type",
//! "code"}}`, its shorter relatives, and plain text. Status and code decide; texts only where servers give no code.

mod refusal;
mod wait;

use serde_json::Value;
pub use wait::header;

use super::{ModelError, ModelErrorKind};
use crate::redact::{MASK, redact};

/// The most bytes of an error's body that are read.
pub const MAX_BODY: usize = 64 << 10;

/// The most characters of the provider's own words in a message.
const MAX_QUOTE: usize = 600;

/// The error behind an HTTP answer whose status is not 2xx.
pub fn from_http(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
    from_http_judged(status, headers, body, |_| None)
}

/// The same, for a format that knows more kinds by their message than all formats have.
pub fn from_http_judged(
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
    judge: impl Fn(&str) -> Option<ModelErrorKind>,
) -> ModelError {
    let body = String::from_utf8_lossy(&body[..body.len().min(MAX_BODY)]);
    let said = match serde_json::from_str(&body) {
        Ok(value) => Said::from_json(&value),
        Err(_) if body.trim_start().starts_with('<') => Said::default(),
        Err(_) => Said {
            message: body.into_owned(),
            ..Said::default()
        },
    };
    let kind = judge(&said.message).unwrap_or_else(|| said.error_kind(status));
    let mut error = said.error_of(kind, status);
    error.retry_after_ms = wait::retry_after_ms(status, headers, &said.message);
    error.is_final = header(headers, "x-should-retry").is_some_and(|it| it.trim() == "false");
    let id = header(headers, "x-request-id").or(header(headers, "request-id"));
    if let Some(id) = id {
        error.message += &format!(" (request id {})", quote(id));
    }
    error
}

/// The error a stream reports after it had begun well. `value` is the whole body or the value of its `error`.
pub fn from_stream(value: &Value) -> ModelError {
    let said = Said::from_json(value);
    // Some gateways put the status they got into the code.
    let status = said
        .code
        .parse()
        .ok()
        .filter(|it| (400..600).contains(it))
        .unwrap_or(200);
    said.error(status)
}

/// The error of a stream that had begun as its format says and then has something in it that is no event: it was damaged
/// on its way, and may come whole the next time. What is wrong from the first event on is another format.
pub(super) fn damaged() -> ModelError {
    let message = "the model's stream was damaged before its answer was complete; what had arrived is kept, try again to go on";
    ModelError::new(ModelErrorKind::Cut, message)
}

/// An error of a kind, with what the provider said quoted in it. `status` is 200 for what a stream reports.
pub(super) fn worded(kind: ModelErrorKind, status: u16, said: &str) -> ModelError {
    let (what, advice) = words(kind, status);
    let http = match status {
        200 => String::new(),
        status => format!(" (HTTP {status})"),
    };
    let said = match quote(said) {
        said if said.is_empty() => String::new(),
        said => format!(": \"{said}\""),
    };
    ModelError::new(kind, format!("{what}{http}{said}; {advice}"))
}

/// The kind that a status and a message tell, for formats without OpenAI's codes.
pub(super) fn kind_of(status: u16, message: &str) -> ModelErrorKind {
    let said = Said {
        message: message.to_owned(),
        ..Said::default()
    };
    said.error_kind(status)
}

/// What the provider said, as far as it said it.
#[derive(Default)]
struct Said {
    message: String,
    kind: String,
    code: String,
    /// The field of the request that it is about.
    param: String,
}

impl Said {
    fn from_json(value: &Value) -> Said {
        // Google's, also where it speaks OpenAI's format, are a list of one.
        let value = match value {
            Value::Array(all) => all.first().unwrap_or(value),
            value => value,
        };
        let inner = value
            .get("error")
            .filter(|it| !it.is_null())
            .unwrap_or(value);
        let field = |name: &str| match &inner[name] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let message = match inner {
            Value::String(text) => text.clone(),
            _ => ["message", "detail", "error"]
                .map(field)
                .into_iter()
                .find(|it| !it.is_empty())
                .unwrap_or_default(),
        };
        Said {
            message,
            kind: field("type"),
            code: field("code"),
            param: field("param"),
        }
    }

    fn error(&self, status: u16) -> ModelError {
        self.error_of(self.error_kind(status), status)
    }

    fn error_of(&self, mut kind: ModelErrorKind, status: u16) -> ModelError {
        // Too long a conversation is told in words that name the limit of the answer as well.
        let refusal = match kind {
            ModelErrorKind::ContextOverflow | ModelErrorKind::Signature => None,
            _ => refusal::of(self, status),
        };
        if refusal.is_some() {
            kind = ModelErrorKind::BadRequest;
        }
        ModelError {
            refusal,
            ..worded(kind, status, &self.message)
        }
    }

    fn error_kind(&self, status: u16) -> ModelErrorKind {
        let message = self.message.to_ascii_lowercase();
        if is_about_own_items(status, &self.code, &message) {
            return ModelErrorKind::Signature;
        }
        // Before the codes, because servers give it some that mean something else.
        if is_about_pictures(status, &message) {
            return ModelErrorKind::Pictures;
        }
        let too_long = [
            "maximum context length",
            "context length",
            "context window",
            "available context size",
            "prompt is too long",
            "exceed context limit",
        ];
        // The same for the codes of errors within a stream.
        if matches!(status, 200 | 400 | 422) && too_long.iter().any(|it| message.contains(it)) {
            return ModelErrorKind::ContextOverflow;
        }
        for word in [self.code.as_str(), self.kind.as_str()] {
            match word {
                "context_length_exceeded" | "exceed_context_size_error" => {
                    return ModelErrorKind::ContextOverflow;
                }
                "insufficient_quota"
                | "billing_error"
                | "billing_not_active"
                | "billing_hard_limit_reached" => return ModelErrorKind::Quota,
                "invalid_api_key" | "authentication_error" | "permission_error" => {
                    return ModelErrorKind::Auth;
                }
                "rate_limit_exceeded" | "rate_limit_error" => return ModelErrorKind::RateLimit,
                "overloaded_error" | "server_error" | "api_error" => {
                    return ModelErrorKind::Overloaded;
                }
                // The same request would fail again, also where the status is that of a stream that began well.
                "invalid_prompt" => return ModelErrorKind::BadRequest,
                word if word.ends_with("_policy") || word.ends_with("policy_violation") => {
                    return ModelErrorKind::BadRequest;
                }
                word if status == 200 && word.contains("image") => return ModelErrorKind::Pictures,
                _ => {}
            }
        }
        // Some say these with the status of a bad request: Anthropic of its credit, xAI and Google of the key.
        let has_no_credit = ["credit balance is too low", "insufficient balance"];
        let has_bad_key = ["incorrect api key", "invalid api key", "api key not valid"];
        let says = |words: &[&str]| words.iter().any(|it| message.contains(it));
        match status {
            400 if says(&has_no_credit) => ModelErrorKind::Quota,
            400 if says(&has_bad_key) => ModelErrorKind::Auth,
            413 => ModelErrorKind::ContextOverflow,
            401 | 403 => ModelErrorKind::Auth,
            402 => ModelErrorKind::Quota,
            429 => ModelErrorKind::RateLimit,
            // Time-outs and conflicts at their end pass, like the 5xx.
            408 | 409 | 425 | 500.. => ModelErrorKind::Overloaded,
            // A stream that had begun has an accepted request, so what went wrong is on their side.
            200 if self.kind != "invalid_request_error" => ModelErrorKind::Overloaded,
            _ => ModelErrorKind::BadRequest,
        }
    }
}

/// Whether a provider says that it does not take a picture. `message` is in small letters.
fn is_about_pictures(status: u16, message: &str) -> bool {
    let words: &[&str] = match status {
        // OpenAI, DeepSeek (`image_url`), Groq (it names what a content must be), vLLM.
        400 | 415 | 422 => &[
            "image",
            "multimodal",
            "content must be a string",
            "value must be a string",
        ],
        // OpenRouter and llama.cpp; surer words, because these answers have other causes too.
        404 | 500 | 501 => &["image input", "images are not supported"],
        _ => &[],
    };
    words.iter().any(|it| message.contains(it))
}

/// Whether a provider refuses items of its own that were sent back, also behind a gateway that speaks another format.
/// `message` is in small letters.
fn is_about_own_items(status: u16, code: &str, message: &str) -> bool {
    let says = |words: &[&str]| words.iter().all(|it| message.contains(it));
    code == "invalid_encrypted_content"
        || [
            // OpenAI, of encrypted reasoning, and of a call and its output that do not find each other.
            &["encrypted content", "could not be"][..],
            &["no tool call found for"],
            &["no tool output found for"],
            &["items are not persisted when"],
            &["was provided without its required", "item"],
        ]
        .into_iter()
        .any(says)
        || matches!(status, 400 | 422)
            && [
                // Anthropic, of the latest answer's thoughts and of those that do not fit what stands before them.
                &["thinking", "blocks", "cannot be modified"][..],
                &["signature", "thinking"],
                &["invalid", "signature"],
                // Google.
                &["thought", "signature"],
            ]
            .into_iter()
            .any(says)
}

/// What happened and what to do.
fn words(kind: ModelErrorKind, status: u16) -> (&'static str, &'static str) {
    match kind {
        ModelErrorKind::Unreachable => (
            "the provider cannot be reached",
            "check the network and the base URL",
        ),
        ModelErrorKind::Auth => (
            "the provider refused the API key",
            "check the key and what it may be used for",
        ),
        ModelErrorKind::Quota => (
            "the provider's account has no quota left",
            "check its plan and billing",
        ),
        ModelErrorKind::RateLimit => (
            "the provider's rate limit is reached",
            "wait a moment and try again",
        ),
        ModelErrorKind::Overloaded => (
            "the provider has a problem of its own",
            "try again in a moment",
        ),
        ModelErrorKind::ContextOverflow => (
            "the conversation is longer than the model can read",
            "compact it or start a new one",
        ),
        ModelErrorKind::BadRequest if status == 404 => (
            "the provider does not know this model or address",
            "check the model's name and the base URL",
        ),
        ModelErrorKind::BadRequest if (300..400).contains(&status) => (
            "the server redirects to another address, where nothing was sent",
            "set base_url to the one that is meant",
        ),
        ModelErrorKind::BadRequest => (
            "the provider did not accept the request",
            "check the model's settings",
        ),
        ModelErrorKind::Pictures => (
            "the provider did not accept a picture",
            "choose a model that takes pictures to have it seen",
        ),
        ModelErrorKind::Signature => (
            "the provider refused what it had sent itself earlier",
            "start a new session if this comes again",
        ),
        ModelErrorKind::Cut => (
            "the model's stream ended before its answer was complete",
            "try again",
        ),
        ModelErrorKind::Limit => ("the model's answer is too large", "ask for smaller steps"),
        ModelErrorKind::Protocol => (
            "the provider's answer cannot be understood",
            "check the base URL and its format",
        ),
        ModelErrorKind::Cancelled => (
            "the request was cancelled",
            "send it again when you want it",
        ),
    }
}

/// The provider's words on one line, shortened, with nothing that looks like a key and no mark at the end.
fn quote(text: &str) -> String {
    let mut words = Vec::new();
    let mut after_bearer = false;
    for word in text.split_whitespace() {
        words.push(match after_bearer {
            true => MASK.to_owned(),
            false => without_keys(word),
        });
        after_bearer = word.eq_ignore_ascii_case("bearer");
    }
    let line = words.join(" ");
    let line = redact(&line).replace('"', "'");
    let line = line.trim_end_matches(['.', ';', ' ']);
    match line.char_indices().nth(MAX_QUOTE) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// `word` with each run of key characters that looks like a key replaced. Stricter than the redactor, which has to
/// leave code alone: providers quote keys shortened and with stars within, and nothing else here begins like one.
fn without_keys(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        // Providers mask keys with stars themselves, and leave their ends readable.
        let is_key = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '*');
        let end = rest.find(|it| !is_key(it)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        out += match looks_like_a_key(run) {
            true => MASK,
            false => run,
        };
        let next = tail.find(is_key).unwrap_or(tail.len());
        out += &tail[..next];
        rest = &tail[next..];
    }
    out
}

fn looks_like_a_key(run: &str) -> bool {
    let prefixes = [
        "sk-",
        "sk_",
        "pk-",
        "rk-",
        "gsk_",
        "xai-",
        "AIza",
        "hf_",
        "ghp_",
        "github_pat_",
        "nvapi-",
        "r8_",
        "eyJ",
    ];
    let has = |test: fn(&u8) -> bool| run.bytes().any(|it| test(&it));
    let long_and_mixed = run.len() >= 32
        && !run.contains('-')
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic);
    (run.len() >= 8 && prefixes.iter().any(|it| run.starts_with(it))) || long_and_mixed
}

#[cfg(test)]
mod tests;
