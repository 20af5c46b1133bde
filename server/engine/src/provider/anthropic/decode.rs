//! Reads a Messages answer: a stream of events, or the whole message of a server that does not stream.

use serde_json::{Value, json};

use super::blocks::{Blocks, End};
use super::piece::Piece;
use crate::provider::body::{self, Answer};
use crate::provider::broken::cut;
use crate::provider::sse::Event;
use crate::provider::{ModelError, ModelErrorKind, ModelEvent, StopReason, Usage, failure};

/// The decoder of one answer.
pub type MessagesDecoder = Answer<Reply>;

/// What the answer has said so far.
#[derive(Clone, Default, PartialEq)]
pub struct Reply {
    blocks: Blocks,
    usage: Tally,
    /// The id of the message that has begun.
    message: Option<Value>,
    stop: Option<String>,
    /// Why the provider stopped it, in its own words.
    explanation: Option<String>,
    /// Whether an event of this format has come.
    has_begun: bool,
    /// Whether the transport has closed, so that an event may have lost its end.
    at_end: bool,
    over: bool,
}

impl body::Reply for Reply {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>) {
        let data = event.data.trim();
        // What is no object is not for us: a keep-alive, an extension.
        if self.over || !data.starts_with('{') {
            return;
        }
        if let Ok(piece) = serde_json::from_str::<Piece<'_>>(data)
            && let Some(taken) = self.piece(&piece, out)
        {
            return taken.unwrap_or_else(|error| self.fail(error, out));
        }
        let value = match serde_json::from_str::<Value>(data) {
            Ok(value) => value,
            // The stream was cut within it.
            Err(error) if self.at_end && error.is_eof() => return,
            Err(_) if self.has_begun => return self.fail(failure::damaged(), out),
            Err(_) => return self.fail(not_ours(), out),
        };
        let kind = value["type"].as_str().unwrap_or(event.name);
        if let Err(error) = self.take(kind, &value, out) {
            self.fail(error, out);
        }
    }

    /// A body that is one message, or an error.
    fn whole(&mut self, message: Value, _: &str, out: &mut Vec<ModelEvent>) {
        let message = &message;
        let taken = match message["content"].is_array() {
            true => self.begin(message, out),
            false if message["error"].is_null() => Err(not_ours()),
            false => Err(failure::from_stream(message)),
        };
        match taken {
            Ok(()) => self.done(out),
            Err(error) => self.fail(error, out),
        }
    }

    fn at_end(&mut self) {
        self.at_end = true;
    }

    fn close(&mut self, out: &mut Vec<ModelEvent>) {
        // An answer that is over says nothing more.
        self.fail(cut(), out);
    }

    fn fail(&mut self, error: ModelError, out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        self.blocks.end(End::Broken, out);
        out.extend(self.blocks.raw().map(ModelEvent::Raw));
        out.extend(self.usage.whole().map(ModelEvent::Usage));
        out.push(ModelEvent::Failed(error));
        self.over = true;
    }

    fn not_ours() -> ModelError {
        not_ours()
    }
}

