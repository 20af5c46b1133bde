//! Reads an answer of `streamGenerateContent`: each event is a whole response that carries the next parts. There is no
//! end marker but the finish reason; usage comes beside it, so the end is the transport's.

use serde_json::{Map, Value, json};

use super::contents::PARTS;
use super::end::{Counts, not_json, stop_reason};
use super::error;
use super::partial::Arguments;
use super::piece::Piece;
use crate::provider::body::{self, Answer, Reply as _};
use crate::provider::broken::{
    MAX_ARGUMENTS, MAX_CALLS, cut, limit, too_long_arguments, too_many_calls,
};
use crate::provider::sse::Event;
use crate::provider::{ModelError, ModelEvent, StopReason, ToolCall, Usage, failure};

/// The most parts of one answer that are kept.
const MAX_PARTS: usize = 65_536;

/// The decoder of one answer.
pub type GeminiDecoder = Answer<Reply>;

/// What the answer has said so far.
#[derive(Clone, Default, PartialEq)]
pub struct Reply {
    /// What goes back with the conversation: the parts as they came. Only texts without a signature are joined.
    parts: Vec<Value>,
    /// The call that is being written.
    open: Option<Open>,
    /// As the calls have left, one of ours where the model gave none.
    ids: Vec<String>,
    usage: Option<Usage>,
    finish: Option<String>,
    blocked: bool,
    /// Whether a response of this format has come.
    has_begun: bool,
    /// Whether the transport has closed, so that an event may have lost its end.
    at_end: bool,
    over: bool,
}

/// A call whose arguments come in pieces.
#[derive(Clone, PartialEq)]
struct Open {
    /// Its part, whose arguments are to come.
    part: Map<String, Value>,
    arguments: Arguments,
}

impl body::Reply for Reply {
    const WHOLE: &[u8] = b"{[";

    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>) {
        let data = event.data;
        if self.over {
            return;
        }
        if let Ok(piece) = serde_json::from_str::<Piece<'_>>(data)
            && piece.is_text()
        {
            return self.piece(piece, out);
        }
        // What is no object is not for us: a keep-alive, an extension. An error may stand in a list of one.
        match serde_json::from_str::<Value>(data) {
            Ok(Value::Array(all)) => all.into_iter().for_each(|it| self.response(it, out)),
            Ok(one) => self.response(one, out),
            // A piece of an event, at the stream's end: the stream is cut, which its end will say.
            Err(error) if self.at_end && error.is_eof() => {}
            Err(_) if !data.starts_with('{') => {}
            Err(_) if self.has_begun => self.fail(failure::damaged(), out),
            Err(_) => self.fail(not_json(), out),
        }
    }

    fn whole(&mut self, value: Value, _: &str, out: &mut Vec<ModelEvent>) {
        // From a gateway that passes `alt=sse` over: one response, or a list of them.
        match value {
            Value::Array(all) => all.into_iter().for_each(|it| self.response(it, out)),
            one => self.response(one, out),
        }
    }

    fn at_end(&mut self) {
        self.at_end = true;
    }

    /// The transport has closed.
    fn close(&mut self, out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        let Some(finish) = self.finish.clone() else {
            // A blocked prompt has no candidate, and so no finish reason.
            return match self.blocked {
                true => self.done(StopReason::Refusal, out),
                false => self.fail(cut(), out),
            };
        };
        // One that was being written when the answer reached its limit is given up.
        if finish != "MAX_TOKENS"
            && let Err(error) = self.close_call(out)
        {
            return self.fail(error, out);
        }
        match stop_reason(&finish, !self.ids.is_empty()) {
            Ok(reason) => self.done(reason, out),
            Err(error) => self.fail(error, out),
        }
    }

    fn fail(&mut self, error: ModelError, out: &mut Vec<ModelEvent>) {
        if !self.over {
            self.say_rest(out);
            out.push(ModelEvent::Failed(error));
        }
    }

    fn not_ours() -> ModelError {
        not_json()
    }
}

