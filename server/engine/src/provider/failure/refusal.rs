//! What of a request an error names, for OpenAI's errors and those that look like them (spec 29).
//!
//! OpenAI says it in `param`; others say it in words only, so a word of refusal must then stand beside the name.

use protocol::config::Reasoning;

use super::Said;
use crate::provider::{Feature, Refusal};

/// Names of fields as errors write them, longer ones before those that they contain.
const FIELDS: &[(&str, Field)] = &[
    ("reasoning.summary", Field::Part(Feature::ThoughtSummary)),
    (
        "reasoning.encrypted_content",
        Field::Part(Feature::EncryptedThought),
    ),
    ("reasoning.effort", Field::Effort),
    ("reasoning_effort", Field::Effort),
    ("reasoningeffort", Field::Effort),
    (
        "max_completion_tokens",
        Field::Most(Feature::MaxCompletionTokens),
    ),
    ("max_output_tokens", Field::Most(Feature::MaxTokens)),
    ("max_tokens", Field::Most(Feature::MaxTokens)),
    ("temperature", Field::Temperature),
    ("context_management", Field::Part(Feature::Compaction)),
    ("compact_threshold", Field::Part(Feature::Compaction)),
    ("prompt_cache_key", Field::Part(Feature::CacheKey)),
    ("cache_control", Field::Part(Feature::CacheMarkers)),
    ("stream_options", Field::Part(Feature::StreamUsage)),
    ("include_usage", Field::Part(Feature::StreamUsage)),
];

/// What a name stands for.
#[derive(Clone, Copy)]
enum Field {
    Part(Feature),
    /// May be refused for its value, which is no matter of the model.
    Temperature,
    /// A level, or that there are levels at all.
    Effort,
    /// A limit of the answer, or how high it may be.
    Most(Feature),
}

/// Words that say a thing is not taken at all, as opposed to a value that is too high.
const NOT_TAKEN: &[&str] = &[
    "not support",
    "n't support",
    "unsupported",
    "unknown",
    "unrecognized",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra_forbidden",
    "deprecated",
    "only the default",
];

/// Behind these stand the values that are taken.
const VALUES: &[&str] = &[
    "supported values",
    "supported levels",
    "supported efforts",
    "must be one of",
    "expected one of",
    "should be one of",
    "should be '",
    "input should be",
];

/// Behind these stands the most that is taken.
const MOST: &[&str] = &[
    "at most",
    "less than or equal to",
    "<=",
    "maximum value of",
    "maximum allowed",
    "up to",
    "cannot exceed",
    "must not exceed",
    "[1,",
];

/// What the error refuses by name, if it does.
pub(super) fn of(said: &Said, status: u16) -> Option<Refusal> {
    let message = said.message.to_ascii_lowercase();
    let is_not_taken = NOT_TAKEN.iter().any(|it| message.contains(it));
    if matches!(status, 400 | 404 | 422) && is_about_all_tools(&message) {
        return Some(Refusal::Drop(Feature::Tools));
    }
    if !matches!(status, 400 | 422) {
        return None;
    }
    let param = said.param.to_ascii_lowercase();
    if is_about_apply_patch(&param, &message, is_not_taken) {
        return Some(Refusal::Drop(Feature::ApplyPatch));
    }
    if (param.is_empty() || param == "include")
        && message.contains("encrypted content is not supported")
    {
        return Some(Refusal::Drop(Feature::EncryptedThought));
    }
    let (field, is_named) = match param.as_str() {
        "" => (in_words(&message)?, false),
        "reasoning" => (Field::Part(Feature::Reasoning), true),
        "include" | "include[0]" => (Field::Part(Feature::EncryptedThought), true),
        param => {
            let found = FIELDS.iter().find(|(name, _)| param.ends_with(name));
            (found?.1, true)
        }
    };
    let takes_values = VALUES.iter().any(|it| message.contains(it));
    match field {
        Field::Part(feature) => (is_named || is_not_taken).then_some(Refusal::Drop(feature)),
        Field::Temperature => is_not_taken.then_some(Refusal::Drop(Feature::Temperature)),
        Field::Effort if takes_values || message.contains("value") => Some(level(&message)),
        Field::Effort => (is_named || is_not_taken).then_some(Refusal::Drop(Feature::Reasoning)),
        Field::Most(_) if let Some(most) = most(&message) => Some(Refusal::MaxTokens(most)),
        Field::Most(feature) => is_not_taken.then_some(Refusal::Drop(feature)),
    }
}

/// The field that is named first.
fn in_words(message: &str) -> Option<Field> {
    let found = FIELDS
        .iter()
        .filter_map(|(name, field)| Some((message.find(name)?, field)));
    found.min_by_key(|(at, _)| *at).map(|(_, field)| *field)
}

/// OpenAI names a tool by its type; a function of ours that has this name is refused for its schema.
fn is_about_apply_patch(param: &str, message: &str, is_not_taken: bool) -> bool {
    let is_value = message.contains("invalid value: 'apply_patch'");
    (param.is_empty() || param.starts_with("tools") || param == "tool_choice")
        && message.contains("apply_patch")
        && !message.contains("schema")
        && (is_not_taken || is_value)
}

fn is_about_all_tools(message: &str) -> bool {
    [
        "does not support tools",
        "does not support tool call",
        "does not support tool use",
        "does not support function call",
        "support tool use",
        "tools are not supported",
        "tool use is not supported",
        "tool calling is not supported",
        "function calling is not supported",
        "`tools` is not supported",
        "'tools' is not supported",
    ]
    .iter()
    .any(|it| message.contains(it))
}

/// The refusal of a level. Where none of those that are taken thinks harder than not at all, levels are none of its.
fn level(message: &str) -> Refusal {
    let listed = VALUES.iter().filter_map(|it| message.find(it)).min();
    let listed = listed.map_or("", |at| &message[at..]);
    let words = listed.split(|it: char| !it.is_ascii_alphanumeric());
    let levels: Vec<Reasoning> = words.filter_map(Reasoning::from_id).collect();
    match levels.iter().max() {
        None => Refusal::Level { highest: None },
        Some(Reasoning::None) => Refusal::Drop(Feature::Reasoning),
        Some(highest) => Refusal::Level {
            highest: Some(*highest),
        },
    }
}

/// How many tokens it says it writes at most.
fn most(message: &str) -> Option<u32> {
    let behind = MOST
        .iter()
        .filter_map(|it| message.split_once(it).map(|(_, rest)| rest));
    behind.filter_map(first_number).find(|it| *it > 1)
}

/// The number that stands there, with nothing but marks and at most two words before it.
fn first_number(text: &str) -> Option<u32> {
    let start = text.find(|it: char| it.is_ascii_digit())?;
    if text[..start].split_whitespace().count() > 2 {
        return None;
    }
    let digits = text[start..]
        .chars()
        .take_while(|it| it.is_ascii_digit() || matches!(it, ',' | '_'))
        .filter(char::is_ascii_digit);
    digits.collect::<String>().parse().ok()
}
