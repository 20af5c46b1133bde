//! From a session's history to a model request.

pub mod instructions;

use crate::provider::{Content, Message, ModelRequest, ToolCall, ToolResult};
use crate::session::Settings;
use protocol::session::CallId;
use serde_json::Value;

/// One step of the history.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    User(String),
    Answer(Answer),
}

/// One answer of the model, with its calls and their results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub number: u64,
    pub text: String,
    pub thought: String,
    pub calls: Vec<Asked>,
    /// The provider's own items, sent back to it as long as the model stays the same.
    pub raw: Option<Value>,
}

impl Answer {
    pub fn new(number: u64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }

    /// Adds what was said since the last record.
    pub fn say(&mut self, text: &str, thought: &str, raw: Option<&Value>) {
        self.text.push_str(text);
        self.thought.push_str(thought);
        if let Some(raw) = raw {
            self.raw = Some(raw.clone());
        }
    }
}

/// A call and its result, once there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub id: CallId,
    pub call: ToolCall,
    pub result: Option<ToolResult>,
}

/// Builds the request for the next answer.
///
/// Every call has its result beside it: the session asks only then, and a call that somehow has
/// none is given one that says so, because every provider refuses a dangling call.
pub fn build(settings: &Settings, history: &[Entry]) -> ModelRequest {
    let mut messages: Vec<Message> = Vec::with_capacity(history.len() + 1);
    for entry in history {
        match entry {
            // Two prompts in a row are one message: some servers insist on alternation.
            Entry::User(text) => match messages.last_mut() {
                Some(Message::User(content)) => content.push(Content::Text(text.clone())),
                Some(Message::Assistant { .. } | Message::Results(_)) | None => {
                    messages.push(Message::User(vec![Content::Text(text.clone())]));
                }
            },
            Entry::Answer(Answer {
                text,
                thought,
                calls,
                raw,
                ..
            }) => {
                if text.is_empty() && calls.is_empty() {
                    continue;
                }
                messages.push(Message::Assistant {
                    text: text.clone(),
                    thought: thought.clone(),
                    calls: calls.iter().map(|it| it.call.clone()).collect(),
                    raw: raw.clone(),
                });
                if !calls.is_empty() {
                    messages.push(Message::Results(calls.iter().map(result_of).collect()));
                }
            }
        }
    }
    ModelRequest {
        model: settings.model.clone(),
        system: settings.system.clone(),
        messages,
        tools: settings.tools.clone(),
        max_tokens: settings.max_tokens,
        temperature: settings.temperature,
    }
}

fn result_of(asked: &Asked) -> ToolResult {
    asked.result.clone().unwrap_or_else(|| ToolResult {
        id: asked.call.id.clone(),
        text: "This call has no result.".to_owned(),
        is_error: true,
    })
}