impl Reply {
    /// A response of texts.
    fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<ModelEvent>) {
        self.has_begun = true;
        self.usage = piece.usage.usage().or(self.usage);
        let [candidate] = piece.candidates;
        for part in candidate.content.parts {
            if part.text.is_empty() {
                continue;
            }
            let is_thought = part.thought == Some(true);
            let goes_on = match self.parts.last_mut() {
                Some(Value::Object(last))
                    if is_bare_text(last)
                        && last.get("thought").and_then(Value::as_bool) == part.thought =>
                {
                    last.get_mut("text")
                }
                _ => None,
            };
            if let Some(Value::String(before)) = goes_on {
                before.push_str(&part.text);
            } else {
                let mut kept = Map::new();
                kept.insert("text".to_owned(), json!(part.text));
                if let Some(thought) = part.thought {
                    kept.insert("thought".to_owned(), json!(thought));
                }
                if let Err(error) = self.keep(kept) {
                    return self.fail(error, out);
                }
            }
            let text = part.text.into_owned();
            out.push(match is_thought {
                true => ModelEvent::Thought(text),
                false => ModelEvent::Text(text),
            });
        }
    }

    fn response(&mut self, mut response: Value, out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        if response["error"].is_object() {
            return self.fail(error::from_stream(&response["error"]), out);
        }
        self.has_begun |= response["candidates"].is_array();
        if let Some(usage) = Counts::of(&response["usageMetadata"]).usage() {
            self.usage = Some(usage);
        }
        self.blocked |= response["promptFeedback"]["blockReason"].is_string();
        // We ask for one candidate only.
        let Some(candidate) = response.get_mut("candidates").and_then(|it| it.get_mut(0)) else {
            return;
        };
        let parts = candidate
            .get_mut("content")
            .and_then(|it| it.get_mut("parts"))
            .map(Value::take);
        if let Some(Value::Array(parts)) = parts {
            for part in parts {
                if let Err(error) = self.part(part, out) {
                    return self.fail(error, out);
                }
            }
        }
        if let Some(reason) = candidate["finishReason"].as_str()
            && self.finish.is_none()
        {
            self.finish = Some(reason.to_owned());
        }
    }

    fn part(&mut self, part: Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let Value::Object(part) = part else {
            return Ok(());
        };
        if part.contains_key("functionCall") {
            return self.call_part(part, out);
        }
        if let Some(text) = part.get("text").and_then(Value::as_str)
            && !text.is_empty()
        {
            out.push(match part.get("thought") == Some(&Value::Bool(true)) {
                true => ModelEvent::Thought(text.to_owned()),
                false => ModelEvent::Text(text.to_owned()),
            });
        }
        self.keep(part)
    }

    /// Keeps a part. A text that only goes on is put to the one before it; an empty one without a signature says nothing.
    fn keep(&mut self, part: Map<String, Value>) -> Result<(), ModelError> {
        if let Some(Value::String(text)) = part.get("text")
            && is_bare_text(&part)
        {
            if text.is_empty() {
                return Ok(());
            }
            if let Some(Value::Object(last)) = self.parts.last_mut()
                && is_bare_text(last)
                && last.get("thought") == part.get("thought")
                && let Some(Value::String(before)) = last.get_mut("text")
            {
                before.push_str(text);
                return Ok(());
            }
        }
        if self.parts.len() == MAX_PARTS {
            return Err(limit(&format!(
                "sent more than {MAX_PARTS} parts in one answer"
            )));
        }
        self.parts.push(Value::Object(part));
        Ok(())
    }

    fn call_part(
        &mut self,
        mut part: Map<String, Value>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let Some(Value::Object(call)) = part.get_mut("functionCall") else {
            return Ok(());
        };
        let goes_on = call.remove("willContinue") == Some(Value::Bool(true));
        let pieces = call.remove("partialArgs");
        let has_name = call
            .get("name")
            .and_then(Value::as_str)
            .is_some_and(|it| !it.is_empty());
        if has_name {
            // The one before has no end of its own.
            self.close_call(out)?;
            let arguments = Arguments::of(call.get("args"));
            if !goes_on && pieces.is_none() {
                return self.called(part, out);
            }
            self.open = Some(Open { part, arguments });
        } else if let Some(open) = &mut self.open {
            // A signature may come late.
            for (key, value) in part {
                open.part.entry(key).or_insert(value);
            }
        } else {
            // The empty end of a call that had one already.
            return Ok(());
        }
        if let Some(open) = &mut self.open {
            for piece in pieces
                .as_ref()
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                open.arguments.take(piece)?;
            }
        }
        if !goes_on {
            self.close_call(out)?;
        }
        Ok(())
    }

    /// The call that was being written is whole.
    fn close_call(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let Some(Open {
            mut part,
            arguments,
        }) = self.open.take()
        else {
            return Ok(());
        };
        if let Some(Value::Object(call)) = part.get_mut("functionCall") {
            call.insert("args".to_owned(), arguments.into_value());
        }
        self.called(part, out)
    }

    /// A whole call leaves.
    fn called(
        &mut self,
        part: Map<String, Value>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.ids.len() == MAX_CALLS {
            return Err(too_many_calls());
        }
        let call = &part["functionCall"];
        let arguments = match &call["args"] {
            Value::Null => String::new(),
            args => args.to_string(),
        };
        if arguments.len() > MAX_ARGUMENTS {
            return Err(too_long_arguments());
        }
        let id = self.free_id(call["id"].as_str().unwrap_or_default());
        self.ids.push(id.clone());
        out.push(ModelEvent::Call(ToolCall {
            id,
            name: call["name"].as_str().unwrap_or_default().to_owned(),
            arguments,
            native: None,
        }));
        self.keep(part)
    }

    /// The model's id, or one of ours where that is missing or taken.
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

    fn done(&mut self, reason: StopReason, out: &mut Vec<ModelEvent>) {
        self.say_rest(out);
        out.push(ModelEvent::Ended(reason));
    }

    /// What comes right before the last event.
    fn say_rest(&mut self, out: &mut Vec<ModelEvent>) {
        self.over = true;
        let is_signed = |it: &Value| it.get("thoughtSignature").is_some();
        // Texts alone are known already.
        if !self.ids.is_empty() || self.parts.iter().any(is_signed) {
            let parts = std::mem::take(&mut self.parts);
            out.push(ModelEvent::Raw(json!({ PARTS: parts })));
        }
        out.extend(self.usage.map(ModelEvent::Usage));
    }
}

/// Whether a part is a text or a thought and nothing else, least of all signed.
fn is_bare_text(part: &Map<String, Value>) -> bool {
    part.keys().all(|it| it == "text" || it == "thought")
}
