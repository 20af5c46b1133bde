//! Reads a Chat Completions answer: a stream of chunks, or the whole completion of a server that does not stream.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::calls::{Calls, Fragment};
use super::details::Details;
use super::wire::{self, Chunk, Delta};
use crate::provider::body::{self, Answer, Reply as _, is_cut};
use crate::provider::broken::cut;
use crate::provider::sse::Event;
use crate::provider::{ModelError, ModelErrorKind, ModelEvent, StopReason, Usage, failure};

/// The decoder of one answer.
pub type ChatDecoder = Answer<Reply>;

/// What the answer has said so far.
#[derive(Clone, Default, PartialEq)]
pub struct Reply {
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<String>,
    refused: bool,
    /// The thinking a server spells `reasoning_content`, because it wants that back with the results of its calls.
    reasoning_content: String,
    details: Details,
    /// Whether a chunk of this format has come.
    has_begun: bool,
    /// Whether the transport has closed, so that an event may have lost its end.
    at_end: bool,
    over: bool,
}

impl body::Reply for Reply {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>) {
        match event.data.trim() {
            "[DONE]" => self.done(out),
            data => self.payload(event.name, data, out),
        }
    }

    /// The same way as a chunk, whose shape it shares; the end of the body is then its end.
    fn whole(&mut self, _: Value, text: &str, out: &mut Vec<ModelEvent>) {
        self.payload("", text, out);
        self.done(out);
    }

    fn at_end(&mut self) {
        self.at_end = true;
    }

    /// The transport has closed. After a finish reason that is as good as `[DONE]`, which some servers leave out; only
    /// a call that began even later is cut.
    fn close(&mut self, out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        if self.finish.is_none() {
            return self.fail(cut(), out);
        }
        match self.calls.close_whole(out) {
            Ok(()) => self.done(out),
            Err(error) => self.fail(error, out),
        }
    }

    fn fail(&mut self, error: ModelError, out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        self.give_raw(out);
        out.extend(self.usage.map(ModelEvent::Usage));
        out.push(ModelEvent::Failed(error));
        self.over = true;
    }

    fn not_ours() -> ModelError {
        not_json()
    }
}

impl Reply {
    fn payload(&mut self, name: &str, data: &str, out: &mut Vec<ModelEvent>) {
        // What is no object is not for us: a keep-alive, an extension.
        if self.over || !data.starts_with('{') {
            return;
        }
        let chunk = match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => chunk,
            // The stream was cut within it, which its end will say.
            Err(error) if self.at_end && is_cut(&error, data) => return,
            Err(_) if self.has_begun => return self.fail(failure::damaged(), out),
            Err(_) => return self.fail(not_json(), out),
        };
        self.has_begun |= chunk.choices.is_some();
        if let Some(error) = error(name, data, &chunk) {
            return self.fail(error, out);
        }
        if let Some(usage) = chunk.usage.and_then(wire::usage) {
            self.usage = Some(usage);
        }
        // We ask for one choice only.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else {
            return;
        };
        let taken = choice
            .delta
            .or(choice.message)
            .map_or(Ok(()), |it| self.delta(it, out));
        let taken = taken.and_then(|()| self.finish(&choice.finish_reason.0, out));
        if let Err(error) = taken {
            self.fail(error, out);
        }
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if !delta.reasoning_content.0.is_empty() {
            self.reasoning_content += &delta.reasoning_content.0;
            out.push(ModelEvent::Thought(delta.reasoning_content.0.into_owned()));
        } else if !delta.reasoning.0.is_empty() {
            out.push(ModelEvent::Thought(delta.reasoning.0.into_owned()));
        }
        if !delta.content.thought.is_empty() {
            out.push(ModelEvent::Thought(delta.content.thought.into_owned()));
        }
        if let Some(details) = delta.reasoning_details {
            self.details.take(details);
        }
        self.refused |= !delta.refusal.0.is_empty();
        for text in [delta.content.text, delta.refusal.0] {
            if !text.is_empty() {
                out.push(ModelEvent::Text(text.into_owned()));
            }
        }
        for call in delta.tool_calls.into_iter().flatten() {
            let function = call.function.unwrap_or_default();
            let arguments: Cow<'_, str> = function.arguments();
            let fragment = Fragment {
                index: call.index,
                id: &call.id.0,
                name: &function.name.0,
                arguments: &arguments,
                extra: call.extra_content,
            };
            self.calls.take(fragment, out)?;
        }
        Ok(())
    }

    /// Notes why the answer ends. The end itself comes with `[DONE]` or the transport's, because usage is still to come.
    fn finish(&mut self, reason: &str, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if reason.is_empty() || self.finish.is_some() {
            return Ok(());
        }
        self.finish = Some(reason.to_owned());
        match reason {
            "length" | "content_filter" => self.calls.close_whole(out),
            _ => self.calls.close_all(out),
        }
    }

    /// The answer says that it is complete.
    fn done(&mut self, out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        if let Err(error) = self.calls.close_all(out) {
            return self.fail(error, out);
        }
        self.give_raw(out);
        out.extend(self.usage.map(ModelEvent::Usage));
        out.push(ModelEvent::Ended(self.stop_reason()));
        self.over = true;
    }

    /// What the server wants back with the results of its calls.
    fn give_raw(&self, out: &mut Vec<ModelEvent>) {
        if !self.calls.any() {
            return;
        }
        let mut raw = Map::new();
        if !self.reasoning_content.is_empty() {
            raw.insert(
                "reasoning_content".to_owned(),
                json!(self.reasoning_content),
            );
        }
        let (details, extras) = (self.details.value(), self.calls.extras());
        if !details.is_null() {
            raw.insert("reasoning_details".to_owned(), details);
        }
        if !extras.is_empty() {
            raw.insert("extra_content".to_owned(), Value::Object(extras));
        }
        if !raw.is_empty() {
            out.push(ModelEvent::Raw(Value::Object(raw)));
        }
    }

    fn stop_reason(&self) -> StopReason {
        match self.finish.as_deref() {
            Some("length") => StopReason::MaxTokens,
            Some("content_filter") => StopReason::Refusal,
            // Servers say "stop" after calls, and "tool_calls" without any.
            None | Some("stop" | "tool_calls" | "function_call") if self.calls.any() => {
                StopReason::ToolCalls
            }
            None | Some("stop" | "tool_calls" | "function_call") if self.refused => {
                StopReason::Refusal
            }
            None | Some("stop" | "tool_calls" | "function_call") => StopReason::EndTurn,
            Some(other) => StopReason::Other(other.to_owned()),
        }
    }
}

/// The error in a chunk, wherever servers put it.
fn error(name: &str, data: &str, chunk: &Chunk<'_>) -> Option<ModelError> {
    let of_choice = chunk.choices.iter().flatten().find_map(|it| it.error);
    let is_all_error = chunk.choices.is_none() && (name == "error" || chunk.object.0 == "error");
    let text = match chunk.error.or(of_choice).map(RawValue::get) {
        Some(text) => text,
        None if is_all_error => data,
        None => return None,
    };
    // It has been parsed once already.
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    Some(failure::from_stream(&value))
}

fn not_json() -> ModelError {
    let message = "the model's server sent something that is not a chat completion; check the base URL, or try again";
    ModelError::new(ModelErrorKind::Protocol, message)
}
