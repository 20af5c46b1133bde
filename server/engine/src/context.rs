//! From a session's history to a model request.

pub mod instructions;

use crate::provider::{Content, Message, ModelRequest, ToolCall, ToolResult};
use crate::session::Settings;
use protocol::session::CallId;

/// One step of the history.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    User(String),
    /// One answer of the model, with its calls and their results.
    Answer {
        number: u64,
        text: String,
        thought: String,
        calls: Vec<Asked>,
    },
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
            Entry::Answer {
                text,
                thought,
                calls,
                ..
            } => {
                if text.is_empty() && calls.is_empty() {
                    continue;
                }
                messages.push(Message::Assistant {
                    text: text.clone(),
                    thought: thought.clone(),
                    calls: calls.iter().map(|it| it.call.clone()).collect(),
                    raw: None,
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
