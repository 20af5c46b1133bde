//! Reads a Responses answer: a stream of events, or the whole response of a server that does not stream.
//!
//! `response.output_item.done` is the truth; deltas are shown as they come and nothing else. Items are told apart by
//! `output_index`, because proxies change ids from event to event, and by id where a server leaves the index out.

mod slots;

use serde_json::{Value, json};

use super::ends::{cancelled, not_json, usage};
use super::items::text;
use super::piece::Piece;
use crate::provider::body::{self, Answer};
use crate::provider::broken::cut;
use crate::provider::sse::Event;
use crate::provider::{ModelError, ModelEvent, StopReason, Usage, failure};

/// The most items in one reply, open or done.
pub const MAX_ITEMS: usize = 4096;
/// The most bytes of all items of one reply, which are kept to be sent back.
pub const MAX_KEPT: usize = 32 << 20;

/// The decoder of one answer.
pub type ResponsesDecoder = Answer<Reply>;

/// What the answer has said so far.
#[derive(Clone, Default, PartialEq)]
pub struct Reply {
    items: Vec<Slot>,
    usage: Option<Usage>,
    refused: bool,
    /// Ids that calls of this reply have left with.
    calls: Vec<String>,
    n_kept: usize,
    has_text: bool,
    has_thought: bool,
    /// Whether an event of this format has come.
    has_begun: bool,
    /// Whether the transport has closed, so that an event may have lost its end.
    at_end: bool,
    over: bool,
}

/// One item, from its first sign on.
#[derive(Clone, Default, PartialEq)]
struct Slot {
    index: Option<u64>,
    id: String,
    /// What of its text or thinking was shown.
    shown: String,
    /// Which part of its thinking was shown last: the field it belongs to and its number there.
    part: Option<(&'static str, u64)>,
    /// The item, once it is whole.
    done: Option<Value>,
    is_closed: bool,
}

impl body::Reply for Reply {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>) {
        let data = event.data.trim();
        // What is no object is not for us: a keep-alive, `[DONE]` of servers that have it.
        if self.over || !data.starts_with('{') {
            return;
        }
        if let Ok(piece) = serde_json::from_str::<Piece<'_>>(data)
            && let Some(taken) = self.piece(&piece, out)
        {
            self.has_begun = true;
            return taken.unwrap_or_else(|error| self.fail(error, out));
        }
        let value = match serde_json::from_str::<Value>(data) {
            Ok(value) => value,
            // The stream was cut within it, which its end will say.
            Err(error) if self.at_end && error.is_eof() => return,
            Err(_) if self.has_begun => return self.fail(failure::damaged(), out),
            Err(_) => return self.fail(not_json(), out),
        };
        let kind = match text(&value, "type") {
            "" => event.name,
            kind => kind,
        };
        let kind = kind.to_owned();
        self.has_begun |= kind.starts_with("response.");
        if let Err(error) = self.take(&kind, value, out) {
            self.fail(error, out);
        }
    }

    /// A response as one value.
    fn whole(&mut self, response: Value, _: &str, out: &mut Vec<ModelEvent>) {
        let response = &response;
        if self.over {
            return;
        }
        let is_response = response["output"].is_array() || response["status"].is_string();
        let ended = match response.get("error").filter(|it| !it.is_null()) {
            Some(_) => Err(failure::from_stream(response)),
            None if matches!(text(response, "status"), "queued" | "in_progress") => Err(cut()),
            None if is_response => self.ends("done", response, out),
            None => Err(not_json()),
        };
        if let Err(error) = ended {
            self.fail(error, out);
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
        self.finish(out);
        out.push(ModelEvent::Failed(error));
    }

    fn not_ours() -> ModelError {
        not_json()
    }
}

impl Reply {
    /// Takes the next piece of an item; not of every kind.
    fn piece(
        &mut self,
        piece: &Piece<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Option<Result<(), ModelError>> {
        // The id may stand elsewhere.
        if piece.item_id.is_empty() {
            return None;
        }
        let part = match piece.r#type {
            "response.output_text.delta" => None,
            "response.reasoning_summary_text.delta" => Some(("summary", piece.summary_index)),
            "response.reasoning_text.delta" => Some(("content", piece.content_index)),
            // They come once more, whole.
            "response.function_call_arguments.delta" => return Some(Ok(())),
            _ => return None,
        };
        let slot = self.slot(piece.output_index, &piece.item_id, false);
        Some(slot.map(|at| match part {
            None => self.say(at, &piece.delta, out),
            Some(part) => self.think(at, part, &piece.delta, out),
        }))
    }

