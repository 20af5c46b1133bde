//! Reads Ollama's answer: lines of JSON, each with the next piece of a message; `done` marks the last one.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::error;
use super::messages::THINKING;
use super::piece::Piece;
use crate::provider::broken::{MAX_CALLS, cut, too_long, too_many_calls};
use crate::provider::ndjson::{Framer, MAX_LINE, TooLong};
use crate::provider::{
    Decoder, ModelError, ModelErrorKind, ModelEvent, StopReason, ToolCall, Usage, failure,
};

/// The decoder of one answer.
#[derive(Clone, Default, PartialEq)]
pub struct OllamaDecoder {
    framer: Framer,
    reply: Reply,
}

impl Decoder for OllamaDecoder {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) {
        let fed = self.framer.feed(bytes, |it| self.reply.line(it, out));
        if let Err(TooLong) = fed {
            self.reply.fail(too_long(MAX_LINE, "line"), out);
        }
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        self.reply.at_end = true;
        let finished = self.framer.finish(|it| self.reply.line(it, out));
        if let Err(TooLong) = finished {
            self.reply.fail(too_long(MAX_LINE, "line"), out);
        }
        self.reply.fail(cut(), out);
    }
}

/// What the answer has said so far.
#[derive(Clone, Default, PartialEq)]
struct Reply {
    thinking: String,
    /// Of the calls that have left.
    ids: Vec<String>,
    usage: Option<Usage>,
    /// Whether a line of this format has come.
    has_begun: bool,
    /// Whether the transport has closed, so that a line may have lost its end.
    at_end: bool,
    over: bool,
}

impl Reply {
    fn line(&mut self, line: &[u8], out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        if let Ok(piece) = serde_json::from_slice::<Piece<'_>>(line)
            && piece.is_text()
        {
            self.has_begun = true;
            return self.say(piece.message.thinking, piece.message.content, out);
        }
        let line: Value = match serde_json::from_slice(line) {
            Ok(line) => line,
            // The transport cut it, which the end will say.
            Err(error) if self.at_end && (error.is_eof() || is_cut_character(line)) => return,
            Err(_) if self.has_begun => return self.fail(failure::damaged(), out),
            Err(_) => return self.fail(not_json(), out),
        };
        if !line["error"].is_null() {
            return self.fail(error::from_stream(&line), out);
        }
        let message = &line["message"];
        self.has_begun |= message.is_object();
        self.say(text(&message["thinking"]), text(&message["content"]), out);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if self.ids.len() == MAX_CALLS {
                return self.fail(too_many_calls(), out);
            }
            self.call(call, out);
        }
        if line["done"] == true {
            self.usage = usage(&line);
            let reason = self.stop_reason(line["done_reason"].as_str().unwrap_or("stop"));
            self.say_rest(out);
            out.push(ModelEvent::Ended(reason));
        }
    }

    fn say(&mut self, thought: Cow<'_, str>, said: Cow<'_, str>, out: &mut Vec<ModelEvent>) {
        if !thought.is_empty() {
            self.thinking.push_str(&thought);
            out.push(ModelEvent::Thought(thought.into_owned()));
        }
        if !said.is_empty() {
            out.push(ModelEvent::Text(said.into_owned()));
        }
    }

    /// Calls come whole.
    fn call(&mut self, call: &Value, out: &mut Vec<ModelEvent>) {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::Null => String::new(),
            // From servers that stand in for Ollama.
            Value::String(text) => text.clone(),
            object => object.to_string(),
        };
        let id = self.free_id(call["id"].as_str().unwrap_or_default());
        self.ids.push(id.clone());
        out.push(ModelEvent::Call(ToolCall {
            id,
            name: function["name"].as_str().unwrap_or_default().to_owned(),
            arguments,
            native: None,
        }));
    }

    /// The server's id, or one of ours where that is missing or taken.
    fn free_id(&self, theirs: &str) -> String {
        let is_free = |it: &str| !it.is_empty() && self.ids.iter().all(|id| id != it);
        if is_free(theirs) {
            return theirs.to_owned();
        }
        // Found at the latest after twice as many numbers as there are calls.
        (self.ids.len()..)
            .map(|n| format!("call_{n}"))
            .find(|it| is_free(it))
            .unwrap_or_default()
    }

    fn stop_reason(&self, done: &str) -> StopReason {
        match done {
            "length" => StopReason::MaxTokens,
            "stop" if self.ids.is_empty() => StopReason::EndTurn,
            // Also after calls.
            "stop" => StopReason::ToolCalls,
            other => StopReason::Other(other.to_owned()),
        }
    }

    fn fail(&mut self, error: ModelError, out: &mut Vec<ModelEvent>) {
        if !self.over {
            self.say_rest(out);
            out.push(ModelEvent::Failed(error));
        }
    }

    /// What comes right before the last event.
    fn say_rest(&mut self, out: &mut Vec<ModelEvent>) {
        self.over = true;
        if !self.ids.is_empty() && !self.thinking.is_empty() {
            out.push(ModelEvent::Raw(json!({ THINKING: self.thinking })));
        }
        out.extend(self.usage.map(ModelEvent::Usage));
    }
}

fn text(value: &Value) -> Cow<'_, str> {
    Cow::Borrowed(value.as_str().unwrap_or_default())
}

/// Whether a line ends within a character.
fn is_cut_character(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_err_and(|it| it.error_len().is_none())
}

/// What the last line counts; a count of 0 is left out, as of a prompt that was cached.
fn usage(line: &Value) -> Option<Usage> {
    let input = line["prompt_eval_count"].as_u64();
    let output = line["eval_count"].as_u64();
    input.or(output)?;
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        ..Usage::default()
    })
}

fn not_json() -> ModelError {
    let message = "the model's server sent something that is no answer of Ollama's; check the base URL, or try again";
    ModelError::new(ModelErrorKind::Protocol, message)
}