impl Reply {
    /// Takes the next piece of a block; not of every kind.
    fn piece(
        &mut self,
        piece: &Piece<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Option<Result<(), ModelError>> {
        if piece.r#type != "content_block_delta" {
            return None;
        }
        let (index, delta) = (piece.index, &piece.delta);
        self.has_begun = true;
        match delta.r#type {
            "text_delta" => Some(self.blocks.text(index, &delta.text, out)),
            "thinking_delta" => Some(self.blocks.thought(index, &delta.thinking, out)),
            "input_json_delta" => Some(self.blocks.input(index, &delta.partial_json)),
            _ => None,
        }
    }

    fn take(
        &mut self,
        kind: &str,
        value: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.has_begun |= kind.starts_with("message_") || kind.starts_with("content_block_");
        // Servers that leave it out send one block after the other.
        let index = value["index"].as_u64().unwrap_or(0);
        match kind {
            "message_start" => self.begin(&value["message"], out)?,
            "content_block_start" => self.blocks.start(index, &value["content_block"], out)?,
            "content_block_delta" => self.blocks.delta(index, &value["delta"], out)?,
            "content_block_stop" => self.blocks.stop(index, out),
            "message_delta" => {
                self.usage.take(&value["usage"]);
                self.ended(&value["delta"]);
            }
            "message_stop" => self.done(out),
            "error" => return Err(failure::from_stream(value)),
            _ if value["error"].is_object() => return Err(failure::from_stream(value)),
            // A ping, or what is newer than this.
            _ => {}
        }
        Ok(())
    }

    /// A message begins. Some have content already; some proxies begin the same one twice, or another one after they
    /// lost the first.
    fn begin(&mut self, message: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        self.usage.take(&message["usage"]);
        let id = &message["id"];
        match self.message.replace(id.clone()) {
            Some(earlier) if earlier == *id => return Ok(()),
            Some(_) => self.blocks.begin_anew(),
            None => {}
        }
        self.content(message, out)?;
        self.ended(message);
        Ok(())
    }

    /// The blocks of a message that are there in whole.
    fn content(&mut self, message: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let is_stopped = end_of(message["stop_reason"].as_str()) == End::Stopped;
        for (at, block) in blocks.iter().enumerate() {
            // The limit that stopped it may have cut the last one.
            if is_stopped && at + 1 == blocks.len() && block["type"] == "tool_use" {
                break;
            }
            // Numbers that no block of the stream has.
            let index = u64::MAX - at as u64;
            self.blocks.start(index, block, out)?;
            self.blocks.stop(index, out);
        }
        Ok(())
    }

    /// Notes why the answer ends. The end itself comes with `message_stop`.
    fn ended(&mut self, delta: &Value) {
        if let Some(reason) = delta["stop_reason"].as_str() {
            self.stop = Some(reason.to_owned());
        }
        if let Some(explanation) = delta["stop_details"]["explanation"].as_str() {
            self.explanation = Some(explanation.to_owned());
        }
    }

    /// The answer says that it is complete.
    fn done(&mut self, out: &mut Vec<ModelEvent>) {
        self.blocks.end(end_of(self.stop.as_deref()), out);
        let reason = self.stop_reason();
        if reason == StopReason::Refusal && !self.blocks.any_text() {
            let explanation = self.explanation.take().filter(|it| !it.trim().is_empty());
            let text =
                explanation.unwrap_or_else(|| "The provider declined to answer this.".to_owned());
            // It is an answer's text like any other, so that the conversation can go on behind it.
            let taken = self
                .blocks
                .start(0, &json!({ "type": "text", "text": text }), out);
            debug_assert!(taken.is_ok(), "a text is no call too many");
            self.blocks.stop(0, out);
        }
        out.extend(self.blocks.raw().map(ModelEvent::Raw));
        out.extend(self.usage.whole().map(ModelEvent::Usage));
        out.push(ModelEvent::Ended(reason));
        self.over = true;
    }

    fn stop_reason(&self) -> StopReason {
        match self.stop.as_deref() {
            Some("max_tokens") => StopReason::MaxTokens,
            Some("model_context_window_exceeded") => StopReason::WindowFull,
            Some("refusal") => StopReason::Refusal,
            Some("pause_turn" | "compaction") => StopReason::Paused,
            None | Some("end_turn" | "stop_sequence" | "tool_use") => {
                match self.blocks.any_call() {
                    true => StopReason::ToolCalls,
                    false => StopReason::EndTurn,
                }
            }
            Some(other) => StopReason::Other(other.to_owned()),
        }
    }
}

/// Whether a reason stops the model in the middle of what it writes.
fn end_of(reason: Option<&str>) -> End {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded" | "refusal") => End::Stopped,
        Some(_) | None => End::Well,
    }
}

/// Tokens as they are reported: at the beginning, and again, with the sums by then, at the end.
#[derive(Clone, Default, PartialEq)]
struct Tally {
    input: Option<u64>,
    cached: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Tally {
    fn take(&mut self, usage: &Value) {
        let details = &usage["output_tokens_details"];
        for (place, value) in [
            (&mut self.input, &usage["input_tokens"]),
            (&mut self.cached, &usage["cache_read_input_tokens"]),
            (&mut self.cache_write, &usage["cache_creation_input_tokens"]),
            (&mut self.output, &usage["output_tokens"]),
            (&mut self.thinking, &details["thinking_tokens"]),
        ] {
            *place = value.as_u64().or(*place);
        }
    }

    /// In parts that are disjoint; nothing if nothing was reported.
    fn whole(&self) -> Option<Usage> {
        self.input.or(self.output)?;
        let output = self.output.unwrap_or(0);
        let reasoning = self.thinking.unwrap_or(0).min(output);
        Some(Usage {
            input: self.input.unwrap_or(0),
            cached: self.cached.unwrap_or(0),
            cache_write: self.cache_write.unwrap_or(0),
            output: output - reasoning,
            reasoning,
        })
    }
}

fn not_ours() -> ModelError {
    let message = "the model's server sent something that is not a message of this format; check the base URL and the provider's kind, or try again";
    ModelError::new(ModelErrorKind::Protocol, message)
}