    fn take(
        &mut self,
        kind: &str,
        mut event: Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        match kind {
            "response.output_item.added" => {
                let at = self.slot_of(&event, true)?;
                if self.items[at].id.is_empty() {
                    self.items[at].id = text(&event["item"], "id").to_owned();
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.refused |= kind == "response.refusal.delta";
                let at = self.slot_of(&event, false)?;
                self.say(at, text(&event, "delta"), out);
            }
            "response.reasoning_summary_text.delta" => {
                let number = event["summary_index"].as_u64().unwrap_or(0);
                let at = self.slot_of(&event, false)?;
                self.think(at, ("summary", number), text(&event, "delta"), out);
            }
            "response.reasoning_text.delta" => {
                let number = event["content_index"].as_u64().unwrap_or(0);
                let at = self.slot_of(&event, false)?;
                self.think(at, ("content", number), text(&event, "delta"), out);
            }
            "response.output_item.done" => {
                let at = self.slot_of(&event, false)?;
                self.close(at, event["item"].take(), out)?;
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                let status = kind.trim_start_matches("response.");
                self.ends(status, &event["response"], out)?;
            }
            "response.cancelled" => return Err(cancelled()),
            "error" => return Err(failure::from_stream(&event)),
            // Some gateways put an error where an event belongs, without a type.
            "" if event.get("error").is_some_and(|it| !it.is_null()) => {
                return Err(failure::from_stream(&event));
            }
            // Parts that were added or are done, arguments and diffs as they grow, tools that the provider runs, and
            // whatever comes later.
            _ => {}
        }
        Ok(())
    }

    /// The response has come to an end of some kind.
    fn ends(
        &mut self,
        status: &str,
        response: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.usage = usage(&response["usage"]).or(self.usage);
        // The response knows best; the event's name stands for it where it says nothing.
        let status = match text(response, "status") {
            "" | "queued" | "in_progress" => status,
            status => status,
        };
        match status {
            "failed" => {
                let error = &response["error"];
                return Err(match error.is_object() {
                    true => failure::from_stream(error),
                    false => failure::from_stream(&json!({})),
                });
            }
            "cancelled" => return Err(cancelled()),
            _ => {}
        }
        // A server that sends no items on their own sends them here.
        if self.items.iter().all(|it| it.done.is_none()) {
            let items = response["output"].as_array().map_or(&[][..], Vec::as_slice);
            for (index, item) in items.iter().enumerate() {
                let place = json!({"output_index": index, "item": {"id": item["id"]}});
                let at = self.slot_of(&place, true)?;
                self.close(at, item.clone(), out)?;
            }
        }
        let stop = match (status, text(&response["incomplete_details"], "reason")) {
            ("incomplete", "max_output_tokens") => StopReason::MaxTokens,
            ("incomplete", "content_filter") => StopReason::Refusal,
            ("incomplete", reason) => StopReason::Other(reason.to_owned()),
            _ if !self.calls.is_empty() => StopReason::ToolCalls,
            _ if self.refused => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        self.finish(out);
        out.push(ModelEvent::Ended(stop));
        Ok(())
    }

    /// What comes right before the last event: the items that were whole, in their order, and what it cost.
    fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        self.over = true;
        let mut slots = std::mem::take(&mut self.items);
        slots.retain(|it| it.done.is_some());
        if slots.iter().all(|it| it.index.is_some()) {
            slots.sort_by_key(|it| it.index);
        }
        let items: Vec<Value> = slots.into_iter().filter_map(|it| it.done).collect();
        if !items.is_empty() {
            out.push(ModelEvent::Raw(Value::Array(items)));
        }
        out.extend(self.usage.map(ModelEvent::Usage));
    }
}
