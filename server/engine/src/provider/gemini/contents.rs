//! The conversation as Gemini reads it: contents of a person and of the model in turn, each of parts.
//!
//! An answer that this very model gave goes back part by part as it came, signatures in their places. Any other is built from what we
//! know of it; then the first call of a step says that nobody is to look for its signature, in the word that Google gives for that.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::Generation;
use crate::provider::{Content as Said, Image, Message, ModelRequest, ToolCall, ToolResult};

/// What stands in the place of a signature that this model did not give (Google's "Thought signatures" page).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The field of [`Message::Assistant`]'s `raw` that holds the parts.
pub(super) const PARTS: &str = "parts";

#[derive(Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Part<'a> {
    /// As it came.
    Kept(&'a Value),
    Text {
        text: Cow<'a, str>,
    },
    #[serde(rename_all = "camelCase")]
    Picture {
        inline_data: InlineData<'a>,
    },
    #[serde(rename_all = "camelCase")]
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'static str>,
    },
    #[serde(rename_all = "camelCase")]
    Result {
        function_response: FunctionResponse<'a>,
    },
}

impl<'a> Part<'a> {
    pub(super) fn text(text: &'a str) -> Part<'a> {
        Part::Text {
            text: Cow::Borrowed(text),
        }
    }

    fn picture(Image { picture, data }: &'a Image) -> Part<'a> {
        let inline_data = InlineData {
            mime_type: &picture.media_type,
            data,
        };
        Part::Picture { inline_data }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    name: Cow<'a, str>,
    args: Value,
}

#[derive(Serialize)]
pub(super) struct FunctionResponse<'a> {
    /// Only if the model gave its call one.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// The whole conversation.
pub(super) fn contents(request: &ModelRequest) -> Vec<Content<'_>> {
    let mut contents = Vec::new();
    // What the results of the last answer are told as, in its calls' order.
    let mut called: Vec<Called<'_>> = Vec::new();
    // Pictures of results and what the person says next are one content, right behind the run of results.
    let mut said: Vec<Part<'_>> = Vec::new();
    for message in &request.messages {
        match message {
            Message::User(content) => {
                said.extend(content.iter().map(|it| match it {
                    Said::Text(text) => Part::text(text),
                    Said::Image(image) => Part::picture(image),
                }));
            }
            Message::Assistant {
                text, calls, raw, ..
            } => {
                take_turn("user", &mut said, &mut contents);
                let kept = raw.as_ref().and_then(|it| kept(it, calls));
                let mut parts = match kept {
                    Some(parts) => parts.iter().map(Part::Kept).collect(),
                    None => built(text, calls, Generation::of(&request.model)),
                };
                called = match kept {
                    Some(parts) => parts.iter().filter_map(Called::kept).collect(),
                    None => calls.iter().map(Called::built).collect(),
                };
                take_turn("model", &mut parts, &mut contents);
            }
            Message::Results(results) => {
                take_turn("user", &mut said, &mut contents);
                let called = std::mem::take(&mut called);
                let mut parts: Vec<Part<'_>> = called
                    .into_iter()
                    .zip(results)
                    .map(|(called, result)| answer(called, result))
                    .collect();
                take_turn("user", &mut parts, &mut contents);
                said.extend(results.iter().flat_map(pictures));
            }
        }
    }
    take_turn("user", &mut said, &mut contents);
    contents
}

/// Moves parts, if there are some, into a content of their own.
fn take_turn<'a>(role: &'static str, parts: &mut Vec<Part<'a>>, contents: &mut Vec<Content<'a>>) {
    if !parts.is_empty() {
        let parts = std::mem::take(parts);
        contents.push(Content { role, parts });
    }
}

/// The parts of a raw answer, if its calls are those we know.
fn kept<'a>(raw: &'a Value, calls: &[ToolCall]) -> Option<&'a [Value]> {
    let parts = raw.get(PARTS)?.as_array()?;
    let mut theirs = parts.iter().filter_map(|it| it.get("functionCall"));
    let is_same = calls.iter().all(|ours| {
        theirs.next().is_some_and(|it| {
            let args = it.get("args").cloned().unwrap_or_else(|| json!({}));
            // A name that the model made up goes back as one that may stand there.
            let is_its = it["name"] == ours.name.as_str() && name(&ours.name) == ours.name;
            is_its && args == arguments(&ours.arguments)
        })
    });
    (!parts.is_empty() && is_same && theirs.next().is_none()).then_some(parts)
}

fn built<'a>(text: &'a str, calls: &'a [ToolCall], generation: Generation) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(calls.len() + 1);
    if !text.is_empty() {
        parts.push(Part::text(text));
    }
    for (nth, call) in calls.iter().enumerate() {
        parts.push(Part::Call {
            function_call: FunctionCall {
                name: name(&call.name),
                args: arguments(&call.arguments),
            },
            // Calls of one step share the first one's.
            thought_signature: (nth == 0 && generation == Generation::Signed)
                .then_some(NO_SIGNATURE),
        });
    }
    parts
}

/// How a call's result names it.
struct Called<'a> {
    id: Option<&'a str>,
    name: Cow<'a, str>,
}

impl<'a> Called<'a> {
    fn kept(part: &'a Value) -> Option<Called<'a>> {
        let call = part.get("functionCall")?;
        Some(Called {
            id: call["id"].as_str().filter(|it| !it.is_empty()),
            name: Cow::Borrowed(call["name"].as_str().unwrap_or_default()),
        })
    }

    /// Without an id on either side, order tells.
    fn built(call: &'a ToolCall) -> Called<'a> {
        Called {
            id: None,
            name: name(&call.name),
        }
    }
}

fn answer<'a>(called: Called<'a>, result: &'a ToolResult) -> Part<'a> {
    let response = match result.is_error {
        true => Response::Error(&result.text),
        false => Response::Output(&result.text),
    };
    Part::Result {
        function_response: FunctionResponse {
            id: called.id,
            name: called.name,
            response,
        },
    }
}

/// A result's pictures, each behind a line that says whose it is (spec 18.2).
fn pictures(result: &ToolResult) -> impl Iterator<Item = Part<'_>> {
    result.images.iter().flat_map(|image| {
        let picture = &image.picture;
        let name = match picture.name.as_str() {
            "" => String::new(),
            name => format!("{name} "),
        };
        let text = Part::Text {
            text: Cow::Owned(format!("Of tool call {}: {name}{picture}", result.id)),
        };
        [text, Part::picture(image)]
    })
}

/// A call's arguments, which Gemini takes as an object only. Anything else is wrapped into one.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(_) | Err(_) => json!({ "invalid_json": text }),
    }
}

/// The most characters of a function's name.
const MAX_NAME: usize = 128;

/// A name within what a function's may be, whatever another model made up.
fn name(name: &str) -> Cow<'_, str> {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | ':');
    let begins_well = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    if begins_well && name.len() <= MAX_NAME && name.chars().all(is_allowed) {
        return Cow::Borrowed(name);
    }
    let first = (!begins_well).then_some('_');
    let rest = name.chars().map(|it| if is_allowed(it) { it } else { '_' });
    Cow::Owned(first.into_iter().chain(rest).take(MAX_NAME).collect())
}
