//! The conversation as Ollama reads it: messages of a person, the model and its tools. Results belong to calls by their
//! order and their tool's name; pictures come from the person only, right behind the results they belong to.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::provider::{Content, Message, ModelRequest, ToolCall, ToolResult};

/// The field of [`Message::Assistant`]'s `raw` that holds the thoughts of an answer with calls, which Ollama wants back
/// with their results.
pub(super) const THINKING: &str = "thinking";

/// A message of any role.
#[derive(Default, Serialize)]
pub(super) struct Entry<'a> {
    role: &'static str,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a Value>,
    /// In base64.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Value,
}

/// What a person says next, with the pictures of the results before it.
#[derive(Default)]
struct Prompt<'a> {
    texts: Vec<Cow<'a, str>>,
    images: Vec<&'a str>,
}

impl<'a> Prompt<'a> {
    /// Moves it into a message of its own, if there is something in it.
    fn take_turn(&mut self, entries: &mut Vec<Entry<'a>>) {
        let Prompt { mut texts, images } = std::mem::take(self);
        let content = match texts.len() {
            0 if images.is_empty() => return,
            0 => Cow::Borrowed(""),
            1 => texts.remove(0),
            _ => Cow::Owned(texts.join("\n\n")),
        };
        entries.push(Entry {
            role: "user",
            content,
            images,
            ..Entry::default()
        });
    }

    /// Adds a result's pictures, for each a line that says whose it is (spec 18.2).
    fn show(&mut self, result: &'a ToolResult) {
        for image in &result.images {
            let name = match image.picture.name.as_str() {
                "" => String::new(),
                name => format!("{name} "),
            };
            let label = format!("Of tool call {}: {name}{}", result.id, image.picture);
            self.texts.push(Cow::Owned(label));
            self.images.push(&image.data);
        }
    }
}

/// The whole conversation, the instructions first.
pub(super) fn messages(request: &ModelRequest) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut prompt = Prompt::default();
    let mut called: &[ToolCall] = &[];
    if !request.system.is_empty() {
        entries.push(Entry {
            role: "system",
            content: Cow::Borrowed(&request.system),
            ..Entry::default()
        });
    }
    for message in &request.messages {
        match message {
            Message::User(content) => {
                for part in content {
                    match part {
                        Content::Text(text) => prompt.texts.push(Cow::Borrowed(text)),
                        Content::Image(image) => prompt.images.push(&image.data),
                    }
                }
            }
            Message::Assistant {
                text, calls, raw, ..
            } => {
                prompt.take_turn(&mut entries);
                called = calls;
                entries.push(Entry {
                    role: "assistant",
                    content: Cow::Borrowed(text),
                    thinking: raw.as_ref().and_then(|it| it.get(THINKING)),
                    tool_calls: calls.iter().map(Call::new).collect(),
                    ..Entry::default()
                });
            }
            Message::Results(results) => {
                prompt.take_turn(&mut entries);
                for (call, result) in called.iter().zip(results) {
                    entries.push(Entry {
                        role: "tool",
                        content: Cow::Borrowed(&result.text),
                        tool_name: Some(&call.name),
                        ..Entry::default()
                    });
                }
                results.iter().for_each(|it| prompt.show(it));
            }
        }
    }
    prompt.take_turn(&mut entries);
    entries
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Call<'a> {
        Call {
            function: Function {
                name: &call.name,
                arguments: arguments(&call.arguments),
            },
        }
    }
}

/// A call's arguments, which Ollama takes as an object only. Anything else is wrapped into one.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(_) | Err(_) => json!({ "invalid_json": text }),
    }
}
